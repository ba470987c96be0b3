"""``groundmetric figures``: the paper's figures and their numbers, from results."""

import re
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import _files
from ..experiments import comparison_table, read_results, summary_table
from ..plotting import paper_figures
from ..plotting.figures import FIGURES as PAPER
from ..plotting.figures import figure_methods, figure_pairs
from ._console import emit
from ._installed import DRAWING, require_installed
from ._options import INPUT, Force, Json, Output, examples
from ._output import judge, judged

FIGURES = examples("groundmetric figures results.sqlite --figure 1 --out figures/")
MEASURES = ("knn_errors", "recall", "svm_error")

Numbers = Annotated[
    list[int],
    typer.Option("--figure", min=1, max=4, help="Figures of the paper; repeatable."),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Instead of the methods of the figure; repeatable.",
        show_default=False,
    ),
]
Experiment = Annotated[
    str | None, typer.Option(help="Name of the experiment.", show_default=False)
]
Compare = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="A method to compare with the best other one.",
        show_default=False,
    ),
]


class Intervals(str, Enum):
    """What intervals can be made of."""

    tasks = "tasks"
    classes = "classes"


@judged
def figures(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="A file that reproduce wrote."),
        INPUT,
    ],
    *,
    figure: Numbers = [1],  # noqa: B006 - typer's
    out: Annotated[
        Path, typer.Option(help="The folder to write to."), Output(folder=True)
    ] = Path("figures"),
    experiment: Experiment = None,
    method: Methods = None,
    compare: Compare = None,
    interval: Annotated[
        Intervals, typer.Option(help="What varies in the bands.")
    ] = Intervals.tasks,
    force: Force = None,
    json: Json = False,
) -> None:
    """Draw the paper's figures from results, and tabulate what they show.

    Files are named after the experiment and the figure: .png, .svg, and the tables
    in Markdown.
    """
    require_installed(DRAWING, "figures")
    found = of_experiment(read_results(results), experiment)
    names = files_of(found["experiment"].iloc[0], figure, out)
    judge([("--out", path) for path in names], [("RESULTS", results)], force=force)
    drawn = draw(
        found,
        out,
        figure,
        methods=method,
        compare=compare,
        interval=interval.value,
    )
    if json:
        emit({"figures": drawn})
        return
    for path in drawn:
        typer.echo(path)


def of_experiment(results: Any, name: str | None) -> Any:  # noqa: ANN401 - a frame
    """Select the rows of an experiment; of the only one, if it is not named."""
    there = sorted(set(results["experiment"]))
    if name is None and len(there) != 1:
        raise ValueError(
            f"there are {len(there)} experiments, {', '.join(there)}: name one with "
            "--experiment."
        )
    if name is not None and name not in there:
        raise ValueError(
            f"--experiment is {name!r}; the results are of {', '.join(there)}."
        )
    return results[results["experiment"] == (name or there[0])]


def draw(
    results: Any,  # noqa: ANN401 - a frame
    folder: Path,
    numbers: Sequence[int],
    *,
    methods: Sequence[str] | None,
    compare: str | None,
    interval: str = "tasks",
) -> list[Path]:
    """Draw figures of one experiment, and write their tables; list the files."""
    experiment = results["experiment"].iloc[0]
    # Whatever is wrong with a figure shows in its tables, before a file is written.
    tables = {
        number: tabulated(results, number, methods=methods, compare=compare)
        for number in dict.fromkeys(numbers)
    }
    written: list[Path] = []
    for number, text in tables.items():
        name = f"{file_name(experiment)}-figure{number}"
        written += paper_figures(
            results,
            folder,
            figure=number,
            methods=methods,
            method=compare,
            interval=interval,
            name=name,
        )
        page = folder / f"{name}.md"
        _files.write_text(page, text)
        written.append(page)
    return written


def tabulated(
    results: Any,  # noqa: ANN401 - a frame
    figure: int,
    *,
    methods: Sequence[str] | None,
    compare: str | None,
) -> str:
    """Tabulate in Markdown all methods of a figure, and those that it compares."""
    names = figure_methods(results, figure, methods)
    require_drawable(names, figure, compare)
    compared = dict.fromkeys(m for m, _ in figure_pairs(names, figure, compare))
    parts = [
        f"# {PAPER[figure].title}",
        summary_table(results, methods=names),
    ]
    rows = results[results["method"].isin(names)]
    measures = MEASURES if rows["svm_error"].notna().all() else MEASURES[:-1]
    parts += [
        comparison_table(results, method, measure=measure, methods=names)
        for method in compared
        for measure in measures
    ]
    return "\n\n".join(parts) + "\n"


def require_drawable(methods: Sequence[str], figure: int, compare: str | None) -> None:
    """Refuse methods of which a figure compares no two, in the words of the options."""
    try:
        figure_pairs(methods, figure, compare)
    except ValueError as error:
        asked = "" if compare is None else f" with --compare {compare}"
        raise ValueError(
            f"figure {figure} cannot be drawn of {', '.join(methods)}{asked}: it has "
            "nothing to compare. Name a method with --compare, and others with "
            "--method to compare it with."
        ) from error


def files_of(experiment: str, numbers: Sequence[int], folder: Path) -> list[Path]:
    """List the files that :func:`draw` writes."""
    return [
        folder / f"{file_name(experiment)}-figure{number}{suffix}"
        for number in dict.fromkeys(numbers)
        for suffix in (".png", ".svg", ".md")
    ]


def file_name(experiment: str) -> str:
    """Make the name of an experiment one of a file."""
    return re.sub(r"[^\w.+-]+", "-", experiment).strip("-.") or "experiment"
