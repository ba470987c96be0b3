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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["Design", "Estimate"]

LEVEL = 0.95  # of intervals
# Shares are multiples of 1 / n: a difference below this is due to rounding alone.
TIE = 1e-9
UNEQUAL = 1.5  # times as many histograms in a class as in another

INFERENCE = {  # by the kind of a design
    "given": "Intervals are Bonett and Price's for paired proportions: they show how "
    "certain a difference is for this training set, not what another training set "
    "would give.",
    "disjoint": "Intervals count the variation over training sets and over test "
    "histograms, which are both drawn at random.",
    "folds": "Intervals are Student's over folds, widened because their training sets "
    "overlap (Nadeau and Bengio).",
}


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


class Moments(NamedTuple):
    """Center and variance of a mean, and their degrees of freedom."""

    center: float
    variance: float
    freedom: float


@dataclass(frozen=True)
class Design:
    """Training and test histograms of all splits, and what follows from their results.

    Attributes
    ----------
    kind : str
        "folds", "disjoint" (training sets) or "given" (a single test set).
    y : ndarray of int
        Classes of all rows, as positions in sorted order.
    splits : list of (ndarray, ndarray)
        Rows to learn from and rows to test, of each split.

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
        tested = np.concatenate([self.y[test] for _, test in self.splits])
        sums = np.bincount(tested, weights=np.concatenate(wrong).astype(float))
        sizes = np.bincount(tested)
        return float(np.mean(sums[sizes > 0] / sizes[sizes > 0]))

    @property
    def words(self) -> str:
        """Say how the splits were drawn."""
        if self.kind == "given":
            return f"Errors are measured on the {self.n_test:,} test histograms given."
        if self.kind == "disjoint":
            return (
                f"{self.n_splits} training sets of {self.n_train:,} histograms each, "
                f"with no histogram in common, were drawn at random and tested on the "
                f"same {self.n_test:,} other histograms."
            )
        n = self.n_train + self.n_test
        times = sum(len(test) for _, test in self.splits) // n  # each tests all once
        folds = self.n_splits // times
        return (
            f"The {n:,} histograms were divided at random into {folds} folds"
            f"{f', {times} times' if times > 1 else ''}; each fold was tested once, "
            "after learning from the others."
        )

    @property
    def inference(self) -> str:
        """Say where intervals come from."""
        return INFERENCE[self.kind]

    def estimate(
        self, values: Sequence[ArrayLike], low: float, high: float
    ) -> Estimate:
        """Estimate a mean from one value for each test histogram of each split.

        ``low`` and ``high`` are the extremes that a value may have.

        Examples
        --------
        >>> from groundmetric.experiments.splits import given
        >>> found = given([0, 1], 4 * [0, 1]).estimate([[0, 0, 1, 0, 0, 1, 0, 0]], 0, 1)
        >>> found.mean, round(found.low, 2), round(found.high, 2)  # 2 errors of 8
        (0.25, 0.07, 0.6)
        """
        rows = [np.asarray(each, dtype=float) for each in values]
        mean = _or_zero(float(np.mean([row.mean() for row in rows])))
        moments = self._moments(rows, low, high)
        error = math.sqrt(moments.variance)
        half = float(stats.t.ppf((1 + LEVEL) / 2, moments.freedom)) * error
        ends = np.clip([moments.center - half, moments.center + half], low, high)
        center = _or_zero(moments.center)
        sure = float(stats.t.cdf(center / error, moments.freedom))
        return Estimate(mean, float(ends[0]), float(ends[1]), sure)

    def _moments(self, rows: Sequence[Floats], low: float, high: float) -> Moments:
        """Center, variance and degrees of freedom of the mean."""
        each = self._of_each_test(rows)
        overall = _of_tests(each, low, high)
        if self.kind == "given":
            return overall
        means = np.array([row.mean() for row in rows])
        spread = float(means.var(ddof=1)) if len(means) > 1 else 0.0
        freedom = max(len(means) - 1, 1)
        if self.kind == "folds":
            variance = spread * (1 / len(means) + self.n_test / self.n_train)
            larger = max(variance, overall.variance)
            return Moments(float(means.mean()), larger, freedom)
        matrix = np.array(rows)  # (J, n_test)
        rest = matrix - means[:, None] - matrix.mean(axis=0) + matrix.mean()
        noise = float((rest**2).sum()) / (freedom * (len(each) - 1) * matrix.size)
        between, within = spread / len(means), overall.variance
        variance = max(between - noise, 0.0) + max(within - noise, 0.0) + noise
        parts = between**2 / freedom + within**2 / (len(each) - 1)
        return Moments(float(means.mean()), variance, max(variance**2 / parts, 1.0))

    def _of_each_test(self, rows: Sequence[Floats]) -> Floats:
        """Mean value of each histogram that was tested, over its splits."""
        tested = np.concatenate([test for _, test in self.splits])
        _, place = np.unique(tested, return_inverse=True)
        sums = np.bincount(place, weights=np.concatenate(rows))
        means: Floats = sums / np.bincount(place)
        return means


def _of_tests(values: Floats, low: float, high: float) -> Moments:
    """Add a difference of either extreme, to shares two of each: adjusted Wald."""
    if low == 0.0:
        padding = [low, low, high, high]
    else:
        most = float(np.abs(values).max()) or high
        padding = [-most, most]
    padded = np.concatenate([values, padding])
    n = len(padded)
    return Moments(float(padded.mean()), float(padded.var()) / n, math.inf)


def _or_zero(value: float) -> float:
    """Return a mean of differences; 0 if it differs from that by rounding only."""
    return 0.0 if abs(value) < TIE else value
