"""The four figures of the paper (section 7.5), drawn from results.

The upper panels are those of the paper: recall accuracy and k-NN error over kappa, with
the errors of support vector machines in the legend. The lower panels show the paper's
comparisons as paired differences. Figure 1: ground metric learning and the best other
distance, the paper's learner and LMNN and ITML. Figure 2: square roots of histograms
and histograms. Figure 3: other neighborhoods and k = 3, the paper's schedule and 20
steps. Figure 4: learned and initial metrics, typical and independence tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from groundmetric import validation

from .layout import columns_of, save
from .methods import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, PAPER, by_paper

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd

    from .layout import Pair

__all__ = [
    "FIGURES",
    "PaperFigure",
    "figure_methods",
    "figure_pairs",
    "paper_figures",
]


@dataclass(frozen=True)
class PaperFigure:
    """Contents of a figure of the paper.

    Attributes
    ----------
    title : str
        Title of the figure.
    methods : tuple of str
        Names of the methods.
    pairs : tuple of pairs of str
        The methods to compare, and their competitors; None for the best of the others.

    Examples
    --------
    >>> from paper.figures import FIGURES
    >>> FIGURES[2].pairs
    (('lmnn-hellinger', 'lmnn'), ('itml-hellinger', 'itml'))
    """

    title: str
    methods: tuple[str, ...]
    pairs: tuple[Pair, ...]


#: The figures by number.
FIGURES = {
    1: PaperFigure(
        "Ground metric learning and other distances",
        FIGURE_1,
        (("gml", None), (PAPER, "lmnn-hellinger"), (PAPER, "itml-hellinger")),
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
            *((by_paper(k, "typical"), PAPER) for k in (1, 5, 10, None)),
            (PAPER, "gml-k3-typical"),
            (PAPER, "start-typical"),
        ),
    ),
    4: PaperFigure(
        "Ground metric learning from three initial metrics",
        FIGURE_4,
        (
            (by_paper(3, "uniform"), "emd-uniform"),
            (by_paper(3, "independence"), "start-independence"),
            (PAPER, "start-typical"),
            (PAPER, by_paper(3, "independence")),
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
    name: str | None = None,
) -> tuple[Path, ...]:
    """Draw a figure of the paper from results, as PNG and SVG files.

    With the same version of matplotlib, the same results give identical files.

    Parameters
    ----------
    results : DataFrame
        Results, a row for each task and method.
    folder : str or Path
        Where to write the files; created if it does not exist.
    figure : {1, 2, 3, 4}, default=1
        Number of the figure, which determines methods and comparisons.
    experiment : str, optional
        Name of the experiment; required if the results have several.
    methods : iterable of str, optional
        Names of methods; by default those of the figure that are in the results.
    method : str, optional
        A method to compare with the best of the others at each kappa, instead of the
        comparisons of the figure.
    interval : {"tasks", "classes"}, default="tasks"
        Kind of the bands, which the figure states: Student's t over tasks, or a
        bootstrap over their classes.
    name : str, optional
        Name of the files, without .png and .svg; ``figure1`` for figure 1 by default.

    Returns
    -------
    tuple of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from paper.figures import paper_figures
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
    validation.require_one_of(figure, "figure", FIGURES)
    stem = f"figure{figure}" if name is None else name
    if stem != Path(stem).name:
        raise ValueError(f"name is {name!r}; it must be a file name, not a path.")
    if experiment is not None:
        if experiment not in set(results["experiment"]):
            there = ", ".join(sorted(set(results["experiment"])))
            raise ValueError(f"experiment is {experiment!r}; results has {there}.")
        results = results[results["experiment"] == experiment]
    names = figure_methods(results, figure, methods)
    pairs = figure_pairs(names, figure, method)
    columns = columns_of(results, pairs, methods=names, interval=interval)
    return save(columns, FIGURES[figure].title, Path(folder) / stem)


def figure_methods(
    results: pd.DataFrame, figure: int, methods: Iterable[str] | None = None
) -> list[str]:
    """List the methods to show in a figure.

    Parameters
    ----------
    results : DataFrame
        Results, a row for each task and method.
    figure : {1, 2, 3, 4}
        Number of the figure.
    methods : iterable of str, optional
        Names of methods; by default those of the figure that are in the results.

    Returns
    -------
    list of str
        Names of methods.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.figures import figure_methods
    >>> figure_methods(pd.DataFrame({"method": ["gml", "mine", "l1"]}), 1)
    ['l1', 'gml']
    """
    if methods is not None:
        return list(methods)
    there = set(results["method"])
    names = [name for name in FIGURES[figure].methods if name in there]
    if len(names) < 2:  # noqa: PLR2004 - a comparison
        raise ValueError(
            f"results has fewer than two of the methods of figure {figure}, "
            f"{', '.join(FIGURES[figure].methods)}; name others in methods."
        )
    return names


def figure_pairs(
    names: Sequence[str], figure: int, method: str | None = None
) -> tuple[Pair, ...]:
    """Select the pairs of methods that a figure compares.

    Parameters
    ----------
    names : sequence of str
        Names of the methods to show.
    figure : {1, 2, 3, 4}
        Number of the figure.
    method : str, optional
        A method to compare with the best of the others, instead of what the figure
        compares.

    Returns
    -------
    tuple of pairs of str
        Methods and their competitors; None for the best of the others.

    Examples
    --------
    >>> from paper.figures import figure_pairs
    >>> figure_pairs(["hellinger", "lmnn", "lmnn-hellinger"], 2)
    (('lmnn-hellinger', 'lmnn'),)
    """
    if method is not None and method not in names:
        raise ValueError(f"method is {method!r}; methods has {', '.join(names)}.")
    asked = FIGURES[figure].pairs if method is None else ((method, None),)
    others = {*names, None} if len(set(names)) > 1 else set()
    pairs = tuple(
        (one, other) for one, other in asked if one in names and other in others
    )
    if not pairs:
        raise ValueError(
            f"methods has no pair that figure {figure} compares; pass a method to "
            "compare it with the best of the others."
        )
    return pairs
