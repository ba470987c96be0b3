"""The pairs of histograms that count in a criterion, found by the pruned search.

Most distances are never solved (``cpp/search/dense_search.h``). Each pair starts from
its greedy tree, so what is found depends on the metric alone: not on earlier searches,
on threads, or on what was pruned. Trees of the step before are not kept: even in the
paper's schedule of small steps, half of the arcs of an optimal plan or more are new
after each of them, and tied plans would depend on history (``docs/algorithms.md``).
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._criterion import is_uniform

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ..similarity._weights import Weights
    from ._criterion import Range

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Lists = tuple[Indices, NDArray[np.int32]]  # starts, members


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
        """Wrap X unless it is wrapped already."""
        return X if isinstance(X, Histograms) else cls(X)

    def __len__(self) -> int:
        return len(self.X)

    def __reduce__(self) -> tuple[type[Histograms], tuple[Floats]]:
        return Histograms, (self.X,)

    def under(self, metric: Floats) -> Any:
        """Prepare the pruned search."""
        with self._lock:
            if self._last is None or not np.array_equal(self._last[0], metric):
                self._last = None  # frees its memory first
                if self._masses is None:
                    self._masses = _core.Masses(self.X, 1.0)
                search = _core.DenseSearch(self._masses, _core.CostMatrix(metric))
                self._last = metric.copy(), search
            return self._last[1]

    def nearest(
        self, metric: Floats, queries: Floats, k: int, n_threads: int
    ) -> Indices:
        """Find the k nearest of each query, of shape (queries, k)."""
        radii = np.full(len(queries), np.inf)
        found = self.under(metric).find(
            _core.Masses(queries, 1.0), k, radii, n_threads=n_threads
        )
        indices: Indices = found.indices.reshape(len(queries), k)
        return indices


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

    def __init__(self, found: Any, uniform: bool) -> None:  # noqa: FBT001 - of the core
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
