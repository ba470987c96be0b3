"""How long fits, distances and projections take, said before they start."""

from typing import Any

from .. import validation
from .._words import count
from ..experiments.effort import fit_seconds, solving_seconds
from ..learning._effort import HARD_PROJECTION
from ._console import begin


def say_how_long(learner: Any, rows: Any, labels: Any) -> None:
    """Estimate a fit."""
    estimator = getattr(learner, "estimator", learner)
    threads = validation.n_threads(getattr(estimator, "n_jobs", None))
    (n, d), steps = rows.shape, getattr(estimator, "max_steps", 1)
    what = [count(d, "bin"), count(n, "row"), count(steps, "step")]
    if estimator is not learner:
        what[-1] += ", cross-validated"
    begin(fit_seconds(learner, rows, labels, threads), ", ".join(what))


def say_how_long_for_pairs(rows: Any, n_pairs: int, jobs: int) -> None:
    """Estimate exact distances."""
    seconds = solving_seconds(n_pairs, rows) / validation.n_threads(jobs)
    what = count(rows.shape[1], "bin"), count(n_pairs, "distance")
    begin(seconds, ", ".join(what))


def say_how_long_to_project(d: int) -> None:
    """Estimate a projection of a noisy matrix."""
    begin(HARD_PROJECTION * d**3, count(d, "bin"))
