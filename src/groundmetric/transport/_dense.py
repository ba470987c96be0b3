"""Pairs of dense histograms that are solved for one matrix of costs after another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from ..validation import Case
from ._bins import Bins, columns_of
from ._certificate import Transport, as_transport
from ._forbidden import Mask, forbidden_in, small_where_unbound, without
from ._rounded import warn_if_rounded
from ._supports import require_no_points

if TYPE_CHECKING:
    from ._plans import Arcs
    from ._supports import Metric

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Sets(NamedTuple):
    """Two sets of histograms of equal mass, and their numbers of bins.

    If most bins are empty in all of them, the masses have only the others, `bins`.
    """

    x: _core.Masses
    y: _core.Masses
    n_bins: tuple[int, int]
    bins: Bins | None

    @classmethod
    def of(cls, X: ArrayLike, Y: ArrayLike | None) -> Sets:
        """Validate the rows of X and Y (X itself if None)."""
        left = validation.as_histograms(X, "X")
        right = left if Y is None else validation.as_histograms(Y, "Y")
        total = validation.common_mass(left, right)
        n_bins = (left.n_bins, right.n_bins)
        bins = Bins.of(left.values, right.values)
        x = _core.Masses(columns_of(left.values, bins and bins.rows), total)
        y = x
        if Y is not None:
            y = _core.Masses(columns_of(right.values, bins and bins.cols), total)
        return cls(x, y, n_bins, bins)

    def as_cost(self, metric: ArrayLike) -> Floats:
        """Validate the costs from the bins of X to those of Y."""
        m, n = self.n_bins
        return validation.as_cost(metric, m, n_columns=n, single=True, may_forbid=True)

    def gather(self, cost: Floats) -> Floats:
        """Return the costs between bins that are not empty."""
        return cost if self.bins is None else cost[np.ix_(*self.bins)]


class DenseSolver:
    """Pairs of dense histograms under matrices of costs."""

    def __init__(self, X: ArrayLike, Y: ArrayLike | None, pairs: ArrayLike) -> None:
        self._sets = Sets.of(X, Y)
        x, y = self._sets.x, self._sets.y
        self.core = _core.DenseBatch(x, y, validation.as_pairs(pairs, len(x), len(y)))
        self._has_warned = False

    @property
    def n_bytes(self) -> int:
        """Memory of the trees."""
        return self.core.n_bytes

    def solve(
        self, metric: Metric, points: ArrayLike | None, chosen: Indices, threads: int
    ) -> tuple[Floats, NDArray[np.int32], str, DensePlans]:
        """Solve some pairs for a matrix."""
        require_no_points(points)
        given = self._sets.as_cost(Case.DENSE.accept(metric))
        cost = _core.CostMatrix(self._sets.gather(given))
        number, proof, values, n_pivots = self.core.solve(cost, chosen, threads, None)
        if proof == "none" and not self._has_warned:
            self._has_warned = warn_if_rounded(
                self._sets.gather(given), len(chosen), threads, stacklevel=4
            )
        full = None if self._sets.bins is None else Full(self._sets.bins, given)
        plans = DensePlans(self.core, cost, number, full, forbidden_in(given), threads)
        return values, n_pivots, proof, plans


class DensePlans(NamedTuple):
    """The plans of one solve, as long as the batch keeps them."""

    core: _core.DenseBatch
    cost: _core.CostMatrix
    number: int
    full: Full | None
    forbidden: Mask | None
    threads: int

    def plan_sum(self, pairs: Indices, weights: Floats) -> Floats:
        """Weighted sum of plans."""
        plan = self.core.plan_sum(self.number, pairs, weights)
        whole: Floats = without(
            self.forbidden, plan if self.full is None else self.full.plan(plan)
        )
        return whole

    def arcs(self, pairs: Indices) -> Arcs:
        """Plans of some pairs, arc by arc."""
        starts, rows, columns, flow = self.core.plans(self.number, pairs)
        if self.full is not None:
            bins = self.full.bins
            rows = bins.rows[rows].astype(np.int32)
            columns = bins.cols[columns].astype(np.int32)
        if self.forbidden is not None:
            flow[self.forbidden[rows, columns]] = 0.0
        return starts, rows, columns, flow

    def potentials(self, pairs: Indices) -> tuple[Floats, Floats]:
        """Potentials of some pairs on all bins, in rows."""
        u, v = self.core.potentials(self.number, self.cost, pairs, self.threads)
        return (u, v) if self.full is None else self.full.potentials(u, v)

    def transport(self, pair: int, value: float, n_pivots: int) -> Transport:  # noqa: ARG002 - the certificate has it
        """Plan and certificate of a pair."""
        certificate = self.core.certificate(self.number, self.cost, pair)
        t = replace(as_transport(certificate), n_pivots=n_pivots)
        return t if self.full is None else self.full.transport(t)


class Full(NamedTuple):
    """Extends results on non-empty bins to all bins."""

    bins: Bins
    cost: Floats

    def plan(self, plan: Floats) -> Floats:
        """Add the empty rows and columns."""
        out = np.zeros(self.cost.shape)
        out[np.ix_(*self.bins)] = plan
        return out

    def transport(self, t: Transport) -> Transport:
        """Name the bins as they are, and extend the potentials to empty ones."""
        u, v = self.potentials(*(each[None] for each in t.potentials))
        rows, cols = self.bins.rows[t.rows], self.bins.cols[t.cols]
        return replace(
            t,
            rows=rows.astype(np.int32),
            cols=cols.astype(np.int32),
            potentials=(u[0], v[0]),
        )

    def potentials(self, inner_u: Floats, inner_v: Floats) -> tuple[Floats, Floats]:
        """Extend potentials, pair by pair, to the largest that the others allow.

        First v, then u.
        """
        rows, cols = self.bins
        u, v = (np.empty((len(inner_u), n)) for n in self.cost.shape)
        u[:, rows], v[:, cols] = inner_u, inner_v
        empty_rows, empty_cols = (
            np.setdiff1d(np.arange(n), bins)
            for n, bins in zip(self.cost.shape, self.bins, strict=True)
        )
        outward = self.cost[np.ix_(rows, empty_cols)]
        for k in range(len(u)):
            allowed = (outward - u[k, rows, None]).min(axis=0, initial=np.inf)
            v[k, empty_cols] = small_where_unbound(allowed)
            allowed = (self.cost[empty_rows] - v[k]).min(axis=1, initial=np.inf)
            u[k, empty_rows] = small_where_unbound(allowed)
        return u, v
