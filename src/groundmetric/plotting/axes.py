"""What the pictures of a metric share: axes, colors, lines, and judged input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .canvas import new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

Floats = NDArray[np.float64]

NEAR, FAR = "#d55e00", "#0072b2"  # Okabe & Ito's, told apart by all eyes
COLORS = "viridis_r"  # of distances: near is bright


def axes_or_new(ax: Axes | None) -> Axes:
    """Take these axes, or make a figure with some."""
    return new_axes() if ax is None else ax


def segments(ax: Axes, ends: Floats, *, color: str) -> LineCollection:
    """Draw straight lines between pairs of points, an array of shape (n, 2, 2)."""
    from matplotlib.collections import LineCollection  # noqa: PLC0415 - optional

    drawn = LineCollection(list(ends), colors=color, linewidths=1.6, alpha=0.85)
    ax.add_collection(drawn)
    return drawn


def bare(ax: Axes) -> None:
    """Remove what says nothing about a picture: ticks and frame."""
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)


def as_metric(metric: ArrayLike) -> Floats:
    """Judge a metric between features."""
    found = validation.as_square(metric, "metric")
    validation.require_metric(found, "metric")
    return found


def fitted(estimator: Any, attribute: str) -> Any:  # noqa: ANN401 - any estimator
    """Return what the estimator has learned."""
    if not hasattr(estimator, attribute):
        raise ValueError(
            f"estimator is {estimator!r}, which has no {attribute}; fit it first."
        )
    return getattr(estimator, attribute)
