"""A metric as a heat map, ordered so that close features are next to each other."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import validation
from ._layouts import leaf_order
from ._names import name_columns, name_rows
from .axes import COLORS, MetricPicture, as_metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

MOST_NAMES = 40  # more would not be readable beside a heat map
LONG = 12  # characters: columns have numbers if a name is longer


@dataclass(eq=False, repr=False)
class MetricDisplay(MetricPicture):
    """Heat map of a metric between features.

    Create it with :meth:`from_estimator` or :meth:`from_metric`.

    Attributes
    ----------
    metric : ndarray of shape (d, d)
        The metric.
    order : ndarray of shape (d,)
        The features in the order in which they are drawn.
    names : list of str or None
        Names of the features, in their original order.
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.
    im_, colorbar_ : matplotlib artists
        The image and its colorbar.

    Examples
    --------
    >>> from groundmetric.plotting import MetricDisplay
    >>> M = [[0, 3, 1, 3], [3, 0, 3, 1], [1, 3, 0, 3], [3, 1, 3, 0]]
    >>> display = MetricDisplay.from_metric(M)  # 0 is close to 2, and 1 to 3
    >>> sorted(int(p) for p in display.order[:2]) in ([0, 2], [1, 3])
    True
    >>> display.plot().im_.get_array().shape
    (4, 4)
    """

    metric: NDArray[np.float64]
    _: KW_ONLY
    order: NDArray[np.int64]
    names: list[str] | None = None

    @classmethod
    def from_metric(
        cls, metric: ArrayLike, *, order: ArrayLike = "leaves", names: object = None
    ) -> MetricDisplay:
        """Order the features of a metric.

        Parameters
        ----------
        metric : array-like of shape (d, d)
            The metric.
        order : "leaves" or array-like of shape (d,), default="leaves"
            Order of the features: "leaves" for optimal leaf ordering of a hierarchical
            clustering, or a permutation; ``range(d)`` keeps the original order.
        names : list of str, optional
            Names of the features; drawn if there are at most 40, as large as there is
            room. If one has more than 12 characters, rows have a number and a name,
            and columns the number.

        Returns
        -------
        MetricDisplay
            Not drawn yet.
        """
        M = as_metric(metric)
        if names is not None:
            names = validation.as_names(names, len(M), "names")
        if isinstance(order, str) and order == "leaves":
            return cls(M, order=leaf_order(M), names=names)
        return cls(M, order=validation.as_order(order, len(M)), names=names)

    def plot(
        self, ax: Axes | None = None, *, cmap: str = COLORS, colorbar: bool = True
    ) -> MetricDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.
        cmap : str
            Color map; by default small distances are bright.
        colorbar : bool, default=True
            Whether to draw a colorbar.

        Returns
        -------
        MetricDisplay
            The display itself, with ``ax_``, ``figure_``, ``im_`` and ``colorbar_``.
        """
        axes = self._open(ax)
        ordered = self.metric[np.ix_(self.order, self.order)]
        self._image(ordered, cmap, "distance" if colorbar else None)
        self._bare()
        if self.names is not None and len(self.names) <= MOST_NAMES:
            axes.tick_params(length=0, pad=2)
            self._name([self.names[p] for p in self.order])
        return self

    def _name(self, shown: list[str]) -> None:
        """Write names at the rows, and names or numbers at the columns."""
        below = shown
        if max(map(len, shown)) > LONG:
            below = [str(k + 1) for k in range(len(shown))]
            shown = [
                f"{name} {number}" for name, number in zip(shown, below, strict=True)
            ]
        every = name_rows(self.ax_, shown, leave_out=True)
        name_columns(self.ax_, below, every)
        name_columns(self.ax_, below, name_rows(self.ax_, shown, leave_out=True))
