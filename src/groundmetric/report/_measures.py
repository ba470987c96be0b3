"""What neighbors are worth: votes, and the share of one's own class (section 7.4).

Both start from the labels of neighbors, nearest first, for any number of neighbors at
once. If classes have the same number of votes, the first label wins.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def nearest(distances: Floats, n_neighbors: int) -> Indices:
    """Columns of the smallest entries in each row; of equal ones, the first."""
    return np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]


def nearest_others(distances: Floats, n_neighbors: int) -> Indices:
    """Do the same in a square matrix, where nobody is a neighbor of oneself."""
    among = distances.copy()
    np.fill_diagonal(among, np.inf)
    return nearest(among, n_neighbors)


def votes(neighbors: Indices, n_classes: int) -> Indices:
    """Labels by vote of the first 1, 2, ... neighbors, from their labels.

    An array of shape (m, k) becomes one of the same shape, whose column kappa - 1 has
    the labels that kappa neighbors vote for.
    """
    counts = np.zeros((len(neighbors), n_classes), dtype=np.int64)
    rows = np.arange(len(neighbors))
    winners = np.empty_like(neighbors)
    for kappa, labels in enumerate(neighbors.T):
        counts[rows, labels] += 1
        winners[:, kappa] = counts.argmax(axis=1)
    return winners


def own_share(neighbors: Indices, labels: Indices) -> Floats:
    """Recall accuracy: the share of one's own class among 1, 2, ... nearest others."""
    same = neighbors == labels[:, None]
    counts = np.arange(1, neighbors.shape[1] + 1)
    shares: Floats = (np.cumsum(same, axis=1) / counts).mean(axis=0)
    return shares
