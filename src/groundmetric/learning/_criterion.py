"""What a criterion is: a value and a subgradient at a metric, from sums of plans.

The descent needs two things of a criterion: what is linearized at every outer step, and
the rest of it, evaluated at every step (section 4 of the paper). All criteria
here are sums of weighted distances, so their subgradients are weighted sums of optimal
plans.

Sums are computed part by part, and then over the parts in order, so that they are the
same if the parts are shards on several machines (``_shards.py``). Each part is added
as soon as it is there: a gradient of d x d numbers for each of 256 parts would take two
gigabytes at d = 1,000.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .._files import Arrays

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Range = tuple[int, int]  # first, end

# Histograms of a part, at least, and how many parts there are at most.
PART = 256
MOST_PARTS = 256


def parts_of(n: int) -> list[Range]:
    """Divide n histograms into parts; they depend on n alone."""
    size = max(PART, -(-n // MOST_PARTS))
    return [(first, min(first + size, n)) for first in range(0, n, size)]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A criterion, or a part of it, at a metric.

    Attributes
    ----------
    value : float
        The criterion.
    gradient : ndarray of shape (d, d)
        A subgradient: symmetric, zero on the diagonal.
    n_solves, n_stopped, n_bounded, n_pivots : int
        Pairs that the simplex started; those of them that it stopped early, once they
        were proved too far; pairs ruled out by bounds alone; and pivots.
    n_triplets, n_clear : int
        For margins: active triplets, and histograms without impostors.
    n_inexact : int
        Distances that have not converged.
    """

    value: float
    gradient: Floats
    n_solves: int = 0
    n_stopped: int = 0
    n_bounded: int = 0
    n_pivots: int = 0
    n_triplets: int = 0
    n_clear: int = 0
    n_inexact: int = 0

    @classmethod
    def nothing(cls, metric: Floats) -> Evaluation:
        """Return the evaluation of a part that is zero everywhere."""
        return cls(0.0, np.zeros_like(metric))

    @classmethod
    def summed(cls, parts: Iterable[Evaluation]) -> Evaluation:
        """Sum parts up in their order; an iterator's are kept one at a time."""
        remaining = iter(parts)
        first = next(remaining)
        value, gradient = first.value, first.gradient.copy()
        counts = Counter(first.counts())
        del first
        for part in remaining:
            value += part.value
            gradient += part.gradient
            counts.update(part.counts())
        return cls(value, gradient, **counts)

    def divided(self, size: float) -> Evaluation:
        """Divide value and gradient."""
        return replace(self, value=self.value / size, gradient=self.gradient / size)

    def counts(self) -> dict[str, int]:
        """Return all counts by name."""
        names = [field.name for field in fields(self)]
        return {name: getattr(self, name) for name in names if name.startswith("n_")}


class Criterion(Protocol):
    """The function that a descent minimizes."""

    def linearize(self, metric: Floats) -> Evaluation:
        """Evaluate the part that is to be replaced by its tangent."""

    def evaluate(self, metric: Floats) -> Evaluation:
        """Evaluate the rest."""

    def identity(self) -> Iterator[Floats | str]:
        """Return what the criterion depends on, but for the histograms."""

    def state(self) -> Arrays:
        """Return what evaluations leave behind for later ones."""

    def set_state(self, state: Arrays) -> None:
        """Continue as the criterion that this state is of."""


class SomePairs(Protocol):
    """Pairs (i, j), by i and then by distance, and the gradient of their distances.

    ``distances[starts[m] : starts[m + 1]]`` are those of the m-th histogram.
    """

    @property
    def starts(self) -> Indices:
        """Position of the first pair of each histogram."""

    @property
    def i(self) -> Indices:
        """First histograms."""

    @property
    def j(self) -> Indices:
        """Second histograms."""

    @property
    def distances(self) -> Floats:
        """Their distances."""

    def plan_sum(self, weights: Floats) -> Floats:
        """Gradient of the weighted sum of the distances in the metric: symmetric."""


class FoundPairs(SomePairs, Protocol):
    """All pairs that a search found."""

    def work(self) -> dict[str, int]:
        """Count what it took, as an evaluation has it."""


class Search(Protocol):
    """Finds near pairs of a set of histograms, under a metric."""

    def find(
        self, metric: Floats, k: int | None = None, radii: Floats | None = None
    ) -> FoundPairs:
        """Find the k nearest of each histogram within its radius; all if None."""

    def identity(self) -> Iterator[str]:
        """Return what distances depend on, but for metric, histograms and weights."""

    def state(self) -> Arrays:
        """Return what searches leave behind for later ones."""

    def set_state(self, state: Arrays) -> None:
        """Continue as the search that this state is of."""


def is_uniform(metric: Floats) -> bool:
    """Return whether all bins are equally far apart."""
    largest = metric.max()
    return bool((metric + largest * np.eye(len(metric)) == largest).all())
