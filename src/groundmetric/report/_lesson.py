"""What was learned, in a sentence: the pairs of features that moved most."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..learning._estimator import GroundMetricLearning

Floats = NDArray[np.float64]

N_PAIRS = 2  # to name, of either kind
LITTLE = 0.5  # of the average mass: too little to learn from
LEAST = 1e-6  # relative change


def lesson(learner: GroundMetricLearning, train: Floats, names: Sequence[str]) -> str:
    """Say which features moved closest together, and which farthest apart.

    Distances are compared with those of the initial metric, among features with enough
    mass to learn from. Nothing if there are too few of them, or nothing moved.
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
        return ""
    order = pairs[np.argsort(ratios, kind="stable")]
    closest, farthest = (_named(some, names) for some in (order, order[::-1]))
    return (
        f"What was learned: {closest} moved closest together, and {farthest} farthest "
        "apart, compared with the initial metric."
    )


def _named(pairs: NDArray[np.int64], names: Sequence[str]) -> str:
    """Name the first pairs that have no feature in common."""
    seen: set[int] = set()
    found: list[str] = []
    for p, q in pairs.tolist():
        if not seen & {p, q}:
            seen |= {p, q}
            found.append(f"{names[p]} \N{LEFT RIGHT ARROW} {names[q]}")
        if len(found) == N_PAIRS:
            break
    return " and ".join(found)
