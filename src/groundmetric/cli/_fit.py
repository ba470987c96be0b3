"""``groundmetric fit``: learn a metric, and write a model file."""

import shlex
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from typer import Option

from .. import (
    Checkpoint,
    GroundMetricLearning,
    Margin,
    MetricLearningCV,
    Neighborhood,
    validation,
)
from .._words import count, percent
from ..base._powers import Power, as_power
from ..datasets import HistogramTable
from ..datasets._matrix import in_order_of, load_matrix, load_metric
from ..learning._folds import SCORED_NEIGHBORS
from ._command import command
from ._console import emit, note, shows_progress, tell
from ._data import limited, read_labeled
from ._effort import say_how_long
from ._models import learner_for
from ._options import (
    INPUT,
    Groups,
    InputFile,
    Json,
    Limit,
    Output,
    Seed,
    Source,
    as_option,
)

DEFAULTS: dict[str, Any] = {
    **Margin().get_params(),
    **Neighborhood().get_params(),
    **GroundMetricLearning().get_params(),
}
LIMIT = 500  # minutes, not hours, at 128 bins
# Options that learning from vectors of words does not have.
OF_METRICS = (
    *("criterion", "targets", "margin", "neighbors", "similar", "power", "init"),
    *("points", "step_size", "inner_steps", "tol", "cv"),
)
STARTS = ("uniform", "typical", "independence")


@command(
    "groundmetric fit flowers.csv --label species --out flowers.npz",
    "groundmetric fit photos/ --feature color --out photos.npz",
    "groundmetric fit texts/ --vectors glove.txt --out texts.npz",
    "zcat counts.csv.gz | groundmetric fit - --id sample --json",
)
def fit(
    context: typer.Context,
    source: Source,
    *,
    out: Annotated[Path, Output((".npz",))] = Path("model.npz"),
    criterion: Literal["margin", "neighborhood"] = DEFAULTS["criterion"],
    targets: int = DEFAULTS["n_targets"],
    margin: float = DEFAULTS["margin"],
    neighbors: int = DEFAULTS["k"],
    similar: int = DEFAULTS["n_similar"] or 0,
    power: str = str(DEFAULTS["power"]),
    init: Annotated[str | None, Option(show_default=False), INPUT] = None,
    points: InputFile = None,
    step_size: float = DEFAULTS["step_size"],
    max_steps: int = DEFAULTS["max_steps"],
    inner_steps: int = DEFAULTS["inner_steps"],
    tol: float = DEFAULTS["tol"],
    cv: Annotated[bool, Option("--cv")] = False,
    groups: Groups = None,
    limit: Limit = LIMIT,
    seed: Seed = 0,
    checkpoint: Annotated[
        Path | None, Option(metavar="FILE"), Output(continues=True)
    ] = None,
    json: Json = False,
) -> None:
    """Learn a metric from labeled histograms.

    The metric makes the earth mover's distance small between histograms of the same
    class and large between classes. Writes a model file for the other commands and for
    GroundMetricLearning.load in Python.

    Parameters
    ----------
    out
        The model file to write, .npz.
    criterion
        What to minimize: margins, or the paper's C_k.
    targets
        Margins: nearest of the same class that should be nearer.
    margin
        Margins: by which share of their median distance.
    neighbors
        C_k: nearest histograms of other classes to use; 0: all.
    similar
        C_k: nearest histograms of the same class to use; 0: all.
    power
        Raise histograms to this power first, such as 0.5 for square roots, or take
        logarithms: log1p.
    init
        Initial metric: uniform, typical, independence, or a file of a metric. By
        default from --points, or uniform.
    points
        Coordinates of the bins, a row for each: .npy or .csv.
    step_size
        First step, relative to the norm of the metric.
    max_steps
        Maximum number of steps.
    inner_steps
        C_k: steps after which to linearize it again.
    tol
        Stop when the relative improvement falls below this.
    cv
        Choose the number of steps by cross-validation; takes several times as long.
    checkpoint
        Save progress here, to resume after Ctrl-C.
    """
    named = init is None or init in STARTS
    if init is not None and not named and init != "-" and not Path(init).is_file():
        raise ValueError(
            f"--init is {init}: No such file; use {', '.join(STARTS)}, or the file of "
            "a metric, .npy or .csv."
        )
    start = None if init is None or named else load_metric(init)
    neighborhood = Neighborhood(
        k=validation.as_count(neighbors, "--neighbors", low=0) or None,
        n_similar=validation.as_count(similar, "--similar", low=0) or None,
        inner_steps=inner_steps,
    )
    margins = Margin(n_targets=targets, margin=margin)
    learner = GroundMetricLearning(
        margins if criterion == "margin" else neighborhood,
        power=_power_of(power),
        points=None if points is None else load_matrix(points).values,
        init=init if start is None else start.values,
        step_size=step_size,
        max_steps=max_steps,
        tol=tol,
        callbacks=() if checkpoint is None else [Checkpoint(checkpoint)],
        n_jobs=source.jobs,
        verbose=int(shows_progress()),
    )
    given = _given(source, groups, limit, seed, cv=cv)
    if given.points is not None:
        learner = _from_vectors(given, source, context, learner, seed)
    if start is not None:
        learner.init = in_order_of(given.names, start, str(init), given.source)
    model: Any = MetricLearningCV(learner, {}) if cv else learner
    say_how_long(model, given.X, given.y)
    model.fit(given.X, given.y, **({"groups": given.groups} if groups else {}))
    learner = model.best_estimator_ if cv else model
    if given.names is not None:  # as if fitted on a frame, so that columns are checked
        for each in (model, learner):
            each.feature_names_in_ = np.array(given.names, dtype=object)
    if given.has_names:
        learner.sample_names_in_ = np.array(given.row_names(), dtype=str)
    model.save(out)
    # The criterion at the start of each step; cross-validation may have chosen none.
    values = learner.path_.column("criterion") if learner.path_ else np.full(1, np.nan)
    found: dict[str, Any] = {
        "data": given.source,
        "n_histograms": len(given),
        "n_bins": given.X.shape[1],
        "classes": np.unique(given.y),
        "n_steps": learner.n_iter_,
        "criterion_first": values[0],
        "criterion_best": values.min(),
        "model": str(out),
    }
    if cv:
        found["held_out_error"] = 1.0 - model.best_score_
        found["held_out_error_first"] = 1.0 - model.cv_results_["mean_test_score"][0]
    if json:
        emit(found)
        return
    _say(found)
    if source.path != "-":
        rest = "" if groups is None else f" {as_option('groups', groups)}"
        note(f"Did it help? {evaluation_of(source)}{rest}")


