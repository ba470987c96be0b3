"""What is known of the distances under one metric, and who is nobody's neighbor."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from . import _core

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Bounds are computed with rounding; a pair is ruled out only by more than this,
# relative to its distance and to the largest entry of the metric (masses are 1).
ROUNDING, MARGIN = 1e-12, 1e-14


class Search:
    """What is known of the distances under one metric."""

    def __init__(self, metric: Floats, n: int) -> None:
        self.cost = _core.CostMatrix(metric)
        self._margin = MARGIN * float(metric.max(initial=0.0))
        self.distances = np.full((n, n), np.inf)  # infinite: not solved
        self.lower = np.zeros((n, n))
        self.functions = np.empty((0, len(metric)))  # potentials of pairs solved
        self.best = np.full((n, n), -1, dtype=np.int32)  # function behind lower
        self.kth = np.full(n, np.inf)  # above it, a pair is no neighbor of the row
        self.n_solves = self.n_stopped = self.n_pivots = 0

    def lower_ceilings(self, candidates: Mask, k: int | None) -> None:
        """Find the k-th smallest distance of each row, of those solved."""
        if k is None or k > candidates.shape[1]:
            return
        solved = np.where(candidates, self.distances, np.inf)
        kth = np.partition(solved, k - 1, axis=1)[:, k - 1]
        self.kth = kth * (1 + ROUNDING) + self._margin

    def undecided(self, candidates: Mask) -> Mask:
        """Mark unsolved candidates that may be among the k nearest of their row."""
        unsolved = candidates & np.isinf(self.distances)
        marked: Mask = unsolved & (self.lower <= self.kth[:, None])
        return marked


def one_sided_bounds(X: Floats, metric: Floats) -> Floats:
    """Bound all distances by sum_p (r - c)+_p min_q M_pq, for either of r and c."""
    least = np.where(np.eye(len(metric), dtype=bool), np.inf, metric).min(axis=1)
    weighted = X * np.where(np.isfinite(least), least, 0.0)
    total = weighted.sum(axis=1)
    # sum of (a - b)+ = (sum of |a - b| + sum of (a - b)) / 2
    bounds: Floats = cdist(weighted, weighted, "cityblock")
    bounds += np.abs(total[:, None] - total[None, :])
    return bounds * (0.5 * (1 - ROUNDING))
