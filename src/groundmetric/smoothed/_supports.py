"""Sparse histograms, and pairs of them solved on their supports.

Histograms of 80 out of 20,000 bins do not share a kernel: each pair has one of its own,
80 x 80, between its non-empty bins. Pairs with the same first histogram are solved
together, in arrays that are padded with empty bins; these change nothing. Costs come
from a matrix, or from the coordinates of bins; then there is no matrix of all of them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from .. import validation
from ..base._blas import one_blas_thread
from ..validation import Case
from ._batch import LARGEST_SMOOTHING, debiased
from ._kernels import by_rows, pair_scalings
from ._problems import Problems, Solved
from ._sinkhorn import alternate, dual_values, halfway, iterate, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..base._arrays import Array
    from ._costs import CostsOfBins
    from ._kernels import PairLogarithms, PairScalings
    from ._sinkhorn import Fit, Iteration

    Loaded = tuple[PairScalings | PairLogarithms, Array, Array, Array]  # k, r, c, g

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Bins = NDArray[np.int32]
T = TypeVar("T")

# Arrays of the size of a pair's kernel that its iteration takes.
KERNELS_A_PAIR = 4
# Supports pay off if they have fewer than one in this many bins: products of supports
# gain less from the processor's cache than those of whole matrices.
SPARSE = 8
# Marking those that are used takes longer than sorting them beyond this.
MANY_BINS = 100_000


class Ground(NamedTuple):
    """Costs, their unit, and the smoothing; without eps, values have a closed form."""

    block: Callable[[Bins, Bins], Floats]
    unit: float
    eps: float | None


class Chunk(NamedTuple):
    """Pairs (b) of one histogram (k bins) with others (l bins, with padding)."""

    r: Floats  # (b, k)
    c: Floats  # (b, l)
    costs: Floats  # (m, k), between all bins of the others and those of the first
    entries: Indices  # (b, l), of the others
    bins: tuple[Bins, Bins]  # of the first (k), and of the others (m)
    place: Indices  # (b, l), of the others' bins among these

    def add_up(self, plans: Floats, out: Floats) -> None:
        """Add a sum of plans, (m, k), to the entries of their bins."""
        out[np.ix_(*self.bins)] += plans.T

    def by_bins(self, values: Floats) -> csr_array:
        """Spread numbers of the others' entries, (b, l), over all their bins."""
        return by_rows(values, self.place, len(self.costs))


