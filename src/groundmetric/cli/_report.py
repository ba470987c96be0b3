"""``groundmetric report``: whether learning helped, in one HTML file."""

import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from .. import GroundMetricLearning
from ..experiments.splits import split_data
from ..report._evaluation import evaluate
from ..report._origins import Origin, Origins
from ..report._page import Extras
from ..report._write import as_features, write_evaluation
from ._command import command
from ._console import emit, listening, note, shows_progress, tell
from ._data import (
    Data,
    bins_like,
    bins_of,
    grid_of,
    limited,
    read_labeled,
    thumbnail_of,
    warn_if_seen,
)
from ._models import load_learner
from ._options import (
    INPUT,
    Folds,
    Json,
    Limit,
    Model,
    Neighbors,
    Output,
    Repeats,
    Seed,
    Source,
)
from ._shape import as_shape
from ._splitting import LIMIT, Splitting, split


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
    test: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Labeled histograms to test on; by default DATA is split.",
        ),
        INPUT,
    ] = None,
    test_labels: Annotated[
        Path | None,
        Option(metavar="FILE", help="Labels of --test in a separate file."),
        INPUT,
    ] = None,
    out: Annotated[
        Path, Option(help="The file to write, .html."), Output((".html", ".htm"))
    ] = Path("report.html"),
    neighbors: Neighbors = 3,
    folds: Folds = 5,
    repeats: Repeats = 2,
    learners: Annotated[
        bool | None,
        Option(
            help="Compare with our smoothed learner, LMNN, ITML, NCA and chi-squared "
            "LMNN, too; by default without ITML if there are more than five classes.",
            show_default=False,
        ),
    ] = None,
    shape: Annotated[
        str | None,
        Option(
            metavar="8x8",
            help="Rows x columns, or channels x rows x columns, if features are on a "
            "grid, as pixels are.",
        ),
    ] = None,
    title: Annotated[str, Option(help="Heading.")] = "Ground metric learning",
    limit: Limit = LIMIT,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Write a report as one HTML file.

    It shows whether learning helped, which learner to use, where they differ, and what
    the metric looks like. With --test histograms, an existing model is reported on as
    it is; otherwise its settings are used to learn again, on the
    splits that evaluate draws.
    """
    if test is None and test_labels is not None:
        raise ValueError("--test-labels needs --test.")
    learner = GroundMetricLearning() if model is None else load_learner(model)
    learner.set_params(n_jobs=source.jobs, verbose=int(shows_progress()))
    wanted = None if model is None else bins_of(learner)
    with listening() as notes:
        everything = read_labeled(replace(source, beside=test), wanted)
        other = None
        if test is None:
            chosen = split(
                everything,
                limit=limit,
                folds=folds,
                repeats=repeats,
                seed=seed,
                ways=["give a test set with --test"],
            )
            given = chosen.data
        else:
            given = limited(everything, limit, seed, "learning from")
            chosen = Splitting(given, None, folds, repeats, seed)
            beside = replace(source, path=test, labels=test_labels, beside=source.path)
            beside = replace(beside, option="--test-labels")
            other = read_labeled(beside, wanted or bins_like(given))
            if model is None:
                warn_if_seen(given.X, other)
            else:
                warn_if_seen(learner._histograms, other, learner)
    if test is None and model is not None:
        note("no --test: learning again with the model's settings")
    test_X, test_y = (None, None) if other is None else (other.X, other.y)
    names = given.names or (wanted.names if wanted else None) or given.feature_names
    d = given.X.shape[1]
    grid = grid_of(source, given) if shape is None else as_shape(shape, d)
    features = as_features(names, grid, d)
    data = split_data(given.X, given.y, test_X, test_y, **chosen.options)
    found = evaluate(
        learner,
        data,
        n_neighbors=neighbors,
        learners=() if learners is False else None,
        slow=bool(learners),
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
    )
    if found.skipped:
        note(found.skipped)
    lesson = found.lesson(features[0])
    origin = {
        "command": shlex.join(["groundmetric", *context.obj]),
        "data": given.source,
        "rows used": _used(len(given.X), len(everything.X), seed),
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
        facts = {"data": given.source, "n_histograms": len(given.X)}
        emit({**facts, **found.verdict.facts(), "report": out})
        return
    for sentence in [*found.verdict.sentences(), lesson, f"Report: {out}"]:
        if sentence:
            tell(sentence)


def _origin(data: Data) -> Origin:
    return Origin(
        lambda row: f"{data.source}, {data.where(row)}", partial(thumbnail_of, data)
    )


def _used(n: int, given: int, seed: int) -> str:
    if n == given:
        return f"all {n:,}"
    return f"{n:,} of {given:,}, drawn class by class with seed {seed}"
