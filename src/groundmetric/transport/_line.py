"""Points on a line: plans that keep their order are optimal, so sorting solves a pair.

That holds for costs h(|x - y|) with h convex, see ``cpp/sparse/line.h``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ._certificate import Transport, as_transport

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .. import validation

Floats = NDArray[np.float64]

# In one dimension these metrics of scipy are |x - y|, or its square.
DISTANCES = ("euclidean", "cityblock", "chebyshev", "minkowski")
SQUARE = "sqeuclidean"


class Line(NamedTuple):
    """Bins on a line, from left to right."""

    order: NDArray[np.intp]  # order[k] is the k-th bin from the left
    core: _core.Line

    @classmethod
    def of(
        cls, points: Floats, metric: str | validation.GroundCost | None
    ) -> Line | None:
        """Sort the bins; None if they are not on a line, or for other costs."""
        named = metric is None or isinstance(metric, str)
        if points.shape[1] != 1 or not named:
            return None
        if metric is not None and metric not in (*DISTANCES, SQUARE):
            return None
        order = np.argsort(points[:, 0])
        places = points[order, 0]
        if (places[1:] == places[:-1]).any():  # in the order of bins, on any processor
            order = np.argsort(points[:, 0], kind="stable")
        squared = metric == SQUARE
        with np.errstate(over="ignore"):
            width = places[-1] - places[0]
            if not np.isfinite(width**2 if squared else width):
                return None
        return cls(order, _core.Line(places, squared))

    def vector(self, r: Floats, total: float) -> _core.SparseMasses:
        """Hand one histogram to the core."""
        sorted_masses = r[self.order]
        bins = np.flatnonzero(sorted_masses)
        starts = np.array([0, len(bins)])
        return _core.SparseMasses(
            sorted_masses[bins], bins.astype(np.int32), starts, len(r), total
        )

    def rows(self, rows: csr_array, total: float) -> _core.SparseMasses:
        """Hand sparse rows to the core."""
        rank = np.empty(len(self.order), np.int32)
        rank[self.order] = np.arange(len(rank))
        bins = rank[rows.indices]
        row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
        order = np.lexsort((bins, row))
        return _core.SparseMasses(
            rows.data[order],
            bins[order],
            rows.indptr.astype(np.int64),
            rows.shape[1],
            total,
        )

    def transport(self, r: Floats, c: Floats, total: float) -> Transport:
        """Plan and certificate of one pair."""
        certificate: Any = self.core.transport(
            self.vector(r, total), self.vector(c, total)
        )
        t = as_transport(certificate)
        rows, cols = self.order[t.rows], self.order[t.cols]
        by_bin = np.argsort(rows * len(r) + cols)
        u, v = np.empty((2, len(r)))
        u[self.order], v[self.order] = t.potentials
        return Transport(
            t.value,
            rows[by_bin].astype(np.int32),
            cols[by_bin].astype(np.int32),
            t.flow[by_bin],
            (u, v),
            0,
            t.duality_gap,
        )
