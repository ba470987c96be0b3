"""``groundmetric fit``: learn a metric, and write a model file."""

import shlex
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
from ..datasets._matrix import in_order_of, load_metric
from ..learning._folds import SCORED_NEIGHBORS
from ._command import command, given_options
from ._console import emit, note, shows_progress, tell
from ._data import limited, read_labeled
from ._effort import say_how_long
from ._learners import OWN, Known, Name, make, require_known, require_taken
from ._models import learner_for
from ._options import (
    INPUT,
    Groups,
    InputFiles,
    Json,
    Limit,
    Output,
    Seed,
    Source,
    as_option,
)
from ._origin import held_out_error, origin_of
from ._winner import options_of

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
    "groundmetric fit compositions.csv --learner auto --points elements.csv",
    "groundmetric fit texts/ --vectors glove.txt --out texts.npz",
    "zcat counts.csv.gz | groundmetric fit - --id sample --json",
)
def fit(
    context: typer.Context,
    source: Source,
    *,
    out: Annotated[Path, Output((".npz",))] = Path("model.npz"),
    learner: Name = "exact",
    criterion: Literal["margin", "neighborhood"] = DEFAULTS["criterion"],
    targets: int = DEFAULTS["n_targets"],
    margin: float = DEFAULTS["margin"],
    neighbors: int = DEFAULTS["k"],
    similar: int = DEFAULTS["n_similar"] or 0,
    power: str = str(DEFAULTS["power"]),
    init: Annotated[str | None, Option(show_default=False), INPUT] = None,
    points: InputFiles = None,
    metrics: InputFiles = None,
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
    class and large between classes. Writes a model file for the other commands, and for
    the learner's load in Python.

    Parameters
    ----------
    out
        The model file to write, .npz.
    learner
        exact (GroundMetricLearning), auto (AutoMetric, which tries the next ones),
        smoothed, combined, mapped or discriminant; or, to compare with: lmnn, itml,
        nca, gmml, chi2-lmnn, aitchison.
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
        Coordinates of the bins, a row for each: .npy or .csv. Some learners take
        several files.
    metrics
        Metrics between the bins, .npy or .csv; combined learns how much each counts.
    step_size
        First step, relative to the norm of the metric.
    max_steps
        Maximum number of steps.
    inner_steps
        C_k: steps after which to linearize it again.
    tol
        Stop when the relative improvement falls below this.
    cv
        Choose the number of steps (discriminant: the settings) by cross-validation,
        and estimate the error; takes several times as long.
    checkpoint
        Save progress here, to resume after Ctrl-C.
    """
    asked = given_options(context)
    require_taken(learner, asked)
    known = Known.read(points, metrics)
    require_known(learner, known)
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
    settings: dict[str, Any] = {
        "power": _power_of(power),
        "init": init if start is None else start.values,
        "step_size": step_size,
        "max_steps": max_steps,
        "tol": tol,
    }
    settings = {name: value for name, value in settings.items() if name in asked}
    settings |= {
        "criterion": margins if criterion == "margin" else neighborhood,
        "callbacks": () if checkpoint is None else [Checkpoint(checkpoint)],
        "n_jobs": source.jobs,
        "verbose": int(shows_progress()),
    }
    chooses = learner == "auto" or (cv and learner in OWN)
    if groups is not None and not (chooses or cv):
        raise ValueError("--groups needs --cv; to leave the column out, use --ignore.")
    everything = read_labeled(source, groups=groups)
    given = limited(everything, limit, seed, "learning from")
    if start is not None:
        settings["init"] = in_order_of(given.names, start, str(init), given.source)
    if given.points is not None and "learner" not in asked:
        model = _from_vectors(given, asked, settings, seed)
    else:
        model = make(learner, known.of(given), given.X.shape[1], settings)
    error, measured = None, cv and not chooses
    if cv and learner in OWN:
        model = MetricLearningCV(model, None if learner == "discriminant" else {})
    say_how_long(model, given.X, given.y, measured=measured)
    if measured:
        error = held_out_error(model, given, given.groups, seed)
    options = {"groups": given.groups} if groups and chooses else {}
    model.fit(given.X, given.y, **options)
    if chooses:
        error = 1.0 - model.best_score_
    found = _facts(model, given, error, is_search=cv and chooses)
    model.origin_ = origin_of(given, source.path, context.obj) | {
        name: found[name] for name in ("held_out_error",) if name in found
    }
    model.save(out)
    found["model"] = str(out)
    if json:
        emit(found)
        return
    _say(found)
    if source.path != "-":
        rest = "" if groups is None else f" {as_option('groups', groups)}"
        rest += known.taken_by({"points", "metrics"})
        note(f"Did it help? {_evaluation_of(source, rest)}")


def _facts(
    model: Any, given: HistogramTable, error: float | None, *, is_search: bool
) -> dict[str, Any]:
    """Collect what was learned, and name the bins and histograms of the model."""
    learner = getattr(model, "best_estimator_", model)
    if given.names is not None:  # as if fitted on a frame, so that columns are checked
        for each in (model, learner):
            each.feature_names_in_ = np.array(given.names, dtype=object)
    if given.has_names:
        learner.sample_names_in_ = np.array(given.row_names(), dtype=str)
    found: dict[str, Any] = {
        "data": given.source,
        "learner": type(learner).__name__,
        "n_histograms": len(given),
        "n_bins": given.X.shape[1],
        "classes": np.unique(given.y),
        "n_steps": getattr(learner, "n_iter_", None),
    }
    if hasattr(learner, "path_"):
        # The criterion at the start of each step; there may be none.
        path = learner.path_
        values = path.column("criterion") if path else np.full(1, np.nan)
        found |= {"criterion_first": values[0], "criterion_best": values.min()}
    if error is not None:
        found["held_out_error"] = error
    if learner is not model:
        found["settings"] = model.best_params_
    if is_search and type(model) is MetricLearningCV:
        found["held_out_error_first"] = 1.0 - model.cv_results_["mean_test_score"][0]
    return found


def _from_vectors(
    given: HistogramTable, asked: list[str], settings: dict[str, Any], seed: int
) -> Any:
    """Make a learner that starts at vectors of words; reject options of others."""
    for name in filter(asked.__contains__, OF_METRICS):
        raise ValueError(
            f"{as_option(name)} is not for texts, whose words start at their vectors; "
            "leave it out, name a --learner, or use Python."
        )
    taken = {
        name: settings[name] for name in ("callbacks", "max_steps") if name in settings
    }
    jobs = settings["n_jobs"]
    return learner_for(given, jobs=jobs, random_state=seed, **taken)


def _power_of(text: str) -> Power:
    try:
        return float(text)
    except ValueError:
        return as_power(text)


def _say(found: dict[str, Any]) -> None:
    n_steps = found["n_steps"]
    done = "" if n_steps is None else f": {count(n_steps, 'step')}"
    if "settings" in found:
        done += ", as chosen by cross-validation"
    elif found.get("criterion_first") is not None and n_steps > 1:
        # After the only step, it is not known.
        done += (
            f", criterion (lower is better) from {found['criterion_first']:.3g} to "
            f"{found['criterion_best']:.3g}"
        )
    tell(
        f"Learned from {count(found['n_histograms'], 'histogram')} over "
        f"{count(found['n_bins'], 'bin')}, {len(found['classes'])} classes{done}."
    )
    if found.get("settings"):
        settings = ", ".join(f"{x} {value}" for x, value in found["settings"].items())
        tell(f"Learner: {found['learner']}, with {settings}.")
    if "held_out_error" in found:
        before = found.get("held_out_error_first")
        tell(
            f"Errors of 1 to {SCORED_NEIGHBORS} nearest neighbors of held-out "
            f"histograms: {percent(found['held_out_error'])}"
            + (
                "."
                if before is None
                else f", and {percent(before)} with the initial metric."
            )
        )
    tell(f"Model: {found['model']}")


def _evaluation_of(source: Source, rest: str) -> str:
    """Write the command that evaluates learning on the same data."""
    return f"groundmetric evaluate {shlex.quote(source.path)}{options_of(source)}{rest}"
