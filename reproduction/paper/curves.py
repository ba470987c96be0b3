"""A panel of mean curves, as a display object in the style of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from groundmetric.plotting.axes import Display

from .panel import band, finish, marked, marker
from .style import label_of, style_of
from .summary import MeanCurves, mean_curves

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["CurvesDisplay"]

MEASURES = {
    "knn_errors": "κ-NN error (%)",
    "recall": "Recall accuracy (%)",
}


class CurvesDisplay(Display):
    """Mean curves of several methods over tasks, with 95 % bands.

    Parameters
    ----------
    curves : MeanCurves
        What to draw.

    Attributes
    ----------
    ax_ : Axes
        Axes with the curves.
    figure_ : Figure
        Figure with the axes.
    lines_ : dict of str to Line2D
        Curve of each method.
    handles_ : list of Line2D
        For a legend, best first.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import pandas as pd
    >>> from paper.curves import CurvesDisplay
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "gml"], "task": 0,
    ...     "classes": "cat | dog", "svm_error": [0.25, 0.2],
    ...     "recall": [[0.8, 0.7], [0.9, 0.8]],
    ... })
    >>> display = CurvesDisplay.from_results(results, measure="recall").plot()
    >>> display.ax_.get_ylabel(), list(display.lines_)
    ('Recall accuracy (%)', ['l1', 'gml'])
    """

    lines_: dict[str, Line2D]
    handles_: list[Line2D]

    def __init__(self, curves: MeanCurves) -> None:
        self.curves = curves

    @classmethod
    def from_results(
        cls,
        results: pd.DataFrame,
        *,
        methods: Iterable[str] | None = None,
        measure: str = "knn_errors",
        interval: str = "tasks",
    ) -> CurvesDisplay:
        """Average results; see :func:`~paper.mean_curves`.

        Parameters
        ----------
        results : DataFrame
            Results of one experiment, one row for each task and method.
        methods : iterable of str, optional
            Names of methods; by default all in the results.
        measure : {"knn_errors", "recall"}, default="knn_errors"
            What to draw.
        interval : {"tasks", "classes"}, default="tasks"
            Kind of the intervals in the bands.

        Returns
        -------
        CurvesDisplay
            Not drawn yet.
        """
        return cls(mean_curves(results, measure, methods=methods, interval=interval))

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> CurvesDisplay:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.
        legend : bool, default=True
            Whether to name the methods, best first, with the errors of their support
            vector machines as in the paper.

        Returns
        -------
        CurvesDisplay
            The display itself.
        """
        axes = self._open(ax)
        curves = self.curves
        self.lines_ = {}
        for method, mean, low, high in zip(
            curves.methods, curves.mean, curves.low, curves.high, strict=True
        ):
            style = style_of(method)
            # Shares lie between 0 and 1, but Student's interval may not.
            bottom, top = np.clip([low, high], 0, 1)
            band(axes, curves.kappas, bottom, top, style.color)
            (self.lines_[method],) = axes.plot(
                curves.kappas,
                100 * mean,
                color=style.color,
                label=self._label(method),
                linestyle=style.line,
                linewidth=style.width,
                markevery=marked(curves.kappas),
                zorder=2 + style.width,  # thick lines on top
                **marker(style),
            )
        self.handles_ = self._handles()
        finish(axes, curves.kappas, MEASURES[curves.measure])
        if legend:
            axes.legend(handles=self.handles_)
        return self

    def _handles(self) -> list[Line2D]:
        """Lines for a legend, best first."""
        means = self.curves.mean.mean(axis=1)
        better = 1 if self.curves.measure == "knn_errors" else -1
        lines = list(self.lines_.values())
        return [lines[i] for i in np.argsort(better * means, kind="stable")]

    def _label(self, method: str) -> str:
        error = self.curves.svm_error[self.curves.methods.index(method)]
        label = label_of(method)
        return label if np.isnan(error) else f"{label} (SVM {100 * error:.1f} %)"
