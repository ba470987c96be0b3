r"""The loss of large margins, which LMNN and its relatives share.

.. math:: \sum_{i, j} D_{ij} + \mu \sum_{i, j, k} [\ell + D_{ij} - D_{ik}]_+

over targets j of i, its nearest neighbors of the same class before learning, and all k
of another class (Weinberger & Saul, JMLR 10, 2009).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


def target_neighbors(distances: Floats, labels: Labels, k: int) -> Labels:
    """Return the k nearest of the same class, excluding each point itself; (n, k)."""
    same = labels[:, None] == labels
    np.fill_diagonal(same, val=False)
    apart = np.where(same, distances, np.inf)
    return np.argsort(apart, axis=1, kind="stable")[:, :k]


def margin_loss(
    distances: Floats, labels: Labels, targets: Labels, *, margin: float, push: float
) -> tuple[float, Floats]:
    """Return the loss, and its derivative by each entry of the distances."""
    each = np.arange(len(labels))
    others = labels[:, None] != labels
    loss, weights = 0.0, np.zeros_like(distances)
    for j in targets.T:
        pulled = distances[each, j]
        hinge = np.where(others, margin + pulled[:, None] - distances, 0.0)
        near = hinge > 0.0
        loss += float(pulled.sum() + push * hinge[near].sum())
        weights[each, j] += 1.0 + push * near.sum(axis=1)
        weights -= push * near
    return loss, weights
