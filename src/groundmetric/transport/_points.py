"""Pairs of sparse histograms whose bins have coordinates.

A bag of words has 80 of 20,000 bins, and point clouds have no bins in common. The costs
between the supports of a pair are computed from the coordinates of the bins; there is
no matrix for all bins. Under a metric, mass in common bins stays where it is.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from ._line import Line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from .._progress import Report

Floats = NDArray[np.float64]
Bins = NDArray[np.int32]

# Metrics of scipy for which the triangle inequality holds.
METRICS = ("euclidean", "cityblock", "chebyshev", "canberra", "hamming", "minkowski")
# Bins of a block of rows; a block of costs has at most the square of this, 32 MB.
BLOCK = 2048
# Points whose costs identify a metric.
SAMPLE = 64


class PointSets(NamedTuple):
    """Two sets of sparse histograms of equal mass, and the coordinates of bins."""

    left: csr_array
    right: csr_array
    points: Floats
    total: float  # mass of each histogram

    @classmethod
    def of(
        cls, X: ArrayLike, Y: ArrayLike | None, points: ArrayLike | None
    ) -> PointSets:
        """Validate histograms on bins with these points, or point clouds if None."""
        if points is None:
            left, right, coordinates = _joined(X, Y)
        else:
            left = validation.as_supports(X, "X")
            right = left if Y is None else validation.as_supports(Y, "Y")
            validation.require_same_bins(left, right)
            coordinates = validation.as_coordinates(points, left.n_bins)
        total = validation.common_mass(left, right)
        return cls(left.values, right.values, coordinates, total)


class PointsPairs:
    """Pairs under distances between the coordinates of bins."""

    def __init__(
        self,
        X: ArrayLike,
        Y: ArrayLike | None,
        points: ArrayLike | None,
        metric: str | validation.GroundCost,
    ) -> None:
        self._metric = metric
        self._ground = validation.as_ground_cost(metric)
        self._left, self._right, self._points, self._total = PointSets.of(X, Y, points)
        self._line = Line.of(self._points, metric)
        self.symmetric = Y is None and isinstance(metric, str)
        self.shape = (self._left.shape[0], self._right.shape[0])

    def contents(self) -> list[NDArray[Any]]:
        """Histograms, coordinates and costs between some points.

        These identify the metric, which a function's name would not.
        """
        n = len(self._points)
        p = np.unique(np.linspace(0, n - 1, min(SAMPLE, n)).astype(np.int32))
        known = costs_between(self._ground, self._points, p, p)
        return [*sparse_contents(self._left, self._right), self._points, known]

    @cached_property
    def _coordinates(self) -> _core.Points:
        return _core.Points(self._points)

    def __getstate__(self) -> dict[str, Any]:
        state = vars(self).copy()
        state.pop("_coordinates", None)
        state.pop("_ground")
        state.pop("_line")
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._ground = validation.as_ground_cost(self._metric)
        self._line = Line.of(self._points, self._metric)

    def solve(
        self, rows: slice, columns: slice, threads: int, report: Report | None
    ) -> Floats:
        """Distances between some of X and some of Y."""
        same = self.symmetric and rows == columns
        left, right = self._left[rows], self._right[columns]
        if self._line is not None:
            x = self._line.rows(left, self._total)
            y = x if same else self._line.rows(right, self._total)
            found: Floats = self._line.core.pairwise(x, y, same, threads, report)
            validation.require_in_range(found)
            return found
        if self._metric == "euclidean":
            x = as_masses(left, self._total)
            y = x if same else as_masses(right, self._total)
            return _core.pairwise_points(x, y, self._coordinates, same, threads, report)
        return self._solve_in_blocks(left, right, threads, report, same=same)

    def _solve_in_blocks(
        self,
        left: csr_array,
        right: csr_array,
        threads: int,
        report: Report | None,
        *,
        same: bool,
    ) -> Floats:
        """Compute the costs between the bins of some rows, then solve these."""
        out = np.empty((left.shape[0], right.shape[0]))
        for rows in groups_of(left):
            for columns in groups_of(right):
                if same and columns.start < rows.start:
                    continue
                block = self._solve_block(
                    left[rows], right[columns], threads, same=same and rows == columns
                )
                out[rows, columns] = block
                if same:
                    out[columns, rows] = block.T
            if report is not None:
                report(rows.stop * right.shape[0])
        return out

    def _solve_block(
        self, left: csr_array, right: csr_array, threads: int, *, same: bool
    ) -> Floats:
        p, q = bins_of(left), bins_of(right)
        matrix = _core.CostMatrix(costs_between(self._ground, self._points, p, q))
        x = as_masses(left, self._total)
        y = x if same else as_masses(right, self._total)
        is_metric = self._metric in METRICS
        return _core.pairwise_sparse(x, y, matrix, p, q, same, is_metric, threads, None)


def sparse_contents(*sets: csr_array) -> list[NDArray[Any]]:
    """List the arrays that sparse rows consist of."""
    return [part for rows in sets for part in (rows.data, rows.indices, rows.indptr)]


def as_masses(rows: csr_array, total: float) -> _core.SparseMasses:
    """Hand sparse rows to the core."""
    return _core.SparseMasses(
        rows.data,
        rows.indices.astype(np.int32, copy=False),
        rows.indptr.astype(np.int64, copy=False),
        rows.shape[1],
        total,
    )


def _joined(X: ArrayLike, Y: ArrayLike | None) -> tuple[Any, Any, Floats]:
    """Give the points of all clouds numbers: first those of X, then those of Y."""
    left, points = validation.as_clouds(X, "X")
    if Y is None:
        return left, left, points
    right, others = validation.as_clouds(Y, "Y")
    if points.shape[1] != others.shape[1]:
        raise ValueError(
            f"The points of X have {points.shape[1]} coordinates, but those of Y have "
            f"{others.shape[1]}."
        )
    joined = np.concatenate([points, others])
    x: csr_array = left.values.copy()
    y: csr_array = right.values.copy()
    for rows in (x, y):
        rows.resize((rows.shape[0], len(joined)))
    y.indices = y.indices + len(points)
    return left._replace(values=x), right._replace(values=y), joined


def bins_of(rows: csr_array) -> Bins:
    """List the bins that are not empty in some row."""
    return np.unique(rows.indices).astype(np.int32)


def costs_between(
    ground: validation.GroundCost, points: Floats, p: Bins, q: Bins
) -> Floats:
    """Compute the costs between some bins and others, and validate them."""
    return validation.as_block_of_costs(ground(points[p], points[q]), p, q)


def groups_of(rows: csr_array) -> Iterator[slice]:
    """Split rows so that each group has BLOCK bins or fewer, or is a single row."""
    start = 0
    while start < rows.shape[0]:
        stop = int(
            np.searchsorted(rows.indptr, rows.indptr[start] + BLOCK, side="right")
        )
        stop = max(stop - 1, start + 1)
        yield slice(start, stop)
        start = stop
