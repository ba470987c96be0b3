"""Measure one method on one split: learn, compute distances, classify."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from .measures import class_sizes, knn_wrong, svm_wrong
from .scoring import Score, Scoring, scored

if TYPE_CHECKING:
    from collections.abc import Callable

    from .methods import Method
    from .predictors import Predictor

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]
Wrong = NDArray[np.bool_]

__all__ = ["Measured", "Predicted", "Split", "learned", "measured", "predicted"]
__all__ += ["require_sizes"]


class Split(NamedTuple):
    """Histograms of mass 1 to learn from and to test, and their labels."""

    train: Floats
    y: Labels
    test: Floats
    z: Labels
    groups: Labels | None = None  # of those to learn from

    @classmethod
    def of(
        cls,
        X: Floats,
        y: Labels,
        train: Indices,
        test: Indices,
        groups: Labels | None = None,
    ) -> Split:
        """Select rows of one data set."""
        apart = None if groups is None else groups[train]
        return cls(X[train], y[train], X[test], y[test], apart)


class Measured(NamedTuple):
    """What one method learned from a split, and what it gets wrong."""

    method: str
    knn_wrong: Wrong  # (m, n_neighbors), for 1, 2, ... neighbors
    svm_wrong: Wrong | None  # (m,)
    fit_seconds: float
    pairwise: Any = None  # distances as it learned them, if they are kept
    between: Any = None  # those from test to training histograms, (m, n)
    start: Measured | None = None  # where it started, if it remembers that
    score: Score | None = None  # your own, if it was asked for

    def without_distances(self) -> Measured:
        """Forget what was learned, which may be large."""
        start = self.start and self.start.without_distances()
        return self._replace(pairwise=None, between=None, start=start)


def learned(method: Method, split: Split, n_jobs: int | None) -> Any:
    """Learn a distance, whose folds keep groups together if it draws any."""
    apart = {"groups": split.groups} if method.takes_groups else {}
    return method.learn(split.train, split.y, n_jobs, **apart)


class Predicted(NamedTuple):
    """What one predictor gets wrong."""

    method: str
    wrong: Wrong  # (m,)
    fit_seconds: float


def predicted(
    predictor: Predictor,
    split: Split,
    *,
    clock: Callable[[], float] = time.process_time,
) -> Predicted:
    """Learn to predict labels, and measure it; the clock returns CPU seconds."""
    start = clock()
    predict = predictor.learn(split.train, split.y, split.groups)
    seconds = clock() - start
    return Predicted(predictor.name, predict(split.test) != split.z, seconds)


def measured(
    method: Method,
    split: Split,
    *,
    n_neighbors: int,
    svm: bool,
    n_jobs: int | None,
    scoring: Scoring | None = None,
    clock: Callable[[], float] = time.process_time,
) -> Measured:
    """Learn one distance and measure it; the clock returns CPU seconds."""
    start = clock()
    pairwise = learned(method, split, n_jobs)
    seconds = clock() - start
    between = pairwise(split.test, split.train)
    machine = None
    if svm:
        machine = svm_wrong(pairwise(split.train, None), split.y, between, split.z)
    wrong = knn_wrong(between, split.y, split.z, n_neighbors=n_neighbors)
    own = None if scoring is None else scored(scoring, between, split.y, split.z)
    found = Measured(method.name, wrong, machine, seconds, pairwise, between, None, own)
    begun = getattr(pairwise, "start", None)
    if begun is None:
        return found
    initial = replace(method, name="initial", learn=lambda *_, **__: begun)
    options: Any = {"n_neighbors": n_neighbors, "svm": svm, "n_jobs": n_jobs}
    return found._replace(start=measured(initial, split, **options))


def require_sizes(
    y_train: Labels, n_test: int | None, n_neighbors: int, *, svm: bool, where: str
) -> None:
    """Reject tasks that are too small to measure.

    Recall limits the neighbors by the number of test histograms; pass None without it.
    """
    k = validation.as_count(n_neighbors, "n_neighbors", low=1)
    most, there = len(y_train), f"{len(y_train)} training"
    if n_test is not None:
        most, there = min(most, n_test - 1), f"{there} and {n_test} test"
    if k > most:
        raise ValueError(
            f"n_neighbors is {k}; it must be at most {most}, since there are {there} "
            f"histograms{where}."
        )
    class_sizes(y_train, "y_train", svm=svm, where=where)
