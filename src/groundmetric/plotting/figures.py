"""The four figures of the paper (section 7.5), from results alone.

Above, as in the paper: recall accuracy and k-NN error over kappa, with the errors of
support vector machines in the legend. Below, what the paper argues from them, as paired
differences: in figure 1, of ground metric learning to the best other distance; in
figure 2, of square roots to histograms as they are; in figure 3, of other neighborhoods
to k = 3; in figure 4, of learned metrics to the initial metrics they started from, and
of typical to independence tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from ..experiments import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4
from ..experiments.inference import INTERVALS
from . import canvas
from .curves import CurvesDisplay
from .differences import DifferenceDisplay

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from ..experiments.summary import MeanCurves

__all__ = ["FIGURES", "PaperFigure", "paper_figures"]

# A method and its competitor; None for the best at each kappa.
Pair: TypeAlias = "tuple[str, str | None]"
MEASURES = ("recall", "knn_errors")  # left and right
WIDTH = 13.0  # cm, as in the paper
LINE = 0.37  # cm, of a legend
AROUND = 3.0  # cm, for titles and axes


@dataclass(frozen=True)
class PaperFigure:
    """What a figure of the paper shows.

    Attributes
    ----------
    title : str
        What it is about.
    methods : tuple of str
        Names of the methods.
    pairs : tuple of pairs of str
        The methods to compare, and their competitors; None for the best of the others.

    Examples
    --------
    >>> from groundmetric.plotting.figures import FIGURES
    >>> FIGURES[2].pairs
    (('lmnn-hellinger', 'lmnn'), ('itml-hellinger', 'itml'))
    """

    title: str
    methods: tuple[str, ...]
    pairs: tuple[Pair, ...]


class _Column(NamedTuple):
    """What stands below each other, for one measure."""

    curves: CurvesDisplay
    differences: list[DifferenceDisplay]
    best: bool  # of the others, or one that was named


#: The figures by number.
FIGURES = {
    1: PaperFigure(
        "Ground metric learning and other distances", FIGURE_1, (("gml", None),)
    ),
    2: PaperFigure(
        "Mahalanobis distances of histograms and of their square roots",
        FIGURE_2,
        (("lmnn-hellinger", "lmnn"), ("itml-hellinger", "itml")),
    ),
    3: PaperFigure(
        "Ground metric learning with k neighbors",
        FIGURE_3,
        (
            *((f"gml-k{k}-typical", "gml-k3-typical") for k in (1, 5, 10, "all")),
            ("gml-k3-typical", "start-typical"),
        ),
    ),
    4: PaperFigure(
        "Ground metric learning from three initial metrics",
        FIGURE_4,
        (
            ("gml-k3-uniform", "emd-uniform"),
            ("gml-k3-independence", "start-independence"),
            ("gml-k3-typical", "start-typical"),
            ("gml-k3-typical", "gml-k3-independence"),
        ),
    ),
}


def paper_figures(
    results: pd.DataFrame,
    folder: str | Path,
    *,
    figure: int = 1,
    experiment: str | None = None,
    methods: Iterable[str] | None = None,
    method: str | None = None,
    interval: str = "tasks",
) -> tuple[Path, ...]:
    """Draw a figure of the paper from results, as PNG and SVG files.

    The same results make the same files, byte for byte with the same matplotlib.

    Parameters
    ----------
    results : DataFrame
        Results, a row for each task and method.
    folder : str or Path
        Where to write ``figure1.png`` and ``figure1.svg``; made if it is not there.
    figure : {1, 2, 3, 4}, default=1
        Number of the figure, which tells methods and comparisons.
    experiment : str, optional
        Name of the experiment; may be left out if the results have one only.
    methods : iterable of str, optional
        Names of methods; by default those of the figure that the results have.
    method : str, optional
        A method to compare with the best of the others at each kappa, instead of the
        comparisons of the figure.
    interval : {"tasks", "classes"}, default="tasks"
        What the bands are made of, which the figure says: Student's t over tasks, or a
        bootstrap over the classes that they share.

    Returns
    -------
    tuple of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from groundmetric.plotting import paper_figures
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "l1", "gml", "gml"],
    ...     "task": [0, 1, 0, 1], "classes": 2 * ["cat | cup", "cat | car"],
    ...     "knn_errors": [[0.2, 0.2], [0.3, 0.3], [0.1, 0.2], [0.2, 0.2]],
    ...     "recall": [[0.7, 0.7], [0.8, 0.7], [0.8, 0.8], [0.9, 0.7]],
    ...     "svm_error": [0.2, 0.2, 0.1, 0.1],
    ... })
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in paper_figures(results, folder, figure=1)]
    ['figure1.png', 'figure1.svg']
    """
    if figure not in FIGURES:
        raise ValueError(f"figure is {figure!r}; it must be among 1, 2, 3, 4.")
    if experiment is not None:
        if experiment not in set(results["experiment"]):
            there = ", ".join(sorted(set(results["experiment"])))
            raise ValueError(f"experiment is {experiment!r}; results has {there}.")
        results = results[results["experiment"] == experiment]
    names = _names(results, figure, methods)
    pairs = _pairs(names, figure, method)
    columns = [
        _column(results, measure, pairs, methods=names, interval=interval)
        for measure in MEASURES
    ]
    target = Path(folder)
    with canvas.paper(WIDTH, AROUND + sum(_heights(columns))) as drawing:
        _draw(drawing, columns, FIGURES[figure].title)
        target.mkdir(parents=True, exist_ok=True)
        return canvas.save(drawing, target / f"figure{figure}")


def _names(
    results: pd.DataFrame, figure: int, methods: Iterable[str] | None
) -> list[str]:
    if methods is not None:
        return list(methods)
    there = set(results["method"])
    names = [name for name in FIGURES[figure].methods if name in there]
    if len(names) < 2:  # noqa: PLR2004 - a comparison
        raise ValueError(
            f"results has less than two of the methods of figure {figure}, "
            f"{', '.join(FIGURES[figure].methods)}; name others in methods."
        )
    return names


def _pairs(names: Sequence[str], figure: int, method: str | None) -> tuple[Pair, ...]:
    """Return the comparisons that the methods at hand allow."""
    if method is not None:
        return ((method, None),)
    pairs = tuple(
        (one, other)
        for one, other in FIGURES[figure].pairs
        if one in names and (other is None or other in names)
    )
    if not pairs:
        raise ValueError(
            f"methods has no two that figure {figure} compares; name one as method to "
            "compare it with the best of the others."
        )
    return pairs


def _column(
    results: pd.DataFrame,
    measure: str,
    pairs: Sequence[Pair],
    **options: Any,  # noqa: ANN401 - methods and interval of the displays
) -> _Column:
    curves = CurvesDisplay.from_results(results, measure=measure, **options)
    differences = [
        DifferenceDisplay.from_results(
            results, method, against=against, measure=measure, **options
        )
        for method, against in pairs
    ]
    return _Column(curves, differences, best=any(other is None for _, other in pairs))


def _heights(columns: Sequence[_Column]) -> list[float]:
    """Heights in cm: curves, their legend in two columns, differences, their legend."""
    n_curves = len(columns[0].curves.curves.methods)
    compared = {
        (display.differences.method, rival)
        for column in columns
        for display in column.differences
        for rival in display.differences.against
    }
    return [5.5, LINE * (1 + (n_curves + 1) // 2), 4.0, LINE * (2 + len(compared))]


def _draw(drawing: Figure, columns: Sequence[_Column], title: str) -> None:
    """Draw curves above, differences below, and a legend under either."""
    panels = drawing.subplot_mosaic("AB;CC;DE;FF", height_ratios=_heights(columns))
    handles: dict[str, Line2D] = {}
    for column, above, below in zip(columns, "AB", "DE", strict=True):
        column.curves.plot(panels[above], legend=False)
        for display in column.differences:
            display.plot(panels[below], legend=False)
            handles |= {str(line.get_label()): line for line in display.handles_}
        for name in (above, below):  # level text is easier to read
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


def _legend(ax: Axes, handles: list[Line2D], **options: Any) -> None:  # noqa: ANN401 - of matplotlib
    """Give axes away for a legend."""
    ax.axis("off")
    legend = ax.legend(handles=handles, loc="upper center", borderaxespad=0, **options)
    legend.set_in_layout(False)  # else a wide one makes all panels narrow


def _described(curves: MeanCurves) -> str:
    tasks = f"{curves.n_tasks} task{'' if curves.n_tasks == 1 else 's'}"
    if curves.n_incomplete:
        tasks += f" ({curves.n_incomplete} incomplete)"
    made_of = INTERVALS[curves.interval]
    return f"{curves.experiment}: means over {tasks}, with 95 % bands ({made_of})"
