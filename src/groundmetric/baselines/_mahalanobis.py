r"""Mahalanobis distances learned from labels (sections 6.2 and 7.3 of the paper).

.. math:: d_L(r, c) = \| L \phi(r) - L \phi(c) \|_2

where phi is the Hellinger map, which takes the square root of each bin, or the
identity. The learners come from metric-learn (``pip install
'groundmetric[baselines]'``) and scikit-learn, with one interface: ``fit(X, y)``, then
``pairwise(X, Y)``. Each keeps L in ``components_``, and the labels in ``classes_``.

Rows are scaled so that the median distance between training rows is 1. Otherwise
histograms of mass 1 are too close to each other for LMNN's margin of 1 and NCA's
softmax: with metric-learn's defaults, LMNN never leaves the Euclidean distance.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist
from sklearn.neighbors import NeighborhoodComponentsAnalysis
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .. import validation
from .._metric_learn import itml, lmnn
from ._labeled import LabeledTransformer, TargetsMixin

Floats = NDArray[np.float64]

__all__ = ["ITML", "LMNN", "NCA"]


class _Mahalanobis(LabeledTransformer):
    """What the learners share; each implements ``_learn``."""

    hellinger: bool
    _fitted = ("components_", "classes_")

    def _fit(self, rows: Floats, labels: NDArray[np.int64]) -> None:
        mapped = self._map(rows)
        distances = pdist(mapped)
        positive = distances[distances > 0]
        scale = float(np.median(positive)) if positive.size else 1.0
        self.components_ = self._learn(mapped / scale, labels) / scale

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

    def _map(self, rows: Floats) -> Floats:
        return np.sqrt(rows) if self.hellinger else rows

    @abstractmethod
    def _learn(self, rows: Floats, labels: NDArray[np.int64]) -> Floats:
        """Find L for rows whose median distance is 1."""


class LMNN(TargetsMixin, _Mahalanobis):
    """Large margin nearest neighbors (Weinberger & Saul), by metric-learn.

    Pulls the nearest histograms of the same class closer, and pushes those of other
    classes beyond a margin.

    Parameters
    ----------
    n_neighbors : int, default=3
        Number of neighbors of the same class to pull closer; 3 in the paper. Smaller
        classes use fewer.
    hellinger : bool, default=True
        Learn on square roots of histograms, as the paper does.
    learn_rate : float, default=1e-3
        Initial step size. metric-learn's default, 1e-7, rarely converges within
        max_iter.
    max_iter : int, default=2000
        Largest number of steps; reaching it raises a ``ConvergenceWarning``.

    Examples
    --------
    >>> from groundmetric.baselines import LMNN
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> LMNN(n_neighbors=1).fit(X, [0, 0, 1, 1]).pairwise(X).shape
    (4, 4)
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 3,
        hellinger: bool = True,
        learn_rate: float = 1e-3,
        max_iter: int = 2000,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.hellinger = hellinger
        self.learn_rate = learn_rate
        self.max_iter = max_iter

    def _learn(self, rows: Floats, labels: NDArray[np.int64]) -> Floats:
        found = lmnn(
            rows,
            labels,
            self._n_targets(labels),
            learn_rate=validation.as_number(self.learn_rate, "learn_rate", low=0.0),
            max_iter=validation.as_count(self.max_iter, "max_iter", low=3),
        )
        if not found.converged:
            self._warn("steps")
        return found.components


class ITML(_Mahalanobis):
    """Information-theoretic metric learning (Davis et al.), by metric-learn.

    Finds the Mahalanobis distance closest to the Euclidean one among those that are
    small within classes and large between them. (The paper's k = 4 for ITML is the
    number of neighbors its authors classify with; it does not affect the metric.)

    Parameters
    ----------
    n_pairs : int, optional
        Number of pairs to draw within classes, and between classes; by default 20
        times the squared number of classes, or all if there are fewer.
    hellinger : bool, default=True
        Learn on square roots of histograms, as the paper does.
    gamma : float, default=1.0
        Weight of the pairs relative to staying close to the Euclidean distance.
    max_iter : int, default=1000
        Largest number of rounds; reaching it raises a ``ConvergenceWarning``.
    random_state : int, RandomState or None, default=0
        Seed for drawing pairs.

    Examples
    --------
    >>> from groundmetric.baselines import ITML
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> ITML().fit(X, [0, 0, 1, 1]).pairwise(X).shape
    (4, 4)
    """

    def __init__(
        self,
        *,
        n_pairs: int | None = None,
        hellinger: bool = True,
        gamma: float = 1.0,
        max_iter: int = 1000,
        random_state: object = 0,
    ) -> None:
        self.n_pairs = n_pairs
        self.hellinger = hellinger
        self.gamma = gamma
        self.max_iter = max_iter
        self.random_state = random_state

    def _learn(self, rows: Floats, labels: NDArray[np.int64]) -> Floats:
        squared = cdist(rows, rows, "sqeuclidean")
        pairs, same = self._draw(labels, squared)
        # Percentiles of squared distances, as in its authors' code, since the bounds
        # apply to squared distances. metric-learn takes percentiles of distances.
        found = itml(
            rows[pairs],
            same,
            np.percentile(squared[np.triu_indices_from(squared, 1)], (5, 95)),
            gamma=validation.as_number(self.gamma, "gamma", low=0.0),
            max_iter=validation.as_count(self.max_iter, "max_iter", low=1),
        )
        if not found.converged:
            self._warn("rounds")
        return found.components

    def _draw(
        self, labels: NDArray[np.int64], squared: Floats
    ) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Draw pairs within and between classes, without pairs of equal histograms."""
        wanted = self.n_pairs
        if wanted is None:
            wanted = 20 * len(self.classes_) ** 2
        wanted = validation.as_count(wanted, "n_pairs", low=1)
        rng = check_random_state(self.random_state)
        alike = labels[:, None] == labels
        drawn = []
        for kind, what in ((alike, "of one class"), (~alike, "of two classes")):
            every = np.argwhere(np.triu(kind & (squared > 0), 1))
            if len(every) == 0:
                raise ValueError(f"X has no two different histograms {what}.")
            size = min(wanted, len(every))
            drawn.append(every[rng.choice(len(every), size, replace=False)])
        same = np.repeat([True, False], [len(part) for part in drawn])
        return np.concatenate(drawn), same


class NCA(_Mahalanobis):
    """Neighborhood components analysis (Goldberger et al.), by scikit-learn.

    Maximizes the expected number of histograms that a random neighbor classifies
    correctly; closer neighbors are more likely. Not in the paper.

    Parameters
    ----------
    hellinger : bool, default=True
        Learn on square roots of histograms, as the paper does for LMNN and ITML.
    max_iter : int, default=500
        Largest number of steps; reaching it raises a ``ConvergenceWarning``.

    Examples
    --------
    >>> from groundmetric.baselines import NCA
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> NCA().fit(X, [0, 0, 1, 1]).pairwise(X).shape
    (4, 4)
    """

    def __init__(self, *, hellinger: bool = True, max_iter: int = 500) -> None:
        self.hellinger = hellinger
        self.max_iter = max_iter

    def _learn(self, rows: Floats, labels: NDArray[np.int64]) -> Floats:
        limit = validation.as_count(self.max_iter, "max_iter", low=1)
        learner = NeighborhoodComponentsAnalysis(init="identity", max_iter=limit)
        learner.fit(rows, labels)
        if learner.n_iter_ >= limit:
            self._warn("steps")
        return np.asarray(learner.components_)
