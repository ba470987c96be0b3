// Test histograms whose nearest neighbor changed, and the confusion matrix.

const WORDS = { mended: "Mended", spoiled: "Spoiled", changed: "Changed" };
const BAR_WIDTH = 120, BAR_HEIGHT = 70;

// A picture where features have places, bars where they have none.
function drawing(levels, label) {
  const values = bytes(levels);
  if (!data.grid) {
    const step = BAR_WIDTH / d;
    const path = Array.from(values, (v, p) => `M${(p * step).toFixed(2)},${BAR_HEIGHT}v${(-v / 255 * (BAR_HEIGHT - 4)).toFixed(1)}h${(step * 0.85).toFixed(2)}V${BAR_HEIGHT}z`);
    return shape("svg", { viewBox: `0 0 ${BAR_WIDTH} ${BAR_HEIGHT}`, role: "img", "aria-label": label }, shape("path", { d: path.join(""), fill: "currentColor" }));
  }
  const gap = channels > 1 ? 1 : 0;
  const canvas = element("canvas", { role: "img", "aria-label": label,
    width: Math.min(across, channels) * (gridColumns + gap) - gap,
    height: Math.ceil(channels / across) * (gridRows + gap) - gap });
  const ink = canvas.getContext("2d"), pixels = ink.createImageData(canvas.width, canvas.height);
  values.forEach((v, p) => {
    const channel = Math.floor(p / (gridRows * gridColumns)), rest = p % (gridRows * gridColumns);
    const x = (channel % across) * (gridColumns + gap) + (rest % gridColumns);
    const y = Math.floor(channel / across) * (gridRows + gap) + Math.floor(rest / gridColumns);
    pixels.data[4 * (y * canvas.width + x) + 3] = v; // black, more or less opaque
  });
  ink.putImageData(pixels, 0, 0);
  return canvas;
}

function card(example) {
  const part = (title, { levels, label }, isRight) => element("div", { class: isRight === null ? "" : isRight ? "right" : "wrong" },
    drawing(levels, `${title}: ${data.classes[label]}`),
    element("span", {}, title), element("b", { title: data.classes[label] }, (isRight === null ? "" : isRight ? "✓ " : "✗ ") + data.classes[label]));
  const truth = example.query.label;
  return element("article", { class: "card " + example.kind },
    element("h3", {}, `${WORDS[example.kind]}: test histogram ${example.row}`),
    element("div", { class: "trio" },
      part("histogram", example.query, null),
      part("before", example.before, example.before.label === truth),
      part("after", example.after, example.after.label === truth)));
}

function examples() {
  const { counts, n_changed, n_test, shown } = data.examples;
  byId("changed").textContent = `Compared with ${data.before}, the nearest training histogram is another for ${n_changed} of ${n_test} test histograms: ` +
    `${counts.mended} had one of a wrong class before and of their own after (mended), ${counts.spoiled} the other way round (spoiled). This is about the nearest one alone; the verdict above counts votes of ${data.kappa}.`;
  const show = (kind) => byId("cards").replaceChildren(...shown.filter((e) => !kind || e.kind === kind).map(card));
  const kinds = ["", ...Object.keys(WORDS).filter((kind) => shown.some((e) => e.kind === kind))];
  const buttons = kinds.map((kind) => element("button", { type: "button", "aria-pressed": String(!kind), onclick: (event) => {
    for (const each of buttons) each.setAttribute("aria-pressed", String(each === event.currentTarget));
    show(kind);
  } }, kind ? `${WORDS[kind]} (${shown.filter((e) => e.kind === kind).length} of ${counts[kind]})` : "All"));
  if (shown.length) byId("filter").append(...buttons);
  show("");
}

function confusion(name) {
  const { confusion: counts } = data.curves.find((curve) => curve.name === name);
  const head = element("tr", {}, element("th", {}, "true \\ voted"), ...data.classes.map((label) => element("th", { scope: "col", title: label }, label)));
  const rows = counts.map((row, i) => {
    const total = row.reduce((a, b) => a + b, 0) || 1;
    return element("tr", {}, element("th", { scope: "row" }, data.classes[i]), ...row.map((n, j) => {
      const ink = i === j ? "--good" : "--bad";
      return element("td", { class: n ? "" : "muted", title: `${percent(n / total)} of ${data.classes[i]}`, style: `background:color-mix(in srgb, var(${ink}) ${Math.round(n && 12 + 35 * n / total)}%, transparent)` }, String(n));
    }));
  });
  byId("matrix").replaceChildren(element("table", { class: data.classes.length > 6 ? "matrix dense" : "matrix" },
    element("thead", {}, head), element("tbody", {}, ...rows)));
}

byId("judge").append(...data.curves.map((curve) => element("option", { value: curve.name }, curve.label)));
byId("judge").addEventListener("change", (event) => confusion(event.target.value));
examples();
confusion("learned");
document.documentElement.dataset.ready = "true";
