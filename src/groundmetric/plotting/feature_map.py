"""Features as points in the plane, at distances close to those of the metric."""

from __future__ import annotations

import textwrap
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from .. import validation
from ._layouts import PlanarMap, extreme_pairs, planar_map
from ._names import from_outside, settle
from .axes import FAR, NEAR, MetricPicture, as_metric

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.text import Annotation
    from numpy.typing import ArrayLike, NDArray


POINT = 2.5  # radius of a point, in points of the printer
APART = 4  # distance of a name from its point
LARGEST_NAME = 8.0  # points
LONGEST_LINE = 24  # characters
# Right or left, up or down, in order of preference.
SIDES = ((1, 1), (1, -1), (-1, 1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1))


@dataclass(eq=False, repr=False)
class FeatureMapDisplay(MetricPicture):
    """Map of the features, by metric multidimensional scaling.

    Create it with :meth:`from_estimator` or :meth:`from_metric`.

    Attributes
    ----------
    map : PlanarMap
        Positions, and the stress of the map: how much its distances differ from those
        of the metric.
    nearest : ndarray of shape (n_pairs, 2)
        The closest pairs of features.
    names : list of str or None
        Names of the features.
    ax_, figure_ : matplotlib axes and figure
        Where the display was drawn.
    points_, lines_, texts_ : matplotlib artists
        The features, the lines between the closest pairs, and the names; those without
        room are invisible.

    Examples
    --------
    >>> from groundmetric.plotting import FeatureMapDisplay
    >>> square = [[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]]
    >>> display = FeatureMapDisplay.from_metric(square, n_pairs=2)
    >>> round(display.map.stress, 2)  # a rectangle of 3 x 4: the map is perfect
    0.0
    >>> display.nearest
    array([[0, 1],
           [2, 3]])
    """

    map: PlanarMap
    _: KW_ONLY
    nearest: NDArray[np.int64]
    names: list[str] | None = None

    @classmethod
    def from_metric(
        cls, metric: ArrayLike, *, names: object = None, n_pairs: int = 0
    ) -> FeatureMapDisplay:
        """Compute the positions of the features.

        Parameters
        ----------
        metric : array-like of shape (d, d)
            The metric.
        names : list of str, optional
            Names of the features, drawn next to them, where there is room: those at
            the edges of the map first.
        n_pairs : int, default=0
            Number of closest pairs to connect.

        Returns
        -------
        FeatureMapDisplay
            Not drawn yet.
        """
        M = as_metric(metric)
        count = validation.as_count(n_pairs, "n_pairs", low=0)
        if names is not None:
            names = validation.as_names(names, len(M), "names")
        return cls(planar_map(M), nearest=extreme_pairs(M, count), names=names)

    def plot(self, ax: Axes | None = None) -> FeatureMapDisplay:
        """Draw the map, with its stress below.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        FeatureMapDisplay
            The display itself, with ``ax_``, ``figure_``, ``points_``, ``lines_`` and
            ``texts_``.
        """
        axes, places = self._open(ax), self.map.positions
        self.lines_: LineCollection = self._segments(places[self.nearest], color=NEAR)
        self.points_: PathCollection = axes.scatter(
            places[:, 0], places[:, 1], s=22, color=FAR, edgecolors="white", zorder=2
        )
        self.texts_: list[Annotation] = [
            axes.annotate(
                textwrap.fill(name, LONGEST_LINE) or name,
                place,
                (0, 0),
                textcoords="offset points",
                size=_size_of_names(),
            )
            for name, place in zip(self.names or [], places, strict=False)
        ]
        axes.set_aspect("equal", "datalim")
        self._bare()
        axes.set_xlabel(f"stress {self.map.stress:.2f}")
        self._arrange()
        return self

    def _arrange(self) -> None:
        """Move names around their points until they cover nothing, or hide them."""
        from matplotlib.transforms import Bbox

        axes, page = self.ax_, self.ax_.figure.bbox
        for text in self.texts_:
            text.set_in_layout(False)  # so that it stays as it is
        settle(axes)
        points = axes.transData.transform(self.map.positions)
        reach = POINT * self.figure_.dpi / 72  # type: ignore[attr-defined]  # pixels
        taken = [
            Bbox.from_extents(*(place - reach), *(place + reach)) for place in points
        ]
        for at in from_outside(self.map.positions) if self.texts_ else ():
            text = self.texts_[at]
            for side in SIDES:
                _move(text, side)
                box = text.get_window_extent()
                inside = page.contains(box.x0, box.y0) and page.contains(box.x1, box.y1)
                if inside and not box.count_overlaps(taken):
                    taken.append(box)
                    break
            else:
                text.set_visible(False)


def _size_of_names() -> float:
    """Names are smaller than other text."""
    import matplotlib as mpl

    return min(LARGEST_NAME, float(mpl.rcParams["font.size"]) - 1)


def _move(text: Annotation, side: tuple[int, int]) -> None:
    """Place a name to one side of its point."""
    across, up = side
    text.set_position((APART * across, APART * up))
    text.set_horizontalalignment(("right", "center", "left")[across + 1])
    text.set_verticalalignment(("top", "center", "bottom")[up + 1])
