"""``groundmetric reproduce``: the paper's section 7."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from ..datasets import load_digits_histograms
from ..experiments import (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    binary_tasks,
    export_results,
    read_results,
    run,
)
from ._console import emit, shows_progress
from ._data import Source, read_labeled
from ._figures import Experiment, Methods, Numbers, draw, of_experiment
from ._options import Json, Seed, examples
from ._output import require_folder, require_output

REPRODUCE = examples(
    "groundmetric reproduce",
    "groundmetric reproduce gist.npz --figure 1 --figure 3 --svm --jobs 8",
    "groundmetric reproduce gist.npz --draw figures/",
)
# Methods, and N, for each figure.
FIGURE = {1: (FIGURE_1, 25), 2: (FIGURE_2, 25), 3: (FIGURE_3, 10), 4: (FIGURE_4, 10)}
SMALL = 2  # N for digits

Experiments = dict[int, list[str]]


def reproduce(
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="An .npz with arrays X, y and perhaps class_names, or other data with "
            "labels; a small version on scikit-learn's digits without.",
            show_default=False,
        ),
    ] = None,
    *,
    figure: Numbers = [1],  # noqa: B006 - typer's
    classes: Annotated[
        int | None,
        typer.Option(
            help="N, for N x N tasks; 25 or 10 as in the paper, or all there are.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    method: Methods = None,
    svm: Annotated[
        bool, typer.Option("--svm", help="Train support vector machines, too.")
    ] = False,
    out: Annotated[Path, typer.Option(help="The results file, .sqlite.")] = Path(
        "results.sqlite"
    ),
    experiment: Experiment = None,
    jobs: Annotated[int, typer.Option(help="Tasks at a time.")] = 1,
    export: Annotated[
        Path | None,
        typer.Option(help="Write all results as .parquet, too.", show_default=False),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option(
            "--draw",
            metavar="FOLDER",
            help="Draw the figures into this folder, and write their tables.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Run the paper's experiments.

    A run that was killed goes on where it was; what the results file has is not
    computed again.
    """
    require_output(out, ".sqlite")
    require_output(export, ".parquet", option="--export")
    require_folder(folder, option="--draw")
    stem, X, y = _load(data)
    most = SMALL if data is None else np.unique(y).size // 2
    new: dict[str, int] = {}
    names: dict[int, str] = {}
    for n, methods in experiments(figure, classes, method, most).items():
        names[n] = experiment or f"{stem}/{n}x{n}-seed{seed}"
        new[names[n]] = run(
            X,
            y,
            tasks=binary_tasks(y, n_classes=n, seed=seed),
            methods=methods,
            path=out,
            experiment=names[n],
            svm=svm,
            n_jobs=jobs,
            verbose=int(shows_progress()),
        )
    if export is not None:
        export_results(out, export)
    drawn: list[Path] = []
    if folder is not None:
        found = read_results(out)
        for number in figure:
            rows = of_experiment(found, names[n_classes(number, classes, most)])
            drawn += draw(rows, folder, [number], methods=method, compare=None)
    if json:
        emit({"results": out, "new_rows": new, "figures": drawn})
        return
    for name, n_rows in new.items():
        typer.echo(f"{name}: {n_rows} new rows in {out}")
    for path in drawn:
        typer.echo(path)


def n_classes(figure: int, classes: int | None, most: int) -> int:
    """N for a figure: what the user says, or the paper, or as many as there are."""
    return classes or min(FIGURE[figure][1], most)


def experiments(
    figures: Sequence[int],
    classes: int | None,
    methods: Sequence[str] | None,
    most: int,
) -> Experiments:
    """Methods to run for each N: figures of one size share an experiment."""
    found: dict[int, dict[str, None]] = {}
    for number in figures:
        chosen = found.setdefault(n_classes(number, classes, most), {})
        chosen.update(dict.fromkeys(methods or FIGURE[number][0]))
    return {n: list(names) for n, names in found.items()}


def _load(data: str | None) -> tuple[str, Any, NDArray[Any]]:
    """Name, histograms and labels."""
    if data is None:
        digits = load_digits_histograms()
        return "digits", digits.X, digits.y
    given = read_labeled(Source(data))
    return Path(data).stem, given.X, given.y
