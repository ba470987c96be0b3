"""``groundmetric figures``: the paper's figures and their numbers, from results."""

from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Option

from ..experiments import read_results
from ..plotting.pages import draw_pages, of_experiment, page_files
from ._command import command
from ._console import emit
from ._installed import DRAWING, require_installed
from ._options import INPUT, Force, Json, Output
from ._output import judge

Numbers = Annotated[
    list[int],
    Option("--figure", min=1, max=4, help="Figures of the paper; repeatable."),
]
Methods = Annotated[
    list[str] | None,
    Option(
        "--method",
        metavar="NAME",
        help="A method to show instead of the figure's own; repeatable.",
    ),
]
Experiment = Annotated[str | None, Option(help="Name of the experiment.")]
Compare = Annotated[
    str | None,
    Option(metavar="NAME", help="A method to compare with the best of the others."),
]


@command("groundmetric figures results.sqlite --figure 1 --out figures/")
def figures(
    results: Annotated[
        Path,
        typer.Argument(metavar="RESULTS", help="A file written by reproduce."),
        INPUT,
    ],
    *,
    figure: Numbers = [1],  # noqa: B006 - typer's
    out: Annotated[
        Path, Option(help="The folder to write to."), Output(folder=True)
    ] = Path("figures"),
    experiment: Experiment = None,
    method: Methods = None,
    compare: Compare = None,
    interval: Annotated[
        Literal["tasks", "classes"],
        Option(help="Whether bands show variation over tasks or classes."),
    ] = "tasks",
    force: Force = None,
    json: Json = False,
) -> None:
    """Draw the paper's figures from results, and tabulate their numbers.

    Files are named after the experiment and the figure: .png and .svg for the figure,
    .md for its tables.
    """
    require_installed(DRAWING, "figures")
    found = of_experiment(read_results(results), experiment)
    names = page_files(found["experiment"].iloc[0], figure, out)
    judge([("--out", path) for path in names], [("RESULTS", results)], force=force)
    drawn = draw_pages(
        found, out, figure, methods=method, compare=compare, interval=interval
    )
    if json:
        emit({"figures": drawn})
        return
    for path in drawn:
        typer.echo(path)
