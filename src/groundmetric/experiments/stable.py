"""What repeated on many draws, and sentences that name it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from .design import Estimate
from .halves import estimate_of_means, estimate_over_draws
from .lesson import sentences_on
from .movements import extremes

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]

RISEN = 1e-12  # more than by rounding

__all__ = ["Draw", "Moved", "Rules", "Stability", "rules_of", "summary"]


class Draw(NamedTuple):
    """What one fit learned about b bins, and T tested histograms."""

    bins: Indices  # (b,)
    ratios: Floats  # (b (b - 1) / 2,) of distances, after and before
    wrong: Floats  # (T,), NaN where a histogram was learned from
    rises: Floats  # (b, T), the same
    logs: Floats | None  # (b,) of weights
    n_train: int


class Rules(NamedTuple):
    """What must hold for something to be named."""

    threshold: float
    max_false: float

    def n_listed(self, n_pairs: int) -> int:
        """Return the largest q with q^2 / ((2 threshold - 1) p) <= max_false."""
        bound = self.max_false * (2 * self.threshold - 1) * n_pairs
        return math.isqrt(math.floor(bound + 1e-9))


def rules_of(threshold: float, max_false: float) -> Rules:
    """Check the rules.

    Examples
    --------
    >>> from groundmetric.experiments.stable import rules_of
    >>> rules_of(0.8, 0.5).n_listed(780)  # 15^2 / (0.6 * 780) = 0.48
    15
    """
    level = validation.as_number(threshold, "threshold", low=0.5, high=1.0)
    if level == 0.5:  # noqa: PLR2004 - where the bound ends
        raise ValueError("threshold is 0.5; it must be more than that.")
    return Rules(level, validation.as_positive_number(max_false, "max_false"))


class Moved(NamedTuple):
    """A pair of bins that moved, and how often it was in the list."""

    first: int
    second: int
    share: float


@dataclass(frozen=True)
class Stability:
    """What a learner learned on many draws of the data, and what of it repeats.

    Attributes
    ----------
    n_draws, n_train, n_neighbors : int
        Number of draws, of the histograms in each (with groups, on average), and of the
        neighbors counted.
    n_listed : int
        Length q of the lists of pairs.
    bins : ndarray of shape (b,)
        The bins looked at.
    pairs : ndarray of shape (b (b - 1) / 2, 2)
        All pairs of them.
    apart, together : ndarray of shape (b (b - 1) / 2,)
        Share of the draws in which each pair was among the n_listed whose distance
        grew most, or shrank most, compared with the initial metric.
    error : Estimate
        Share of wrong labels among the nearest neighbors of left-out histograms.
    rises : list of Estimate
        For each bin, how much that share rises when the bin is shuffled.
    risen : ndarray of shape (b,)
        Share of the draws in which it rises.
    weights : list of Estimate, or None
        For each bin, its learned weight, as a multiple of the geometric mean; ``sure``
        is the confidence that it is more than 1. None if no weights were learned.
    threshold, max_false : float
        As given.
    """

    n_draws: int
    n_train: int
    n_neighbors: int
    n_listed: int
    bins: Indices = field(repr=False)
    pairs: Indices = field(repr=False)
    apart: Floats = field(repr=False)
    together: Floats = field(repr=False)
    error: Estimate
    rises: Sequence[Estimate] = field(repr=False)
    risen: Floats = field(repr=False)
    weights: Sequence[Estimate] | None = field(repr=False)
    threshold: float
    max_false: float

    @property
    def moved_apart(self) -> list[Moved]:
        """Pairs that repeatedly moved farthest apart, the most frequent first."""
        return self._named(self.apart)

    @property
    def moved_together(self) -> list[Moved]:
        """Pairs that repeatedly moved closest together, the most frequent first."""
        return self._named(self.together)

    def _named(self, shares: Floats) -> list[Moved]:
        order = np.argsort(-shares, kind="stable")
        return [
            Moved(int(self.pairs[at, 0]), int(self.pairs[at, 1]), float(shares[at]))
            for at in order
            if shares[at] >= self.threshold
        ]

    @property
    def important(self) -> list[int]:
        """Bins whose shuffling repeatedly raises errors, that raise them most first.

        They are surely above 0, so that at most max_false of them are by chance.
        """
        sure = 1.0 - min(self.max_false / max(len(self.bins), 1), 0.5)
        found = [
            (-one.mean, int(p))
            for p, one, share in zip(self.bins, self.rises, self.risen, strict=True)
            if one.sure >= sure and one.low > 0.0 and share >= self.threshold
        ]
        return [p for _, p in sorted(found)]

    def rise(self, p: int) -> Estimate:
        """Return how much shuffling bin p raises the share of wrong neighbors."""
        at = np.flatnonzero(self.bins == p)
        if not at.size:
            raise ValueError(f"p is {p}, but this bin was not looked at; see bins.")
        return self.rises[int(at[0])]

    @property
    def repeats(self) -> bool:
        """Whether anything can be named."""
        return bool(self.moved_apart or self.moved_together or self.important)

    def sentences(
        self, names: Sequence[str] | None = None, what: str = "bin"
    ) -> list[str]:
        """Say what repeats, or that nothing does; bins have numbers without names."""
        return sentences_on(self, names, what)


def summary(
    draws: Sequence[Draw],
    *,
    n_rows: int,
    n_neighbors: int,
    rules: Rules,
    groups: Labels | None = None,
) -> Stability:
    """Count what was listed, and estimate the rises, over all draws.

    The groups are those of the tested histograms.
    """
    bins = draws[0].bins
    first, second = np.triu_indices(len(bins), 1)
    ratios = np.array([draw.ratios for draw in draws])  # (J, p)
    n_listed = rules.n_listed(ratios.shape[1])
    apart, together = (
        np.mean([extremes(sign * row, n_listed) for row in ratios], axis=0)
        for sign in (1, -1)
    )
    more = np.array([draw.rises for draw in draws])  # (J, b, T)
    n_train = round(float(np.mean([draw.n_train for draw in draws])))
    share = n_train / n_rows
    wrong = np.array([draw.wrong for draw in draws])
    return Stability(
        n_draws=len(draws),
        n_train=n_train,
        n_neighbors=n_neighbors,
        n_listed=n_listed,
        bins=bins,
        pairs=np.stack([bins[first], bins[second]], axis=1),
        apart=apart,
        together=together,
        error=_within_0_and_1(estimate_over_draws(wrong, share, groups)),
        rises=[
            estimate_over_draws(more[:, k], share, groups) for k in range(len(bins))
        ],
        risen=np.mean(np.nanmean(more, axis=2) > RISEN, axis=0),
        weights=_weights([draw.logs for draw in draws], share),
        threshold=rules.threshold,
        max_false=rules.max_false,
    )


def _weights(logs: Sequence[Floats | None], share: float) -> list[Estimate] | None:
    """Estimate the learned weights; none if all draws have the same."""
    learned = np.array([each for each in logs if each is not None])
    if not len(learned) or (learned == learned[0]).all():
        return None
    found = [estimate_of_means(column, share) for column in learned.T]
    return [
        Estimate(math.exp(one.mean), math.exp(one.low), math.exp(one.high), one.sure)
        for one in found
    ]


def _within_0_and_1(error: Estimate) -> Estimate:
    return replace(error, low=max(error.low, 0.0), high=min(error.high, 1.0))
