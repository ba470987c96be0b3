// Forest of differences, curves over the number of neighbors, and the descent.

const HEIGHT = 300, LEFT = 58, RIGHT = 14, TOP = 12, BOTTOM = 42;
// As wide as there is room, so that text keeps its size on narrow screens.
const room = (id, most) => Math.max(260, Math.min(most, byId(id).clientWidth || most));
let WIDTH = 520;

// Round numbers within an interval.
function ticks(low, high, wanted = 5) {
  const raw = (high - low) / wanted || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= raw);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

// Intervals beside their names, or below them on narrow screens.
function forest() {
  const width = room("forest", 860), narrow = width < 640, step = narrow ? 52 : 34;
  const rows = data.differences, height = step * rows.length + 44;
  const left = narrow ? 10 : 180, right = narrow ? 10 : 190;
  const all = rows.flatMap((row) => [row.low, row.high, row.gain, 0]).map((x) => 100 * x);
  const pad = 0.06 * (Math.max(...all) - Math.min(...all)) || 1;
  const low = Math.min(...all) - pad, high = Math.max(...all) + pad;
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - right);
  const text = rows.map((row) => `${row.label}: ${(100 * row.gain).toFixed(1)} points`).join("; ");
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Errors saved by learning. " + text });
  for (const tick of ticks(low, high, narrow ? 5 : 7))
    svg.append(
      shape("line", { class: tick === 0 ? "axis" : "grid", x1: x(tick), x2: x(tick), y1: 4, y2: height - 34 }),
      shape("text", { x: x(tick), y: height - 14, "text-anchor": "middle" }, (tick > 0 ? "+" : "") + Number(tick.toFixed(6))),
    );
  rows.forEach((row, k) => {
    const y = 22 + step * k, bar = narrow ? y + 18 : y, group = shape("g", { class: "is-" + row.name });
    group.append(
      shape("text", { class: "strong", x: 0, y: y + 4 }, narrow ? row.label : "learned vs. " + row.label),
      shape("line", { class: "whisker", x1: x(100 * row.low), x2: x(100 * row.high), y1: bar, y2: bar }),
      shape("circle", { class: "dot", cx: x(100 * row.gain), cy: bar, r: 7 }),
      shape("text", { class: "value", x: width, y: y + 4, "text-anchor": "end" }, row.saved),
    );
    svg.append(group);
  });
  byId("forest").replaceChildren(svg);
}

