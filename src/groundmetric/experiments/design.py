"""How to test whether learning helps: which splits to draw, and what they prove.

Few histograms are divided into folds, several times. Folds share training histograms,
so their errors are not independent; the variance of their mean is corrected for that
(Nadeau & Bengio, *Inference for the Generalization Error*, Machine Learning 52, 2003):

    s^2 (1 / J + n_test / n_train),  s^2 the variance over the J folds.

This correction assumes that more test histograms would mean fewer training histograms.
With small training sets and many histograms, it is far too strong. So
if there is room, training sets have no histogram in common, and all are tested on the
same other histograms. Then values v_jt of training set j and test histogram t have
independent rows and columns, and the variance of their mean is A + B - C, with

    A = var_j(mean_t v) / J,   B = var_t(mean_j v) / n_test,   C = var(e) / (J n_test),

e what neither rows nor columns explain, which A and B both count. (Owen, *The
pigeonhole bootstrap*, Annals of Applied Statistics 1, 2007, resamples the same model.)
The interval is Student's, with Satterthwaite's degrees of freedom.

A given test set shows results for one training set only. Its interval is that of
Bonett & Price for paired proportions (*Adjusted Wald intervals*, 2012), which adds a
test histogram of either extreme. B is computed in the same way, and is the least
variance over folds: an interval never has length zero, not even if all splits agree.

If rows belong to groups, such as patients, no group is divided between training and
test, and B and C are variances over groups; see ``units.py``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .described import inference_of, words_of
from .units import Moments, crossed, mean_of_units, of_each_test, of_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Ends = tuple[float, float, float]  # low, high and least of an estimate

__all__ = ["Design", "Estimate"]

LEVEL = 0.95  # of intervals
# Shares are multiples of 1 / n: a difference below this is due to rounding alone.
TIE = 1e-9
UNEQUAL = 1.5  # times as many histograms in a class as in another


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, and the confidence that it exceeds zero.

    Attributes
    ----------
    mean, low, high : float
        The mean and the ends of its interval.
    sure : float
        Confidence that the true mean is positive, from 0 to 1. The interval lies above
        zero if it is more than 0.975.

    Examples
    --------
    >>> from groundmetric.experiments import Estimate
    >>> Estimate(0.2, 0.1, 0.3, 0.99).high
    0.3
    """

    mean: float
    low: float
    high: float
    sure: float


