"""The triangles that a matrix breaks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core

Floats = NDArray[np.float64]


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