class SparseProblems(Problems):
    """Histograms, scaled to mass 1, in sparse rows: those of X, then those of Y."""

    def _read(self, rows: Any, name: str) -> validation.Histograms:
        return validation.as_supports(rows, name)

    def _load(self, sets: list[csr_array]) -> None:
        rows = csr_array(vstack(sets))
        masses = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr))
        self._masses: Floats = rows.data / masses
        self._bins = rows.indices.astype(np.int32)
        self._starts = rows.indptr.astype(np.int64)
        self._sizes = np.diff(self._starts)

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def n_entries(self) -> int:
        """Number of non-empty bins of all histograms."""
        return len(self._masses)

    def solver(self, costs: CostsOfBins, smoothing: float) -> SparseSolver:
        """Solve each histogram with itself, and make what solves pairs."""
        with np.errstate(over="ignore"):
            validation.require_in_range(np.float64(costs.mean) * self.mass)
        ground = Ground(costs.block, costs.mean or 1.0, smoothing)
        if smoothing > LARGEST_SMOOTHING[self.arrays.dtype] or costs.mean == 0.0:
            ground = ground._replace(eps=None)
        return SparseSolver(self, ground)

    def each_chunk(
        self, task: Callable[[Indices], T], pairs: Indices
    ) -> Iterator[tuple[Indices, T]]:
        """Yield what a task makes of pairs with a histogram in common, in order."""
        chunks = self._chunks(pairs)
        with one_blas_thread():
            if self.n_threads == 1:
                yield from zip(chunks, map(task, chunks), strict=True)
                return
            with ThreadPoolExecutor(self.n_threads) as pool:
                yield from zip(chunks, pool.map(task, chunks), strict=True)

    def _chunks(self, pairs: Indices) -> list[Indices]:
        """Split pairs by their first histogram, and group them by size."""
        chunks: list[Indices] = []
        if len(pairs) == 0:
            return chunks
        order = np.lexsort((self._sizes[pairs[:, 1]], pairs[:, 0]))
        new = np.flatnonzero(np.diff(pairs[order, 0])) + 1
        for group in np.split(order, new):
            k, largest = self._sizes[pairs[group[-1]]].tolist()
            a_pair = KERNELS_A_PAIR * 8 * k * largest
            size = max(1, self.arrays.chunk_bytes // a_pair)
            chunks += [group[at : at + size] for at in range(0, len(group), size)]
        return chunks

    def load(self, ground: Ground, pairs: Indices) -> Chunk:
        """Gather the masses and costs of pairs that have the first in common."""
        first = slice(*self._starts[pairs[0, 0] : pairs[0, 0] + 2])
        entries, is_padding = self._padded(pairs[:, 1])
        bins, place = self._bins_of(entries)
        costs = ground.block(bins, self._bins[first])
        if ground.unit != 1.0:
            costs = costs / ground.unit
        return Chunk(
            np.repeat(self._masses[None, first], len(pairs), axis=0),
            np.where(is_padding, 0.0, self._masses[entries]),
            costs,
            entries,
            (self._bins[first], bins),
            place,
        )

    def _bins_of(self, entries: Indices) -> tuple[Bins, Indices]:
        """Bins of some entries, rising, and where the bin of each is among these."""
        found = self._bins[entries]
        if self.d > MANY_BINS:
            bins, place = np.unique(found, return_inverse=True)
            return bins, place.reshape(found.shape)
        is_used = np.zeros(self.d, bool)
        is_used[found] = True
        bins = np.flatnonzero(is_used).astype(np.int32)
        places = np.empty(self.d, np.int64)
        places[bins] = np.arange(len(bins))
        return bins, places[found]

    def _padded(self, rows: Indices) -> tuple[Indices, NDArray[np.bool_]]:
        """Entries of some rows, side by side, and which of them only fill up."""
        sizes = self._sizes[rows][:, None]
        column = np.arange(sizes.max())
        is_padding = column >= sizes
        return self._starts[rows][:, None] + np.where(is_padding, 0, column), is_padding


class SparseSolver:
    """Solves pairs for one cost, from the potentials of the second histograms."""

    def __init__(self, problems: SparseProblems, ground: Ground) -> None:
        self._problems, self._ground = problems, ground
        everyone = np.arange(len(problems))
        self._own = np.column_stack([everyone, everyone])
        self._g = np.zeros(problems.n_entries)  # of each histogram with itself
        self._of_own = self._solve(self._own, halfway, keep=True)

    def __call__(self, pairs: Indices) -> Solved:
        """S of pairs of rows, in units of the mean cost."""
        return debiased(pairs, self._solve(pairs, alternate, keep=False), self._of_own)

    def plan_sum(self, pairs: Indices, weights: Floats) -> Floats:
        """Sum of P(r, c) - P(r, r) / 2 - P(c, c) / 2, weighted.

        Potentials of pairs are not kept: those with a weight are solved again.
        """
        n = len(self._problems)
        halves = np.bincount(pairs.ravel(), np.repeat(weights / 2, 2), n).astype(float)
        out = np.zeros((self._problems.d, self._problems.d))
        for some, iteration, w in (
            (pairs, alternate, weights),
            (self._own, None, -halves),
        ):
            used = np.flatnonzero(w)
            self._add_plans(some[used], iteration, w[used], out)
        return out

    def _solve(self, pairs: Indices, iteration: Iteration, *, keep: bool) -> Solved:
        """OT_eps of pairs; potentials are kept for those of histograms themselves."""
        get, eps = self._problems.arrays.get, self._ground.eps
        solved = Solved(*(np.empty(len(pairs), t) for t in (float, float, np.int64)))

        def solve(which: Indices) -> tuple[Floats, Floats, Floats]:
            if eps is None:
                chunk = self._problems.load(self._ground, pairs[which])
                costs = chunk.by_bins(chunk.c) @ chunk.costs
                values = np.einsum("bk,bk->b", chunk.r, costs)
                return values, np.zeros(len(which)), np.zeros(len(which))
            chunk, loaded = self._loaded(pairs[which], eps)
            fit = self._iterated(iteration, loaded)
            if keep:  # nothing is padded
                self._g[chunk.entries] = get(fit.g)
            values = get(dual_values(*loaded[:3], fit.g))
            return values, get(fit.error), get(fit.n_iter)

        for which, found in self._problems.each_chunk(solve, pairs):
            for all_of, some in zip(solved, found, strict=True):
                all_of[which] = some
        return solved

    def _add_plans(
        self, pairs: Indices, iteration: Iteration | None, weights: Floats, out: Floats
    ) -> None:
        """Add the plans of pairs; without an iteration, potentials are known."""
        eps = self._ground.eps

        def plans(which: Indices) -> tuple[Chunk, Floats]:
            w = weights[which]
            if eps is None:
                chunk = self._problems.load(self._ground, pairs[which])
                return chunk, chunk.by_bins(w[:, None] * chunk.c).T @ chunk.r
            chunk, loaded = self._loaded(pairs[which], eps)
            k, r, c, g = loaded
            if iteration is not None:
                g = self._iterated(iteration, loaded).g
            u, v, _ = scaled(k, r, c, g)
            return chunk, k.summed(u, v, w)

        for _, (chunk, found) in self._problems.each_chunk(plans, pairs):
            chunk.add_up(found, out)

    def _loaded(self, pairs: Indices, eps: float) -> tuple[Chunk, Loaded]:
        """Put pairs where they are solved, with potentials of the second ones."""
        chunk = self._problems.load(self._ground, pairs)
        k = pair_scalings(chunk.costs, chunk.place, eps, self._problems.arrays)
        parts = chunk.r, chunk.c, self._g[chunk.entries]
        return chunk, (k, *(k.arrays.put(part) for part in parts))

    def _iterated(self, iteration: Iteration, loaded: Loaded) -> Fit:
        problems = self._problems
        return iterate(iteration, *loaded, tol=problems.tol, max_iter=problems.max_iter)


def case_for(X: Any, Y: Any, points: ArrayLike | None) -> Case:
    """Return the case, as for EMDs; fewer empty bins are enough to be sparse."""
    case = validation.case_of(X, Y, points)
    if case is not Case.DENSE or not validation.are_sparse(X, Y):
        return case
    both = (X,) if Y is None else (X, Y)
    n_bins = sum(int(np.prod(rows.shape)) for rows in both)
    is_enough = SPARSE * sum(rows.nnz for rows in both) <= n_bins
    return Case.SPARSE if is_enough else Case.DENSE
