"""Which histograms a learner learns from, and how much each of them counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import validation
from ..base._rows import as_classes
from ..similarity._makers import weights_of

if TYPE_CHECKING:
    from ..similarity._weights import Weights

Floats = NDArray[np.float64]
Labels = NDArray[Any]


class Counting(NamedTuple):
    """What ``fit`` is told about rows, besides their labels.

    Attributes
    ----------
    sample_weight : array-like of shape (n,), optional
        How much each histogram counts; those of weight 0 are left out.
    class_weight : "balanced" or dict, optional
        Multiplies the weights of the histograms of each class.
    empty : {"error", "uniform", "nan"}
        What to do with rows of zero mass.
    """

    sample_weight: ArrayLike | None = None
    class_weight: Any = None
    empty: str = "error"

    def of(
        self,
        estimator: Any,
        X: ArrayLike,
        y: Any,
        similarity: ArrayLike | None = None,
        *,
        needs_labels: bool = False,
    ) -> tuple[Given, NDArray[np.intp]]:
        """Validate the data of a fit; return them, and which rows to learn from."""
        estimator._empty = validation.as_empty_rule(self.empty)
        rows = estimator._as_rows(X, reset=True)
        n = rows.shape[0]
        labels = as_classes(y, n) if needs_labels or y is not None else None
        points = self.weights(labels, n)
        kept = np.flatnonzero((points > 0) & ~estimator._incomparable(X, n))
        if needs_labels:
            validation.require_classes(np.unique(labels))  # type: ignore[arg-type]
        return Given(rows, labels, similarity, points), kept

    def weights(self, labels: Labels | None, n: int) -> Floats:
        """Return the weights of n histograms."""
        points = validation.as_sample_weight(self.sample_weight, n)
        if self.class_weight is None:
            return points
        if labels is None:
            raise ValueError("class_weight needs labels, y.")
        classes, codes = np.unique(labels, return_inverse=True)
        counts = np.bincount(codes)
        by_class = validation.as_class_weight(self.class_weight, classes, counts)
        weighted: Floats = points * by_class[codes]
        return weighted


EVERYONE = Counting()


class Given(NamedTuple):
    """Histograms of mass 1, what is known of them, and how much each counts."""

    rows: Any
    labels: Labels | None
    similarity: ArrayLike | None
    points: Floats

    def part(self, kept: NDArray[np.intp]) -> Given:
        """Return some of the histograms; all of them as they are."""
        n = self.rows.shape[0]
        if np.array_equal(kept, np.arange(n)):
            return self
        labels, similarity = self.labels, self.similarity
        if labels is not None:
            labels = labels[kept]
        if similarity is not None:
            similarity = validation.as_similarity(similarity, n)[np.ix_(kept, kept)]
        return Given(self.rows[kept], labels, similarity, self.points[kept])

    def pair_weights(self) -> Weights:
        """Return the weights of pairs, and of histograms if these differ."""
        weights = weights_of(self.rows.shape[0], self.labels, self.similarity)
        if (self.points == self.points[0]).all():
            return weights
        return weights.weighted(self.points / self.points.mean())


def with_nan(rows: Floats, alone: NDArray[np.bool_]) -> Floats:
    """Set some rows, dense or sparse, to NaN."""
    if not alone.any():
        return rows
    if isinstance(rows, csr_array):
        rows.data[np.repeat(alone, np.diff(rows.indptr))] = np.nan
    else:
        rows[alone] = np.nan
    return rows
