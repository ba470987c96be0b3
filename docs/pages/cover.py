"""The picture in the README and on the front page: the demo's task and its result."""

from hashlib import sha256

import digits
import matplotlib.pyplot as plt
import numpy as np

from groundmetric.experiments.names import LABELS
from groundmetric.experiments.splits import Data
from groundmetric.plotting import GridMetricDisplay, MetricDisplay
from groundmetric.report import _demo

COVER = digits.DOCS / "cover.png"
SOURCE = "Source"  # the metadata field that identifies the results shown


def digest() -> str:
    """Fingerprint the results."""
    return sha256(digits.RESULTS.read_bytes()).hexdigest()


def draw() -> None:
    """Draw images, errors, and the metric of the first split."""
    plt.switch_backend("agg")
    first = _demo.measure(_demo.data_of(_demo.DIGITS, _demo.N_EACH), jobs=-1)
    figure, (images, bars, pixel, metric) = plt.subplots(
        1, 4, figsize=(12, 3), width_ratios=(1, 1, 1.1, 1.2), layout="constrained"
    )
    _draw_images(images, first.data)
    _draw_errors(bars, digits.results()[0])
    at = int(_demo.costs_of_ink(first.learner.metric_, first.data).argmax())
    shape = (_demo.SIDE, _demo.SIDE)
    GridMetricDisplay.from_estimator(first.learner, shape, feature=at).plot(pixel)
    pixel.set_title("distances from one pixel")
    MetricDisplay.from_estimator(first.learner).plot(metric)
    metric.set_title("the learned metric")
    figure.savefig(COVER, dpi=100, metadata={SOURCE: digest()})
    plt.close(figure)


def _draw_images(ax: plt.Axes, data: Data) -> None:
    """Show some training images of each digit, as histograms of ink."""
    side, n = _demo.SIDE, len(_demo.DIGITS)
    rows = [np.flatnonzero(data.y == digit)[:n] for digit in range(n)]
    tiles = data.train[np.concatenate(rows)].reshape(n, n, side, side)
    framed = np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1)))
    ax.imshow(framed.transpose(0, 2, 1, 3).reshape(n * (side + 2), -1), cmap="gray_r")
    ax.set_axis_off()
    ax.set_title("histograms of ink")


def _draw_errors(ax: plt.Axes, task: dict) -> None:
    """Show means as bars, training sets as dots."""
    names = ["learned", "l2", "chi2", "hellinger", "l1"]
    for k, name in enumerate(names):
        errors = 100 * np.array(task["errors"][name])
        color = "tab:orange" if name == "learned" else "lightgray"
        ax.barh(k, errors.mean(), color=color)
        ax.plot(errors, np.full(len(errors), k), "k.", markersize=3, alpha=0.4)
        ax.text(0.4, k, f"{errors.mean():.1f} %", va="center", fontsize=8)
    ax.set_xlabel("%")
    ax.set_yticks(range(len(names)), [LABELS[name] for name in names])
    ax.set_title(f"errors, {len(errors)} training sets")
