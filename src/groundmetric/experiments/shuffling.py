"""What a bin is worth: how many more neighbors are wrong once it is shuffled.

Shuffling leaves a bin's masses as they are, but gives each to another histogram
(Breiman, *Random forests*, Machine Learning 45, 2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..neighbors._search import EMDNeighbors

if TYPE_CHECKING:
    from numpy.random import RandomState

    from .measured import Split

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["rises", "with_share"]


def with_share(rows: Floats, p: int, shares: Floats) -> Floats:
    """Give bin p other shares of histograms of mass 1; the other bins have the rest.

    They keep their proportions. A histogram with nothing else stays as it is.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.shuffling import with_share
    >>> with_share(np.array([[0.5, 0.25, 0.25]]), 0, np.array([0.0]))
    array([[0. , 0.5, 0.5]])
    """
    own = rows[:, p]
    has_rest = np.delete(rows, p, axis=1).any(axis=1)
    factor = np.divide(1.0 - shares, 1.0 - own, out=np.ones(len(rows)), where=has_rest)
    changed = rows * factor[:, None]
    changed[:, p] = np.where(has_rest, shares, own)
    return changed


def rises(
    learner: Any,
    split: Split,
    bins: Indices,
    rng: RandomState,
    *,
    n_neighbors: int,
    n_jobs: int | None,
) -> tuple[Floats, Floats]:
    """Share of wrong neighbors of each test histogram, and its rise for each bin.

    The first array has one entry for each test histogram, the second a row for each
    bin. Histograms whose mass in a bin stays the same are not searched again.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.measured import Split
    >>> from groundmetric.experiments.shuffling import rises
    >>> X = np.array([[4, 1], [3, 1], [1, 3], [1, 4]]) / 5
    >>> y = np.array([0, 0, 1, 1])
    >>> learner, rng = GroundMetricLearning().fit(X, y), np.random.RandomState(0)
    >>> options = {"n_neighbors": 1, "n_jobs": 1}
    >>> wrong, more = rises(learner, Split(X, y, X, y), [0], rng, **options)
    >>> wrong, more.shape
    (array([0., 0., 0., 0.]), (1, 4))
    """
    search = EMDNeighbors(learner, n_neighbors=n_neighbors, n_jobs=n_jobs)
    search.fit(split.train)

    def wrong(rows: Floats, labels: Any) -> Floats:
        near = np.asarray(search.kneighbors(rows, return_distance=False))
        share: Floats = (split.y[near] != labels[:, None]).mean(axis=1)
        return share

    before = wrong(split.test, split.z)
    more = np.zeros((len(bins), len(split.test)))
    for row, p in zip(more, bins, strict=True):
        mixed = with_share(split.test, p, rng.permutation(split.test[:, p]))
        at = np.flatnonzero((mixed != split.test).any(axis=1))
        if at.size:
            row[at] = wrong(mixed[at], split.z[at]) - before[at]
    return before, more
