"""How long fits, distances and projections take, said before they start."""

from typing import Any

from .. import validation
from .._words import count
from ..experiments.effort import FOLDS, fit_seconds, solving_seconds
from ..learning._effort import HARD_PROJECTION
from ._console import begin


def say_how_long(
    learner: Any, rows: Any, labels: Any, *, measured: bool = False
) -> None:
    """Estimate a fit, and the fits that measure its error if it is measured."""
    estimator = getattr(learner, "estimator", None) or learner
    threads = validation.n_threads(getattr(estimator, "n_jobs", None))
    n, d = rows.shape
    what = [count(d, "bin"), count(n, "row")]
    if hasattr(estimator, "max_steps"):
        what.append(count(estimator.max_steps, "step"))
    if measured or hasattr(learner, "estimator"):
        what.append("cross-validated")
    n_fits = FOLDS if measured else 1
    seconds = n_fits * fit_seconds(learner, rows, labels, threads)
    begin(seconds, ", ".join(what))


def say_how_long_for_pairs(rows: Any, n_pairs: int, jobs: int) -> None:
    """Estimate exact distances."""
    seconds = solving_seconds(n_pairs, rows) / validation.n_threads(jobs)
    what = count(rows.shape[1], "bin"), count(n_pairs, "distance")
    begin(seconds, ", ".join(what))


def say_how_long_to_project(d: int) -> None:
    """Estimate a projection of a noisy matrix."""
    begin(HARD_PROJECTION * d**3, count(d, "bin"))
