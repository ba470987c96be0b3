"""Which features a page draws: all, or those that matter most if there are too many.

The distances between all pairs of 5,000 features would take 33 MB for each metric, and
nobody could read the heat map.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..plotting._layouts import PlanarMap, placed, planar_map

if TYPE_CHECKING:
    from ._evaluation import Evaluation

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_BINS = 1000  # that are all drawn
N_SHOWN = 200  # if there are more
MOST_DOTS = 5000  # in the map, for the others
FEW = 40  # whose names fit around their points
N_NAMED = 10  # of many features: those that matter most


@dataclass(frozen=True)
class Bins:
    """The features to draw, in their own order.

    Attributes
    ----------
    shown : ndarray of shape (k,)
        Features of the heat map, the map, and the lists.
    others : ndarray
        Features that are only dots in the map.
    important : ndarray
        Positions in ``shown`` of the features to name first, what matters most first.
    """

    shown: Indices
    others: Indices
    important: Indices


def choose(evaluation: Evaluation) -> Bins:
    """Choose what repeatedly matters, what was looked at, and what has most mass."""
    d = evaluation.data.train.shape[1]
    masses = _masses(evaluation)
    stable = evaluation.stability
    first = [*stable.important, *stable.bins.tolist()] if stable else []
    by_mass = np.argsort(-masses, kind="stable").tolist()
    ranked = np.array(list(dict.fromkeys([*first, *by_mass])), dtype=np.int64)
    shown = np.sort(ranked if d <= MOST_BINS else ranked[: max(N_SHOWN, len(first))])
    rest = ranked[len(shown) :]
    named = np.searchsorted(shown, ranked[: N_NAMED if d > FEW else 0])
    return Bins(
        shown,
        rest[masses[rest] > 0][:MOST_DOTS],
        named.astype(np.int64),
    )


def _masses(evaluation: Evaluation) -> Floats:
    """Mean masses of the features as the learner sees them: powers, then weights."""
    seen = evaluation.learner.histograms(evaluation.data.train)
    return np.asarray(seen.mean(axis=0), dtype=float).ravel()


def which(bins: Bins, evaluation: Evaluation, *, is_grid: bool) -> str:
    """Say which features are shown, if not all are."""
    d, k = evaluation.data.train.shape[1], len(bins.shown)
    if k == d:
        return ""
    stable = evaluation.stability
    matter = len(stable.important) if stable else 0
    number = "the one that repeatedly matters"
    if matter > 1:
        number = f"the {matter} that repeatedly matter"
    first = f"{number}, and " if matter else ""
    return (
        f"Of {d:,} features, {k} are compared here: {first}those with most mass, as "
        "the learner sees it. In the map, the others are small gray dots."
        f"{'' if is_grid else ' Bars of histograms leave them out.'}"
    )


def between(
    learner: Any, before: str, some: Indices, others: Indices | None = None
) -> Floats:
    """Distances between some features, without those between all.

    Of learners of positions, they are the distances between these. ``before`` is
    "initial_" for those before learning, or "".
    """
    others = some if others is None else others
    held = vars(getattr(learner, "best_estimator_", learner))
    if f"{before}embedding_" in held:
        positions = held[f"{before}embedding_"]
        found: Floats = cdist(positions[some], positions[others])
        return found
    metric: Floats = getattr(learner, f"{before}metric_")
    return metric[np.ix_(some, others)]


def layout_of(learner: Any, bins: Bins, metric: Floats) -> tuple[PlanarMap, Floats]:
    """Map the shown features, and place the others among them."""
    layout = planar_map(metric)
    if not bins.others.size:
        return layout, np.empty((0, 2))
    distances = between(learner, "", bins.others, bins.shown)
    return layout, placed(layout.positions, distances)
