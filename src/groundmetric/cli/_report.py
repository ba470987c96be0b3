"""``groundmetric report``: did learning help, in one HTML file."""

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import GroundMetricLearning
from ..report._evaluation import Evaluation, evaluate, judge_data
from ..report._write import judge_features, write_evaluation
from ._console import emit, note, shows_progress, tell
from ._data import Data, Source, bins_like, limited, read_labeled
from ._models import bins_of, histograms_of, load_model, warn_if_seen
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
    Model,
    Neighbors,
    Output,
    Seed,
    examples,
)
from ._options import Data as DataArgument
from ._output import judged

EPILOG = examples(
    "groundmetric report flowers.csv --label species --out flowers.html",
    "groundmetric report seen.csv --model seen.npz --test new.csv",
    "groundmetric report photos/ --limit 300",
)
LIMIT = 400


@judged
def report(
    context: typer.Context,
    data: DataArgument,
    *,
    model: Model = None,
    test: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Histograms with labels to test on; 30 % of DATA if there are none.",
            show_default=False,
        ),
        INPUT,
    ] = None,
    test_labels: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Labels of --test in a file of their own, as with --labels.",
            show_default=False,
        ),
        INPUT,
    ] = None,
    label: Label = None,
    labels: LabelsFile = None,
    ignore: Ignore = None,
    header: Header = None,
    feature: Feature = Features.gist,
    out: Annotated[
        Path, typer.Option(help="The file to write."), Output((".html", ".htm"))
    ] = Path("report.html"),
    neighbors: Neighbors = 3,
    title: Annotated[str, typer.Option(help="Its heading.")] = "Ground metric learning",
    limit: Limit = LIMIT,
    seed: Seed = 0,
    jobs: Jobs = -1,
    json: Json = False,
) -> None:
    """Write a report as one HTML file.

    It says whether learning helped, where, and what the metric looks like. A model that
    was learned before is reported on as it is if there are --test histograms; otherwise
    its settings learn again, from 70 % of DATA.
    """
    if test is None and test_labels is not None:
        raise ValueError("--test-labels is about --test, which is not there.")
    learner = _learner(model, jobs)
    wanted = None if model is None else bins_of(learner)
    source = Source(
        data, label, labels, ignore or (), header, feature.value, jobs, test
    )
    everything = read_labeled(source, wanted)
    given = limited(everything, limit, seed, "reporting on")
    other = None
    if test is not None:
        beside = source.of(test, test_labels, "--test-labels")
        other = read_labeled(beside, wanted or bins_like(given))
        warn_if_seen(given.X if model is None else histograms_of(learner), other)
    elif model is not None:
        note("no --test: the model's settings learn again, from 70 % of the histograms")
    test_X, test_y = (None, None) if other is None else (other.X, other.y)
    judged = judge_data(given.X, given.y, test_X, test_y, seed)
    features = judge_features(given.names, given.shape, given.X.shape[1])
    found = evaluate(learner, judged, n_neighbors=neighbors, n_jobs=jobs)
    origin = {
        "command": shlex.join(["groundmetric", *context.obj]),
        "data": given.source,
        "rows used": _used(len(given.X), len(everything.X), seed),
        "test data": "30 % of the rows used" if other is None else other.source,
        "seed": str(seed),
    }
    write_evaluation(out, found, features, title, seed, origin=origin)
    _say(found, given, out, json=json)


def _used(n: int, given: int, seed: int) -> str:
    if n == given:
        return f"all {n:,}"
    return f"{n:,} of {given:,}, drawn class by class with seed {seed}"


def _say(found: Evaluation, given: Data, out: Path, *, json: bool) -> None:
    if json:
        facts: dict[str, Any] = {
            "data": given.source,
            "n_histograms": len(given.X),
            "n_test": len(found.data.test),
            "errors": found.errors(),
            "verdict": found.verdict(),
            "report": out,
        }
        emit(facts)
    else:
        tell(found.verdict())
        tell(f"Report: {out}")


def _learner(model: Path | None, jobs: int) -> GroundMetricLearning:
    verbose = int(shows_progress())
    if model is None:
        return GroundMetricLearning(n_jobs=jobs, verbose=verbose)
    found: GroundMetricLearning = load_model(model).set_params(
        n_jobs=jobs, verbose=verbose, checkpoint=None
    )
    return found
