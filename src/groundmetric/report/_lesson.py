"""What was learned, in a sentence: the pairs of features that moved most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence


Floats = NDArray[np.float64]

N_PAIRS = 2  # to name, of either kind
LITTLE = 0.5  # of the average mass: too little to learn from
LEAST = 1e-6  # relative change


class Moved(NamedTuple):
    """Pairs that moved most, without common features; empty if there are few."""

    closest: list[tuple[int, int]]
    farthest: list[tuple[int, int]]


def lesson(learner: Any, train: Floats, names: Sequence[str]) -> str:
    """Say which features moved closest together, and which farthest apart.

    Returns "" if there are too few features, or nothing moved.
    """
    found = moved(learner, train)
    if not found.closest:
        return ""
    closest, farthest = (_named(pairs, names) for pairs in found)
    return (
        "What was learned: compared with the initial metric, these moved closest "
        f"together: {closest}; and these farthest apart: {farthest}."
    )


def moved(learner: Any, train: Floats) -> Moved:
    """Find the pairs that moved most, compared with the initial metric.

    Only features with enough mass to learn from count.
    """
    mass = train.mean(axis=0)
    used = np.flatnonzero(mass >= LITTLE * mass.mean())
    first, second = np.triu_indices(len(used), 1)
    pairs = np.stack([used[first], used[second]], axis=1)
    before, after = (
        metric[pairs[:, 0], pairs[:, 1]]
        for metric in (learner.initial_metric_, learner.metric_)
    )
    known = before > 0.0
    pairs, ratios = pairs[known], after[known] / before[known]
    if len(used) < 2 * N_PAIRS or np.ptp(ratios) <= LEAST * ratios.mean():
        return Moved([], [])
    order = pairs[np.argsort(ratios, kind="stable")]
    return Moved(_apart(order), _apart(order[::-1]))


def _apart(pairs: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Take the first pairs that have no feature in common."""
    seen: set[int] = set()
    found: list[tuple[int, int]] = []
    for p, q in pairs.tolist():
        if not seen & {p, q}:
            seen |= {p, q}
            found.append((p, q))
        if len(found) == N_PAIRS:
            break
    return found


def _named(pairs: Sequence[tuple[int, int]], names: Sequence[str]) -> str:
    return ", and ".join(
        f"{names[p]} \N{LEFT RIGHT ARROW} {names[q]}" for p, q in pairs
    )
