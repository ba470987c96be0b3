"""What a criterion is: a value and a subgradient at a metric, from sums of plans.

The descent needs two things of a criterion: its concave part, linearized at every outer
step, and the rest of it, evaluated at every step (section 4 of the paper). All criteria
here are sums of weighted distances, so their subgradients are weighted sums of optimal
plans.

The pruned search (``cpp/search.h``) finds the pairs that count; most distances are
never solved. Each pair starts from its greedy tree, so an evaluation depends on the
metric alone: not on earlier ones, on threads, or on what was pruned. Starting from the
trees of the last evaluation would save a tenth of the time at most, because plans
change almost completely from step to step.

Sums are made part by part, and then over the parts in their order, so that they are the
same if the parts are shards on several machines (``_shards.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._files import Arrays
    from ..similarity._weights import Weights

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Lists = tuple[Indices, NDArray[np.int32]]  # starts, members
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
        Pairs that the simplex looked at; those of them that it left early, once proved
        too far; pairs that bounds ruled out without a look; and pivots.
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
    def summed(cls, parts: Sequence[Evaluation], size: float = 1.0) -> Evaluation:
        """Sum parts up in their order; divide value and gradient by the size."""
        counts = {
            name: sum(getattr(part, name) for part in parts)
            for name in cls.__dataclass_fields__
            if name.startswith("n_")
        }
        value = sum(part.value for part in parts)
        gradient = reduce(np.add, [part.gradient for part in parts])
        return cls(value / size, gradient / size, **counts)


class Criterion(Protocol):
    """What the descent lowers."""

    def linearize(self, metric: Floats) -> Evaluation:
        """Evaluate the concave part, to be replaced by its tangent."""

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
        """Where those of each histogram start."""

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


class Histograms:
    """Histograms of mass 1, and what the core makes of them under the last metric.

    Searches of several threads may share them. Pickles have only the histograms.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        self._lock = Lock()
        self._masses: Any = None
        self._last: tuple[Floats, Any] | None = None

    @classmethod
    def of(cls, X: Floats | Histograms) -> Histograms:
        """Make them, if X is not the like."""
        return X if isinstance(X, Histograms) else cls(X)

    def __len__(self) -> int:
        return len(self.X)

    def __reduce__(self) -> tuple[type[Histograms], tuple[Floats]]:
        return Histograms, (self.X,)

    def under(self, metric: Floats) -> Any:  # noqa: ANN401 - of the core
        """Prepare the pruned search."""
        with self._lock:
            if self._last is None or not np.array_equal(self._last[0], metric):
                self._last = None  # frees its memory first
                if self._masses is None:
                    self._masses = _core.Masses(self.X, 1.0)
                search = _core.PrunedSearch(self._masses, _core.CostMatrix(metric))
                self._last = metric.copy(), search
            return self._last[1]


