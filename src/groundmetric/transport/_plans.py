"""Plans and potentials of sparse histograms, on all bins."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._certificate import Transport
from ._forbidden import Mask, small_where_unbound
from ._points import BLOCK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from .. import _core

Floats = NDArray[np.float64]
Bins = NDArray[np.int32]
Indices = NDArray[np.int64]
BlockOfCosts = Callable[[Any, Any], Floats]  # between two lists of bins
# Of some plans: where each one's start, their rows, columns and flow.
Arcs: TypeAlias = tuple[Indices, Bins, Bins, Floats]

# Pairs whose plans are summed up at a time, to save memory.
PLANS = 2**14


class SparsePlans(NamedTuple):
    """The plans of one solve, as long as the batch keeps them."""

    core: _core.SparseBatch
    number: int
    block: BlockOfCosts
    inner: Callable[[int], tuple[Bins, Floats, Bins, Floats]]  # potentials of a pair
    shape: tuple[int, int]
    is_metric: bool
    is_dense: bool  # sums of plans, as matrices of costs are
    forbidden: Mask | None = None

    def plan_sum(self, pairs: Indices, weights: Floats) -> Floats | csr_array:
        """Weighted sum of plans."""
        from scipy.sparse import coo_array, csr_array

        total = np.zeros(self.shape) if self.is_dense else csr_array(self.shape)
        for first in range(0, len(pairs), PLANS):
            part = slice(first, first + PLANS)
            starts, rows, columns, flow = self.arcs(pairs[part])
            flow *= np.repeat(weights[part], np.diff(starts))
            if self.is_dense:
                np.add.at(total, (rows, columns), flow)
            else:
                total += coo_array((flow, (rows, columns)), self.shape).tocsr()
        return total

    def arcs(self, pairs: Indices) -> Arcs:
        """Plans of some pairs, arc by arc."""
        starts, rows, columns, flow = self.core.plans(self.number, pairs)
        if self.forbidden is not None:
            flow[self.forbidden[rows, columns]] = 0.0
        return starts, rows, columns, flow

    def mass_gradient(self, rows: csr_array, pairs: Indices, weights: Floats) -> Floats:
        """Gradient of the weighted sum of all distances, in the entries of the rows.

        For the pairs (i, j) of a batch of rows with themselves, under a metric, all of
        them solved: an optimal potential f for row i, and -f for row j. It counts up to
        a number for each row, since masses add up to the same.
        """
        bins, starts = rows.indices, rows.indptr
        gradient, f = np.zeros(len(bins)), np.empty(self.shape[0])
        for k, (i, j) in enumerate(pairs):
            found = _Potentials(*self.inner(k))
            ends = slice(*starts[i : i + 2]), slice(*starts[j : j + 2])
            for end in ends:
                f[bins[end]] = np.nan  # where both have the same mass
            f[found.rows], f[found.columns] = found.u, -found.v
            for end, weight in zip(ends, (weights[k], -weights[k]), strict=True):
                p = bins[end]
                rest = p[np.isnan(f[p])]
                if len(rest):
                    f[rest] = _extended_to(self.block, rest, found)
                gradient[end] += weight * f[p]
        return gradient

    def transport(self, pair: int, value: float, n_pivots: int) -> Transport:
        """Plan of a pair, and potentials on all bins."""
        _, rows, columns, flow = self.core.plans(self.number, np.array([pair]))
        if self.forbidden is not None:
            kept = ~self.forbidden[rows, columns]
            rows, columns, flow = rows[kept], columns[kept], flow[kept]
        u, v = self._extended_to_all(pair)
        # Marginals of the plan are the histograms; mass that stays adds nothing.
        dual = float((flow * (u[rows] + v[columns])).sum())
        return Transport(value, rows, columns, flow, (u, v), n_pivots, value - dual)

    def potentials(self, pairs: Indices) -> tuple[Floats, Floats]:
        """Potentials of some pairs on all bins, in rows."""
        u, v = (np.empty((len(pairs), n)) for n in self.shape)
        for k, pair in enumerate(pairs):
            u[k], v[k] = self._extended_to_all(int(pair))
        return u, v

    def _extended_to_all(self, pair: int) -> tuple[Floats, Floats]:
        extend = _lipschitz if self.is_metric else _extended
        return extend(self.block, self.shape, _Potentials(*self.inner(pair)))


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
        u[part] = _extended_to(block, part, found)
    return u, -u


def _extended_to(block: BlockOfCosts, bins: Bins, found: _Potentials) -> Floats:
    """Return min_q M_pq - v_q for some bins p; zero if nothing moves."""
    if not len(found.columns):
        return np.zeros(len(bins))
    extended: Floats = (block(bins, found.columns) - found.v).min(axis=1)
    return extended


def _extended(
    block: BlockOfCosts, shape: tuple[int, int], found: _Potentials
) -> tuple[Floats, Floats]:
    """Extend potentials to the largest that the others allow: first v, then u."""
    rows, u, columns, v = found
    full_u, full_v = np.empty(shape[0]), np.empty(shape[1])
    for part in _parts(shape[1]):
        full_v[part] = (block(rows, part) - u[:, None]).min(axis=0)
    small_where_unbound(full_v)
    full_v[columns] = v
    for part in _parts(shape[0]):
        full_u[part] = (block(part, np.arange(shape[1])) - full_v).min(axis=1)
    small_where_unbound(full_u)
    full_u[rows] = u
    return full_u, full_v


def _parts(n: int) -> Iterator[Bins]:
    """Split bins, so that blocks of costs stay small."""
    size = max(1, BLOCK**2 // n)
    for first in range(0, n, size):
        yield np.arange(first, min(first + size, n), dtype=np.int32)
