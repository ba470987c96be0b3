"""``groundmetric reproduce``: the paper's section 7, for its data or yours."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ..datasets import load_digits_histograms
from ..experiments import as_methods, export_results, read_results, run
from ._console import emit, note, shows_progress
from ._data import Source, read_labeled
from ._figures import (
    Compare,
    Experiment,
    Methods,
    Numbers,
    draw,
    files_of,
    of_experiment,
    require_drawable,
)
from ._installed import DRAWING, RESULTS, needed_by, require_installed
from ._options import INPUT, Force, Json, Output, Seed, examples
from ._output import judge, judged
from ._plan import Planned, Request, eligible, plan

REPRODUCE = examples(
    "groundmetric reproduce",
    "groundmetric reproduce gist.npz --figure 1 --figure 3 --svm --jobs 8",
    "groundmetric reproduce gist.npz --draw figures/",
    "groundmetric reproduce gist.npz --multiclass 10 --tasks 5 --draw figures/",
)
SMALL = 2  # N for digits


@judged
def reproduce(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="An .npz with arrays X, y and perhaps class_names, or other data with "
            "labels; a small version on scikit-learn's digits without.",
            show_default=False,
        ),
        INPUT,
    ] = None,
    *,
    figure: Numbers = [1],  # noqa: B006 - typer's
    classes: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="N, for N x N tasks; 25 or 10 as in the paper, or all there are.",
            show_default=False,
        ),
    ] = None,
    multiclass: Annotated[
        int | None,
        typer.Option(
            metavar="C",
            min=2,
            help="Tasks of C classes at once, instead of two.",
            show_default=False,
        ),
    ] = None,
    tasks: Annotated[
        int | None,
        typer.Option(
            min=1, help="How many tasks of C classes; 1 by default.", show_default=False
        ),
    ] = None,
    among: Annotated[
        list[str] | None,
        typer.Option(
            "--class",
            metavar="NAME",
            help="Draw only from classes so named; repeatable. From all that are "
            "large enough by default.",
            show_default=False,
        ),
    ] = None,
    train: Annotated[
        int, typer.Option(min=1, help="Histograms of a class to learn from.")
    ] = 30,
    test: Annotated[
        int, typer.Option(min=1, help="Histograms of a class to test, or all others.")
    ] = 40,
    neighbors: Annotated[
        int, typer.Option(min=1, help="Measure for 1, 2, ... so many neighbors.")
    ] = 20,
    seed: Seed = 0,
    method: Methods = None,
    svm: Annotated[
        bool,
        typer.Option(
            "--svm", help="Train support vector machines, too; not to be added later."
        ),
    ] = False,
    out: Annotated[
        Path,
        typer.Option(help="The results file, .sqlite."),
        Output((".sqlite",), continues=True),
    ] = Path("results.sqlite"),
    experiment: Experiment = None,
    jobs: Annotated[int, typer.Option(help="Tasks at a time.")] = 1,
    export: Annotated[
        Path | None,
        typer.Option(help="Write all results as .parquet, too.", show_default=False),
        Output((".parquet",)),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="FOLDER",
            help="Draw the figures into this folder, and write their tables.",
            show_default=False,
        ),
        Output(folder=True),
    ] = None,
    compare: Compare = None,
    force: Force = None,
    json: Json = False,
) -> None:
    """Run the paper's experiments.

    A run that was killed goes on where it was; what the results file has is not
    computed again.
    """
    request = Request(
        figure, method, experiment, classes, multiclass, tasks, among, seed,
        train, test, neighbors,
    )  # fmt: skip
    _judge(request, compare, reads=export is not None, draws=folder is not None)
    stem, source, X, y = _load(data)
    large, small = eligible(y, request, source)
    if small:
        needed = sum(request.members)
        note(f"left out, with fewer than {needed} histograms: {_listed(small)}")
    planned = plan(y, large, request, stem=stem, most=SMALL if data is None else None)
    drawings = [
        ("--draw", path)
        for one in planned
        if folder is not None
        for path in files_of(one.name, one.figures, folder)
    ]
    read = [("DATA", data), ("--out", out), ("--export", export)]
    judge(drawings, read, force=force)
    new = {
        one.name: run(
            X,
            y,
            tasks=one.tasks,
            methods=one.methods,
            path=out,
            experiment=one.name,
            n_neighbors=neighbors,
            svm=svm,
            n_jobs=jobs,
            verbose=int(shows_progress()),
        )
        for one in planned
    }
    if export is not None:
        export_results(out, export)
    drawn = _drawn(planned, out, folder, method, compare)
    if json:
        emit({"results": out, "new_rows": new, "left_out": small, "figures": drawn})
        return
    for name, n_rows in new.items():
        typer.echo(f"{name}: {n_rows} new rows in {out}")
    for path in drawn:
        typer.echo(path)


def _listed(sizes: dict[str, int]) -> str:
    return ", ".join(f"{name} ({size})" for name, size in sizes.items())


def _judge(request: Request, compare: str | None, *, reads: bool, draws: bool) -> None:
    """Refuse what could not be run or drawn, before data are read."""
    request.require_sense()
    if compare is not None and not draws:
        raise ValueError("--compare is about figures; say --draw FOLDER, too.")
    modules: set[str] = {*RESULTS} if reads else set()
    for number in request.figures:
        names = request.methods_of(number)
        as_methods(dict.fromkeys(names))
        modules |= needed_by(names)
        if draws:
            require_drawable(names, number, compare)
            modules |= {*DRAWING}
    require_installed(sorted(modules), "reproduce")


def _drawn(
    planned: Sequence[Planned],
    results: Path,
    folder: Path | None,
    methods: Sequence[str] | None,
    compare: str | None,
) -> list[Path]:
    """Draw the figures of all experiments, if there is a folder for them."""
    if folder is None:
        return []
    found = read_results(results)
    return [
        path
        for one in planned
        for path in draw(
            of_experiment(found, one.name),
            folder,
            one.figures,
            methods=methods,
            compare=compare,
        )
    ]


def _load(data: str | None) -> tuple[str, str, Any, Any]:
    """Name, source, histograms and labels."""
    if data is None:
        digits = load_digits_histograms()
        return "digits", "scikit-learn's digits", digits.X, digits.y
    given = read_labeled(Source(data))
    return Path(data).stem, given.source, given.X, given.y
