"""``groundmetric report``: whether learning helped, in one HTML file."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from .. import validation
from ..datasets import HistogramTable
from ..datasets._histogram_table import bins_like
from ..experiments.splits import Data, split_data
from ..report._evaluation import evaluate
from ..report._lesson import with_stability
from ..report._origins import Origin, Origins
from ..report._page import Extras
from ..report._write import as_features, write_evaluation
from ._command import command
from ._console import begin, emit, listening, note, shows_progress, tell
from ._data import bins_of, limited, read_labeled, warn_if_seen
from ._models import learner_for, load_drawable, rivals_for
from ._options import (
    Folds,
    Groups,
    InputFile,
    InputPath,
    Json,
    Limit,
    Model,
    Neighbors,
    Output,
    Repeats,
    Seed,
    Source,
    Unshown,
)
from ._splitting import LIMIT, split

PICTURE = 3  # channels, rows and columns


@command(
    "groundmetric report flowers.csv --label species --out flowers.html",
    "groundmetric report seen.csv --model seen.npz --test new.csv",
    "groundmetric report photos/ --limit 100",
)
def report(
    context: typer.Context,
    source: Source,
    *,
    model: Model = None,
    test: InputFile = None,
    test_labels: InputPath = None,
    groups: Groups = None,
    out: Annotated[Path, Output((".html", ".htm"))] = Path("report.html"),
    neighbors: Neighbors = 3,
    folds: Folds = 5,
    repeats: Repeats = 2,
    learners: Unshown = None,
    shape: Annotated[str | None, Option(metavar="8x8")] = None,
    title: str = "Ground metric learning",
    limit: Limit = LIMIT,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write a report as one HTML file.

    It shows whether learning helped, which learner to use, where they differ, and what
    the metric looks like. With --test histograms, an existing model is reported on as
    it is; otherwise its settings are used to learn again, on the
    splits that evaluate draws.

    Parameters
    ----------
    test
        Labeled histograms to test on; by default DATA is split.
    test_labels
        Labels of --test in a separate file.
    out
        The file to write, .html.
    learners
        Compare with our smoothed learner, LMNN, ITML, NCA, chi-squared LMNN, logistic
        regression and a linear SVM, too; by default without ITML if there are more than
        five classes.
    shape
        Rows x columns, or channels x rows x columns, if features are on a grid, as
        pixels are.
    title
        Heading.
    """
    if test is None and test_labels is not None:
        raise ValueError("--test-labels needs --test.")
    learner: Any = None
    if model is not None:  # a search chooses again on each split
        learner = load_drawable(model, search=test is None)
        learner.set_params(n_jobs=source.jobs)
        _show_steps(learner)
    wanted = None if model is None else bins_of(learner)
    drawing: dict[str, Any] = {"n_folds": folds, "n_repeats": repeats, "seed": seed}
    other = None
    with listening() as notes:
        everything = read_labeled(replace(source, beside=test), wanted, groups)
        if test is None:
            way = "give a test set with --test"
            given, drawing = split(everything, limit, drawing, way)
        else:
            given = limited(everything, limit, seed, "learning from")
            beside = replace(source, path=test, labels=test_labels, beside=source.path)
            beside = replace(beside, option="--test-labels", is_second=True)
            other = read_labeled(beside, wanted or bins_like(given), groups)
            if model is None:
                warn_if_seen(given.X, other.X)
            else:
                warn_if_seen(learner._histograms, learner.histograms(other.X))
        learner = learner or learner_for(everything, jobs=source.jobs)
    if test is None and model is not None:
        note("no --test: learning again with the model's settings")
    names = given.names or (wanted.names if wanted else None) or given.feature_names
    features = as_features(names, _grid(shape, source, given), given.X.shape[1])
    data = _data_of(given, other, drawing)
    found = evaluate(
        learner,
        data,
        n_neighbors=neighbors,
        learners=rivals_for(everything, asked=learners),
        slow=bool(learners),
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
        begin=lambda seconds, what: begin(2 * seconds, what),  # stability, too
    )
    if found.skipped:
        note(found.skipped)
    shown = int(shows_progress())
    found = with_stability(found, seed=seed, n_jobs=source.jobs, verbose=shown)
    lesson = found.lesson(features[0])
    origin = {
        "command": shlex.join(["groundmetric", *context.obj]),
        "data": given.source,
        "rows used": _used(len(given), len(everything), seed),
        "test data": "splits of the rows used" if other is None else other.source,
        "seed": str(seed),
    }
    write_evaluation(
        out,
        found,
        features,
        Extras(title, seed, [found.skipped, lesson], notes, origin),
        Origins(_origin(given), _origin(given if other is None else other)),
    )
    if json:
        facts = {"data": given.source, "n_histograms": len(given)}
        emit({**facts, **found.verdict.facts(), "report": out})
        return
    for sentence in [*found.verdict.sentences(), lesson, f"Report: {out}"]:
        if sentence:
            tell(sentence)


def _data_of(
    given: HistogramTable, other: HistogramTable | None, drawing: dict[str, Any]
) -> Data:
    """Split the histograms, or test on the others."""
    apart: dict[str, Any] = {"groups": given.groups}
    if other is None:
        return split_data(given.X, given.y, **apart, **drawing)
    apart["groups_test"] = other.groups
    return split_data(given.X, given.y, other.X, other.y, **apart)


def _grid(
    shape: str | None, source: Source, data: HistogramTable
) -> tuple[int, ...] | None:
    """Return the shape in which bins are drawn, as asked for; or that of edges."""
    if shape is not None:
        return validation.as_written_grid(shape, data.X.shape[1], "--shape")
    has_places = source.feature == "gist" and len(data.feature_shape) == PICTURE
    return data.feature_shape if has_places else None


def _origin(data: HistogramTable) -> Origin:
    return Origin(lambda row: f"{data.source}, {data.where(row)}", data.thumbnail)


def _used(n: int, given: int, seed: int) -> str:
    if n == given:
        return f"all {n:,}"
    return f"{n:,} of {given:,}, drawn class by class with seed {seed}"


def _show_steps(learner: Any) -> None:
    """Ask for a bar of steps; in closed form, there are none."""
    if "verbose" in learner.get_params(deep=False):
        learner.set_params(verbose=int(shows_progress()))
