"""What each class looks like to a metric: the barycenters of its histograms."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..barycenters import barycenter
from .axes import Display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

Floats = NDArray[np.float64]
Grid = tuple[int, int, int]  # channels, rows, columns
GAP = 1  # cells between images, and three rows for the name above each
HEAD = 3


@dataclass(eq=False, repr=False)
class BarycenterDisplay(Display):
    """Barycenters of classes: images if bins are on a grid, otherwise a heat map.

    The heat map has a row for each class and a column for each of the bins with most
    mass. Create it with :meth:`from_histograms`.

    Attributes
    ----------
    values : ndarray of shape (n_classes, d)
        The barycenters.
    classes : list of str
        Names of the classes.
    shape : tuple of int or None
        (channels, rows, columns), if bins are on a grid.
    bins : ndarray of int
        The bins of the heat map, those with most mass first.
    names : list of str
        Their names.
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.
    im_ : matplotlib image
        The heat map, or all images.

    Examples
    --------
    >>> from groundmetric.plotting import BarycenterDisplay
    >>> X = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    >>> line = [[0, 1, 4, 9], [1, 0, 1, 4], [4, 1, 0, 1], [9, 4, 1, 0]]
    >>> display = BarycenterDisplay.from_histograms(
    ...     X, ["a", "a", "b"], line, smoothing=0
    ... )
    >>> display.classes, display.values
    (['a', 'b'], array([[0., 1., 0., 0.],
           [0., 0., 0., 1.]]))
    """

    values: Floats
    _: KW_ONLY
    classes: list[str]
    shape: Grid | None
    bins: NDArray[np.int64]
    names: list[str]

    @classmethod
    def from_histograms(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        metric: Any,
        *,
        shape: tuple[int, ...] | None = None,
        names: Sequence[str] | None = None,
        n_bins: int = 20,
        smoothing: float = 0.1,
        n_jobs: int | None = None,
    ) -> BarycenterDisplay:
        """Compute the barycenter of each class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Histograms in rows.
        y : array-like of shape (n,)
            Labels.
        metric : array-like of shape (d, d) or learner
            As for :func:`~groundmetric.barycenter`; a learner's barycenters are those
            of histograms as it sees them.
        shape : (rows, columns) or (channels, rows, columns), optional
            The grid, if bins are on one, with columns varying fastest.
        names : sequence of str, optional
            Names of all bins; by default their numbers.
        n_bins : int, default=20
            Number of bins in the heat map, at most.
        smoothing : float, default=0.1
            Of the barycenters.
        n_jobs : int, optional
            Number of threads.

        Returns
        -------
        BarycenterDisplay
            Not drawn yet.
        """
        n, d = validation.as_histograms(X, "X").values.shape
        labels = validation.as_labels(y)
        validation.require_length(labels, n, "y")
        most = validation.as_count(n_bins, "n_bins", low=1)
        grid = None if shape is None else validation.as_grid(shape, d, "shape")
        called = validation.as_names(names, d, "names")
        classes = np.unique(labels)
        members = classes[:, None] == labels
        values = barycenter(X, metric, members, smoothing, n_jobs=n_jobs)
        bins = np.argsort(-values.sum(axis=0), kind="stable")[:most]
        return cls(
            values,
            classes=[str(label) for label in classes],
            shape=grid,
            bins=bins,
            names=[called[p] for p in bins],
        )

    def plot(self, ax: Axes | None = None, *, cmap: str = "Greys") -> BarycenterDisplay:
        """Draw the barycenters.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.
        cmap : str, default="Greys"
            Colors.

        Returns
        -------
        BarycenterDisplay
            The display itself, with ``ax_``, ``figure_`` and ``im_``.
        """
        axes, grid = self._open(ax), self.shape
        picture = (
            self.values[:, self.bins] if grid is None else _mosaic(self.values, grid)
        )
        self.im_: AxesImage = axes.imshow(
            picture, cmap=cmap, interpolation="nearest", vmin=0.0
        )
        if grid is None:
            axes.set_aspect("auto")
            axes.set_yticks(range(len(self.classes)), self.classes)
            axes.set_xticks(range(len(self.names)), self.names, rotation=90)
            return self
        middle = (_tile(grid)[1] - 1) / 2
        for (top, left), name in zip(
            _corners(grid, len(self.classes)), self.classes, strict=True
        ):
            at = left + middle, top - 0.7
            axes.text(*at, name, ha="center", va="bottom", fontsize="small")
        self._bare()
        return self


def _tile(grid: Grid) -> tuple[int, int]:
    """Rows and columns of the image of a class; channels are side by side."""
    channels, rows, columns = grid
    return rows, channels * (columns + GAP) - GAP


def _corners(grid: Grid, n: int) -> list[tuple[int, int]]:
    """Row and column at which the image of each class begins."""
    rows, columns = _tile(grid)
    across = math.ceil(math.sqrt(n * (rows + HEAD) / (columns + GAP)))
    return [
        (HEAD + k // across * (rows + HEAD), k % across * (columns + GAP))
        for k in range(n)
    ]


def _mosaic(values: Floats, grid: Grid) -> Floats:
    """Arrange the images of all classes in one."""
    corners, (rows, columns) = _corners(grid, len(values)), _tile(grid)
    bottom, right = np.max(corners, axis=0)
    whole = np.full((bottom + rows, right + columns), np.nan)
    width = grid[2]
    for (top, left), row in zip(corners, values, strict=True):
        for c, channel in enumerate(row.reshape(grid)):
            start = left + c * (width + GAP)
            whole[top : top + rows, start : start + width] = channel
    return whole
