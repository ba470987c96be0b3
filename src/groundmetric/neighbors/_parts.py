r"""The distances of a kernel: one, or several of which it takes the mean.

.. math:: d(r, c) = \sum_k w_k \, d_k(r, c) / m_k, \quad \sum_k w_k = 1

where :math:`m_k` is the median of :math:`d_k` between training histograms. The kernel
of the mean is a product of kernels, one of each distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .. import distances, validation
from ..base._learner import own_distances
from ..base._model import Parameters
from ..base._rows import as_classes
from ..transport._exact import pairwise_emd

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from ..learning._folds import Split

Floats = NDArray[np.float64]
MATRIX = 2  # dimensions


class Part(Parameters):
    """A distance of a kernel, what was learned if it is a learner, and its weight."""

    def __init__(
        self, distance: Any = None, learned: Any = None, weight: float = 1.0
    ) -> None:
        self.distance = distance
        self.learned = learned
        self.weight = weight

    @property
    def learns(self) -> bool:
        """Whether the distance is a learner that is not fitted."""
        return validation.is_learner(self.distance) and not hasattr(
            self.distance, "path_"
        )

    def has_seen(self, rows: Floats) -> bool:
        """Whether a fitted learner learned from half of these histograms or more."""
        if self.learns or not validation.is_learner(self.distance):
            return False
        learned, given = (
            [row.tobytes() for row in (x.toarray() if hasattr(x, "toarray") else x)]
            for x in (self.distance._histograms, self.distance.histograms(rows))
        )
        return 2 * sum(map(set(learned).__contains__, given)) >= len(given)

    def between(
        self, left: Floats, right: Floats | None, share: float, n_jobs: int | None
    ) -> Floats:
        """Compute distances from left to right, or within left."""
        given = self.distance if self.learned is None else self.learned
        if given is None:
            return distances.l1(left, right) / 2
        if isinstance(given, str):
            return distances.pairwise(left, right, distance=given)
        if validation.is_learner(given):
            return _learned(given, left, right, share)
        metric = validation.as_cost(given, left.shape[1], "distance")
        validation.require_metric(metric, "distance")
        found = pairwise_emd(left, right, metric=metric, n_jobs=n_jobs)
        return shrunk(found, metric, share, left, right)


def is_several(distance: Any) -> bool:
    """Whether this is a list of distances, rather than the rows of a matrix."""
    if isinstance(distance, np.ndarray):
        return distance.ndim > MATRIX
    return isinstance(distance, (list, tuple)) and any(map(_is_one, distance))


def _is_one(each: Any) -> bool:
    """Whether an entry of a list is a distance, rather than a row of a matrix."""
    if each is None or isinstance(each, str) or validation.is_learner(each):
        return True
    try:
        return bool(np.ndim(each) == MATRIX)
    except ValueError:  # rows of different lengths
        return False


def parts_of(distance: Any, weights: ArrayLike | None) -> list[Part]:
    """List the distances of a kernel, and the share of each."""
    if not is_several(distance):
        if weights is not None:
            raise ValueError("weights are given, but distance is a single one.")
        return [Part(distance)]
    for k, each in enumerate(distance):
        if is_several(each) or not _is_one(each):
            raise ValueError(
                f"distance[{k}] is {type(each).__name__}; a list of distances may "
                "hold names, matrices and learners."
            )
        if isinstance(each, str) and each == "precomputed":
            raise ValueError(
                f"distance[{k}] is 'precomputed', which cannot be one of several."
            )
    shares = np.ones(len(distance))
    if weights is not None:
        shares = validation.as_float_array(weights, "weights", 1)
        validation.require_finite(shares, "weights")
        if len(shares) != len(distance):
            raise ValueError(
                f"weights has {len(shares)} entries, but distance has {len(distance)}."
            )
        if (shares < 0).any() or shares.sum() == 0:
            raise ValueError(
                "weights must not be negative, and one must be above 0; they are "
                f"{shares.tolist()}."
            )
    shares = shares / shares.sum()
    return [
        Part(each, weight=float(share))
        for each, share in zip(distance, shares, strict=True)
        if share > 0
    ]


def learn(parts: list[Part], rows: Floats, y: ArrayLike | None) -> None:
    """Learn the distances that are not learned yet; check the others."""
    for part in parts:
        if not part.learns:
            if validation.is_learner(part.distance):
                validation.require_bins(part.distance, rows.shape[1], "distance")
            continue
        if y is None:
            raise ValueError(
                "distance is a learner that is not fitted, so labels y are needed."
            )
        part.learned = clone(part.distance).fit(rows, as_classes(y, len(rows)))


def mean(
    parts: list[Part],
    left: Floats,
    right: Floats | None,
    share: float,
    n_jobs: int | None,
) -> Floats:
    """Sum distances times their weights."""
    if len(parts) == 1:
        return parts[0].between(left, right, share, n_jobs)
    total: Floats = sum(  # type: ignore[assignment]
        part.weight * part.between(left, right, share, n_jobs) for part in parts
    )
    return total


def first_mean(
    parts: list[Part],
    rows: Floats,
    which: NDArray[np.intp],
    share: float,
    n_jobs: int | None,
) -> Floats:
    """Take the mean between training histograms, in units of their medians.

    Rows are distinct, and ``which`` of them each training histogram is.
    """
    total = np.zeros((len(rows), len(rows)))
    for part in parts:
        found = part.between(rows, None, share, n_jobs)
        if len(parts) == 1:
            return found
        part.weight /= median(found[np.ix_(which, which)])
        total += part.weight * found
    return total


def on_folds(
    parts: list[Part],
    rows: Floats,
    labels: NDArray[Any],
    splits: list[Split],
    *,
    share: float,
    n_jobs: int | None,
) -> Iterator[tuple[Floats, Floats]]:
    """Take the mean on each fold, within the seen rows and from the others to them.

    Only learners that are not fitted see the split; other distances are computed once.
    """
    known = [
        None if part.learns else part.between(rows, None, share, n_jobs)
        for part in parts
    ]
    for seen, held in splits:
        total = np.zeros((len(rows), len(rows)))
        for part, found in zip(parts, known, strict=True):
            between = found
            if between is None:
                learn([part], rows[seen], labels[seen])
                between = part.between(rows, None, share, n_jobs)
            if len(parts) > 1:
                unit = median(between[np.ix_(seen, seen)])
                between = part.weight / unit * between
            total += between
        yield total[np.ix_(seen, seen)], total[np.ix_(held, seen)]


def median(between: Floats) -> float:
    """Median over all pairs; if zero, over those that differ; 1 if none do."""
    values = between[np.triu_indices_from(between, 1)]
    for some in (values, values[values > 0]):
        if some.size and (found := float(np.median(some))) > 0:
            return found
    return 1.0


def _learned(learner: Any, left: Floats, right: Floats | None, share: float) -> Floats:
    """Compute a learner's own distances, shrunk if it has a matrix of costs."""
    seen = [
        None if rows is None else learner.histograms(rows) for rows in (left, right)
    ]
    between: Floats = own_distances(learner)(*seen)
    if share == 0:
        return between
    if not learner._is_exact or "metric" not in learner._ground():
        raise ValueError(
            f"shrinkage is {share}, but distance is a learner without a matrix of "
            "exact costs; only such a matrix can be shrunk."
        )
    rows: Any = seen
    return shrunk(between, learner.metric_, share, *rows)


def shrunk(
    between: Floats, metric: Floats, share: float, left: Floats, right: Floats | None
) -> Floats:
    r"""Turn EMDs of M into those of :math:`(1 - s) M + s \bar{M} 1`.

    Mass that two histograms share stays in place under any metric. So all optimal plans
    move the same mass, half of l1, and a constant added to M adds it as often.
    """
    if share == 0:
        return between
    d = len(metric)
    uniform = distances.l1(left, right) / 2
    average = float(metric.sum()) / max(d * (d - 1), 1)
    return (1 - share) * between + share * average * uniform
