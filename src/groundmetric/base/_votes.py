"""Votes of nearest neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def votes(neighbors: Indices, n_classes: int) -> Indices:
    """Winning classes among the first 1, 2, ... neighbors, given their classes.

    Column kappa - 1 of the result, of the same shape (m, k), has the votes of kappa
    neighbors; ties go to the first class.
    """
    counts = np.zeros((len(neighbors), n_classes), dtype=np.int64)
    rows = np.arange(len(neighbors))
    winners = np.empty_like(neighbors)
    for kappa, labels in enumerate(neighbors.T):
        counts[rows, labels] += 1
        winners[:, kappa] = counts.argmax(axis=1)
    return winners


def vote_errors(nearest: Indices, train: Indices, test: Indices) -> Floats:
    """Share of wrong votes of the first 1, 2, ... of the nearest training rows.

    Classes are numbered from 0.
    """
    winners = votes(train[nearest], int(train.max()) + 1)
    shares: Floats = (winners != test[:, None]).mean(axis=0)
    return shares
