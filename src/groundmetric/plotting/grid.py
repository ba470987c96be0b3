"""A metric between features on a grid, such as pixels or cells of GIST."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ._layouts import extreme_pairs
from .axes import COLORS, FAR, NEAR, MetricPicture, as_metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(eq=False, repr=False)
class GridMetricDisplay(MetricPicture):
    """Image of the distances from one feature to all others, each at its grid position.

    Channels, such as the orientations of GIST, are placed side by side. Create it with
    :meth:`from_estimator` or :meth:`from_metric`.

    Attributes
    ----------
    values : ndarray of shape (d,)
        Distances to the chosen feature, or mean distances to all others.
    shape : tuple of int
        (channels, rows, columns).
    feature : int or None
        The chosen feature.
    nearest, farthest : ndarray of shape (n_pairs, 2)
        Pairs of features to connect.
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.
    im_, colorbar_, lines_ : matplotlib artists
        The image, its colorbar, and the lines of the closest and the farthest pairs.

    Examples
    --------
    >>> from groundmetric.plotting import GridMetricDisplay
    >>> line = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> GridMetricDisplay.from_metric(line, (1, 3), feature=0).values
    array([0., 1., 2.])
    >>> GridMetricDisplay.from_metric(line, (1, 3)).values
    array([1.5, 1. , 1.5])
    """

    values: Floats
    _: KW_ONLY
    shape: tuple[int, int, int]
    feature: int | None
    nearest: Indices
    farthest: Indices
    _with_names = False

    @classmethod
    def from_metric(
        cls,
        metric: ArrayLike,
        shape: tuple[int, ...] | None = None,
        *,
        feature: int | None = None,
        n_pairs: int = 0,
    ) -> GridMetricDisplay:
        """Choose what to draw.

        Parameters
        ----------
        metric : array-like of shape (d, d)
            The metric.
        shape : (rows, columns) or (channels, rows, columns)
            The grid; features are in C order, with columns varying fastest.
        feature : int, optional
            Draw distances to this feature; by default, the mean distance of each
            feature to the others.
        n_pairs : int, default=0
            Number of closest pairs, and of farthest pairs, to connect.

        Returns
        -------
        GridMetricDisplay
            Not drawn yet.
        """
        M = as_metric(metric)
        d = len(M)
        grid = validation.as_grid(shape, d, "shape")
        count = validation.as_count(n_pairs, "n_pairs", low=0)
        if feature is not None:
            feature = validation.as_position(feature, "feature", d)
        return cls(
            M.sum(axis=1) / max(d - 1, 1) if feature is None else M[feature].copy(),
            shape=grid,
            feature=feature,
            nearest=extreme_pairs(M, count),
            farthest=extreme_pairs(M, count, farthest=True),
        )

    def plot(
        self, ax: Axes | None = None, *, cmap: str = COLORS, colorbar: bool = True
    ) -> GridMetricDisplay:
        """Draw the image; parameters as for :meth:`MetricDisplay.plot`."""
        axes, places = self._open(ax), self._places()
        what = "mean distance" if self.feature is None else "distance"
        self._image(self._picture(), cmap, what if colorbar else None)
        self.lines_: list[LineCollection] = [
            self._segments(places[pairs], color=color)
            for pairs, color in ((self.nearest, NEAR), (self.farthest, FAR))
        ]
        if self.feature is not None:
            axes.plot(*places[self.feature], "o", mfc="none", mec=NEAR, mew=2)
        self._bare()
        return self

    def _picture(self) -> Floats:
        """Arrange channels in rows, with a gap between them."""
        places = self._places().astype(int)
        picture = np.full(places.max(axis=0)[::-1] + 1, np.nan)
        picture[places[:, 1], places[:, 0]] = self.values
        return picture

    def _places(self) -> Floats:
        """Column and row of each feature in the image."""
        _, rows, columns = self.shape
        channel, row, column = np.indices(self.shape).reshape(3, -1)
        across = math.ceil(math.sqrt(self.shape[0]))
        x = channel % across * (columns + 1) + column
        y = channel // across * (rows + 1) + row
        return np.column_stack([x, y]).astype(float)
