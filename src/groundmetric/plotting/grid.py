"""A metric between features that lie on a grid, such as pixels or cells of GIST."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ._arrangement import extreme_pairs
from .axes import COLORS, FAR, NEAR, as_metric, axes_or_new, bare, fitted, segments

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection
    from matplotlib.colorbar import Colorbar
    from matplotlib.figure import FigureBase
    from matplotlib.image import AxesImage

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class GridMetricDisplay:
    """Picture of the distances from one feature to all, where each feature has a place.

    Channels, such as the orientations of GIST, stand beside each other. Make it with
    :meth:`from_estimator` or :meth:`from_metric`.

    Attributes
    ----------
    values : ndarray of shape (d,)
        What is drawn: distances to the feature, or mean distances to all others.
    shape : tuple of int
        (channels, rows, columns).
    feature : int or None
        The chosen feature.
    nearest, farthest : ndarray of shape (n_pairs, 2)
        Pairs of features to be connected.
    ax_, figure_ : matplotlib's
        Where it was drawn.
    im_, colorbar_, lines_ : matplotlib's
        What was drawn; the lines of the nearest pairs, then of the farthest.

    Examples
    --------
    >>> from groundmetric.plotting import GridMetricDisplay
    >>> line = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> GridMetricDisplay.from_metric(line, (1, 3), feature=0).values
    array([0., 1., 2.])
    >>> GridMetricDisplay.from_metric(line, (1, 3)).values
    array([1.5, 1. , 1.5])
    """

    def __init__(
        self,
        values: Floats,
        *,
        shape: tuple[int, int, int],
        feature: int | None,
        nearest: Indices,
        farthest: Indices,
    ) -> None:
        self.values = values
        self.shape = shape
        self.feature = feature
        self.nearest = nearest
        self.farthest = farthest

    @classmethod
    def from_metric(
        cls,
        metric: ArrayLike,
        shape: tuple[int, ...],
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
            The grid; features run over it in C order, columns fastest.
        feature : int, optional
            Draw distances to this one; if None, each feature's mean distance to others.
        n_pairs : int, default=0
            How many of the nearest pairs, and of the farthest, to connect.

        Returns
        -------
        GridMetricDisplay
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

    @classmethod
    def from_estimator(
        cls,
        estimator: object,
        shape: tuple[int, ...],
        *,
        feature: int | None = None,
        n_pairs: int = 0,
    ) -> GridMetricDisplay:
        """Choose what to draw of a learned metric; as :meth:`from_metric`.

        Parameters
        ----------
        estimator : estimator
            Has ``metric_``, as a fitted :class:`~groundmetric.GroundMetricLearning`.
        shape, feature, n_pairs
            As in :meth:`from_metric`.

        Returns
        -------
        GridMetricDisplay
        """
        metric = fitted(estimator, "metric_")
        return cls.from_metric(metric, shape, feature=feature, n_pairs=n_pairs)

    def plot(
        self, ax: Axes | None = None, *, cmap: str = COLORS, colorbar: bool = True
    ) -> GridMetricDisplay:
        """Draw the picture.

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
        GridMetricDisplay
            This one, with ``ax_``, ``figure_``, ``im_``, ``colorbar_``, ``lines_``.
        """
        self.ax_: Axes = axes_or_new(ax)
        self.figure_: FigureBase = self.ax_.figure
        self.im_: AxesImage = self.ax_.imshow(
            self._picture(), cmap=cmap, interpolation="nearest"
        )
        places = self._places()
        self.lines_: list[LineCollection] = [
            segments(self.ax_, places[pairs], color=color)
            for pairs, color in ((self.nearest, NEAR), (self.farthest, FAR))
        ]
        if self.feature is not None:
            x, y = places[self.feature]
            self.ax_.plot(x, y, "o", mfc="none", mec=NEAR, mew=2)
        bare(self.ax_)
        self.colorbar_: Colorbar | None = None
        if colorbar:
            what = "mean distance" if self.feature is None else "distance"
            self.colorbar_ = self.figure_.colorbar(
                self.im_, ax=self.ax_, label=what, shrink=0.8
            )
        return self

    def _picture(self) -> Floats:
        """Channels beside and below each other, with a gap between them."""
        places = self._places().astype(int)
        picture = np.full(places.max(axis=0)[::-1] + 1, np.nan)
        picture[places[:, 1], places[:, 0]] = self.values
        return picture

    def _places(self) -> Floats:
        """Column and row of each feature in the picture."""
        _, rows, columns = self.shape
        channel, row, column = np.indices(self.shape).reshape(3, -1)
        across = math.ceil(math.sqrt(self.shape[0]))
        x = channel % across * (columns + 1) + column
        y = channel // across * (rows + 1) + row
        return np.column_stack([x, y]).astype(float)
