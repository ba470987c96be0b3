"""A classifier that learns a ground metric and lets the nearest neighbors vote."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..base._model import SavedMixin
from ..base._rows import HistogramsMixin, all_or_nothing, as_classes
from ..learning._estimator import GroundMetricLearning
from ._search import EMDNeighbors

Floats = NDArray[np.float64]


# scikit-learn has no type annotations.
class EMDClassifier(SavedMixin, HistogramsMixin, ClassifierMixin, BaseEstimator):
    """Classify histograms by their nearest neighbors under a learned EMD.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbors vote; ties go to the first class.
    learner : estimator, optional
        Learns the metric. Neighbors are found under its own distances, exact or
        smoothed; for a learner of another package, under its ``metric_``. If None, a
        :class:`GroundMetricLearning` with its defaults; its parameters can still be
        set, for instance ``learner__criterion__margin`` in a grid search.
    n_jobs : int, optional
        Number of threads for the search, and for the learner if it sets none itself.
    verbose : int, default=0
        1 shows progress bars for both (needs tqdm).

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
    _fitted = ("classes_", "_y", "learner_")
    _optional = ("_histograms",)  # if the learner learned from some of them only

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

    @all_or_nothing
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
        n = rows.shape[0]
        labels = as_classes(y, n)
        learner = self._own_learner()
        # Check the search first: it would reject its parameters only after the fit.
        validation.as_count(self.n_neighbors, "n_neighbors", low=1, high=n)
        validation.n_threads(self.n_jobs)
        self.classes_, self._y = np.unique(labels, return_inverse=True)
        self.learner_ = self._with_own_options(clone(learner)).fit(rows, labels)
        if not (
            validation.is_learner(self.learner_) or hasattr(self.learner_, "metric_")
        ):
            raise ValueError(
                f"learner is {learner!r}, but it has no metric_ after fit."
            )
        self.__dict__.pop("_histograms", None)
        self.neighbors_ = self._search().fit(rows)
        seen = self.neighbors_._kept_rows()
        if getattr(self.learner_, "_histograms", seen).shape[0] != n:
            self._histograms = seen.toarray() if hasattr(seen, "toarray") else seen
        return self

    @classmethod
    def _of(cls, learner: Any) -> EMDClassifier:
        """Make a classifier of a fitted learner, and the histograms it learned from."""
        found = cls()
        found.learner_ = learner
        found.classes_, found._y = np.unique(learner._labels, return_inverse=True)
        return found

    def _own_learner(self) -> BaseEstimator:
        learner = GroundMetricLearning() if self.learner is None else self.learner
        if isinstance(learner, type) or not hasattr(learner, "fit"):
            raise ValueError(
                f"learner is {learner!r}; an estimator with a method fit is needed."
            )
        if is_classifier(learner):
            raise ValueError(
                f"learner is {learner!r}, which learns classes; a learner of a metric "
                "is needed."
            )
        return learner

    def _keeps_sparse(self, *, reset: bool) -> bool:
        learner = self._own_learner() if reset else self.learner_
        own = getattr(learner, "_keeps_sparse", None)  # it may be anyone's
        return own is not None and bool(own(reset=reset))

    @property
    def metric_(self) -> Floats:
        """The learned metric."""
        metric: Floats = self.learner_.metric_
        return metric

    def set_params(self, **params: Any) -> EMDClassifier:
        """Set parameters, including those of the default learner (``learner__tol``)."""
        nested = [name for name in params if name.startswith("learner__")]
        if nested and params.get("learner", self.learner) is None:
            own = {name.removeprefix("learner__"): params.pop(name) for name in nested}
            params["learner"] = GroundMetricLearning().set_params(**own)
        super().set_params(**params)
        return self

    def _with_own_options(self, learner: BaseEstimator) -> BaseEstimator:
        """Pass n_jobs and verbose on to a learner that does not set them itself."""
        given = learner.get_params(deep=False)
        if given.get("n_jobs", 1) is None:
            learner.set_params(n_jobs=self.n_jobs)
        if given.get("verbose", 1) == 0:
            learner.set_params(verbose=self.verbose)
        return learner

    def _search(self) -> EMDNeighbors:
        """Make the search under the learned distances."""
        learned = self.learner_
        return EMDNeighbors(
            learned if validation.is_learner(learned) else learned.metric_,
            n_neighbors=self.n_neighbors,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _restore(self) -> None:
        rows = vars(self).get("_histograms", self.learner_._histograms)
        validation.require_length(self._y, rows.shape[0], "_y")
        if not np.isin(self._y, np.arange(len(self.classes_))).all():
            raise ValueError("_y does not number classes_")
        self.neighbors_ = self._search()
        self.neighbors_._keep_rows(rows)
        self.n_features_in_ = rows.shape[1]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Shares of the votes, with one column for each of ``classes_``."""
        check_is_fitted(self)
        rows = self._as_rows(X, reset=False)
        found = self.neighbors_.kneighbors(rows, return_distance=False)
        voters = self._y[found]
        votes = voters[:, :, None] == np.arange(len(self.classes_))
        shares: Floats = votes.mean(axis=1)
        return shares

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Labels with the most votes."""
        winners = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[np.generic] = self.classes_[winners]
        return labels
