"""All pairs of two sets of histograms: what is solved, block by block.

All kinds hold plain arrays, so that they can be sent to other processes; what the
compiled core needs of them is made on first use.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from .._cluster import is_lazy, lazily
from ..validation import Case
from ._bins import Bins, columns_of
from ._forbidden import as_distances
from ._points import PointsPairs, as_masses, sparse_contents
from ._rounded import warn_if_rounded

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._progress import Report

Floats = NDArray[np.float64]
Metric = ArrayLike | str | None


class Pairs(Protocol):
    """All pairs of n histograms with m others."""

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of histograms, (n, m)."""

    @property
    def symmetric(self) -> bool:
        """Whether both sets are the same, and so are both directions of a pair."""

    def solve(
        self, rows: slice, columns: slice, threads: int, report: Report | None
    ) -> Floats:
        """Distances between some of the first set and some of the second.

        If symmetric, rows and columns are the same, or the rows come first: each pair
        is solved in the same direction then, whatever the blocks are.
        """

    def contents(self) -> list[NDArray[Any]]:
        """All that the distances depend on."""


class DensePairs:
    """Pairs under a matrix of costs between bins."""

    def __init__(self, X: ArrayLike, Y: ArrayLike | None, metric: ArrayLike) -> None:
        left = validation.as_histograms(X, "X")
        right = left if Y is None else validation.as_histograms(Y, "Y")
        self._total = validation.common_mass(left, right)
        cost = validation.as_cost(
            metric, left.n_bins, n_columns=right.n_bins, single=True, may_forbid=True
        )
        bins = Bins.of(left.values, right.values)
        self._left = columns_of(left.values, bins and bins.rows)
        self._right = self._left
        if Y is not None:
            self._right = columns_of(right.values, bins and bins.cols)
        self._cost = cost if bins is None else cost[np.ix_(*bins)]
        self.symmetric = Y is None and np.array_equal(self._cost, self._cost.T)
        self.shape = (len(self._left), len(self._right))

    def contents(self) -> list[NDArray[Any]]:
        """Histograms and costs."""
        return [self._left, self._right, self._cost]

    @cached_property
    def _matrix(self) -> _core.CostMatrix:
        return _core.CostMatrix(self._cost)

    def warn_if_rounded(self, threads: int) -> None:
        """Warn if costs are nearly a metric, which would be faster."""
        n_solves = math.prod(self.shape)
        if n_solves < len(self._cost) / 8 or not self._matrix.is_quasimetric(threads):
            warn_if_rounded(self._cost, n_solves, threads, stacklevel=4)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_matrix"}

    def solve(
        self, rows: slice, columns: slice, threads: int, report: Report | None
    ) -> Floats:
        """Distances between some of X and some of Y."""
        same = self.symmetric and rows == columns
        x = _core.Masses(self._left[rows], self._total)
        y = x if same else _core.Masses(self._right[columns], self._total)
        distances: Floats = _core.pairwise_dense(
            x, y, self._matrix, same, threads, report
        )
        return as_distances(distances)


class SparsePairs:
    """Pairs of sparse histograms under a matrix of costs between many bins.

    Histograms stay sparse. Mass in common bins moves like any other: to check whether
    it may stay would take longer than to solve the slightly larger problems.
    """

    def __init__(self, X: ArrayLike, Y: ArrayLike | None, metric: ArrayLike) -> None:
        left = validation.as_supports(X, "X")
        right = left if Y is None else validation.as_supports(Y, "Y")
        self._total = validation.common_mass(left, right)
        self._left, self._right = left.values, right.values
        self._cost = validation.as_cost(
            metric, left.n_bins, single=True, may_forbid=True
        )
        self.symmetric = Y is None and np.array_equal(self._cost, self._cost.T)
        self.shape = (self._left.shape[0], self._right.shape[0])

    @cached_property
    def _matrix(self) -> _core.CostMatrix:
        return _core.CostMatrix(self._cost)

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in vars(self).items() if key != "_matrix"}

    def contents(self) -> list[NDArray[Any]]:
        """Histograms and costs."""
        return [*sparse_contents(self._left, self._right), self._cost]

    def solve(
        self, rows: slice, columns: slice, threads: int, report: Report | None
    ) -> Floats:
        """Distances between some of X and some of Y."""
        same = self.symmetric and rows == columns
        x = as_masses(self._left[rows], self._total)
        y = x if same else as_masses(self._right[columns], self._total)
        bins = np.arange(len(self._cost), dtype=np.int32)
        distances: Floats = _core.pairwise_sparse(
            x,
            y,
            self._matrix,
            bins,
            bins,
            symmetric=same,
            reduced=False,
            n_threads=threads,
            progress=report,
        )
        return as_distances(distances)


def all_pairs(
    X: ArrayLike,
    Y: ArrayLike | None,
    metric: Metric | Callable[[Floats, Floats], Floats],
    points: ArrayLike | None,
) -> Pairs:
    """Validate two sets of histograms and what is known of their bins."""
    validation.require_named_alike(X, Y, metric=metric, points=points)
    case = validation.case_of(X, Y, points)
    given = case.accept(metric)
    if case is Case.POINTS:
        return PointsPairs(X, Y, points, given)
    return SparsePairs(X, Y, given) if case is Case.SPARSE else DensePairs(X, Y, given)


class _Shared(NamedTuple):
    """What all blocks of a Dask array have in common."""

    metric: Any
    points: Any
    threads: int


def lazy_pairs(
    X: ArrayLike,
    Y: ArrayLike | None,
    metric: Metric | Callable[[Floats, Floats], Floats],
    points: ArrayLike | None,
    threads: int,
) -> Floats:
    """Make a Dask array of the distances; each block is checked when it is computed."""
    named = metric is None or isinstance(metric, str)
    cost = None if named or callable(metric) else np.asarray(metric)
    symmetric = named or (cost is not None and np.array_equal(cost, cost.T))
    shared = _Shared(metric if cost is None else cost, points, threads)
    for name, given in (("X", X), ("Y", Y)):
        if given is not None and not is_lazy(given):
            raise ValueError(
                f"{name} is {type(given).__name__}, but the other is a Dask array: "
                "both must be, for instance by dask.array.from_array."
            )
    other = X if Y is None and not symmetric else Y
    distances: Floats = lazily(_solve_lazily, X, other, shared)
    return distances


def _solve_lazily(x: ArrayLike, y: ArrayLike | None, shared: _Shared) -> Floats:
    pairs = all_pairs(x, y, shared.metric, shared.points)
    n, m = pairs.shape
    return pairs.solve(slice(0, n), slice(0, m), shared.threads, None)