// Axes, and functions from data to pixels.
function frame(label, { x, y, xName, yName, format }) {
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, tabindex: 0, role: "img", "aria-label": label });
  const px = (v) => LEFT + ((v - x[0]) / (x[1] - x[0] || 1)) * (WIDTH - LEFT - RIGHT);
  const py = (v) => HEIGHT - BOTTOM - ((v - y[0]) / (y[1] - y[0] || 1)) * (HEIGHT - TOP - BOTTOM);
  for (const tick of ticks(...y))
    svg.append(
      shape("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: py(tick), y2: py(tick) }),
      shape("text", { x: LEFT - 8, y: py(tick) + 4, "text-anchor": "end" }, format(tick)),
    );
  for (const tick of ticks(...x, 6).filter((t) => Number.isInteger(t) && t >= x[0]))
    svg.append(shape("text", { x: px(tick), y: HEIGHT - BOTTOM + 18, "text-anchor": "middle" }, String(tick)));
  svg.append(
    shape("line", { class: "axis", x1: LEFT, x2: WIDTH - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
    shape("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, xName),
  );
  if (yName) svg.append(shape("text", { x: LEFT, y: TOP - 2 }, yName));
  return { svg, px, py };
}

// A guide that follows the pointer or the arrow keys, and shows all values there.
function guided({ svg, px }, first, last, tell) {
  const guide = shape("line", { class: "guide", y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  svg.append(guide);
  let at = first;
  const show = (k, clientX, clientY) => {
    at = Math.max(first, Math.min(last, k));
    guide.setAttribute("x1", px(at));
    guide.setAttribute("x2", px(at));
    guide.setAttribute("visibility", "visible");
    const box = svg.getBoundingClientRect();
    showTip(tell(at), clientX ?? box.left + (px(at) / WIDTH) * box.width, clientY ?? box.top + 20);
  };
  const hide = () => { guide.setAttribute("visibility", "hidden"); hideTip(); };
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect();
    const u = ((event.clientX - box.left) / box.width) * WIDTH;
    const share = (u - LEFT) / (WIDTH - LEFT - RIGHT);
    show(Math.round(first + share * (last - first)), event.clientX, event.clientY);
  });
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("blur", hide);
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(at + step);
  });
}

const line = (points) => "M" + points.map(([u, v]) => `${u.toFixed(1)},${v.toFixed(1)}`).join("L");

const hidden = new Set();
function curves(id, field, label) {
  const node = byId(id);
  const shown = data.curves.filter((curve) => !hidden.has(curve.name) && curve[field].length);
  node.replaceChildren();
  if (!shown.length) { node.append("No distance is selected."); return; }
  const values = shown.flatMap((curve) => curve[field]);
  const n = shown[0][field].length;
  let low = Math.min(...values), high = Math.max(...values);
  const pad = 0.08 * (high - low) || 0.02;
  low = Math.max(0, low - pad);
  high = Math.min(1, high + pad);
  const chart = frame(label, { x: [1, Math.max(n, 2)], y: [low, high], xName: "neighbors", format: (t) => percent(t, high - low < 0.05 ? 1 : 0) });
  for (const curve of [...shown].reverse()) { // the learned one on top
    chart.svg.append(shape("path", { class: "curve is-" + curve.name, d: line(curve[field].map((v, k) => [chart.px(k + 1), chart.py(v)])) }));
    if (curve.name === "learned")
      curve[field].forEach((v, k) => chart.svg.append(shape("circle", { class: "dot is-learned", cx: chart.px(k + 1), cy: chart.py(v), r: 4 })));
  }
  guided(chart, 1, n, (k) =>
    [`${k} neighbor${k > 1 ? "s" : ""}`, ...shown.map((curve) => `${curve.label}: ${percent(curve[field][k - 1])}`)].join("\n"));
  node.append(chart.svg);
}

function drawCurves() {
  curves("errors", "errors", "Errors against the number of neighbors; the numbers are in the table below.");
  curves("recall", "recall", "Recall accuracy against the number of neighbors; the numbers are in the table below.");
}

function legend() {
  for (const curve of data.curves) {
    const button = element("button", { type: "button", class: "is-" + curve.name, "aria-pressed": "true" },
      element("span", { class: "key" }), curve.label);
    button.addEventListener("click", () => {
      const off = !hidden.has(curve.name);
      if (off) hidden.add(curve.name); else hidden.delete(curve.name);
      button.setAttribute("aria-pressed", String(!off));
      drawCurves();
    });
    byId("legend").append(button);
  }
}

function numbers() {
  const fields = [["errors", "Errors"], ["recall", "Recall accuracy"]], n = data.curves[0].errors.length;
  const columns = fields.flatMap(([field]) => data.curves.map((curve) => [curve, field]));
  const groups = fields.map(([, name]) => element("th", { scope: "colgroup", colspan: data.curves.length }, name));
  const heads = columns.map(([curve]) => element("th", { scope: "col" }, curve.label));
  const rows = Array.from({ length: n }, (_, k) => element("tr", {}, element("th", { scope: "row" }, String(k + 1)),
    ...columns.map(([curve, field]) => element("td", {}, k in curve[field] ? percent(curve[field][k]) : ""))));
  byId("numbers").append(element("table", {},
    element("thead", {}, element("tr", {}, element("td", {}), ...groups), element("tr", {}, element("th", { scope: "col" }, "Neighbors"), ...heads)),
    element("tbody", {}, ...rows)));
}

function descent() {
  if (!data.path) return; // the caption says why
  const { criterion, starts, best } = data.path;
  if (!criterion.length) { byId("path").textContent = "No step was taken: the metric is the initial one."; return; }
  const low = Math.min(...criterion), high = Math.max(...criterion), pad = 0.06 * (high - low) || 1;
  const chart = frame(`Criterion over ${criterion.length} steps, from ${number(criterion[0])} to ${number(criterion[best])}.`,
    { x: [0, Math.max(criterion.length - 1, 1)], y: [low - pad, high + pad], xName: "step", format: (t) => (t ? t.toExponential(1) : "0") });
  chart.svg.append(shape("path", { class: "curve is-learned", d: line(criterion.map((v, k) => [chart.px(k), chart.py(v)])) }));
  const inner = starts.length < criterion.length; // otherwise all steps are outer ones
  for (const k of inner ? starts : [])
    chart.svg.append(shape("circle", { class: "dot is-learned", cx: chart.px(k), cy: chart.py(criterion[k]), r: 4.5 }));
  chart.svg.append(shape("circle", { class: "ring", cx: chart.px(best), cy: chart.py(criterion[best]), r: 8 }));
  guided(chart, 0, criterion.length - 1, (k) =>
    `step ${k}${inner && starts.includes(k) ? ", an outer step begins" : ""}\ncriterion ${criterion[k].toExponential(3)}${k === best ? "\nthe minimum" : ""}`);
  byId("path").replaceChildren(chart.svg);
}

function drawCharts() {
  WIDTH = room("errors", 520);
  forest();
  drawCurves();
  descent();
}

legend();
numbers();
drawCharts();
let drawnAt = innerWidth;
addEventListener("resize", () => {
  if (innerWidth !== drawnAt) { drawnAt = innerWidth; drawCharts(); }
});
