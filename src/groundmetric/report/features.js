// Features in the plane, as an image or a map, and lists of close and far ones.

const plane = byId("plane"), N_LISTED = 8, N_NAMED = 20;
const [channels, gridRows, gridColumns] = data.grid || [1, 1, 1];

// Size of the image of a grid, channels side by side, and the place of each feature.
function gridLayout(between) {
  const across = Math.ceil(Math.sqrt(channels)), gap = channels > 1 ? between : 0;
  return {
    width: Math.min(across, channels) * (gridColumns + gap) - gap,
    height: Math.ceil(channels / across) * (gridRows + gap) - gap,
    place: (p) => {
      const channel = Math.floor(p / (gridRows * gridColumns)), rest = p % (gridRows * gridColumns);
      return [(channel % across) * (gridColumns + gap) + (rest % gridColumns),
        Math.floor(channel / across) * (gridRows + gap) + Math.floor(rest / gridColumns)];
    },
  };
}
let asPicture = Boolean(data.grid);

// Left, top and side of each feature's cell in the unit square.
const cells = (() => {
  if (!data.grid) return [];
  const { width, height, place } = gridLayout(0.5), unit = 1 / Math.max(width, height);
  return data.bins.map((bin) => {
    const [x, y] = place(bin);
    return [x * unit + (1 - width * unit) / 2, y * unit + (1 - height * unit) / 2, unit];
  });
})();
const middle = [0, 1].map((axis) => data.map.positions.reduce((sum, place) => sum + place[axis], 0) / d);
const margin = 0.06;
const center = (p) => asPicture
  ? [cells[p][0] + cells[p][2] / 2, cells[p][1] + cells[p][2] / 2]
  : inMap(data.map.positions[p]);
const inMap = (place) => place.map((v, axis) => margin + (1 - 2 * margin) * (axis ? 1 - v : v));

// Nothing was learned about features that are empty in all training histograms.
const isEmpty = data.names.map(() => false);
for (const p of data.empty) isEmpty[p] = true;
const byDistance = () => data.order.filter((p) => p !== view.feature && !isEmpty[p])
  .sort((p, q) => distance(view.feature, p) - distance(view.feature, q));

const planeView = zoomable(plane, byId("places").querySelectorAll("[data-zoom]"), frameView, () => center(view.feature));
function frameView() {
  plane.setAttribute("viewBox", [planeView.x, planeView.y, planeView.size, planeView.size].join(" "));
  drawPlane();
}

function mark(p) {
  const fill_ = css(color(standing(distance(view.feature, p)))), [x, y] = center(p);
  const options = { class: isEmpty[p] ? "place empty" : "place", fill: fill_, "data-feature": p };
  if (asPicture) return shape("rect", { ...options, x: cells[p][0], y: cells[p][1], width: cells[p][2], height: cells[p][2] });
  const r = 0.011 * Math.sqrt(planeView.size);
  return shape("circle", { ...options, cx: x, cy: y, r, "stroke-width": r / 4 });
}

// Lines of at most so many characters, between words if they are short enough.
function wrapped(name, most) {
  const lines = [""];
  for (const word of name.match(/\S+[\s]*/g) || [name])
    for (let from = 0; from < word.length; from += most) {
      const part = word.slice(from, from + most);
      if ((lines[lines.length - 1] + part).trimEnd().length > most) lines.push("");
      lines[lines.length - 1] += part;
    }
  return lines.map((each) => each.trimEnd()).filter(Boolean);
}

// Names of the closest features that cover neither points nor each other; zooming makes
// room. The chosen feature has a name in any case, where it covers least; those that
// matter most and those at the edges may cover a few points.
const AROUND = [[1, -1], [1, 1], [-1, -1], [-1, 1], [1, 0], [-1, 0], [0, -1], [0, 1]];
const matters = new Set(data.important), MOST_COVERED = 5;
// Far from the middle of the map: there is room for their names.
const extremes = data.important.length ? data.order.map((p) => [Math.hypot(...data.map.positions[p].map((v, axis) => v - middle[axis])), p])
  .sort((a, b) => b[0] - a[0]).slice(0, 8).map(([, p]) => p) : [];
