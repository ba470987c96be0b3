"""LMNN, by metric-learn (``pip install 'groundmetric[baselines]'``), and NCA.

Both are Mahalanobis learners of section 6.2 of the paper, or later ones, with one
interface: ``fit(X, y)``, then ``pairwise(X, Y)``; see ``_linear.py``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from .. import validation
from .._metric_learn import lmnn
from ._labeled import TargetsMixin
from ._linear import Mahalanobis

Floats = NDArray[np.float64]

__all__ = ["LMNN", "NCA"]


class LMNN(TargetsMixin, Mahalanobis):
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
    offset : float or "auto", optional
        Learn on logarithms instead, log(r + offset); "auto" is 1 / d.
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
        offset: float | str | None = None,
        learn_rate: float = 1e-3,
        max_iter: int = 2000,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.hellinger = hellinger
        self.offset = offset
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


class NCA(Mahalanobis):
    """Neighborhood components analysis (Goldberger et al.), by scikit-learn.

    Maximizes the expected number of histograms that a random neighbor classifies
    correctly; closer neighbors are more likely. Not in the paper.

    Parameters
    ----------
    hellinger : bool, default=True
        Learn on square roots of histograms, as the paper does for LMNN and ITML.
    offset : float or "auto", optional
        Learn on logarithms instead, log(r + offset); "auto" is 1 / d.
    max_iter : int, default=500
        Largest number of steps; reaching it raises a ``ConvergenceWarning``.

    Examples
    --------
    >>> from groundmetric.baselines import NCA
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> NCA().fit(X, [0, 0, 1, 1]).pairwise(X).shape
    (4, 4)
    """

    def __init__(
        self,
        *,
        hellinger: bool = True,
        offset: float | str | None = None,
        max_iter: int = 500,
    ) -> None:
        self.hellinger = hellinger
        self.offset = offset
        self.max_iter = max_iter

    def _learn(self, rows: Floats, labels: NDArray[np.int64]) -> Floats:
        limit = validation.as_count(self.max_iter, "max_iter", low=1)
        learner = NeighborhoodComponentsAnalysis(init="identity", max_iter=limit)
        learner.fit(rows, labels)
        if learner.n_iter_ >= limit:
            self._warn("steps")
        return np.asarray(learner.components_)
