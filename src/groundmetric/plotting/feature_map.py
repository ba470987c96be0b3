"""Features as points in the plane, as far apart as the metric says, or nearly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import validation
from ._arrangement import PlanarMap, extreme_pairs, planar_map
from .axes import FAR, NEAR, as_metric, axes_or_new, bare, fitted, segments

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.collections import LineCollection, PathCollection
    from matplotlib.figure import FigureBase
    from matplotlib.text import Annotation
    from numpy.typing import ArrayLike, NDArray


class FeatureMapDisplay:
    """Map of the features, by metric multidimensional scaling.

    Make it with :meth:`from_estimator` or :meth:`from_metric`.

    Attributes
    ----------
    map : PlanarMap
        Positions, and the stress of the map: how far its distances are from those of
        the metric.
    nearest : ndarray of shape (n_pairs, 2)
        The nearest pairs of features.
    names : list of str or None
        Names of the features.
    ax_, figure_ : matplotlib's
        Where it was drawn.
    points_, lines_, texts_ : matplotlib's
        What was drawn.

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

    def __init__(
        self,
        map: PlanarMap,  # noqa: A002 - what it is
        *,
        nearest: NDArray[np.int64],
        names: list[str] | None = None,
    ) -> None:
        self.map = map
        self.nearest = nearest
        self.names = names

    @classmethod
    def from_metric(
        cls, metric: ArrayLike, *, names: object = None, n_pairs: int = 0
    ) -> FeatureMapDisplay:
        """Find places in the plane.

        Parameters
        ----------
        metric : array-like of shape (d, d)
            The metric.
        names : list of str, optional
            Names of the features, drawn beside them.
        n_pairs : int, default=0
            How many of the nearest pairs to connect.

        Returns
        -------
        FeatureMapDisplay
        """
        M = as_metric(metric)
        count = validation.as_count(n_pairs, "n_pairs", low=0)
        if names is not None:
            names = validation.as_names(names, len(M), "names")
        return cls(planar_map(M), nearest=extreme_pairs(M, count), names=names)

    @classmethod
    def from_estimator(
        cls, estimator: object, *, names: object = None, n_pairs: int = 0
    ) -> FeatureMapDisplay:
        """Find places in the plane for the features of a learned metric.

        Parameters
        ----------
        estimator : estimator
            Has ``metric_``, as a fitted :class:`~groundmetric.GroundMetricLearning`.
        names, n_pairs
            As in :meth:`from_metric`; names that the estimator saw are taken.

        Returns
        -------
        FeatureMapDisplay
        """
        metric = fitted(estimator, "metric_")
        if names is None:
            names = getattr(estimator, "feature_names_in_", None)
        return cls.from_metric(metric, names=names, n_pairs=n_pairs)

    def plot(self, ax: Axes | None = None) -> FeatureMapDisplay:
        """Draw the map, and say its stress.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where; a new figure if None.

        Returns
        -------
        FeatureMapDisplay
            This one, with ``ax_``, ``figure_``, ``points_``, ``lines_``, ``texts_``.
        """
        self.ax_: Axes = axes_or_new(ax)
        self.figure_: FigureBase = self.ax_.figure
        places = self.map.positions
        self.lines_: LineCollection = segments(
            self.ax_, places[self.nearest], color=NEAR
        )
        self.points_: PathCollection = self.ax_.scatter(
            places[:, 0], places[:, 1], s=22, color=FAR, edgecolors="white", zorder=2
        )
        self.texts_: list[Annotation] = [
            self.ax_.annotate(name, place, (4, 3), textcoords="offset points", size=8)
            for name, place in zip(self.names or [], places, strict=False)
        ]
        self.ax_.set_aspect("equal", "datalim")
        bare(self.ax_)
        self.ax_.set_xlabel(f"stress {self.map.stress:.2f}")
        return self