def _given(
    source: Source, groups: str | None, limit: int, seed: int, *, cv: bool
) -> HistogramTable:
    """Read the histograms to learn from; groups are for cross-validation."""
    if groups is not None and not cv:
        raise ValueError("--groups needs --cv; to leave the column out, use --ignore.")
    return limited(read_labeled(source, groups=groups), limit, seed, "learning from")


def _from_vectors(
    given: HistogramTable, source: Source, context: typer.Context, own: Any, seed: int
) -> Any:
    """Make a learner that starts at vectors of words; reject options of others."""

    def is_asked_for(name: str) -> bool:
        origin = context.get_parameter_source(name)
        return origin is not None and origin.name == "COMMANDLINE"

    for name in filter(is_asked_for, OF_METRICS):
        raise ValueError(
            f"{as_option(name)} is not for texts, whose words start at their vectors; "
            "leave it out, or use Python."
        )
    options = {"max_steps": own.max_steps} if is_asked_for("max_steps") else {}
    return learner_for(
        given, jobs=source.jobs, callbacks=own.callbacks, random_state=seed, **options
    )


def _power_of(text: str) -> Power:
    try:
        return float(text)
    except ValueError:
        return as_power(text)


def _say(found: dict[str, Any]) -> None:
    steps, chosen = count(found["n_steps"], "step"), "held_out_error" in found
    if chosen:
        steps += ", as chosen by cross-validation"
    elif found["n_steps"] > 1:  # after the only step, it is not known
        steps += (
            f", criterion (lower is better) from {found['criterion_first']:.3g} to "
            f"{found['criterion_best']:.3g}"
        )
    tell(
        f"Learned from {count(found['n_histograms'], 'histogram')} over "
        f"{count(found['n_bins'], 'bin')}, {len(found['classes'])} classes: {steps}."
    )
    if chosen:
        tell(
            f"Errors of 1 to {SCORED_NEIGHBORS} nearest neighbors of held-out "
            f"histograms: {percent(found['held_out_error'])}, and "
            f"{percent(found['held_out_error_first'])} with the initial metric."
        )
    tell(f"Model: {found['model']}")


def evaluation_of(source: Source) -> str:
    """Write the command that evaluates learning on the same data."""
    words = ["groundmetric evaluate", shlex.quote(source.path)]
    for one in fields(source)[1:]:
        value = getattr(source, one.name)
        if one.name != "jobs" and value != one.default:
            words.append(as_option(one.name, value))
    return " ".join(words)
