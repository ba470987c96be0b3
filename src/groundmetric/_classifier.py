"""A classifier: learn a ground metric, then let the nearest neighbors vote."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from . import _validation
from ._learning import GroundMetricLearning
from ._neighbors import EMDNeighbors
from ._rows import HistogramsMixin, as_classes

Floats = NDArray[np.float64]


# scikit-learn has no types of its own.
class EMDClassifier(HistogramsMixin, ClassifierMixin, BaseEstimator):
    """Classify histograms by their nearest neighbors under a learned EMD.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbors vote; the first class wins a tie.
    learner : estimator, optional
        Learns the metric: has ``fit(X, y)`` and then ``metric_``. A
        :class:`GroundMetricLearning` with its defaults if None.
    n_jobs : int, optional
        Number of threads of the search, and of the default learner.
    verbose : int, default=0
        1 shows the progress of both (needs tqdm).

    Attributes
    ----------
    classes_ : ndarray
        Labels.
    metric_ : ndarray of shape (d, d)
        The learned metric.
    learner_ : estimator
        The fitted learner.
    neighbors_ : EMDNeighbors
        The search in the training histograms.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import EMDClassifier
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> classifier = EMDClassifier(n_neighbors=1).fit(X, ["a", "a", "b", "b"])
    >>> classifier.predict([[5, 1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _min_samples = 2

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        learner: BaseEstimator | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.learner = learner
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> EMDClassifier:
        """Learn the metric from labeled histograms, and keep them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels.

        Returns
        -------
        self
        """
        rows = self._as_rows(X, reset=True)
        labels = as_classes(y, len(rows))
        _validation.as_count(self.n_neighbors, "n_neighbors", low=1)
        self.classes_, self._y = np.unique(labels, return_inverse=True)
        jobs, verbose = self.n_jobs, self.verbose
        learner = self.learner
        if learner is None:
            learner = GroundMetricLearning(n_jobs=jobs, verbose=verbose)
        self.learner_ = clone(learner).fit(rows, labels)
        if not hasattr(self.learner_, "metric_"):
            raise ValueError(
                f"learner is {learner!r}, which learns no metric_ between bins."
            )
        self.metric_ = self.learner_.metric_
        self.neighbors_ = EMDNeighbors(
            self.metric_, n_neighbors=self.n_neighbors, n_jobs=jobs, verbose=verbose
        ).fit(rows)
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Shares of the votes, a column for each of ``classes_``."""
        check_is_fitted(self)
        rows = self._as_rows(X, reset=False)
        voters = self._y[self.neighbors_.kneighbors(rows, return_distance=False)]
        votes = voters[:, :, None] == np.arange(len(self.classes_))
        shares: Floats = votes.mean(axis=1)
        return shares

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Labels with the most votes."""
        winners = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[np.generic] = self.classes_[winners]
        return labels
