"""``groundmetric fit``: learn a metric, and write a model file."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import GroundMetricLearning, validation
from .._words import count
from ._arrays import in_order_of, load_metric
from ._console import emit, note, shows_progress, tell
from ._data import Data, Source, limited, read_labeled
from ._models import save_model
from ._options import (
    INPUT,
    Feature,
    Features,
    Header,
    Ignore,
    Jobs,
    Json,
    Label,
    LabelsFile,
    Limit,
    Output,
    Seed,
    examples,
)
from ._options import Data as DataArgument
from ._output import judged

EPILOG = examples(
    "groundmetric fit flowers.csv --label species --out flowers.npz",
    "groundmetric fit photos/ --feature color --out photos.npz",
    "zcat counts.csv.gz | groundmetric fit - --ignore id --json",
)
DEFAULTS: dict[str, Any] = GroundMetricLearning().get_params()
LIMIT = 500  # minutes, not hours, at 128 bins
STARTS = ("uniform", "typical", "independence")


@judged
def fit(
    data: DataArgument,
    *,
    label: Label = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    header: Header = None,
    feature: Feature = Features.gist,
    out: Annotated[
        Path, typer.Option(help="The model file to write, .npz."), Output((".npz",))
    ] = Path("model.npz"),
    neighbors: Annotated[
        int, typer.Option(help="Nearest of other classes that count; 0 for all.")
    ] = DEFAULTS["n_neighbors"],
    similar: Annotated[
        int, typer.Option(help="Nearest of the same class that count; 0 for all.")
    ] = DEFAULTS["n_similar"] or 0,
    init: Annotated[
        str,
        typer.Option(help=f"Where to start: {', '.join(STARTS)}, or a metric's file."),
        INPUT,
    ] = DEFAULTS["init"],
    step_size: Annotated[
        float, typer.Option(help="First step, relative to the metric.")
    ] = DEFAULTS["step_size"],
    max_outer: Annotated[int, typer.Option(help="Most outer steps.")] = DEFAULTS[
        "max_outer"
    ],
    max_inner: Annotated[
        int, typer.Option(help="Most inner steps in each.")
    ] = DEFAULTS["max_inner"],
    tol: Annotated[
        float, typer.Option(help="Relative progress that is too little to go on.")
    ] = DEFAULTS["tol"],
    limit: Limit = LIMIT,
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the state here, to go on after a kill or Ctrl-C.",
            show_default=False,
        ),
        Output(continues=True),
    ] = None,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Learn a metric from labeled histograms.

    The earth mover's distance under it is small between histograms of a class and large
    between classes. Writes a model file, for the other commands and for
    GroundMetricLearning.load in Python.
    """
    if init not in (*STARTS, "-") and not Path(init).is_file():
        raise ValueError(
            f"--init is {init}: No such file; {', '.join(STARTS)}, or the file of a "
            "metric, .npy or .csv, is needed."
        )
    start = None if init in STARTS else load_metric(init)
    learner = GroundMetricLearning(
        n_neighbors=validation.as_count(neighbors, "--neighbors", low=0) or None,
        n_similar=validation.as_count(similar, "--similar", low=0) or None,
        init=init if start is None else start.values,
        step_size=step_size,
        max_outer=max_outer,
        max_inner=max_inner,
        tol=tol,
        checkpoint=checkpoint,
        n_jobs=jobs,
        verbose=int(shows_progress()),
    )
    source = Source(data, label, labels, ignore or (), header, feature.value, jobs)
    given = limited(read_labeled(source), limit, seed, "learning from")
    if start is not None:
        learner.init = in_order_of(given.names, start, init, given.source)
    learner.fit(given.X, given.y)
    save_model(learner, given, out)
    found = summary(learner, given) | {"model": str(out)}
    if json:
        emit(found)
    else:
        say(found)
        if data != "-":
            note(f"Did it help? {evaluation_of(source)}")


def summary(learner: GroundMetricLearning, data: Data) -> dict[str, Any]:
    """Tell what was learned, from what."""
    criterion = learner.path_.column("criterion")
    return {
        "data": data.source,
        "n_histograms": len(data.X),
        "n_bins": data.X.shape[1],
        "classes": np.unique(data.y),
        "n_steps": learner.n_iter_,
        "criterion_first": criterion[0],
        "criterion_best": criterion.min(),
    }


def evaluation_of(source: Source) -> str:
    """Write the command that tells whether learning from these data helps."""
    options = {
        "--label": [source.label] if source.label is not None else [],
        "--labels": [str(source.labels)] if source.labels is not None else [],
        "--ignore": list(source.ignore),
        "--feature": [] if source.feature == Features.gist.value else [source.feature],
    }
    words = [
        word
        for option in options
        for value in options[option]
        for word in (option, value)
    ]
    headers = {None: [], True: ["--header"], False: ["--no-header"]}
    words += headers[source.header]
    return shlex.join(["groundmetric", "evaluate", source.path, *words])


def say(found: dict[str, Any]) -> None:
    """Print the summary of a fit."""
    tell(
        f"Learned from {count(found['n_histograms'], 'histogram')} over "
        f"{count(found['n_bins'], 'bin')}, {len(found['classes'])} classes: "
        f"{count(found['n_steps'], 'step')}, criterion (similar minus dissimilar "
        f"distances, less is better) from {found['criterion_first']:.3g} to "
        f"{found['criterion_best']:.3g}."
    )
    tell(f"Model: {found['model']}")