class PairSearch:
    """The similar pairs or the dissimilar ones of a set of histograms, near ones first.

    Parameters
    ----------
    X : ndarray of shape (n, d) or Histograms
        Histograms of mass 1.
    weights : Weights
        Weights of pairs; those of weight zero do not count.
    similar : bool
        Which pairs.
    n_threads : int
        Threads over histograms.
    within : (int, int), optional
        Find only pairs (i, j) with first <= i < end.
    """

    def __init__(
        self,
        X: Floats | Histograms,
        weights: Weights,
        *,
        similar: bool,
        n_threads: int = 1,
        within: Range | None = None,
    ) -> None:
        self._histograms = Histograms.of(X)
        self.X = self._histograms.X
        self._within = within or (0, len(self.X))
        self._candidates = weights.candidates(similar=similar, within=self._within)
        self._threads = n_threads
        self._hints: Lists | None = None  # the last neighbors, tried first

    def find(
        self, metric: Floats, k: int | None = None, radii: Floats | None = None
    ) -> Pairs:
        """Find the k nearest of each histogram within its radius; all if None."""
        n = len(self.X)
        first, end = self._within
        reach = np.full(n, -1.0)  # nowhere
        reach[first:end] = np.inf if radii is None else radii[first:end]
        found = self._histograms.under(metric).find(
            None,
            n if k is None else k,
            reach,
            **self._candidates,
            hints=None if k is None else self._hints,
            keep_trees=True,
            within=self._within,
            n_threads=self._threads,
        )
        pairs = Pairs(found, is_uniform(metric))
        if k is not None:
            self._hints = pairs.starts, pairs.j.astype(np.int32)
        return pairs

    def identity(self) -> Iterator[str]:
        """Return nothing: the distance is the EMD."""
        return iter(())

    def state(self) -> Arrays:
        """Return what searches leave behind for later ones."""
        if self._hints is None:
            return {}
        return {"starts": self._hints[0], "neighbors": self._hints[1]}

    def set_state(self, state: Arrays) -> None:
        """Continue as the search that this state is of."""
        if not state:
            return
        starts, neighbors = state["starts"], state["neighbors"]
        lists = starts.shape == (len(self.X) + 1,) and (np.diff(starts) >= 0).all()
        if not lists or starts[0] != 0 or starts[-1] != len(neighbors):
            raise ValueError("its neighbors are not those of these histograms")
        if ((neighbors < 0) | (neighbors >= len(self.X))).any():
            raise ValueError("its neighbors are out of range")
        self._hints = starts, neighbors


class Pairs:
    """Pairs (i, j) that a search found, by i and then by distance.

    ``distances[starts[i] : starts[i + 1]]`` are those of histogram i.
    """

    def __init__(self, found: Any, uniform: bool) -> None:  # noqa: ANN401, FBT001 - of the core
        self._found, self._uniform = found, uniform
        self.starts: Indices = found.starts
        n = len(self.starts) - 1
        self.i: Indices = np.repeat(np.arange(n), np.diff(self.starts))
        self.j: Indices = found.indices
        self.distances: Floats = found.distances

    def part(self, histograms: Range) -> PartOfPairs:
        """Return the pairs of some histograms."""
        return PartOfPairs(self, histograms)

    def plan_sum(self, weights: Floats) -> Floats:
        """Sum up optimal plans, made symmetric as metrics are, without diagonal."""
        return self.part_sum(weights, slice(0, len(weights)))

    def part_sum(self, weights: Floats, some: slice) -> Floats:
        """Sum up those of some pairs."""
        expanded = np.zeros(len(self.j))
        expanded[some] = weights
        plans = self._found.plan_sum(expanded, spread=self._uniform)
        gradient: Floats = (plans + plans.T) / 2
        np.fill_diagonal(gradient, 0.0)
        return gradient

    def work(self) -> dict[str, int]:
        """Count what it took, as an evaluation has it."""
        return {
            "n_solves": self._found.n_solved + self._found.n_stopped,
            "n_stopped": self._found.n_stopped,
            "n_bounded": self._found.n_bounded,
            "n_pivots": self._found.n_pivots,
        }


class PartOfPairs:
    """The pairs that a search found for some histograms."""

    def __init__(self, pairs: Pairs, histograms: Range) -> None:
        first, end = histograms
        self._pairs = pairs
        self._some = slice(pairs.starts[first], pairs.starts[end])
        self.starts: Indices = pairs.starts[first : end + 1] - pairs.starts[first]
        self.i = pairs.i[self._some]
        self.j = pairs.j[self._some]
        self.distances = pairs.distances[self._some]

    def plan_sum(self, weights: Floats) -> Floats:
        """Sum up optimal plans, made symmetric as metrics are, without diagonal."""
        return self._pairs.part_sum(weights, self._some)


def is_uniform(metric: Floats) -> bool:
    """Tell whether all bins are equally far apart."""
    largest = metric.max()
    return bool((metric + largest * np.eye(len(metric)) == largest).all())
