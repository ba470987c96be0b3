"""A panel of paired differences, as a display object in the style of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from groundmetric.plotting.axes import Display

from .panel import band, finish, marked, marker
from .style import label_of, style_of
from .summary import PairedDifferences, paired_differences

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["DifferenceDisplay"]

MEASURES = {
    "knn_errors": "Error difference (points, below 0 is better)",
    "recall": "Recall difference (points, above 0 is better)",
}


class DifferenceDisplay(Display):
    """Paired differences between a method and a competitor, with 95 % intervals.

    Markers are those of the competitor, so they show which one was best at each kappa.
    Several displays may share their axes.

    Parameters
    ----------
    differences : PairedDifferences
        What to draw.

    Attributes
    ----------
    ax_ : Axes
        Axes with the differences.
    figure_ : Figure
        Figure with the axes.
    line_ : Line2D
        Mean differences, in percentage points.
    markers_ : dict of str to Line2D
        Markers of each competitor.
    handles_ : list of Line2D
        For a legend, one for each competitor.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import pandas as pd
    >>> from paper.differences import DifferenceDisplay
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "gml"], "task": 0,
    ...     "classes": "cat | dog", "knn_errors": [[0.5, 0.5], [0.25, 0.5]],
    ... })
    >>> display = DifferenceDisplay.from_results(results, "gml").plot()
    >>> display.line_.get_ydata().tolist(), list(display.markers_)
    ([-25.0, 0.0], ['l1'])
    """

    line_: Line2D
    markers_: dict[str, Line2D]
    handles_: list[Line2D]

    def __init__(self, differences: PairedDifferences) -> None:
        self.differences = differences

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        method: str,
        **options: Any,
    ) -> DifferenceDisplay:
        """Compare a method with another one, or with the best of the others.

        Parameters
        ----------
        results : DataFrame
            Results of one experiment, one row for each task and method.
        method : str
            Name of the method.
        **options
            Of :func:`~paper.paired_differences`.

        Returns
        -------
        DifferenceDisplay
            Not drawn yet.
        """
        return cls(paired_differences(results, method, **options))

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> DifferenceDisplay:
        """Draw the differences.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.
        legend : bool, default=True
            Whether to name the competitors.

        Returns
        -------
        DifferenceDisplay
            The display itself.
        """
        axes = self._open(ax)
        found, style = self.differences, style_of(self.differences.method)
        axes.axhline(0, color="0.3", linewidth=0.6, zorder=1)
        band(axes, found.kappas, found.low, found.high, style.color)
        percent = 100 * found.difference
        (self.line_,) = axes.plot(
            found.kappas, percent, color=style.color, linewidth=1.2
        )
        self.markers_ = {}
        self.handles_ = []
        rivals = dict.fromkeys(found.against)
        # If the best competitor changes, mark every kappa.
        positions = range(len(percent)) if len(rivals) > 1 else marked(found.kappas)
        for rival in rivals:
            at = [i for i in positions if found.against[i] == rival]
            look = marker(style_of(rival))
            (self.markers_[rival],) = axes.plot(
                found.kappas[at], percent[at], linestyle="none", **look
            )
            # For the legend, line and markers together.
            self.handles_ += axes.plot(
                [],
                [],
                color=style.color,
                label=f"{label_of(found.method)} minus {label_of(rival)}",
                linewidth=1.2,
                **look,
            )
        finish(axes, found.kappas, MEASURES[found.measure])
        if legend:
            axes.legend(handles=self.handles_)
        return self
