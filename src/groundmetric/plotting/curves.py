"""A panel of mean curves, in the manner of scikit-learn's display objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..experiments.summary import MeanCurves, mean_curves
from . import canvas
from .panel import band, finish, marked, marker
from .style import label_of, style_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D

__all__ = ["CurvesDisplay"]

MEASURES = {
    "knn_errors": "κ-NN error (%)",
    "recall": "Recall accuracy (%)",
}


class CurvesDisplay:
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
    >>> from groundmetric.plotting import CurvesDisplay
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "gml"], "task": 0,
    ...     "classes": "cat | dog", "svm_error": [0.25, 0.2],
    ...     "recall": [[0.8, 0.7], [0.9, 0.8]],
    ... })
    >>> display = CurvesDisplay.from_results(results, measure="recall").plot()
    >>> display.ax_.get_ylabel(), list(display.lines_)
    ('Recall accuracy (%)', ['l1', 'gml'])
    """

    ax_: Axes
    figure_: Figure | SubFigure
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
        """Average results; see :func:`~groundmetric.experiments.mean_curves`.

        Parameters
        ----------
        results : DataFrame
            Results of one experiment, a row for each task and method.
        methods : iterable of str, optional
            Names of methods; all of the results by default.
        measure : {"knn_errors", "recall"}, default="knn_errors"
            What to draw.
        interval : {"tasks", "classes"}, default="tasks"
            What the bands are made of.

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
            Where to draw; in a new figure by default.
        legend : bool, default=True
            Whether to name the methods, best first, with the errors of their support
            vector machines as in the paper.

        Returns
        -------
        CurvesDisplay
            This display.
        """
        self.ax_ = canvas.new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        curves = self.curves
        self.lines_ = {}
        for method, mean, low, high in zip(
            curves.methods, curves.mean, curves.low, curves.high, strict=True
        ):
            style = style_of(method)
            # Shares end at 0 and 1; Student's interval does not know.
            bottom, top = np.clip([low, high], 0, 1)
            band(self.ax_, curves.kappas, bottom, top, style.color)
            (self.lines_[method],) = self.ax_.plot(
                curves.kappas,
                100 * mean,
                color=style.color,
                label=self._label(method),
                linestyle=style.line,
                linewidth=style.width,
                markevery=marked(curves.kappas),
                zorder=2 + style.width,  # what is thick is meant to be seen
                **marker(style),
            )
        self.handles_ = self._handles()
        finish(self.ax_, curves.kappas)
        self.ax_.set_ylabel(MEASURES[curves.measure])
        if legend:
            self.ax_.legend(handles=self.handles_)
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