const first = new Set([...extremes, ...data.important]);
function labels(features) {
  const { x, y, size } = planeView, height = Math.max(0.028, 11 / (plane.clientWidth || 400)) * size;
  const r = 0.012 * Math.sqrt(size), taken = [], found = [], points = data.order.map(center);
  const meet = ([a, b, c, e], [f, g, h, k]) => a < h && c > f && b < k && e > g;
  const covered = (box) => points.filter(([u, v]) => meet(box, [u - r, v - r, u + r, v + r])).length
    + 1000 * taken.filter((other) => meet(box, other)).length
    + (box[0] < x || box[2] > x + size || box[1] < y || box[3] > y + size ? 1000 : 0);
  for (const p of features) {
    const [u, v] = center(p), lines = wrapped(data.names[p], plane.clientWidth < 400 ? 16 : 24);
    const width = 0.56 * height * Math.max(...lines.map((each) => each.length)), tall = height * lines.length;
    const gap = (p === view.feature ? 0.03 : 0.018) * size; // outside its ring
    if (u < x || u > x + size || v < y || v > y + size) continue;
    const boxes = [1, 2.2, ...(first.has(p) ? [4, 7] : [])].flatMap((far) => AROUND.map(([i, j]) => {
      const left = u + i * far * gap - (i < 0 ? width : i ? 0 : width / 2);
      const middle = v + j * (far * gap + (i ? 0 : tall / 2) + (tall - height) / 2);
      return [left, middle - tall / 2, left + width, middle + tall / 2];
    }));
    const costs = boxes.map(covered), least = Math.min(...costs);
    if (p !== view.feature && least > (first.has(p) ? MOST_COVERED : 0)) continue;
    const box = boxes[costs.indexOf(least)];
    taken.push(box);
    found.push(shape("text", { "data-box": box.join(" "), "stroke-width": 0.006 * size, style: `font-size:${height}px` },
      ...lines.map((each, k) => shape("tspan", { x: box[0], y: box[1] + (k + 0.78) * height }, each))));
    if (found.length > N_NAMED) break;
  }
  return found;
}

// Features that are not shown, all in one path: round ends of lines of length 0.
const dots = () => shape("path", {
  class: "others", "stroke-width": 0.008 * Math.sqrt(planeView.size),
  d: data.map.others.map(([x, y]) => { const at = inMap([x, y]); return `M${at[0].toFixed(4)},${at[1].toFixed(4)}h0`; }).join(""),
});

function drawPlane() {
  const size = planeView.size, near = byDistance();
  plane.replaceChildren();
  const pairs = byId("connect").checked ? data.pairs.map(([p, q]) => {
    const [[x1, y1], [x2, y2]] = [center(p), center(q)];
    return shape("line", { class: "pair", x1, y1, x2, y2, "stroke-width": 0.005 * size });
  }) : [];
  const [x, y] = center(view.feature);
  const target = shape("circle", { class: "target", cx: x, cy: y, r: asPicture ? 0.3 * cells[0][2] : 0.02 * size, "stroke-width": 0.006 * size });
  const marks = data.order.map(mark);
  // Lines are above an image, but below points.
  plane.append(...(asPicture ? [...marks, ...pairs] : [...pairs, ...marks]), target);
  if (!asPicture) plane.prepend(dots());
  if (!asPicture) plane.append(...labels([...new Set([view.feature, ...data.important.slice(0, 3), ...extremes.slice(0, 3), ...data.important, ...extremes, ...near])]));
  plane.setAttribute("aria-label", `Features in the plane. Closest to ${data.names[view.feature]}: ${near.slice(0, 3).map((p) => data.names[p]).join("; ")}`);
}

