// Data, helpers, the tooltip, the theme, and the state that all plots share.

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const d = data.names.length;
const NS = byId("plane").namespaceURI;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) node.setAttribute(name, value);
  }
  node.append(...children); // strings become text, never markup
  return node;
}
const element = (tag, attributes, ...children) =>
  fill(document.createElement(tag), attributes, children);
const shape = (tag, attributes, ...children) =>
  fill(document.createElementNS(NS, tag), attributes, children);

const percent = (share, digits = 1) => (100 * share).toFixed(digits) + " %";
const number = (value) =>
  value === 0 ? "0" : Math.abs(value) < 1e-3 || Math.abs(value) >= 1e4
    ? value.toExponential(2) : value.toPrecision(3);

// The tooltip; screen readers announce it too.
const tip = byId("tip");
function showTip(text, x, y) {
  if (tip.textContent !== text) tip.textContent = text;
  tip.hidden = false;
  const box = tip.getBoundingClientRect();
  tip.style.left = Math.max(4, Math.min(x + 14, innerWidth - box.width - 8)) + "px";
  tip.style.top = Math.max(4, y + 18 + box.height > innerHeight ? y - box.height - 12 : y + 18) + "px";
}
const hideTip = () => { tip.hidden = true; };

// Light or dark: the system's setting, until the button overrides it.
const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (document.documentElement.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
function labelTheme() {
  byId("theme").textContent = isDark() ? "Light" : "Dark";
  byId("theme").setAttribute("aria-pressed", String(isDark()));
  document.documentElement.classList.toggle("is-dark", isDark());
}
byId("theme").addEventListener("click", () => {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  labelTheme();
});
dark.addEventListener("change", labelTheme);
labelTheme();

byId("print").addEventListener("click", () => print());
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});

// Bytes and distances. Pairs p < q are stored row by row.
function bytes(text) {
  return Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
}
function unpack({ unit, levels }) {
  const raw = bytes(levels), values = new Float64Array(d * d);
  let k = 0;
  for (let p = 0; p < d; p++)
    for (let q = p + 1; q < d; q++, k += 2)
      values[p * d + q] = values[q * d + p] = unit * (raw[k] + 256 * raw[k + 1]);
  return values;
}

// What all plots show: the metric, the chosen feature, the color scale.
const view = { which: "learned", scale: "value", feature: data.order[0], metrics: {} };
for (const name of Object.keys(data.metrics)) view.metrics[name] = unpack(data.metrics[name]);
const distance = (p, q) => view.metrics[view.which][p * d + q];
const watchers = [];
function change(what) {
  Object.assign(view, what);
  for (const watcher of watchers) watcher(what);
}

// Reversed viridis: small distances are bright.
const STOPS = ["fde725", "b5de2b", "6ece58", "35b779", "1f9e89", "26828e", "31688e", "3e4989", "482878", "440154"]
  .map((hex) => [0, 2, 4].map((k) => parseInt(hex.slice(k, k + 2), 16)));
function color(share) {
  const at = Math.max(0, Math.min(1, share)) * (STOPS.length - 1);
  const k = Math.min(STOPS.length - 2, Math.floor(at));
  return STOPS[k].map((x, c) => Math.round(x + (at - k) * (STOPS[k + 1][c] - x)));
}
const css = (rgb) => `rgb(${rgb.join(",")})`;
let sorted = [];
function rescale() {
  sorted = Float64Array.from(view.metrics[view.which]).sort();
  const byValue = view.scale === "value";
  byId("low").textContent = byValue ? "0" : "closest";
  byId("high").textContent = byValue ? number(sorted[sorted.length - 1]) : "farthest";
}
// A distance on a scale from 0 to 1: by value, or by rank.
function standing(value) {
  const last = sorted.length - 1;
  if (view.scale === "value") return sorted[last] ? value / sorted[last] : 0;
  let low = d, high = sorted.length; // skip the zeros of the diagonal
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1; else high = middle;
  }
  return value ? (low - d) / Math.max(1, last - d) : 0;
}

// A view of the unit square to zoom and drag; buttons zoom around the focus.
function zoomable(node, buttons, redraw, focus) {
  const window_ = { x: 0, y: 0, size: 1 };
  const clamp = () => {
    window_.size = Math.max(4 / Math.max(d, 8), Math.min(1, window_.size));
    for (const axis of ["x", "y"]) window_[axis] = Math.max(0, Math.min(1 - window_.size, window_[axis]));
    redraw();
  };
  const zoom = (factor, u = 0.5, v = 0.5) => {
    const before = window_.size;
    window_.size = Math.max(4 / Math.max(d, 8), Math.min(1, before * factor));
    window_.x += u * (before - window_.size);
    window_.y += v * (before - window_.size);
    clamp();
  };
  for (const button of buttons)
    button.addEventListener("click", () => {
      const [x, y] = focus();
      window_.x = x - window_.size / 2;
      window_.y = y - window_.size / 2;
      zoom({ in: 0.6, out: 1 / 0.6, all: 1e9 }[button.dataset.zoom]);
    });
  const inside = (event) => {
    const box = node.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  node.addEventListener("dblclick", (event) => zoom(0.6, ...inside(event)));
  node.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return; // a plain wheel scrolls the page
    event.preventDefault();
    zoom(event.deltaY < 0 ? 0.8 : 1.25, ...inside(event));
  }, { passive: false });
  let held = null;
  node.addEventListener("pointerdown", (event) => { held = [...inside(event), window_.x, window_.y]; window_.dragged = false; });
  addEventListener("pointerup", () => { held = null; });
  node.addEventListener("pointermove", (event) => {
    if (!held || window_.size === 1) return;
    const [u, v] = inside(event);
    if (Math.abs(u - held[0]) + Math.abs(v - held[1]) > 0.01) window_.dragged = true;
    window_.x = held[2] - (u - held[0]) * window_.size;
    window_.y = held[3] - (v - held[1]) * window_.size;
    clamp();
  });
  // From the pointer to the unit square.
  window_.at = (event) => {
    const [u, v] = inside(event);
    return [window_.x + u * window_.size, window_.y + v * window_.size];
  };
  return window_;
}
