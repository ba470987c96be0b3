"""What the displays share: axes, colors, lines, colorbars, and checked input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from .. import validation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import FigureBase
    from matplotlib.image import AxesImage

Floats = NDArray[np.float64]
Made = TypeVar("Made", bound="MetricPicture")

NEAR, FAR = "#d55e00", "#0072b2"  # Okabe & Ito's colors suit all kinds of color vision
COLORS = "viridis_r"  # bright for small distances


def new_axes() -> Axes:
    """Return axes in a new pyplot figure."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib: pip install 'groundmetric[plot]'."
        ) from error
    axes: Axes = plt.subplots(layout="constrained")[1]
    return axes


class Display:
    """A picture on axes, kept as ``ax_`` in ``figure_`` once it is drawn."""

    ax_: Axes
    figure_: FigureBase

    def _open(self, ax: Axes | None) -> Axes:
        """Draw on these axes, or in a new figure."""
        self.ax_ = new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        return self.ax_

    def _segments(self, ends: Floats, *, color: str) -> LineCollection:
        """Draw straight lines between pairs of points, an array of shape (n, 2, 2)."""
        from matplotlib.collections import LineCollection

        drawn = LineCollection(list(ends), colors=color, linewidths=1.6, alpha=0.85)
        self.ax_.add_collection(drawn)
        return drawn

    def _bare(self) -> None:
        """Remove ticks and frame, which mean nothing here."""
        self.ax_.set(xticks=[], yticks=[])
        self.ax_.spines[:].set_visible(False)


class MetricPicture(Display):
    """A display of a metric, made with ``from_metric`` or :meth:`from_estimator`."""

    im_: AxesImage
    colorbar_: Colorbar | None
    _with_names = True  # whether from_metric takes names

    @classmethod
    def from_estimator(  # noqa: PYI019 - Self is of Python 3.11
        cls: type[Made],
        estimator: object,
        *args: Any,
        **options: Any,
    ) -> Made:
        """Display the metric that an estimator has learned.

        Parameters
        ----------
        estimator : estimator
            Has ``metric_``, such as a fitted
            :class:`~groundmetric.GroundMetricLearning`. Of smoothed learners, whose
            costs are squared distances, the distances between positions are shown.
        *args, **options
            Passed on to ``from_metric``. Names default to the feature names seen in
            ``fit``.

        Returns
        -------
        display
            Not drawn yet.
        """
        metric = fitted(estimator, "metric_")
        if not getattr(estimator, "_is_exact", True):
            positions = fitted(estimator, "embedding_")
            metric = cdist(positions, positions)
        if cls._with_names and options.get("names") is None:
            options["names"] = getattr(estimator, "feature_names_in_", None)
        made: Made = cls.from_metric(metric, *args, **options)  # type: ignore[attr-defined]
        return made

    def _image(self, picture: Floats, cmap: str, label: str | None) -> None:
        """Draw an array of distances, with a colorbar if it has a label."""
        self.im_ = self.ax_.imshow(picture, cmap=cmap, interpolation="nearest")
        self.colorbar_ = None
        if label is not None:
            self.colorbar_ = self.figure_.colorbar(
                self.im_, ax=self.ax_, label=label, shrink=0.8
            )


def as_metric(metric: ArrayLike) -> Floats:
    """Check a metric between features."""
    found = validation.as_square(metric, "metric")
    validation.require_metric(found, "metric")
    return found


def fitted(estimator: Any, attribute: str) -> Any:
    """Return what the estimator has learned."""
    if not hasattr(estimator, attribute):
        raise ValueError(
            f"estimator is {estimator!r}, which has no {attribute}; fit it first."
        )
    return getattr(estimator, attribute)
