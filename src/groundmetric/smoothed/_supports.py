"""Sparse histograms, and pairs of them solved on their supports.

Histograms of 80 out of 20,000 bins do not share a kernel: each pair has one of its own,
80 x 80, between its non-empty bins. Pairs with the same first histogram are solved
together, in arrays that are padded with empty bins; these change nothing. Costs come
from a matrix, or from the coordinates of bins; then there is no matrix of all of them.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, vstack

from .. import validation
from ..transport._pairs import are_sparse, are_wide
from ..transport._points import BLOCK
from ._arrays import blas_threads, find_arrays, to_numpy
from ._batch import LARGEST_SMOOTHING, as_dissimilarity
from ._problems import Solved, judged_limits
from ._scalings import pair_scalings
from ._sinkhorn import alternate, dual_values, halfway, iterate

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._sinkhorn import Iteration

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Bins = NDArray[np.int32]
Metric = ArrayLike | str | validation.GroundCost | None

# Arrays of the size of a pair's kernel that its iteration takes.
KERNELS_A_PAIR = 4
# Supports pay off if they have fewer than one in so many bins: products of supports
# gain less from the processor's cache than those of whole matrices.
SPARSE = 8
ROUNDING = 1e-12


class CostsOfBins(NamedTuple):
    """Costs between two lists of bins, and their mean over all pairs of bins."""

    block: Callable[[Bins, Bins], Floats]
    mean: float

    @classmethod
    def of(cls, metric: Metric, points: ArrayLike | None, d: int) -> CostsOfBins:
        """Validate a matrix, or points and a metric between them."""
        if points is None:
            M = as_dissimilarity(as_matrix(metric), d)
            largest = float(M.max()) or 1.0  # the sum may be out of range
            return cls(lambda p, q: M[np.ix_(p, q)], (M / largest).mean() * largest)
        if metric is not None and not isinstance(metric, str) and not callable(metric):
            raise ValueError(
                "metric is a matrix, but points are given as well: with points, metric "
                "is the name of a metric between them, a function, or None."
            )
        name = "euclidean" if metric is None else metric
        ground = validation.as_ground_cost(name)
        coordinates, k = validation.as_coordinates(points, d), 0
        if name == "euclidean":  # whose squares may be out of range
            k = int(np.frexp(np.abs(coordinates).max())[1])
            coordinates = np.ldexp(coordinates, -k)

        def block(p: Bins, q: Bins) -> Floats:
            costs = ground(coordinates[p], coordinates[q])
            costs = np.ldexp(costs, k) if k else costs
            return validation.as_block_of_costs(costs, p, q)

        return cls(block, _mean_cost(coordinates, name, block))


class _Ground(NamedTuple):
    """Costs, their unit, and the smoothing; without eps, values have a closed form."""

    block: Callable[[Bins, Bins], Floats]
    unit: float
    eps: float | None


class SupportProblems:
    """Histograms, scaled to mass 1, in sparse rows: those of X, then those of Y."""

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
        precision, self.tol, self.max_iter = judged_limits(dtype, tol, max_iter)
        self.n_threads = validation.n_threads(n_jobs)
        sets = [validation.as_supports(to_numpy(X), "X")]
        if Y is not None:
            sets.append(validation.as_supports(to_numpy(Y), "Y"))
            validation.require_same_bins(*sets)
        self.mass = validation.common_mass(*sets)
        self.n, self.d = sets[0].values.shape
        self.first_of_y = 0 if Y is None else self.n
        rows = csr_array(vstack([part.values for part in sets]))
        masses = np.repeat(np.asarray(rows.sum(axis=1)).ravel(), np.diff(rows.indptr))
        self._masses: Floats = rows.data / masses
        self._bins = rows.indices.astype(np.int32)
        self._starts = rows.indptr.astype(np.int64)
        self._sizes = np.diff(self._starts)
        self.arrays = find_arrays(X, device, precision)

    def __len__(self) -> int:
        return len(self._sizes)

    def solver(
        self, costs: CostsOfBins, smoothing: float
    ) -> Callable[[Indices], Solved]:
        """Make what takes pairs of rows, and returns S in units of the mean cost."""
        with np.errstate(over="ignore"):
            validation.require_in_range(np.float64(costs.mean) * self.mass)
        ground = _Ground(costs.block, costs.mean or 1.0, smoothing)
        if smoothing > LARGEST_SMOOTHING[self.arrays.dtype] or costs.mean == 0.0:
            ground = ground._replace(eps=None)
        everyone = np.arange(len(self))
        own = np.column_stack([everyone, everyone])
        g = np.zeros(len(self._masses))  # potentials of each histogram with itself
        of_own = self._solve(ground, own, halfway, g, keep=True)

        def solve(pairs: Indices) -> Solved:
            between = self._solve(ground, pairs, alternate, g, keep=False)
            i, j = pairs.T
            values = between.values - of_own.values[i] / 2 - of_own.values[j] / 2
            error = np.maximum(of_own.error[i], of_own.error[j])
            return Solved(values, np.maximum(between.error, error), between.n_iter)

        return solve

    def _solve(
        self,
        ground: _Ground,
        pairs: Indices,
        iteration: Iteration,
        g: Floats,
        *,
        keep: bool,
    ) -> Solved:
        """OT_eps of pairs, from the potentials g of their second histograms."""
        solved = Solved(*(np.empty(len(pairs), t) for t in (float, float, np.int64)))
        chunks = self._chunks(pairs)

        def solve(chunk: Indices) -> tuple[Floats, Floats, Floats]:
            return self._solve_chunk(ground, pairs[chunk], iteration, g, keep=keep)

        with blas_threads(1), ThreadPoolExecutor(self.n_threads) as pool:
            for chunk, found in zip(chunks, pool.map(solve, chunks), strict=True):
                for all_of, some in zip(solved, found, strict=True):
                    all_of[chunk] = some
        return solved

    def _chunks(self, pairs: Indices) -> list[Indices]:
        """Split pairs by their first histogram, those of similar size together."""
        chunks = []
        order = np.lexsort((self._sizes[pairs[:, 1]], pairs[:, 0]))
        new = np.flatnonzero(np.diff(pairs[order, 0])) + 1
        for group in np.split(order, new):
            k, largest = self._sizes[pairs[group[-1]]].tolist()
            a_pair = KERNELS_A_PAIR * 8 * k * largest
            size = max(1, self.arrays.chunk_bytes // a_pair)
            chunks += [group[at : at + size] for at in range(0, len(group), size)]
        return chunks

    def _solve_chunk(
        self,
        ground: _Ground,
        pairs: Indices,
        iteration: Iteration,
        g: Floats,
        *,
        keep: bool,
    ) -> tuple[Floats, Floats, Floats]:
        """Solve pairs that have the first histogram in common."""
        put, get = self.arrays.put, self.arrays.get
        first = slice(*self._starts[pairs[0, 0] : pairs[0, 0] + 2])
        entries, is_padding = self._padded(pairs[:, 1])
        bins, place = np.unique(self._bins[entries], return_inverse=True)
        block = ground.block(self._bins[first], bins) / ground.unit
        costs = block[:, place.reshape(entries.shape)].transpose(1, 0, 2)
        r = np.repeat(self._masses[None, first], len(pairs), axis=0)
        c = np.where(is_padding, 0.0, self._masses[entries])
        if ground.eps is None:
            values = np.einsum("bk,bkl,bl->b", r, costs, c, optimize=True)
            return values, np.zeros(len(pairs)), np.zeros(len(pairs))
        k = pair_scalings(costs, ground.eps, self.arrays)
        r, c = put(r), put(c)
        fit = iterate(
            iteration, k, r, c, put(g[entries]), tol=self.tol, max_iter=self.max_iter
        )
        if keep:  # of one histogram with itself, so that none is padded
            g[entries] = get(fit.g)
        values = dual_values(k, r, c, fit.g)
        return get(values), get(fit.error), get(fit.n_iter)

    def _padded(self, rows: Indices) -> tuple[Indices, NDArray[np.bool_]]:
        """Entries of some rows, side by side, and which of them only fill up."""
        sizes = self._sizes[rows][:, None]
        column = np.arange(sizes.max())
        is_padding = column >= sizes
        return self._starts[rows][:, None] + np.where(is_padding, 0, column), is_padding


def _mean_cost(
    points: Floats,
    metric: str | validation.GroundCost,
    block: Callable[[Bins, Bins], Floats],
) -> float:
    """Mean of the costs between all pairs of bins, block by block.

    That of squared Euclidean distances is known: twice the variance of the points.
    Costs that are not symmetric, negative, or not zero on the diagonal are rejected.
    """
    if metric == "sqeuclidean":
        return float(2 * np.square(points - points.mean(axis=0)).sum() / len(points))
    d = len(points)
    starts = range(0, d, BLOCK)
    parts = [np.arange(at, min(at + BLOCK, d), dtype=np.int32) for at in starts]
    total = 0.0
    for i, p in enumerate(parts):
        for q in parts[i:]:
            costs = block(p, q)
            if p is q:
                noise = np.abs(costs) <= ROUNDING * costs.max()  # cosines have some
                own = np.where(noise, 0.0, costs)
                validation.require_dissimilarity(own, "metric", rounding=ROUNDING)
            elif not isinstance(metric, str):
                _require_symmetric(costs, block(q, p).T, p, q)
            share = len(p) * len(q) / d / d
            total += float(costs.mean()) * share * (1 if p is q else 2)
    return total


def _require_symmetric(there: Floats, back: Floats, p: Bins, q: Bins) -> None:
    bad = (np.abs(there - back) > ROUNDING * np.abs(there).max()) | (there < 0)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"metric is {there[i, j]} from point {p[i]} to {q[j]}, and {back[i, j]} "
            "back: costs must be symmetric, and not negative."
        )


def as_matrix(metric: Metric) -> ArrayLike:
    """Reject what needs points."""
    if metric is None or isinstance(metric, str) or callable(metric):
        raise ValueError(
            f"metric is {metric!r}, but there are no points: a matrix of costs is "
            "needed."
        )
    return metric


def is_sparse_enough(X: Any, Y: Any) -> bool:  # noqa: ANN401 - judged here
    """Tell whether both are sparse, and solving on supports takes less than on bins."""
    both = (X,) if Y is None else (X, Y)
    if not are_sparse(X, Y):
        return False
    n_bins = sum(int(np.prod(rows.shape)) for rows in both)
    return are_wide(X, Y) or SPARSE * sum(rows.nnz for rows in both) <= n_bins
