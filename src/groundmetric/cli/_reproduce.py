"""``groundmetric reproduce``: the paper's section 7, on its data or yours."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from typer import Option

from ..datasets import HistogramTable, load_digits_histograms
from ..experiments import as_methods, export_results, read_results, run
from ..experiments.plan import Request, eligible, plan
from ..plotting.pages import draw_pages, of_experiment, page_files, require_drawable
from ._command import command
from ._console import emit, note, shows_progress
from ._data import read_labeled
from ._figures import Compare, Experiment, Methods, Numbers
from ._installed import DRAWING, RESULTS, needed_by, require_installed
from ._options import INPUT, Force, Json, Output, Seed, Source
from ._output import judge

SMALL = 2  # N for digits


@command(
    "groundmetric reproduce",
    "groundmetric reproduce gist.npz --figure 1 --figure 3 --svm --jobs 8",
    "groundmetric reproduce gist.npz --draw figures/",
    "groundmetric reproduce gist.npz --multiclass 10 --tasks 5 --draw figures/",
)
def reproduce(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="An .npz with arrays X, y and optionally class_names, or other "
            "labeled data; by default a small version on scikit-learn's digits.",
        ),
        INPUT,
    ] = None,
    *,
    figure: Numbers = [1],  # noqa: B006 - typer's
    classes: Annotated[
        int | None,
        Option(min=1, help="N, for N x N tasks; the paper's 25 or 10 if possible."),
    ] = None,
    multiclass: Annotated[
        int | None,
        Option(metavar="C", min=2, help="Use tasks of C classes instead of two."),
    ] = None,
    tasks: Annotated[
        int | None, Option(min=1, help="Number of tasks of C classes; by default 1.")
    ] = None,
    every: Annotated[
        int,
        Option(min=1, help="Run every so many tasks only, for a first impression."),
    ] = 1,
    among: Annotated[
        list[str] | None,
        Option(
            "--class",
            metavar="NAME",
            help="A class to draw from; repeatable. By default all that are large "
            "enough.",
        ),
    ] = None,
    train: Annotated[
        int, Option(min=1, help="Histograms of each class to learn from.")
    ] = 30,
    test: Annotated[
        int, Option(min=1, help="Histograms of each class to test on, at most.")
    ] = 40,
    neighbors: Annotated[
        int, Option(min=1, help="Measure with 1, 2, ... up to this many neighbors.")
    ] = 20,
    seed: Seed = 0,
    method: Methods = None,
    svm: Annotated[
        bool,
        Option(
            "--svm", help="Also train support vector machines; cannot be added later."
        ),
    ] = False,
    out: Annotated[
        Path,
        Option(help="The results file, .sqlite."),
        Output((".sqlite",), continues=True),
    ] = Path("results.sqlite"),
    experiment: Experiment = None,
    jobs: Annotated[int, Option(help="Tasks to run at a time.")] = 1,
    export: Annotated[
        Path | None,
        Option(help="Also write all results as .parquet."),
        Output((".parquet",)),
    ] = None,
    folder: Annotated[
        Path | None,
        Option(
            "--draw",
            metavar="FOLDER",
            help="Draw the figures into this folder, and write their tables.",
        ),
        Output(folder=True),
    ] = None,
    compare: Compare = None,
    force: Force = None,
    json: Json = False,
) -> None:
    """Run the paper's experiments.

    Run it again to resume after an interruption: tasks that are in the results file are
    not computed again.
    """
    request = Request(
        figure, method, experiment, classes, multiclass, tasks, among, seed,
        train, test, neighbors, every,
    )  # fmt: skip
    _judge(request, compare, reads=export is not None, draws=folder is not None)
    if data is None:
        digits = load_digits_histograms()
        rows = np.arange(len(digits.X))
        stem, given = (
            "digits",
            HistogramTable(
                digits.X,
                digits.y,
                digits.feature_shape,
                "scikit-learn's digits",
                None,
                rows,
            ),
        )
    else:
        stem, given = Path(data).stem, read_labeled(Source(data))
    large, small = eligible(given.y, request, given.source)
    if small:
        sizes = ", ".join(f"{name} ({size})" for name, size in small.items())
        needed = sum(request.members)
        note(f"left out, with fewer than {needed} histograms: {sizes}")
    planned = plan(
        given.y, large, request, stem=stem, most=SMALL if data is None else None
    )
    drawings = [
        ("--draw", path)
        for one in planned
        if folder is not None
        for path in page_files(one.name, one.figures, folder)
    ]
    read = [("DATA", data), ("--out", out), ("--export", export)]
    judge(drawings, read, force=force)
    new = {
        one.name: run(
            given.X,
            given.y,
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
    if folder is not None:
        results = read_results(out)
        for one in planned:
            rows = of_experiment(results, one.name)
            draw_pages(rows, folder, one.figures, methods=method, compare=compare)
    drawn = [path for _, path in drawings]
    if json:
        emit({"results": out, "new_rows": new, "left_out": small, "figures": drawn})
        return
    for name, n_rows in new.items():
        typer.echo(f"{name}: {n_rows} new rows in {out}")
    for path in drawn:
        typer.echo(path)


def _judge(request: Request, compare: str | None, *, reads: bool, draws: bool) -> None:
    """Reject what cannot be run or drawn, before data are read."""
    request.require_sense()
    if compare is not None and not draws:
        raise ValueError("--compare is for figures; add --draw FOLDER.")
    modules: set[str] = {*RESULTS} if reads else set()
    for number in request.figures:
        names = request.methods_of(number)
        as_methods(dict.fromkeys(names))
        modules |= needed_by(names)
        if draws:
            require_drawable(names, number, compare)
            modules |= {*DRAWING}
    require_installed(sorted(modules), "reproduce")
