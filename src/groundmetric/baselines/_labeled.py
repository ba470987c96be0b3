"""What all learners from labels share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .._warnings import warn_not_converged
from ..base._rows import HistogramTransformer, all_or_nothing, as_classes

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]


class LabeledTransformer(HistogramTransformer):
    """A map of histograms, learned from labels; each class implements ``_fit``."""

    components_: Floats
    max_iter: int
    _min_samples = 2
    _optional = ("_histograms", "_labels")  # what it learned from; files may lack them

    @all_or_nothing
    def fit(self, X: ArrayLike, y: ArrayLike) -> LabeledTransformer:
        """Learn L.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels, with at least two classes.

        Returns
        -------
        self
        """
        rows = self._as_rows(X, reset=True)
        given = as_classes(y, len(rows))
        self.classes_, labels = np.unique(given, return_inverse=True)
        validation.require_classes(self.classes_)
        self._fit(rows, labels)
        self._histograms, self._labels = rows, given
        return self

    def histograms(self, X: ArrayLike) -> Floats:
        """Return histograms as the distance sees them: of mass 1."""
        found: Floats = self._as_rows(X, reset=False)
        return found

    @abstractmethod
    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and Y, or within X if Y is None."""

    @abstractmethod
    def _fit(self, rows: Floats, labels: Labels) -> None:
        """Learn from rows of mass 1 and labels 0, 1, ..."""

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _restore(self) -> None:
        self.components_ = validation.as_square(self.components_, "components_")
        self.n_features_in_ = len(self.components_)

    def _warn(self, unit: str) -> None:
        name, limit = type(self).__name__, self.max_iter
        warn_not_converged(f"{name} made {limit} {unit} and has not converged.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


class TargetsMixin:
    """A learner that pulls neighbors of the same class closer."""

    n_neighbors: int

    def _n_targets(self, labels: Labels) -> int:
        """Return how many to pull; fewer than asked for if classes are small."""
        k = validation.as_count(self.n_neighbors, "n_neighbors", low=1)
        smallest = int(np.bincount(labels).min())
        if smallest == 1:
            name = type(self).__name__
            raise ValueError(f"y has a class with a single member; {name} needs two.")
        return min(k, smallest - 1)
