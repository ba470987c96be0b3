"""Votes of nearest neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def vote_errors(
    distances: NDArray[np.float64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
    n_neighbors: int,
) -> NDArray[np.float64]:
    """Share of wrong votes of the k nearest, for k = 1, ..., n_neighbors.

    Classes are numbered from 0. Neighbors at the same distance come in the order of the
    columns; if classes have the same number of votes, the first one wins, as in
    scikit-learn.
    """
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    ballots = np.eye(int(train.max()) + 1, dtype=int)[train[nearest]]
    votes = np.cumsum(ballots, axis=1)  # (m, n_neighbors, n_classes)
    wrong = votes.argmax(axis=2) != test[:, None]
    shares: NDArray[np.float64] = wrong.mean(axis=0)
    return shares
