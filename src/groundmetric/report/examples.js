// Pictures of classes, test histograms whose nearest neighbor changed, and the confusion matrix.

const WORDS = { mended: "Corrected", spoiled: "New error", changed: "Changed" };
const BAR_WIDTH = 120, BAR_HEIGHT = 70;

// An image if features are on a grid, bars otherwise.
function drawing(levels, label) {
  const values = bytes(levels);
  if (!data.grid) {
    const step = BAR_WIDTH / d;
    const path = Array.from(values, (v, p) => `M${(p * step).toFixed(2)},${BAR_HEIGHT}v${(-v / 255 * (BAR_HEIGHT - 4)).toFixed(1)}h${(step * 0.85).toFixed(2)}V${BAR_HEIGHT}z`);
    return shape("svg", { viewBox: `0 0 ${BAR_WIDTH} ${BAR_HEIGHT}`, role: "img", "aria-label": label }, shape("path", { d: path.join(""), fill: "currentColor" }));
  }
  const { width, height, place } = gridLayout(1);
  const canvas = element("canvas", { role: "img", "aria-label": label, width, height });
  const ink = canvas.getContext("2d"), pixels = ink.createImageData(width, height);
  values.forEach((v, p) => {
    const [x, y] = place(p);
    pixels.data[4 * (y * width + x) + 3] = v; // black, with this opacity
  });
  ink.putImageData(pixels, 0, 0);
  return canvas;
}

// A histogram for each class.
function pictures() {
  const { kind, shown } = data.pictures;
  byId("pictures").replaceChildren(...shown.map(({ label, levels }) => element("figure", {},
    drawing(levels, `${kind} of ${data.classes[label]}`), element("figcaption", { title: data.classes[label] }, data.classes[label]))));
}

// Cells of an image, channels on top of each other, with those of the features that moved most.
const CELLS = { closest: "moved closest together", farthest: "moved farthest apart" };
function grid(image) {
  const { naturalWidth: width, naturalHeight: height } = image;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "cells" });
  const cell = (at, name) => {
    const column = at % gridColumns, row = Math.floor(at / gridColumns);
    return shape("rect", { class: name, x: (column * width) / gridColumns, y: (row * height) / gridRows,
      width: width / gridColumns, height: height / gridRows });
  };
  const n = gridRows * gridColumns;
  for (let at = 0; at < n; at++) svg.append(cell(at, "cell"));
  for (const name of Object.keys(CELLS))
    for (const at of new Set(data.moved[name].flat().map((p) => p % n))) svg.append(cell(at, name));
  return svg;
}

// An image file, with the cells that its features count if they are on a grid.
function photograph(picture, label) {
  const image = element("img", { alt: label }), frame_ = element("div", { class: "photo" }, image);
  if (data.grid) image.addEventListener("load", () => frame_.append(grid(image)), { once: true });
  image.src = picture;
  return frame_;
}

function card(example) {
  const part = (title, { levels, label, name, picture }, isRight) => element("div", { class: isRight === null ? "" : isRight ? "right" : "wrong", title: name },
    picture ? photograph(picture, `${title}: ${name}`) : drawing(levels, `${title}: ${data.classes[label]}`),
    element("span", {}, title), element("b", { title: data.classes[label] }, (isRight === null ? "" : isRight ? "✓ " : "✗ ") + data.classes[label]));
  const truth = example.query.label;
  return element("article", { class: "card " + example.kind },
    element("h3", {}, `${WORDS[example.kind]}: ${example.query.name}`),
    element("div", { class: "trio" },
      part("histogram", example.query, null),
      part("before", example.before, example.before.label === truth),
      part("after", example.after, example.after.label === truth)));
}

function examples() {
  const { counts, n_changed, n_test, shown } = data.examples;
  byId("changed").textContent = `Compared with ${data.before}, learning changed the nearest training histogram of ${n_changed} of ${n_test} test histograms: ` +
    `from a wrong class to the right one for ${counts.mended} (corrected), and the reverse for ${counts.spoiled} (new errors). Only the nearest neighbor counts here; the verdict above counts the votes of ${data.kappa}.`;
  if (data.grid && data.moved.closest.length + data.moved.farthest.length && shown.some((e) => e.query.picture))
    byId("cells").append("Cells on the images: ", ...Object.entries(CELLS).flatMap(([name, words], k) =>
      [...(k ? [", "] : []), element("span", { class: "swatch " + name }), " " + words]), ".");
  const show = (kind) => byId("cards").replaceChildren(...shown.filter((e) => !kind || e.kind === kind).map(card));
  const kinds = ["", ...Object.keys(WORDS).filter((kind) => shown.some((e) => e.kind === kind))];
  const buttons = kinds.map((kind) => element("button", { type: "button", "aria-pressed": String(!kind), onclick: (event) => {
    for (const each of buttons) each.setAttribute("aria-pressed", String(each === event.currentTarget));
    show(kind);
  } }, kind ? `${WORDS[kind]} (${shown.filter((e) => e.kind === kind).length} of ${counts[kind]})` : "All"));
  if (shown.length) byId("filter").append(...buttons);
  show("");
}

// With many classes of long names, columns have the numbers of the rows.
const numbered = data.classes.length > 6 && Math.max(...data.classes.map((label) => label.length)) > 8;
function confusion(name) {
  const { confusion: counts } = data.curves.find((curve) => curve.name === name);
  const heads = data.classes.map((label, k) => element("th", { scope: "col", title: label, "aria-label": label }, numbered ? String(k + 1) : label));
  const rows = counts.map((row, i) => {
    const total = row.reduce((a, b) => a + b, 0) || 1;
    const head = element("th", { scope: "row" }, numbered ? element("span", { class: "muted" }, `${i + 1} `) : "", data.classes[i]);
    return element("tr", {}, head, ...row.map((n, j) => {
      const ink = i === j ? "--good" : "--bad";
      return element("td", { class: n ? "" : "muted", title: `${percent(n / total)} of ${data.classes[i]}: ${data.classes[j]}`, style: `background:color-mix(in srgb, var(${ink}) ${Math.round(n && 12 + 35 * n / total)}%, transparent)` }, String(n));
    }));
  });
  byId("matrix").replaceChildren(element("table", { class: data.classes.length > 6 ? "matrix dense" : "matrix" },
    element("thead", {}, element("tr", {}, element("th", {}, "true \\ predicted"), ...heads)), element("tbody", {}, ...rows)));
  byId("mixed").replaceChildren(...(data.classes.length > 6 ? mixed(counts) : []));
}

// The most frequent errors, in words.
const N_MIXED = 5;
function mixed(counts) {
  const wrong = counts.flatMap((row, i) => row.map((n, j) => [n, i, j])).filter(([n, i, j]) => n && i !== j);
  wrong.sort((a, b) => b[0] - a[0]);
  const items = wrong.slice(0, N_MIXED).map(([n, i, j]) =>
    element("li", {}, `${n} of ${counts[i].reduce((a, b) => a + b, 0)} ${data.classes[i]} \u2192 ${data.classes[j]}`));
  return items.length ? [element("h3", {}, "Most frequent errors"), element("ul", {}, ...items)] : [];
}

if (data.classes.length > 10) byId("confusion").classList.add("wide");
if (numbered) byId("explained").append(" Columns have the numbers of the rows.");
byId("shown").append(...data.curves.map((curve) => element("option", { value: curve.name }, curve.label)));
byId("shown").addEventListener("change", (event) => confusion(event.target.value));
pictures();
examples();
confusion("learned");
document.documentElement.dataset.ready = "true";
