"""A metric as a heat map, its features ordered so that near ones stand together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import validation
from ._arrangement import leaf_order
from .axes import COLORS, as_metric, axes_or_new, bare, fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import FigureBase
    from matplotlib.image import AxesImage
    from numpy.typing import ArrayLike, NDArray

MOST_NAMES = 40  # that can be read beside a heat map


class MetricDisplay:
    """Heat map of a metric between features.

    Make it with :meth:`from_estimator` or :meth:`from_metric`.

    Attributes
    ----------
    metric : ndarray of shape (d, d)
        The metric.
    order : ndarray of shape (d,)
        The features as they are drawn, from left to right.
    names : list of str or None
        Names of the features, in their own order.
    ax_, figure_ : matplotlib's
        Where it was drawn.
    im_, colorbar_ : matplotlib's
        What was drawn.

    Examples
    --------
    >>> from groundmetric.plotting import MetricDisplay
    >>> M = [[0, 3, 1, 3], [3, 0, 3, 1], [1, 3, 0, 3], [3, 1, 3, 0]]
    >>> display = MetricDisplay.from_metric(M)  # 0 is near to 2, and 1 to 3
    >>> sorted(int(p) for p in display.order[:2]) in ([0, 2], [1, 3])
    True
    >>> display.plot().im_.get_array().shape
    (4, 4)
    """

    def __init__(
        self,
        metric: NDArray[np.float64],
        *,
        order: NDArray[np.int64],
        names: list[str] | None = None,
    ) -> None:
        self.metric = metric
        self.order = order
        self.names = names

    @classmethod
    def from_metric(
        cls,
        metric: ArrayLike,
        *,
        order: ArrayLike = "leaves",
        names: object = None,
    ) -> MetricDisplay:
        """Order the features of a metric.

        Parameters
        ----------
        metric : array-like of shape (d, d)
            The metric.
        order : "leaves" or array-like of shape (d,), default="leaves"
            How to order the features: by optimal leaf ordering of a hierarchical
            clustering, or as you say; ``range(d)`` leaves them as they are.
        names : list of str, optional
            Names of the features, drawn if they are few.

        Returns
        -------
        MetricDisplay
        """
        M = as_metric(metric)
        if names is not None:
            names = validation.as_names(names, len(M), "names")
        if isinstance(order, str) and order == "leaves":
            return cls(M, order=leaf_order(M), names=names)
        return cls(M, order=validation.as_order(order, len(M)), names=names)

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        *,
        order: ArrayLike = "leaves",
        names: object = None,
    ) -> MetricDisplay:
        """Order the features of a learned metric; options as :meth:`from_metric` has.

        Parameters
        ----------
        estimator : estimator
            Has ``metric_``, as a fitted :class:`~groundmetric.GroundMetricLearning`.
        order, names
            As in :meth:`from_metric`; names that the estimator saw are taken.

        Returns
        -------
        MetricDisplay
        """
        metric = fitted(estimator, "metric_")
        if names is None:
            names = getattr(estimator, "feature_names_in_", None)
        return cls.from_metric(metric, order=order, names=names)

    def plot(
        self, ax: Axes | None = None, *, cmap: str = COLORS, colorbar: bool = True
    ) -> MetricDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure if None.
        cmap : str
            Colors of distances; near ones are bright by default.
        colorbar : bool, default=True
            Whether to say what colors mean.

        Returns
        -------
        MetricDisplay
            This one, with ``ax_``, ``figure_``, ``im_`` and ``colorbar_``.
        """
        self.ax_: Axes = axes_or_new(ax)
        self.figure_: FigureBase = self.ax_.figure
        ordered = self.metric[np.ix_(self.order, self.order)]
        self.im_: AxesImage = self.ax_.imshow(
            ordered, cmap=cmap, interpolation="nearest"
        )
        bare(self.ax_)
        if self.names is not None and len(self.names) <= MOST_NAMES:
            shown = [self.names[p] for p in self.order]
            self.ax_.set_yticks(range(len(shown)), shown)
            self.ax_.set_xticks(range(len(shown)), shown, rotation=90)
            self.ax_.tick_params(length=0)
        self.colorbar_: Colorbar | None = None
        if colorbar:
            self.colorbar_ = self.figure_.colorbar(
                self.im_, ax=self.ax_, label="distance", shrink=0.8
            )
        return self
