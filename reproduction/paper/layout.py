"""Layout of a figure of the paper: curves above, paired differences below."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from groundmetric._words import count
from paper.inference import INTERVALS

from . import canvas
from .curves import CurvesDisplay
from .differences import DifferenceDisplay

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from .summary import MeanCurves

# A method and its competitor; None for the best at each kappa.
Pair: TypeAlias = "tuple[str, str | None]"
MEASURES = ("recall", "knn_errors")  # left and right
WIDTH = 13.0  # cm, as in the paper
LINE = 0.37  # cm, of a legend
AROUND = 3.0  # cm, for titles and axes


class Column(NamedTuple):
    """The panels of one measure, from top to bottom."""

    curves: CurvesDisplay
    differences: list[DifferenceDisplay]
    best: bool  # whether the competitor is the best of the others


def columns_of(
    results: pd.DataFrame,
    pairs: Sequence[Pair],
    **options: Any,
) -> list[Column]:
    """Create the displays of both measures."""
    return [_column(results, measure, pairs, **options) for measure in MEASURES]


def save(columns: Sequence[Column], title: str, stem: Path) -> tuple[Path, ...]:
    """Draw columns side by side; write PNG and SVG files, creating their folder.

    Write nothing unless drawing succeeds.
    """
    with canvas.paper(WIDTH, AROUND + sum(_heights(columns))) as drawing:
        _draw(drawing, columns, title)
        stem.parent.mkdir(parents=True, exist_ok=True)
        return canvas.save(drawing, stem)


def _column(
    results: pd.DataFrame,
    measure: str,
    pairs: Sequence[Pair],
    **options: Any,
) -> Column:
    curves = CurvesDisplay.from_results(results, measure=measure, **options)
    differences = [
        DifferenceDisplay.from_results(
            results, method, against=against, measure=measure, **options
        )
        for method, against in pairs
    ]
    return Column(curves, differences, best=any(other is None for _, other in pairs))


def _heights(columns: Sequence[Column]) -> list[float]:
    """Heights in cm: curves, their legend in two columns, differences, their legend."""
    n_curves = len(columns[0].curves.curves.methods)
    compared = {
        (display.differences.method, rival)
        for column in columns
        for display in column.differences
        for rival in display.differences.against
    }
    return [5.5, LINE * (1 + (n_curves + 1) // 2), 4.0, LINE * (2 + len(compared))]


def _draw(drawing: Figure, columns: Sequence[Column], title: str) -> None:
    """Draw curves above, differences below, and a legend under each."""
    panels = drawing.subplot_mosaic("AB;CC;DE;FF", height_ratios=_heights(columns))
    handles: dict[str, Line2D] = {}
    for column, above, below in zip(columns, "AB", "DE", strict=True):
        column.curves.plot(panels[above], legend=False)
        for display in column.differences:
            display.plot(panels[below], legend=False)
            handles |= {str(line.get_label()): line for line in display.handles_}
        for name in (above, below):  # horizontal text is easier to read
            panels[name].set_title(panels[name].get_ylabel())
            panels[name].set_ylabel("")
    curves, _, best = columns[-1]
    _legend(panels["C"], curves.handles_, ncols=2)
    paired = (
        "Paired by task, with the best other at each κ" if best else "Paired by task"
    )
    _legend(panels["F"], list(handles.values()), title=paired)
    at_left = {"horizontalalignment": "left", "x": 0.01}
    drawing.suptitle(title, **at_left)
    drawing.supxlabel(_described(curves.curves), color="0.4", **at_left)


def _legend(ax: Axes, handles: list[Line2D], **options: Any) -> None:
    """Use axes for a legend only."""
    ax.axis("off")
    legend = ax.legend(handles=handles, loc="upper center", borderaxespad=0, **options)
    legend.set_in_layout(False)  # a wide one would shrink the panels


def _described(curves: MeanCurves) -> str:
    tasks = count(curves.n_tasks, "task")
    if curves.n_incomplete:
        tasks += f" ({curves.n_incomplete} incomplete)"
    made_of = INTERVALS[curves.interval]
    return f"{curves.experiment}: means over {tasks}, with 95 % bands ({made_of})"
