"""The estimator that chooses the learner."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..learning import MetricLearningCV
from ..learning._axes import require_two_bins
from ..learning._selection import (
    as_array,
    as_results,
    best_with_fewest_steps,
    within_one_error,
)
from ..smoothed import DiscriminantMetricLearning
from ..smoothed._nearness import known_sets
from ._families import MOST_BINS, descents, discriminants, given, with_options

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..learning._candidates import Candidate
    from ..learning._folds import Folds, Split
    from ..learning._learner import MetricLearner

Floats = NDArray[np.float64]
Labels = NDArray[Any]


# Standard errors of their difference within which the simpler candidate wins: with one,
# a better learner is missed where histograms are many; with none, noise chooses.
NEAR = 0.5


class AutoMetric(MetricLearningCV):
    """Learn a distance with whichever learner suits the data, by cross-validation.

    The learner to begin with: there is nothing to set. It tries
    :class:`DiscriminantMetricLearning` with several powers of the histograms, then,
    with the best power, learners by descent:
    :class:`SinkhornMetricLearning`, and if bins and histograms are few,
    :class:`GroundMetricLearning`. If something is known of the bins, ``points``, it
    also tries to learn from these, with :class:`CombinedMetricLearning` and others, and
    the EMD with the distances between the points, without learning.

    Of all candidates whose accuracy on held-out histograms is within half a standard
    error of the best, it takes the first in this order. To choose among learners and
    parameters of your own, see :class:`MetricLearningCV`.

    Parameters
    ----------
    points : array-like of shape (d, s), or list of these, optional
        Coordinates of the bins, such as word vectors, pixels, or published properties.
    cv : int, cross-validation generator or iterable, default=3
        Folds. A number stands for that many stratified folds, drawn twice; classes
        with fewer histograms are learned from, but not scored.
    scoring : callable, optional
        ``scoring(distances, y_train, y_test)``, larger for better distances from test
        to training histograms. By default the accuracy of k nearest neighbors, averaged
        over k = 1, ..., 20.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    verbose : int, default=0
        1 shows bars of steps (needs tqdm).
    random_state : int, RandomState instance or None, default=0
        Draws the folds, if ``cv`` is a number, and batches.

    Attributes
    ----------
    best_estimator_ : estimator
        The learner chosen, fitted to all histograms.
    best_step_, best_params_, best_score_, cv_results_, n_features_in_
        As of :class:`MetricLearningCV`.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import AutoMetric
    >>> X = np.random.default_rng(0).dirichlet(np.ones(6), 20)
    >>> y = (X[:, 0] > X[:, 1]).astype(int)
    >>> AutoMetric().fit(X, y).transform(X[:2]).shape
    (2, 20)
    """

    estimator: ClassVar[None] = None  # type: ignore[misc]
    param_grid: ClassVar[None] = None  # type: ignore[misc]
    patience: ClassVar[int] = 4  # type: ignore[misc]

    def __init__(
        self,
        points: ArrayLike | None = None,
        *,
        cv: Any = 3,
        scoring: Callable[[Any, Any, Any], float] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: object = 0,
    ) -> None:
        self.points = points
        self.cv = cv
        self.scoring = scoring
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _families(self) -> Any:
        """Return the learner that suits all data; others depend on the data."""
        return DiscriminantMetricLearning(self.points)

    def _splits(self, rows: Any, labels: Labels, groups: Labels | None) -> list[Split]:
        """Draw the folds; members of classes too small for these are not held out."""
        enough = _in_large_classes(labels, self.cv)
        if groups is not None or enough.all() or len(np.unique(labels[enough])) == 1:
            return super()._splits(rows, labels, groups)
        large, rare = np.flatnonzero(enough), np.flatnonzero(~enough)
        return [
            (np.sort(np.concatenate([large[train], rare])), large[test])
            for train, test in super()._splits(rows[large], labels[large], None)
        ]

    def _choose(
        self, learners: list[MetricLearner], folds: Folds, n_bins: int
    ) -> Candidate:
        """Choose the power of the histograms, then the learner, then its steps."""
        validation.n_threads(self.n_jobs)
        require_two_bins(n_bins)
        if self.points is not None:
            known_sets(self.points, n_bins)  # which rejects bad ones
        direct = discriminants(learners[0], n_bins)
        learned = np.array([folds.scores(each)[-1] for each in direct])
        power = best_power(direct, learned)
        simple = [
            (each, [scores])
            for each, scores in zip(direct, learned.tolist(), strict=True)
            if each.params["power"] == power
        ]
        others = descents(self.points, folds.n_rows, n_bins, power)
        others = with_options(others, self.n_jobs, self.verbose, self.random_state)
        stepwise = [(each, folds.scores(each)) for each in others]
        still = [(each, folds.scores(each)) for each in given(self.points, self.n_jobs)]
        # Of words, weights and positions pulled to their vectors are the better start.
        first = (stepwise, simple) if n_bins > MOST_BINS else (simple, stepwise)
        found = [*first[0], *first[1], *still]
        candidates = [each for each, _ in found]
        scores = as_array([each for _, each in found])  # (candidates, splits, steps)
        self.cv_results_ = as_results(candidates, scores)
        steps = [best_with_fewest_steps(each[None])[1] for each in scores]
        ends = np.array([each[:, t] for each, t in zip(scores, steps, strict=True)])
        chosen = int(within_one_error(ends, NEAR).argmax())
        best: Candidate = candidates[chosen]
        # What is direct has one score, after its only step.
        self.best_step_ = steps[chosen] + (best.learner is learners[0])
        self.best_params_ = dict(best.params)
        self.best_score_ = float(ends[chosen].mean())
        return best


def _in_large_classes(labels: Labels, cv: Any) -> NDArray[np.bool_]:
    """Tell which histograms are of a class with a member for each fold."""
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    n_folds = cv if isinstance(cv, numbers.Integral) else 0
    enough = np.asarray(sizes[codes] >= n_folds)
    return enough if enough.any() else np.ones_like(enough)


def best_power(candidates: Sequence[Candidate], scores: Floats) -> float | str:
    """Choose the first power within half a standard error of the best.

    Scores are (candidates, splits); their mean over all other parameters is less noisy
    than any of them.
    """
    rows: dict[float | str, list[int]] = {}
    for k, each in enumerate(candidates):
        rows.setdefault(each.params["power"], []).append(k)
    means = np.array([scores[of].mean(axis=0) for of in rows.values()])
    return list(rows)[int(within_one_error(means, NEAR).argmax())]
