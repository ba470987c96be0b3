"""Pairs of sparse histograms that are solved for one cost after another.

Only the non-empty bins of each pair take part. Costs between bins come from a matrix,
or from the coordinates of the bins; then there is no matrix for all of them, and sums
of plans are sparse.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from ._exact import Transport
from ._points import BLOCK, METRICS, PointSets, as_masses, bins_of, costs_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Bins = NDArray[np.int32]
Indices = NDArray[np.int64]
Metric = ArrayLike | str | validation.GroundCost | None
BlockOfCosts = Callable[[Any, Any], Floats]  # between two lists of bins

# Pairs whose plans are summed up at a time, for the sake of memory.
PLANS = 2**14


class SolvedSupports(NamedTuple):
    """Values and pivots, how mass is known to stay, and where the plans are."""

    values: Floats
    n_pivots: NDArray[np.int32]
    proof: str
    plans: SparsePlans


class SparsePlans(NamedTuple):
    """The plans of one solve, as long as the batch keeps them."""

    core: _core.SparseBatch
    number: int
    block: BlockOfCosts
    potentials: Callable[[int], tuple[Bins, Floats, Bins, Floats]]  # of a pair
    shape: tuple[int, int]
    is_metric: bool
    is_dense: bool  # sums of plans, as matrices of costs are

    def plan_sum(self, pairs: Indices, weights: Floats) -> Floats | csr_array:
        """Weighted sum of plans."""
        from scipy.sparse import coo_array, csr_array  # noqa: PLC0415 - takes long

        total = np.zeros(self.shape) if self.is_dense else csr_array(self.shape)
        for first in range(0, len(pairs), PLANS):
            part = slice(first, first + PLANS)
            starts, rows, columns, flow = self.core.plans(self.number, pairs[part])
            flow *= np.repeat(weights[part], np.diff(starts))
            if self.is_dense:
                np.add.at(total, (rows, columns), flow)
            else:
                total += coo_array((flow, (rows, columns)), self.shape).tocsr()
        return total

    def transport(self, pair: int, value: float, n_pivots: int) -> Transport:
        """Plan of a pair, and potentials on all bins."""
        _, rows, columns, flow = self.core.plans(self.number, np.array([pair]))
        found = _Potentials(*self.potentials(pair))
        extend = _lipschitz if self.is_metric else _extended
        u, v = extend(self.block, self.shape, found)
        # Marginals of the plan are the histograms; mass that stays adds nothing.
        dual = float((flow * (u[rows] + v[columns])).sum())
        return Transport(value, rows, columns, flow, (u, v), n_pivots, value - dual)


class _Potentials(NamedTuple):
    """Potentials of the bins that took part in a solve."""

    rows: Bins
    u: Floats
    columns: Bins
    v: Floats


def _lipschitz(
    block: BlockOfCosts, shape: tuple[int, int], found: _Potentials
) -> tuple[Floats, Floats]:
    """Extend potentials under a metric: u_p = min_q M_pq - v_q, and v = -u."""
    if not len(found.columns):  # nothing moves
        return np.zeros(shape[0]), np.zeros(shape[1])
    u = np.empty(shape[0])
    for part in _parts(shape[0]):
        u[part] = (block(part, found.columns) - found.v).min(axis=1)
    return u, -u


def _extended(
    block: BlockOfCosts, shape: tuple[int, int], found: _Potentials
) -> tuple[Floats, Floats]:
    """Extend potentials to the largest that the others allow: first v, then u."""
    rows, u, columns, v = found
    full_u, full_v = np.empty(shape[0]), np.empty(shape[1])
    for part in _parts(shape[1]):
        full_v[part] = (block(rows, part) - u[:, None]).min(axis=0)
    full_v[columns] = v
    for part in _parts(shape[0]):
        full_u[part] = (block(part, np.arange(shape[1])) - full_v).min(axis=1)
    full_u[rows] = u
    return full_u, full_v


def _parts(n: int) -> Iterator[Bins]:
    """Split bins, so that blocks of costs stay small."""
    size = max(1, BLOCK**2 // n)
    for first in range(0, n, size):
        yield np.arange(first, min(first + size, n), dtype=np.int32)


class _Supports:
    """Sparse histograms in pairs, and the core that solves them."""

    def __init__(
        self,
        left: csr_array,
        right: csr_array,
        total: float,
        pairs: ArrayLike,
        *,
        reduced: bool,
    ) -> None:
        self._pairs = validation.as_pairs(pairs, left.shape[0], right.shape[0])
        self._masses = as_masses(left, total), as_masses(right, total)
        self.shape = (left.shape[1], right.shape[1])
        self._cores: dict[bool, _core.SparseBatch] = {}
        self._making = Lock()
        self.core = self._core_for(reduced=reduced)

    def _core_for(self, *, reduced: bool) -> _core.SparseBatch:
        """Return what solves problems in which common mass stays, or moves.

        The trees of one do not fit the other. Each core lets one call in at a time, so
        threads, and costs that use the batch themselves, need no lock here.
        """
        with self._making:
            if reduced not in self._cores:
                self._cores[reduced] = _core.SparseBatch(
                    *self._masses, self._pairs, reduced
                )
            return self._cores[reduced]

    @property
    def n_bytes(self) -> int:
        """Memory of the trees."""
        return sum(core.n_bytes for core in list(self._cores.values()))


class MatrixSupports(_Supports):
    """Pairs of wide sparse histograms under matrices of costs.

    Mass in common bins moves like any other: checking all triangles would take longer.
    """

    def __init__(self, X: ArrayLike, Y: ArrayLike | None, pairs: ArrayLike) -> None:
        left = validation.as_supports(X, "X")
        right = left if Y is None else validation.as_supports(Y, "Y")
        total = validation.common_mass(left, right)
        super().__init__(left.values, right.values, total, pairs, reduced=False)
        self._bins = tuple(bins_of(rows.values) for rows in (left, right))

    def solve(
        self, metric: Metric, points: ArrayLike | None, chosen: Indices, threads: int
    ) -> SolvedSupports:
        """Solve some pairs for a matrix."""
        require_no_points(points)
        cost = validation.as_cost(as_matrix(metric), self.shape[0], single=True)
        rows, columns = self._bins
        all_bins = len(rows) == len(columns) == len(cost)
        matrix = _core.CostMatrix(cost if all_bins else cost[np.ix_(rows, columns)])
        number = self.core.begin()
        values, n_pivots = self.core.solve_sparse(
            number, matrix, rows, columns, chosen, threads
        )
        plans = SparsePlans(
            self.core,
            number,
            lambda p, q: np.asarray(cost[np.ix_(p, q)], dtype=np.float64),
            partial(self.core.potentials_sparse, number, matrix, rows, columns),
            self.shape,
            is_metric=False,
            is_dense=True,
        )
        return SolvedSupports(values, n_pivots, "none", plans)


class PointSupports(_Supports):
    """Pairs of sparse histograms on bins with coordinates."""

    def __init__(
        self,
        X: ArrayLike,
        Y: ArrayLike | None,
        points: ArrayLike | None,
        pairs: ArrayLike,
    ) -> None:
        self._left, self._right, kept, total = PointSets.of(X, Y, points)
        self._points = kept.copy()  # later solutions depend on them
        super().__init__(self._left, self._right, total, pairs, reduced=True)

    def solve(
        self, metric: Metric, points: ArrayLike | None, chosen: Indices, threads: int
    ) -> SolvedSupports:
        """Solve some pairs under distances between points."""
        name: Any = "euclidean" if metric is None else metric
        if not isinstance(name, str) and not callable(name):
            raise ValueError(
                "metric is a matrix, but the bins of this batch have points: metric "
                "is the name of a metric between them, a function, or None."
            )
        coordinates = self._points
        if points is not None:
            coordinates = validation.as_coordinates(points, len(coordinates)).copy()
        ground = validation.as_ground_cost(name)
        is_metric = name in METRICS
        core = self._core_for(reduced=is_metric)
        block = partial(costs_between, ground, coordinates)
        number = core.begin()
        if name == "euclidean":
            given = _core.Points(coordinates)
            found = core.solve_points(number, given, chosen, threads)
            potentials = partial(core.potentials_points, number, given)
        else:
            found = self._solve_blocks(core, number, block, chosen, threads)
            potentials = partial(self._potentials_of, core, number, block)
        plans = SparsePlans(
            core,
            number,
            block,
            potentials,
            self.shape,
            is_metric=is_metric,
            is_dense=False,
        )
        return SolvedSupports(*found, "triangles" if is_metric else "none", plans)

    def _solve_blocks(
        self,
        core: _core.SparseBatch,
        number: int,
        block: BlockOfCosts,
        chosen: Indices,
        threads: int,
    ) -> tuple[Floats, NDArray[np.int32]]:
        """Compute the costs between the bins of some pairs, then solve these."""
        values = np.empty(len(chosen))
        n_pivots = np.empty(len(chosen), np.int32)
        for part in self._groups(chosen):
            pairs = chosen[part]
            p, q = self._bins_of(pairs)
            matrix = _core.CostMatrix(block(p, q))
            values[part], n_pivots[part] = core.solve_sparse(
                number, matrix, p, q, pairs, threads
            )
        return values, n_pivots

    def _bins_of(self, pairs: Indices) -> tuple[Bins, Bins]:
        """Bins of the first histograms of some pairs, and of the second ones."""
        p, q = (
            bins_of(rows[np.unique(which)])
            for rows, which in zip(
                (self._left, self._right), self._pairs[pairs].T, strict=True
            )
        )
        return p, q

    def _groups(self, chosen: Indices) -> Iterator[slice]:
        """Split pairs so that each group has about BLOCK bins, or is a single one."""
        sizes = [np.diff(rows.indptr) for rows in (self._left, self._right)]
        i, j = self._pairs[chosen].T
        # Pairs come sorted by their first histogram more often than not.
        new = np.concatenate([[True], i[1:] != i[:-1]]) if len(i) else i == 0
        n_bins = np.cumsum(np.maximum(sizes[0][i] * new, sizes[1][j]))
        first = 0
        while first < len(chosen):
            before = n_bins[first - 1] if first else 0
            end = int(np.searchsorted(n_bins, before + BLOCK, side="right"))
            end = max(end, first + 1)
            yield slice(first, end)
            first = end

    def _potentials_of(
        self, core: _core.SparseBatch, number: int, block: BlockOfCosts, pair: int
    ) -> tuple[Bins, Floats, Bins, Floats]:
        p, q = self._bins_of(np.array([pair]))
        matrix = _core.CostMatrix(block(p, q))
        return core.potentials_sparse(number, matrix, p, q, pair)


def as_matrix(metric: Metric) -> ArrayLike:
    """Reject what needs points."""
    if metric is None or isinstance(metric, str) or callable(metric):
        raise ValueError(
            f"metric is {metric!r}, but the batch was made without points: a matrix of "
            "costs is needed."
        )
    return metric


def require_no_points(points: ArrayLike | None) -> None:
    """Reject points for a batch whose bins have none."""
    if points is not None:
        raise ValueError(
            "points are given to solve(), but the batch was made without: give them "
            "to TransportBatch first."
        )
