"""Folds of histograms, and scores of metrics on held-out histograms."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv

from .. import validation
from .._words import count as counted
from ..base._groups import folds_of_groups, require_apart
from ..base._powers import raised
from ..base._votes import vote_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..similarity._weights import Weights
    from ._candidates import Candidate
    from ._counting import Given
    from ._descent import Descent
    from ._learner import MetricLearner

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]
Split = tuple[NDArray[Any], NDArray[Any]]  # rows to learn from, and to score on

SCORED_NEIGHBORS = 20  # votes of 1 to this many neighbors are averaged
N_REPEATS = 2  # of folds, if their number is given


def splits_of(
    cv: Any,
    rows: Floats,
    labels: Labels,
    random_state: object,
    groups: Labels | None = None,
) -> list[Split]:
    """Draw the folds, of whole groups if there are any."""
    if isinstance(cv, numbers.Integral):
        n_splits = validation.as_count(int(cv), "cv", low=2)
        if groups is not None:
            drawing: Any = {"n_repeats": N_REPEATS, "random_state": random_state}
            return folds_of_groups(labels, groups, n_splits, **drawing, name="cv")
        fewest = int(np.unique(labels, return_counts=True)[1].min())
        if fewest < n_splits:
            raise ValueError(
                f"cv is {n_splits}, but a class has only "
                f"{counted(fewest, 'histogram')}; each fold needs one of every class."
            )
        cv = RepeatedStratifiedKFold(
            n_splits=n_splits, n_repeats=N_REPEATS, random_state=random_state
        )
    if isinstance(cv, Iterable) and not hasattr(cv, "split"):  # as a string has
        given = list(cv)
    else:
        splitter = check_cv(cv, labels, classifier=True)
        given = list(splitter.split(rows, labels, groups))
    if not given:
        raise ValueError("cv has no folds; at least one is needed.")
    found = [_as_split(each, len(labels), f"cv[{k}]") for k, each in enumerate(given)]
    if groups is not None:
        require_apart(found, groups)
    return found


def _as_split(given: Any, n: int, name: str) -> Split:
    """Validate indices or masks of rows to learn from, and to score on."""
    try:
        parts = list(given)
    except TypeError:
        parts = []
    if len(parts) != 2:  # noqa: PLR2004 - a split is two
        raise ValueError(
            f"{name} is {given!r}; rows to learn from and rows to score on are needed."
        )
    train, test = (
        validation.as_members(part, n, f"{name}[{k}]", "histograms")
        for k, part in enumerate(parts)
    )
    if len(train) == 0 or len(test) == 0:
        raise ValueError("cv has a fold without histograms to learn from or score.")
    common = np.intersect1d(train, test)
    if len(common):
        raise ValueError(
            f"{name} has histogram {common[0]} both to learn from and to test."
        )
    return train, test


class Folds:
    """Histograms and their splits, and how to score distances between them.

    Parameters
    ----------
    given : Given
        Histograms of mass 1, dense or sparse, their labels and weights.
    splits : list of (ndarray, ndarray)
        Rows to learn from, and to score on.
    scoring : callable or None
        Of distances and labels; the accuracy of neighbors if None.
    patience : int or None
        Steps without improvement after which to stop.
    client : dask.distributed.Client, optional
        Where to learn.
    """

    def __init__(
        self,
        given: Given,
        splits: list[Split],
        *,
        scoring: Callable[[Floats, Any, Any], float] | None,
        patience: int | None,
        client: object,
    ) -> None:
        self._given, self._splits = given, splits
        self._scoring, self._client = scoring, client
        self._patience = patience

    @property
    def n_rows(self) -> int:
        """Number of histograms, n."""
        return int(self._given.rows.shape[0])

    def scores(
        self, candidate: Candidate, first: list[float] | None = None
    ) -> list[list[float]]:
        """Score all folds step by step, until ``patience`` steps have not helped.

        The first scores, before any step, may be known.
        """
        if first is not None and not candidate.learns:
            return [first]
        starts = [None] * len(self._splits) if first is None else first
        folds = [
            self._scores_of(candidate.make(), *split, start)
            for split, start in zip(self._splits, starts, strict=True)
        ]
        if not candidate.learns:
            return [[next(fold) for fold in folds]]
        if self._patience is None:  # one after another, which takes less memory
            folds = [iter(list(fold)) for fold in folds]
        scores: list[list[float]] = []
        best, patience = 0, np.inf if self._patience is None else self._patience
        while len(scores) - best <= patience:
            found = [next(fold, None) for fold in folds]
            if all(score is None for score in found):
                break
            scores.append(
                [
                    scores[-1][k] if score is None else score  # its descent had ended
                    for k, score in enumerate(found)
                ]
            )
            if np.mean(scores[-1]) > np.mean(scores[best]):
                best = len(scores) - 1
        return scores

    def _scores_of(
        self,
        learner: MetricLearner,
        train: Indices,
        test: Indices,
        start: float | None,
    ) -> Iterator[float]:
        """Score the metrics of one fold, after 0, 1, ... steps."""
        labels: Any = self._given.labels
        learner._settle(len(labels))
        weights = self._given.part(train).pair_weights()
        rows = rows_for(learner, self._given.rows)
        descent, seen = descent_of(learner, rows[train], weights, self._client)
        held = raised(rows[test], learner.power_)
        for n_steps, result in enumerate(_results(descent)):
            if n_steps == 0 and start is not None:
                yield start
                continue
            metric = learner._positions_of(result, rows.shape[1])
            if self._scoring is None:
                k = min(SCORED_NEIGHBORS, len(train))
                nearest = learner._nearest(metric, held, seen, k)
                yield _accuracy(nearest, labels[train], labels[test])
                continue
            between = learner._distances(metric)(held, seen)
            yield _as_score(self._scoring(between, labels[train], labels[test]))


def _as_score(given: Any) -> float:
    """Reject what is not a number."""
    try:
        score = float(given)
    except (TypeError, ValueError):
        kind = type(given).__name__
        raise ValueError(
            f"scoring returned an object of type {kind}; a number is needed."
        ) from None
    if not np.isfinite(score):
        raise ValueError(f"scoring returned {score}; a number is needed.")
    return score


def rows_for(learner: MetricLearner, rows: Any) -> Any:
    """Make rows dense for learners that need them so; others take both kinds."""
    if learner._keeps_sparse(reset=True) or isinstance(rows, np.ndarray):
        return rows
    return rows.toarray()


def descent_of(
    learner: Any,
    rows: Any,
    weights: Weights,
    client: object,
) -> tuple[Descent, Any]:
    """Set a learner's descent up, without a floor; and return what it learns from."""
    learner.power_ = learner._valid_power()
    seen = raised(rows, learner.power_)
    options = {} if client is None else {"client": client}
    descent: Descent = learner._descent(seen, weights, **options)
    descent.ignore_floor()
    return descent, seen


def _results(descent: Descent) -> Iterator[Floats]:
    """Yield the result after 0, 1, ... steps, until the descent ends."""
    yield descent.result
    for n_steps in count():
        descent.run([lambda _: True])  # one step
        if len(descent.path) == n_steps:
            return
        yield descent.result


def _accuracy(nearest: Indices, train: NDArray[Any], test: NDArray[Any]) -> float:
    """Average the accuracy of votes of 1, 2, ... neighbors."""
    _, codes = np.unique(np.concatenate([train, test]), return_inverse=True)
    n = len(train)
    return 1.0 - float(vote_errors(nearest, codes[:n], codes[n:]).mean())
