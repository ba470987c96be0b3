"""What one fit learned about pairs of bins, and about bins: compared with its start."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["extremes", "ratios_of", "weights_of"]

TIE = 1e-9  # relative


def ratios_of(learner: Any, bins: Indices) -> Floats:
    """Distances between pairs of bins, divided by those of the initial metric.

    Pairs are in the order of :func:`scipy.spatial.distance.pdist`. A pair that was at
    distance 0 has a ratio of 1.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.movements import ratios_of
    >>> X = [[4, 1, 3], [3, 2, 1], [1, 4, 3], [2, 3, 1]]
    >>> learner = GroundMetricLearning().fit(X, [0, 0, 1, 1])
    >>> ratios_of(learner, np.array([0, 1, 2])).round(1)  # (0, 1), (0, 2), (1, 2)
    array([1.5, 0.8, 0.8])
    """
    before, after = (_between(learner, bins, name) for name in ("initial_", ""))
    ratios: Floats = np.divide(after, before, out=np.ones_like(after), where=before > 0)
    return ratios


def _between(learner: Any, bins: Indices, before: str) -> Floats:
    """Distances between bins, without those between all others if they are many."""
    held = vars(getattr(learner, "best_estimator_", learner))
    if f"{before}metric_" in held:
        metric = held[f"{before}metric_"][np.ix_(bins, bins)]
        above: Floats = squareform(metric, checks=False)
        return above
    between: Floats = pdist(held[f"{before}embedding_"][bins])
    return between


def weights_of(learner: Any, bins: Indices) -> Floats | None:
    """Logarithms of weights of bins, less their mean; none if it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearning, MappedMetricLearning
    >>> from groundmetric.experiments.movements import weights_of
    >>> weights_of(GroundMetricLearning(), [0]) is None
    True
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = MappedMetricLearning(bin_weights=[1, 1, 1, 1]).fit(X, [0, 0, 1, 1])
    >>> weights_of(learner, [0, 1])
    array([0., 0.])
    """
    held = vars(getattr(learner, "best_estimator_", learner))
    if "bin_weights_" not in held:
        return None
    logs = np.log(held["bin_weights_"][bins])
    centered: Floats = logs - logs.mean()
    return centered


def extremes(values: Floats, n: int) -> NDArray[np.bool_]:
    """Mark the n largest values; none of those tied with the next one.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.movements import extremes
    >>> extremes(np.array([3.0, 2.0, 2.0, 1.0]), 2)
    array([ True, False, False, False])
    """
    if n >= len(values):
        return np.zeros(len(values), bool)
    next_one = np.sort(values)[len(values) - n - 1]
    found: NDArray[np.bool_] = values > next_one + TIE * abs(next_one)
    return found
