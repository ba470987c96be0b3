"""Pairs of sparse histograms that are solved for one cost after another.

Only the non-empty bins of each pair take part. Costs between bins come from a matrix,
or from the coordinates of the bins; then there is no matrix for all of them, and sums
of plans are sparse.
"""

from __future__ import annotations

from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from ..validation import Case
from ._forbidden import forbidden_in
from ._plans import BlockOfCosts, SparsePlans
from ._points import BLOCK, METRICS, PointSets, as_masses, bins_of, costs_between

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Bins = NDArray[np.int32]
Indices = NDArray[np.int64]
Metric = ArrayLike | str | validation.GroundCost | None


class SolvedSupports(NamedTuple):
    """Values and pivots, the proof that mass may stay, and where the plans are."""

    values: Floats
    n_pivots: NDArray[np.int32]
    proof: str
    plans: SparsePlans


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


class SparseSolver(_Supports):
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
        given = Case.SPARSE.accept(metric)
        cost = validation.as_cost(given, self.shape[0], single=True, may_forbid=True)
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
            forbidden=forbidden_in(cost),
        )
        return SolvedSupports(values, n_pivots, "none", plans)


class PointsSolver(_Supports):
    """Pairs of sparse histograms on bins with coordinates."""

    def __init__(self, sets: PointSets, pairs: ArrayLike) -> None:
        self._left, self._right, kept, total = sets
        self._points = kept.copy()  # later solutions depend on them
        super().__init__(self._left, self._right, total, pairs, reduced=True)

    def solve(
        self, metric: Metric, points: ArrayLike | None, chosen: Indices, threads: int
    ) -> SolvedSupports:
        """Solve some pairs under distances between points."""
        name = Case.POINTS.accept(metric)
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


def require_no_points(points: ArrayLike | None) -> None:
    """Reject points for a batch whose bins have none."""
    if points is not None:
        raise ValueError(
            "points are given to solve(), but the batch was made without points: give "
            "them to TransportBatch, too."
        )