@dataclass(frozen=True)
class Design:
    """Training and test histograms of all splits, and what follows from their results.

    Attributes
    ----------
    kind : str
        "folds", "disjoint" (training sets), "given" (a single test set) or "custom".
    y : ndarray of int
        Classes of all rows, as positions in sorted order.
    splits : list of (ndarray, ndarray)
        Rows to learn from and rows to test, of each split.
    groups : ndarray of int, optional
        Group of each row, such as its patient. No split divides a group.

    Examples
    --------
    >>> from groundmetric.experiments.splits import draw
    >>> design = draw([0, 1] * 10, n_folds=2, n_repeats=1)
    >>> design.kind, design.n_splits, design.n_train, design.n_test
    ('folds', 2, 10, 10)
    """

    kind: str
    y: Indices
    splits: Sequence[tuple[Indices, Indices]]
    groups: Indices | None = None

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.splits)

    @property
    def n_train(self) -> int:
        """Number of histograms to learn from, in the first split."""
        return len(self.splits[0][0])

    @property
    def n_test(self) -> int:
        """Number of histograms to test, in the first split."""
        return len(self.splits[0][1])

    @property
    def n_groups(self) -> int:
        """Number of groups; 0 if there are none."""
        return 0 if self.groups is None else len(np.unique(self.groups))

    @property
    def is_unequal(self) -> bool:
        """Whether a class is so large that its share flatters a distance."""
        sizes = np.bincount(self.y)
        return bool(sizes.max() >= UNEQUAL * sizes[sizes > 0].min())

    @property
    def guessing(self) -> float:
        """Error of always guessing the most common class of the training set."""
        wrong = [
            np.mean(self.y[test] != np.bincount(self.y[train]).argmax())
            for train, test in self.splits
        ]
        return float(np.mean(wrong))

    @property
    def guessing_balanced(self) -> float:
        """Balanced error of guessing: one class is right, the others are wrong."""
        return 1.0 - 1.0 / len(np.unique(self.y))

    def balanced(self, wrong: Sequence[Floats | NDArray[np.bool_]]) -> float:
        """Error of each class, averaged over the classes; guessing has 1 - 1 / K."""
        return float(np.nanmean(self._of_classes(wrong)))

    def _of_classes(self, values: Sequence[Floats | NDArray[np.bool_]]) -> Floats:
        """Mean of each class, over all splits; NaN if none of it was tested."""
        tested = np.concatenate([self.y[test] for _, test in self.splits])
        sums = np.bincount(tested, weights=np.concatenate(values).astype(float))
        sizes = np.bincount(tested).astype(float)
        none = np.full(len(sums), np.nan)
        means: Floats = np.divide(sums, sizes, out=none, where=sizes > 0)
        return means

    @property
    def weights(self) -> list[Floats]:
        """Weights of test histograms, of mean 1, by which classes count the same."""
        tested = np.concatenate([self.y[test] for _, test in self.splits])
        sizes = np.bincount(tested)
        n_classes = np.count_nonzero(sizes)
        return [
            len(tested) / (n_classes * sizes[self.y[test]].astype(float))
            for _, test in self.splits
        ]

    @property
    def words(self) -> str:
        """Say how the splits were drawn."""
        return words_of(self)

    @property
    def inference(self) -> str:
        """Say where intervals come from."""
        return inference_of(self)

    def estimate(
        self,
        values: Sequence[ArrayLike],
        low: float,
        high: float,
        *,
        least: float = 0.0,
    ) -> Estimate:
        """Estimate a mean from one value for each test histogram of each split.

        ``low`` and ``high`` are the extremes that a value may have, and ``least`` one
        that differences surely may. With groups, the interval is one over groups.

        Examples
        --------
        >>> from groundmetric.experiments.splits import given
        >>> found = given([0, 1], 4 * [0, 1]).estimate([[0, 0, 1, 0, 0, 1, 0, 0]], 0, 1)
        >>> found.mean, round(found.low, 2), round(found.high, 2)  # 2 errors of 8
        (0.25, 0.07, 0.6)
        """
        rows = [np.asarray(each, dtype=float) for each in values]
        mean = _or_zero(float(np.mean([row.mean() for row in rows])))
        moments = self._moments(rows, (low, high, least))
        error = math.sqrt(moments.variance)
        half = float(stats.t.ppf((1 + LEVEL) / 2, moments.freedom)) * error
        ends = np.clip([moments.center - half, moments.center + half], low, high)
        center = _or_zero(moments.center)
        sure = float(stats.t.cdf(center / error, moments.freedom))
        return Estimate(mean, float(ends[0]), float(ends[1]), sure)

    def estimate_balanced(
        self, values: Sequence[ArrayLike], *, low: float = -1.0
    ) -> Estimate:
        """Estimate a mean over classes of the mean of each, of values up to 1.

        Examples
        --------
        >>> from groundmetric.experiments.splits import given
        >>> design = given([0, 1], [0, 0, 0, 1])
        >>> design.estimate_balanced([[0, 0, 0, 1]]).mean
        0.5
        """
        rows = [np.asarray(each, dtype=float) for each in values]
        means, balanced = self._of_classes(rows), self.balanced(rows)
        weights = self.weights
        most = max(float(each.max()) for each in weights)
        # What each contributes to the mean over classes, to first order.
        parts = [
            balanced + weight * (row - means[self.y[test]])
            for weight, row, (_, test) in zip(weights, rows, self.splits, strict=True)
        ]
        found = self.estimate(parts, -most, most, least=most)
        ends = np.clip([found.low, found.high], low, 1.0)
        mean = _or_zero(balanced)
        return replace(found, mean=mean, low=float(ends[0]), high=float(ends[1]))

    def _moments(self, rows: Sequence[Floats], ends: Ends) -> Moments:
        """Center, variance and degrees of freedom of the mean."""
        tests = [test for _, test in self.splits]
        every = np.unique(np.concatenate(tests))
        groups = None if self.groups is None else self.groups[every]
        units = of_groups(of_each_test(tests, rows), groups)
        overall = mean_of_units(units, _padding(units, *ends), few=groups is not None)
        if self.n_splits == 1:
            return overall
        means = np.array([row.mean() for row in rows])
        spread = float(means.var(ddof=1))
        freedom: float = len(means) - 1
        if self.kind != "disjoint":
            ratio = np.mean([len(test) / len(train) for train, test in self.splits])
            variance = spread * (1 / len(means) + float(ratio))
            larger = max(variance, overall.variance)
            return Moments(float(means.mean()), larger, min(freedom, overall.freedom))
        matrix = of_groups(np.array(rows), groups)  # (J, n_test) or (J, n_groups)
        variance, freedom = crossed(means, matrix, overall.variance)
        return Moments(float(means.mean()), variance, freedom)


def _padding(values: Floats, low: float, high: float, least: float) -> list[float]:
    """Return a difference of either extreme, or shares, two of each."""
    if low == 0.0:
        return [low, low, high, high]
    most = max(float(np.abs(values).max()), least) or high
    return [-most, most]


def _or_zero(value: float) -> float:
    """Return a mean of differences; 0 if it differs from that by rounding only."""
    return 0.0 if abs(value) < TIE else value
