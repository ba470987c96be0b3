"""Scores of your own, one number for a split, and their intervals.

Over folds, Nadeau and Bengio's correction needs no more than one number for each. Where
all splits have the same test set, how much the score varies with its histograms is
found by the jackknife: without block b of B, the score s becomes s_b, and

    B s - (B - 1) s_b

are as if they were the scores of single blocks. Blocks are of histograms, or of whole
groups. See ``design.py`` for how both variances are joined.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .design import LEVEL, Estimate
from .units import crossed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .design import Design

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]

__all__ = ["Score", "Scoring", "estimate_of_scores", "scored"]

N_BLOCKS = 20


class Score(NamedTuple):
    """The score of a split, and as if of each block; of none over folds."""

    value: float
    parts: Floats


class Scoring(NamedTuple):
    """What to score by, and the blocks of the test histograms, if they are needed."""

    score: Callable[[Floats, Labels, Labels], Any]
    blocks: Indices | None

    @classmethod
    def of(cls, score: Any, design: Design) -> Scoring:
        """Check the function, and divide the test histograms if all splits share them.

        Examples
        --------
        >>> from groundmetric.experiments.scoring import Scoring
        >>> from groundmetric.experiments.splits import given
        >>> Scoring.of(max, given([0, 1], [0, 1, 0, 1])).blocks
        array([0, 2, 1, 3])
        """
        if not callable(score):
            raise ValueError(f"scoring is {score!r}; a function is needed.")
        if design.n_splits > 1 and design.kind != "disjoint":
            return cls(score, None)
        test = design.splits[0][1]
        groups = np.arange(len(test)) if design.groups is None else design.groups[test]
        _, first, codes = np.unique(groups, return_index=True, return_inverse=True)
        if len(first) == 1:  # without it, nothing is left to score
            return cls(score, None)
        order = np.argsort(design.y[test][first], kind="stable")  # class after class
        rank = np.empty(len(first), dtype=np.int64)
        rank[order] = np.arange(len(first)) % N_BLOCKS
        return cls(score, rank[codes])


def scored(scoring: Scoring, between: Floats, y_train: Labels, y_test: Labels) -> Score:
    """Score distances from test to training histograms.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.scoring import Scoring, scored
    >>> nearest = lambda far, y, z: np.mean(y[far.argmin(axis=1)] == z)
    >>> far, y, z = np.array([[1, 2], [2, 1], [1, 2]]), np.array([0, 1]), np.zeros(3)
    >>> found = scored(Scoring(nearest, np.arange(3)), far, y, z)
    >>> round(found.value, 3), found.parts  # 2 of 3, as each by itself
    (0.667, array([1., 0., 1.]))
    """

    def value_of(rows: Any) -> float:
        given = scoring.score(between[rows], y_train, y_test[rows])
        try:
            value = float(given)
        except (TypeError, ValueError):
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(f"scoring returned {given!r}; a number is needed.")
        return value

    value = value_of(slice(None))
    if scoring.blocks is None:
        return Score(value, np.empty(0))
    n = int(scoring.blocks.max()) + 1
    left = np.array([value_of(scoring.blocks != block) for block in range(n)])
    return Score(value, n * value - (n - 1) * left)


def estimate_of_scores(design: Design, scores: Sequence[Score]) -> Estimate:
    """Estimate a mean score, or a mean difference of scores, with its interval.

    Ends are NaN if all scores are the same, or if there is only one without parts: what
    others would be is then unknown.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.scoring import Score, estimate_of_scores
    >>> from groundmetric.experiments.splits import draw
    >>> design = draw([0, 1] * 6, n_folds=3, n_repeats=1)
    >>> none = np.empty(0)
    >>> found = estimate_of_scores(design, [Score(x, none) for x in (0.5, 0.25, 0.75)])
    >>> round(found.mean, 2), round(found.low, 2), round(found.high, 2)
    (0.5, -0.48, 1.48)
    """
    values = np.array([each.value for each in scores])
    parts = np.array([each.parts for each in scores])  # (J, B)
    mean, freedom = float(values.mean()), len(values) - 1.0
    if freedom == 0.0 and not parts.size:
        return Estimate(mean, math.nan, math.nan, math.nan)
    if not parts.size:
        ratio = np.mean([len(test) / len(train) for train, test in design.splits])
        variance = float(values.var(ddof=1)) * (1 / len(values) + float(ratio))
    else:
        within = float(parts.mean(axis=0).var(ddof=1)) / parts.shape[1]
        variance, freedom = crossed(values, parts, within)
    if variance == 0.0:
        return Estimate(mean, math.nan, math.nan, math.nan)
    error = math.sqrt(variance)
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    sure = float(stats.t.cdf(mean / error, freedom))
    return Estimate(mean, mean - half, mean + half, sure)
