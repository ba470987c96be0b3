"""Histograms on a device, and pairs of them solved chunk by chunk."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..base._arrays import find_arrays, to_numpy
from ..base._blas import one_blas_thread
from ._sinkhorn import Iteration, alternate, dual_values, halfway, iterate, scaled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..base._arrays import Array
    from ._scalings import Scalings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
T = TypeVar("T")

# float32 cannot tell whether marginals are closer than this.
LEAST_TOL = {"float64": 1e-13, "float32": 1e-5}
DEFAULT_TOL = {"float64": 1e-6, "float32": 1e-4}


def valid_limits(
    dtype: str, tol: float | None, max_iter: int
) -> tuple[np.dtype[Any], float, int]:
    """Check the precision, and when iterations end."""
    precision = np.dtype(validation.as_precision(dtype))
    low, default = LEAST_TOL[precision.name], DEFAULT_TOL[precision.name]
    tol = default if tol is None else validation.as_number(tol, "tol", low=low)
    return precision, tol, validation.as_count(max_iter, "max_iter", low=1)


class Solved(NamedTuple):
    """OT_eps of some pairs, in units of mean(M)."""

    values: Floats
    error: Floats
    n_iter: Indices


class Problems:
    """Histograms of X, then those of Y, and how they are solved; dense or sparse."""

    def __init__(
        self,
        X: ArrayLike,
        Y: ArrayLike | None,
        *,
        tol: float | None,
        max_iter: int,
        n_jobs: int | None,
        device: str | None,
        dtype: str,
    ) -> None:
        precision, self.tol, self.max_iter = valid_limits(dtype, tol, max_iter)
        self.n_threads = validation.n_threads(n_jobs)
        given = [(X, "X")] if Y is None else [(X, "X"), (Y, "Y")]
        sets = [self._read(to_numpy(rows, name), name) for rows, name in given]
        validation.require_same_bins(sets[0], sets[-1])
        self.mass = validation.common_mass(*sets)
        self.n, self.d = sets[0].values.shape
        self.first_of_y = 0 if Y is None else self.n
        self.arrays = find_arrays(X, device, precision)
        self._load([each.values for each in sets])

    def _read(self, rows: Any, name: str) -> validation.Histograms:
        """Validate X or Y."""
        raise NotImplementedError

    def _load(self, sets: list[Any]) -> None:
        """Keep them, scaled to mass 1."""
        raise NotImplementedError


class DenseProblems(Problems):
    """Histograms, scaled to mass 1, in rows: those of X, then those of Y.

    Values are in units of mean(M), which ``k`` has been divided by.
    """

    def _read(self, rows: Any, name: str) -> validation.Histograms:
        return validation.as_histograms(rows, name)

    def _load(self, sets: list[Floats]) -> None:
        rows = np.vstack(sets)
        self.bytes_a_pair = 8 * self.d * self.arrays.dtype.itemsize
        self.rows = self.arrays.put(rows / rows.sum(axis=1, keepdims=True))

    def __len__(self) -> int:
        return len(self.rows)

    def each_chunk(
        self, task: Callable[[slice], T], n_pairs: int, bytes_a_pair: int
    ) -> Iterator[tuple[slice, T]]:
        """Yield what a task makes of chunks of pairs, in order.

        A chunk's arrays stay within their budget. With numpy, threads take chunks each,
        and its own threads, which products of this size only slow down, rest.
        """
        size = max(1, self.arrays.chunk_bytes // bytes_a_pair)
        chunks = [
            slice(start, min(start + size, n_pairs))
            for start in range(0, n_pairs, size)
        ]
        if self.arrays.xp is not np:
            yield from zip(chunks, map(task, chunks), strict=True)
            return
        with one_blas_thread():
            if self.n_threads == 1:
                yield from zip(chunks, map(task, chunks), strict=True)
                return
            with ThreadPoolExecutor(self.n_threads) as pool:
                yield from zip(chunks, pool.map(task, chunks), strict=True)

    def product(self, left: Array, right: Array) -> Array:
        """Multiply two large matrices."""
        return self.arrays.product(left, right, self.n_threads)

    def gather(self, pairs: Indices) -> tuple[Array, Array]:
        """Both histograms of each pair."""
        i, j = (self.arrays.put(pairs[:, side]) for side in (0, 1))
        return self.rows[i], self.rows[j]

    def solve_own(self, k: Scalings, start: Array | None) -> tuple[Solved, Array]:
        """OT_eps of each histogram with itself, and the potentials."""
        g = self.arrays.xp.zeros_like(self.rows)
        start = g if start is None else start
        own = np.repeat(np.arange(len(self))[:, None], 2, axis=1)
        return self._solve(halfway, k, own, lambda chunk: start[chunk], g), g

    def solve_pairs(
        self,
        k: Scalings,
        pairs: Indices,
        own: Array,
        start: Array | None = None,
        out: Array | None = None,
    ) -> Solved:
        """OT_eps of pairs, from some potentials or from the second histograms' own.

        The latter are right for equal histograms. Potentials go to out.
        """

        def begin(chunk: slice) -> Array:
            if start is not None:
                return start[chunk]
            return own[self.arrays.put(pairs[chunk, 1])]

        return self._solve(alternate, k, pairs, begin, out)

    def _solve(
        self,
        iteration: Iteration,
        k: Scalings,
        pairs: Indices,
        begin: Callable[[slice], Array],
        out: Array | None,
    ) -> Solved:
        solved = Solved(*(np.empty(len(pairs), t) for t in (float, float, np.int64)))

        def solve(chunk: slice) -> tuple[Array, ...]:
            r, c = self.gather(pairs[chunk])
            fit = iterate(
                iteration, k, r, c, begin(chunk), tol=self.tol, max_iter=self.max_iter
            )
            if out is not None:
                out[chunk] = fit.g
            return dual_values(k, r, c, fit.g), fit.error, fit.n_iter

        for chunk, found in self.each_chunk(solve, len(pairs), k.bytes_a_pair):
            for all_of, some in zip(solved, found, strict=True):
                all_of[chunk] = self.arrays.get(some)
        return solved

    def plan_sum(
        self, k: Scalings, pairs: Indices, g: Array, weights: Floats
    ) -> Floats:
        """Sum of the plans, weighted; those of weight 0 are not looked at."""
        used = np.flatnonzero(weights)

        def add(chunk: slice) -> Array:
            some = used[chunk]
            u, v, _ = scaled(k, *self.gather(pairs[some]), g[self.arrays.put(some)])
            return k.plan_sum(u, v, self.arrays.put(weights[some]))

        return self._sum(add, len(used), k.bytes_a_pair)

    def _sum(
        self, add: Callable[[slice], Array], n_pairs: int, bytes_a_pair: int
    ) -> Floats:
        """Sum of what is made of chunks, where they are made."""
        total = self.arrays.put(np.zeros((self.d, self.d)))
        for _, G in self.each_chunk(add, n_pairs, bytes_a_pair):
            total += G
        whole: Floats = self.arrays.get(total)
        return whole

    def energies(self, M: Floats, pairs: Indices) -> Solved:
        """-(r - c)' M (r - c) / 2: what S tends to, in closed form."""
        values = np.empty(len(pairs))
        costs = self.product(self.rows, self.arrays.put(M))

        def energy(chunk: slice) -> Array:
            i, j = (self.arrays.put(pairs[chunk, side]) for side in (0, 1))
            product = self.rows[i] - self.rows[j]
            product *= costs[i] - costs[j]
            return self.arrays.xp.sum(product, axis=1)

        for chunk, found in self.each_chunk(energy, len(pairs), self.bytes_a_pair):
            values[chunk] = self.arrays.get(found) / -2
        return Solved(values, np.zeros(len(pairs)), np.zeros(len(pairs), np.int64))

    def energy_gradient(self, pairs: Indices, weights: Floats) -> Floats:
        """Sum of r c' - r r' / 2 - c c' / 2, weighted."""
        xp = self.arrays.xp

        def add(chunk: slice) -> Array:
            r, c = self.gather(pairs[chunk])
            w = self.arrays.put(weights[chunk])[:, None]
            return xp.matmul((w * r).T, c - r / 2) - xp.matmul((w * c).T, c / 2)

        return self._sum(add, len(pairs), self.bytes_a_pair)
