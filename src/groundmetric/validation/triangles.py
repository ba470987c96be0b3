"""The triangles that a matrix breaks, and the largest metric below it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core

Floats = NDArray[np.float64]

# Nearly a metric: broken triangles are off by no more than this share of the largest
# entry, as two digits of rounding leave them.
NEARLY = 0.01
SAMPLE = 64


class Violation(NamedTuple):
    """A broken triangle: M[i, j] exceeds M[i, k] + M[k, j] by amount."""

    i: int
    j: int
    k: int
    amount: float


def broken_triangles(
    matrix: Floats, max_items: int = 1, *, n_threads: int = 1
) -> list[Violation]:
    """List at most max_items broken triangles, the worst first.

    A min-plus product of the matrix with itself gives the shortest detour over each
    edge, ``min_k M[i, k] + M[k, j]``, in O(d^3) vectorized operations.
    """
    excess = matrix - _core.detours(matrix, n_threads)  # worst triangle of each edge
    if np.array_equal(matrix, matrix.T):  # (i, j, k) and (j, i, k) are one triangle
        excess[np.tri(len(excess), k=-1, dtype=bool)] = 0.0
    edges = np.flatnonzero(excess > 0)
    # The max_items worst triangles lie over the max_items worst edges.
    edges = edges[np.argsort(-excess.ravel()[edges], kind="stable")[:max_items]]
    i, j = np.unravel_index(edges, excess.shape)
    amounts = matrix[i, j][:, None] - (matrix[i, :] + matrix[:, j].T)  # (edges, d)
    order = np.argsort(-amounts, axis=None, kind="stable")[:max_items]
    found = zip(*np.unravel_index(order, amounts.shape), strict=True)
    return [
        Violation(int(i[e]), int(j[e]), int(k), float(amounts[e, k]))
        for e, k in found
        if amounts[e, k] > 0
    ]


def shortest_paths(matrix: Floats, n_threads: int) -> Floats:
    """Lower each entry to the shortest path through all bins: the metric closure."""
    while True:  # paths of at most 2, 4, 8, ... steps
        shorter = np.minimum(matrix, _core.detours(matrix, n_threads))
        if np.array_equal(shorter, matrix):
            return shorter
        matrix = shorter


def rounding_of_metric(matrix: Floats, n_threads: int) -> float | None:
    r"""Measure how far rounding keeps a matrix from being a metric.

    Returns the largest entry eps of M - M', where M' is the closure of M; or None if M
    is far from all metrics: asymmetric, negative or non-zero on the diagonal, or if it
    breaks a triangle by more than a hundredth of its largest entry.

    Let X and X' be optimal plans under M and under M', which leaves common mass where
    it is and moves a mass of t. Since M' <= M, and both have a zero diagonal,

    .. math:: d_{M'} \le \langle M', X \rangle \le \langle M, X \rangle = d_M
              \le \langle M, X' \rangle \le d_{M'} + \epsilon t.
    """
    if (matrix < 0).any() or np.diag(matrix).any() or (matrix != matrix.T).any():
        return None
    # Most other costs break triangles everywhere: look at a few bins first.
    few = np.unique(np.linspace(0, len(matrix) - 1, SAMPLE).astype(int))
    for some in (np.ascontiguousarray(matrix[np.ix_(few, few)]), matrix):
        if (some - _core.detours(some, n_threads)).max() > NEARLY * matrix.max():
            return None
    return float((matrix - shortest_paths(matrix, n_threads)).max())
