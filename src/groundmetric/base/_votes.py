"""Votes of nearest neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Callable

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


WEIGHTS = ("uniform", "distance")


def as_vote_weights(weights: Any) -> str | Callable[[Floats], Floats]:
    """Validate how neighbors vote: by name, or a function of their distances."""
    if not callable(weights):
        validation.require_one_of(weights, "weights", WEIGHTS)
    given: str | Callable[[Floats], Floats] = weights
    return given


def vote_weights(
    weights: str | Callable[[Floats], Floats], distances: Floats
) -> Floats:
    """Weigh the votes of neighbors at these distances, (m, k).

    By distance, a vote weighs its inverse; if a neighbor is at distance 0, only such
    neighbors vote.
    """
    if weights == "uniform":
        return np.ones_like(distances)
    if weights == "distance":
        nearest = distances.min(axis=1, keepdims=True)
        # Relative to the nearest, so that tiny distances do not overflow.
        safe = np.where(distances > 0, distances, 1.0)
        shares: Floats = np.where(nearest > 0, nearest / safe, distances == 0)
        return shares
    found = np.asarray(weights(distances), dtype=float)  # type: ignore[operator]
    if found.shape != distances.shape:
        raise ValueError(
            f"weights returned shape {found.shape} for distances of shape "
            f"{distances.shape}; one weight for each is needed."
        )
    bad = ~(np.isfinite(found) & (found >= 0))
    if bad.any():
        i, j = (int(k) for k in np.argwhere(bad)[0])
        raise ValueError(
            f"weights returned {found[i, j]} for the distance {distances[i, j]}; "
            "weights must be finite and not negative."
        )
    nobody = ~found.any(axis=1)
    if nobody.any():
        raise ValueError(
            f"weights returned 0 for all neighbors of X[{int(np.argmax(nobody))}]; "
            "one of them must count."
        )
    return found


def vote_shares(voters: Indices, weights: Floats, n_classes: int) -> Floats:
    """Share of each class in the weights of its voters, (m, n_classes)."""
    totals = np.zeros((len(voters), n_classes))
    rows = np.arange(len(voters))
    for classes, weight in zip(voters.T, weights.T, strict=True):
        totals[rows, classes] += weight
    shares: Floats = totals / totals.sum(axis=1, keepdims=True)
    return shares
