"""Folds of histograms, and scores of metrics on held-out histograms."""

from __future__ import annotations

import numbers
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold, check_cv

from .. import validation
from ..base._powers import raised
from ..base._votes import vote_errors
from ..similarity._makers import weights_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..similarity._weights import Weights
    from ._descent import Descent
    from ._learner import MetricLearner

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]
Split = tuple[NDArray[Any], NDArray[Any]]  # rows to learn from, and to score on

MOST_NEIGHBORS = 20  # votes of 1 to this many neighbors are averaged
N_REPEATS = 2  # of folds, if their number is given


def splits_of(
    cv: Any,
    rows: Floats,
    labels: Labels,
    random_state: object,
) -> list[Split]:
    """Draw the folds."""
    if isinstance(cv, numbers.Integral):
        n_splits = validation.as_count(int(cv), "cv", low=2)
        fewest = int(np.unique(labels, return_counts=True)[1].min())
        if fewest < n_splits:
            raise ValueError(
                f"cv is {n_splits}, but a class has only {fewest} histograms; each "
                "fold needs one of every class."
            )
        cv = RepeatedStratifiedKFold(
            n_splits=n_splits, n_repeats=N_REPEATS, random_state=random_state
        )
    splits = list(check_cv(cv, labels, classifier=True).split(rows, labels))
    if not splits:
        raise ValueError("cv has no folds; at least one is needed.")
    if any(len(part) == 0 for split in splits for part in split):
        raise ValueError("cv has a fold without histograms to learn from or score.")
    return splits


class Folds:
    """Histograms and their splits, and how to score distances between them.

    Parameters
    ----------
    rows : ndarray or csr_array of shape (n, d)
        Histograms of mass 1.
    labels : ndarray of shape (n,)
        Their labels.
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
        rows: Floats,
        labels: Labels,
        splits: list[Split],
        *,
        scoring: Callable[[Floats, Any, Any], float] | None,
        patience: int | None,
        client: object,
    ) -> None:
        self._rows, self._labels, self._splits = rows, labels, splits
        self._scoring, self._client = scoring, client
        self._patience = patience

    def scores(self, make: Callable[[], MetricLearner]) -> list[list[float]]:
        """Score all folds step by step, until ``patience`` steps have not helped."""
        folds = [self._scores_of(make(), *split) for split in self._splits]
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
        self, learner: MetricLearner, train: Indices, test: Indices
    ) -> Iterator[float]:
        """Score the metrics of one fold, after 0, 1, ... steps."""
        labels = self._labels
        weights = weights_of(len(train), labels[train], None)
        rows = self._rows[train]
        descent, seen = descent_of(learner, rows, weights, self._client)
        held = raised(self._rows[test], learner.power_)
        for result in _results(descent):
            metric = learner._positions_of(result, rows.shape[1])
            if self._scoring is None:
                k = min(MOST_NEIGHBORS, len(train))
                nearest = learner._nearest(metric, held, seen, k)
                yield _accuracy(nearest, labels[train], labels[test])
                continue
            between = learner._distances(metric)(held, seen)
            score = float(self._scoring(between, labels[train], labels[test]))
            if not np.isfinite(score):
                raise ValueError(f"scoring returned {score}; a number is needed.")
            yield score


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


def as_results(candidates: list[dict[str, Any]], scores: Floats) -> dict[str, Any]:
    """Lay scores (candidates, splits, steps) out as scikit-learn does."""
    means, spread = scores.mean(axis=1), scores.std(axis=1)
    n_splits = scores.shape[1]
    errors = spread / np.sqrt(max(n_splits - 1, 1))
    return {
        "params": np.repeat(np.array(candidates, dtype=object), means.shape[1]),
        "step": np.tile(np.arange(means.shape[1]), len(candidates)),
        "mean_test_score": means.ravel(),
        "std_test_score": spread.ravel(),
        "se_test_score": errors.ravel(),
        **{f"split{k}_test_score": scores[:, k].ravel() for k in range(n_splits)},
    }


def _accuracy(nearest: Indices, train: NDArray[Any], test: NDArray[Any]) -> float:
    """Average the accuracy of votes of 1, 2, ... neighbors."""
    _, codes = np.unique(np.concatenate([train, test]), return_inverse=True)
    n = len(train)
    return 1.0 - float(vote_errors(nearest, codes[:n], codes[n:]).mean())


def fewest_steps(scores: Floats, best: int) -> int:
    """Find the fewest steps within one standard error of the best.

    It is the standard error of the difference between the two: folds differ more from
    each other than steps do, and some are hard for all steps alike.
    """
    lead = scores[:, [best]] - scores  # (splits, steps)
    error = lead.std(axis=0) / np.sqrt(max(len(scores) - 1, 1))
    return int(np.flatnonzero(lead.mean(axis=0) <= error)[0])


def as_array(scores: list[list[list[float]]]) -> Floats:
    """Make an array of shape (candidates, splits, steps); NaN is not scored."""
    n_steps, n_splits = max(len(steps) for steps in scores), len(scores[0][0])
    nothing = [[np.nan] * n_splits]
    whole = [steps + nothing * (n_steps - len(steps)) for steps in scores]
    return np.array(whole).transpose(0, 2, 1)
