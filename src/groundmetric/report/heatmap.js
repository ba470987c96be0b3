// The metric as a heat map: one pixel per pair, scaled up to the canvas.

const heatmap = byId("heatmap"), pen = heatmap.getContext("2d");
const image = element("canvas", { width: d, height: d });
const rankOf = new Int32Array(d); // position of each feature in the order
data.order.forEach((p, k) => { rankOf[p] = k; });
const cell = { row: 0, column: 0 }; // of the keyboard

function paint() {
  const ink = image.getContext("2d"), pixels = ink.createImageData(d, d);
  for (let i = 0, k = 0; i < d; i++)
    for (let j = 0; j < d; j++, k += 4) {
      const [r, g, b] = color(standing(distance(data.order[i], data.order[j])));
      pixels.data.set([r, g, b, 255], k);
    }
  ink.putImageData(pixels, 0, 0);
}

const heatView = zoomable(heatmap, heatmap.parentNode.querySelectorAll("[data-zoom]"), drawHeatmap,
  () => Array(2).fill((rankOf[view.feature] + 0.5) / d));
function drawHeatmap() {
  const side = Math.round(Math.min(900, Math.max(320, heatmap.clientWidth || 520)) * Math.min(2, devicePixelRatio || 1));
  if (heatmap.width !== side) heatmap.width = heatmap.height = side;
  const { x, y, size } = heatView;
  pen.imageSmoothingEnabled = false;
  pen.clearRect(0, 0, side, side);
  pen.drawImage(image, x * d, y * d, size * d, size * d, 0, 0, side, side);
  // Frame the row and the column of the chosen feature.
  const unit = side / (size * d), k = rankOf[view.feature];
  pen.strokeStyle = "#ff6a00";
  pen.lineWidth = Math.max(2, side / 300);
  pen.strokeRect(-9, (k - y * d) * unit, side + 18, unit);
  pen.strokeRect((k - x * d) * unit, -9, unit, side + 18);
}

const tellPair = (i, j) => {
  const p = data.order[i], q = data.order[j];
  return p === q ? data.names[p] : `${data.names[p]}\n${data.names[q]}\ndistance ${number(distance(p, q))}`;
};
function cellAt(event) {
  const [x, y] = heatView.at(event), limit = (v) => Math.max(0, Math.min(d - 1, Math.floor(v * d)));
  return [limit(y), limit(x)];
}
heatmap.addEventListener("pointermove", (event) => {
  showTip(tellPair(...cellAt(event)), event.clientX, event.clientY);
});
heatmap.addEventListener("pointerleave", hideTip);
heatmap.addEventListener("blur", hideTip);
heatmap.addEventListener("click", (event) => {
  if (!heatView.dragged) change({ feature: data.order[cellAt(event)[0]] });
});
heatmap.addEventListener("keydown", (event) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (event.key === "Enter" || event.key === " ") change({ feature: data.order[cell.row] });
  else if (step) {
    cell.row = Math.max(0, Math.min(d - 1, cell.row + step[0]));
    cell.column = Math.max(0, Math.min(d - 1, cell.column + step[1]));
    const box = heatmap.getBoundingClientRect(), place = (k, from) => ((k + 0.5) / d - from) / heatView.size;
    showTip(tellPair(cell.row, cell.column), box.left + place(cell.column, heatView.x) * box.width, box.top + place(cell.row, heatView.y) * box.height);
  } else return;
  event.preventDefault();
});

function gradient() {
  const ink = byId("gradient").getContext("2d");
  for (let k = 0; k < 128; k++) {
    ink.fillStyle = css(color(k / 127));
    ink.fillRect(k, 0, 1, 1);
  }
}

watchers.push((what) => {
  if (what.which || what.scale) { rescale(); paint(); }
  drawHeatmap();
});
addEventListener("resize", drawHeatmap);
gradient();
rescale();
paint();
