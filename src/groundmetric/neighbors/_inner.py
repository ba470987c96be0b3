"""The learner inside a classifier."""

from __future__ import annotations

from typing import Any

from sklearn.base import BaseEstimator, is_classifier


def as_learner(learner: Any) -> BaseEstimator:
    """Validate an estimator that learns a metric."""
    if isinstance(learner, type) or not hasattr(learner, "fit"):
        raise ValueError(
            f"learner is {learner!r}; an estimator with a method fit is needed."
        )
    if is_classifier(learner):
        raise ValueError(
            f"learner is {learner!r}, which learns classes; a learner of a metric "
            "is needed."
        )
    return learner


def with_options(
    learner: BaseEstimator, n_jobs: int | None, verbose: int
) -> BaseEstimator:
    """Pass n_jobs and verbose on to a learner that does not set them itself."""
    given = learner.get_params(deep=False)
    if given.get("n_jobs", 1) is None:
        learner.set_params(n_jobs=n_jobs)
    if given.get("verbose", 1) == 0:
        learner.set_params(verbose=verbose)
    return learner