function describe() {
  byId("as-picture").hidden = byId("as-map").hidden = !data.grid;
  byId("as-picture").setAttribute("aria-pressed", String(asPicture));
  byId("as-map").setAttribute("aria-pressed", String(!asPicture));
  byId("places-caption").replaceChildren(
    element("strong", {}, asPicture ? "Distances to the chosen feature" : "Map of the features"),
    asPicture ? ", each at its position. Click to choose another, or use the arrow keys."
      : `, by multidimensional scaling of the learned metric, with stress ${data.map.stress.toFixed(2)}. Colors show distances to the chosen feature.${
        data.empty.length ? " Faint features are empty in all training histograms." : ""}${
        matters.size ? " Names: the chosen feature, those that matter most, those at the edges, and the closest, where there is room." : ""}`);
}
for (const [id, picture] of [["as-picture", true], ["as-map", false]])
  byId(id).addEventListener("click", () => { asPicture = picture; describe(); drawPlane(); });
byId("connect").addEventListener("change", drawPlane);

const featureAt = (event) => {
  const value = event.target.dataset && event.target.dataset.feature;
  return value === undefined ? null : Number(value);
};
plane.addEventListener("pointermove", (event) => {
  const p = featureAt(event);
  if (p === null) { hideTip(); return; }
  const rest = p === view.feature ? "" : `\n${number(distance(p, view.feature))} from ${data.names[view.feature]}`;
  showTip(data.names[p] + rest, event.clientX, event.clientY);
});
plane.addEventListener("pointerleave", hideTip);
plane.addEventListener("click", (event) => {
  const p = featureAt(event);
  if (p !== null && !planeView.dragged) change({ feature: p });
});
// Arrows move over the grid, or along the order of the heat map.
plane.addEventListener("keydown", (event) => {
  const step = { ArrowLeft: [-1, -1], ArrowRight: [1, 1], ArrowUp: [-1, -gridColumns], ArrowDown: [1, gridColumns] }[event.key];
  if (!step) return;
  event.preventDefault();
  const next = asPicture ? data.bins.indexOf(data.bins[view.feature] + step[1]) : data.order[rankOf[view.feature] + step[0]];
  if (next >= 0) change({ feature: next });
});

function list(id, features, largest) {
  byId(id).replaceChildren(...features.map((p) => element("li", {}, element("button",
    { type: "button", title: data.names[p], onclick: () => change({ feature: p }) },
    element("span", {}, data.names[p]),
    element("span", { "aria-hidden": "true" }, element("i", { style: `width:${(100 * distance(view.feature, p)) / (largest || 1)}%` })),
    element("span", {}, number(distance(view.feature, p)))))));
}
function lists() {
  const near = byDistance(), most = Math.min(N_LISTED, near.length);
  const largest = near.length ? distance(view.feature, near[near.length - 1]) : 1;
  list("nearest", near.slice(0, most), largest);
  list("farthest", near.slice(near.length - most).reverse(), largest);
  for (const node of document.querySelectorAll(".chosen")) node.textContent = data.names[view.feature];
  byId("feature").value = String(view.feature);
}

byId("feature").append(...data.names.map((name, p) => element("option", { value: p }, name)));
byId("feature").addEventListener("change", (event) => change({ feature: Number(event.target.value) }));
const metrics = Object.keys(data.metrics);
byId("which").append(...metrics.map((name) => element("option", { value: name }, name)));
byId("which-label").hidden = metrics.length < 2;
byId("which").addEventListener("change", (event) => change({ which: event.target.value }));
byId("scale").addEventListener("change", (event) => change({ scale: event.target.value }));

watchers.push(drawPlane, lists);
addEventListener("resize", drawPlane); // names keep their size
describe();
// Begin with the feature whose distances vary most.
const spread = (p) => {
  if (isEmpty[p]) return -1;
  const values = data.order.map((q) => distance(p, q)), mean = values.reduce((a, b) => a + b, 0) / d;
  return values.reduce((sum, v) => sum + (v - mean) ** 2, 0);
};
change({ feature: data.order.reduce((best, p) => (spread(p) > spread(best) ? p : best), data.order[0]) });
