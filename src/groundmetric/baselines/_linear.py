r"""What learners of Mahalanobis distances share.

.. math:: d_L(r, c) = \| L \phi(r) - L \phi(c) \|_2

where phi takes the square root of each bin (the Hellinger map of the paper), its
logarithm, :math:`\log(r_p + b)`, or leaves it as it is. Each learner keeps L in
``components_``, and the labels in ``classes_``.

Rows are scaled so that the median distance between training rows is 1. Otherwise
histograms of mass 1 are too close to each other for margins of 1 and for softmaxes:
with metric-learn's defaults, LMNN never leaves the Euclidean distance.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ._labeled import LabeledTransformer

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

AUTO = "auto"  # an offset of 1 / d
LARGEST_OFFSET = 1e6


class EuclideanMap(LabeledTransformer):
    """A map of histograms that ends with L, into a Euclidean space."""

    def transform(self, X: ArrayLike) -> Floats:
        """Map histograms to a space where the distance is Euclidean."""
        check_is_fitted(self)
        rows = self._map(self._as_rows(X, reset=False))
        mapped: Floats = rows @ self.components_.T
        return mapped

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and Y, or within X if Y is None."""
        left = self.transform(X)
        if Y is None:
            # Symmetric to the last bit, and zero on the diagonal.
            upper: Floats = np.triu(cdist(left, left), 1)
            return upper + upper.T
        return np.asarray(cdist(left, self.transform(Y)))

    @abstractmethod
    def _map(self, rows: Floats) -> Floats:
        """Compute phi."""


class Mahalanobis(EuclideanMap):
    """A learner of L on square roots, logarithms or histograms as they are."""

    hellinger: bool
    offset: float | str | None
    _fitted: ClassVar[tuple[str, ...]] = ("components_", "classes_")

    def _fit(self, rows: Floats, labels: Labels) -> None:
        mapped = self._map(rows)
        scale = scale_of(mapped)
        self.components_ = self._learn(mapped / scale, labels) / scale

    def _map(self, rows: Floats) -> Floats:
        if self.offset is None:
            return np.sqrt(rows) if self.hellinger else rows
        if isinstance(self.offset, str):
            validation.require_one_of(self.offset, "offset", [AUTO])
            b = 1.0 / rows.shape[1]
        else:
            b = validation.as_positive_number(self.offset, "offset")
            if b > LARGEST_OFFSET:
                raise ValueError(
                    f"offset is {b}; at most {LARGEST_OFFSET:g} is possible: masses "
                    "are at most 1, and their differences would be lost to rounding."
                )
        return np.asarray(np.log(rows + b))

    @abstractmethod
    def _learn(self, rows: Floats, labels: Labels) -> Floats:
        """Find L for rows whose median distance is 1."""


def scale_of(rows: Floats) -> float:
    """Return the median distance of rows that differ; 1 if none do."""
    distances = pdist(rows)
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
