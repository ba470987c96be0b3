"""A classifier that learns a ground metric and lets near histograms vote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from .. import validation
from ..base._model import SavedMixin
from ..base._rows import HistogramsMixin, all_or_nothing, as_classes
from ..base._votes import as_vote_weights, vote_shares, vote_weights
from ..learning._estimator import GroundMetricLearning
from ._inner import as_learner, with_options
from ._prototypes import as_prototypes, class_prototypes
from ._search import EMDNeighbors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Floats = NDArray[np.float64]


# scikit-learn has no type annotations.
class EMDClassifier(SavedMixin, HistogramsMixin, ClassifierMixin, BaseEstimator):
    """Classify histograms by their nearest neighbors under a learned EMD.

    Or by the nearest class, if each is represented by a prototype.

    Parameters
    ----------
    n_neighbors : int, default=3
        How many neighbors vote; ties go to the first class. Not used with prototypes.
    weights : {"uniform", "distance"} or callable, default="uniform"
        How votes count: all the same; by the inverse of the distance, so that near
        neighbors say more and probabilities are not multiples of a third; or by a
        function of the distances, of shape (n_queries, n_neighbors), that returns
        their weights.
    prototypes : {"barycenter", "mean"}, optional
        Represent each class by one histogram: the :func:`~groundmetric.barycenter` of
        its histograms under the learned metric, or their mean. Predictions then take a
        distance for each class. The nearest prototype has all votes if weights is
        "uniform"; otherwise all prototypes vote, weighted by their distances. If None,
        all histograms vote.
    class_weight : "balanced" or dict, optional
        Multiply the votes of each class: "balanced" gives all classes the same total
        over the training histograms, a dict has a weight for some labels. It multiplies
        the ``sample_weight`` of the learner, too, if it knows any.
    empty : {"error", "uniform", "nan"}, default="error"
        Rows of zero mass, such as empty documents: reject them, let them count as the
        uniform histogram, or as incomparable with all others. In the last case they are
        left out of the fit, and predicted by ``class_prior_``, so that a
        cross-validation scores them as a guess.
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
    class_prior_ : ndarray
        Share of each class in the training histograms, times its weight.
    metric_ : ndarray of shape (d, d)
        The learned metric.
    learner_ : estimator
        The fitted learner.
    neighbors_ : EMDNeighbors
        The search in the training histograms, or among the prototypes.
    prototypes_ : ndarray of shape (n_classes, d)
        The prototypes, of mass 1, of all classes that have rows that are not left out.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import EMDClassifier
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> classifier = EMDClassifier(n_neighbors=1).fit(X, ["a", "a", "b", "b"])
    >>> classifier.predict([[5, 1, 0, 0]])
    array(['a'], dtype='<U1')
    >>> classifier.set_params(prototypes="mean").fit(X, ["a", "a", "b", "b"])
    EMDClassifier(n_neighbors=1, prototypes='mean')
    >>> classifier.predict([[5, 1, 0, 0]])
    array(['a'], dtype='<U1')
    """

    _min_samples = 2
    _fitted = ("classes_", "_y", "learner_")
    # Histograms, if the learner learned from some of them only.
    _optional = ("_histograms", "prototypes_", "class_prior_", "_class_weights")

    def __init__(
        self,
        n_neighbors: int = 3,
        *,
        learner: BaseEstimator | None = None,
        weights: str | Callable[[Floats], Floats] = "uniform",
        prototypes: str | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        empty: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.learner = learner
        self.weights = weights
        self.prototypes = prototypes
        self.class_weight = class_weight
        self.empty = empty
        self.n_jobs = n_jobs
        self.verbose = verbose

    @all_or_nothing
    def fit(
        self, X: ArrayLike, y: ArrayLike, *, sample_weight: ArrayLike | None = None
    ) -> EMDClassifier:
        """Learn the metric from labeled histograms, and keep them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            How much each histogram counts when the metric is learned; neighbors vote
            the same.

        Returns
        -------
        self
        """
        rows = self._as_rows(X, reset=True)
        labels = as_classes(y, rows.shape[0])
        learner = self._own_learner()
        options = self._weigh(learner, labels, sample_weight)
        kept = np.flatnonzero(~self._incomparable(X, rows.shape[0]))
        if len(kept) < rows.shape[0]:
            rows, labels = rows[kept], labels[kept]
            options = {name: each[kept] for name, each in options.items()}
        n = rows.shape[0]
        # Check the search first: it would reject its parameters only after the fit.
        kind = as_prototypes(self.prototypes)
        most = n if kind is None else None
        validation.as_count(self.n_neighbors, "n_neighbors", low=1, high=most)
        validation.n_threads(self.n_jobs)
        as_vote_weights(self.weights)
        self._y = np.searchsorted(self.classes_, labels)
        fresh: Any = with_options(clone(learner), self.n_jobs, self.verbose)
        self.learner_ = fresh.fit(rows, labels, **options)
        if not (
            validation.is_learner(self.learner_) or hasattr(self.learner_, "metric_")
        ):
            raise ValueError(
                f"learner is {learner!r}, but it has no metric_ after fit."
            )
        self._keep(rows, kind)
        return self

    def _keep(self, rows: Any, kind: str | None) -> None:
        """Keep the histograms that vote, unless the learner has them."""
        for name in ("_histograms", "prototypes_"):
            self.__dict__.pop(name, None)
        self.neighbors_ = self._search().fit(rows)
        seen = self.neighbors_._kept_rows()
        if kind is not None:
            self.prototypes_ = class_prototypes(
                kind, seen, self._y, self.learner_, n_jobs=self.n_jobs
            )
            self._y = np.unique(self._y)
            self.neighbors_._keep_rows(self.prototypes_)
        elif getattr(self.learner_, "_histograms", seen).shape[0] != len(self._y):
            self._histograms = seen.toarray() if hasattr(seen, "toarray") else seen

    def _weigh(
        self, learner: BaseEstimator, labels: Any, sample_weight: ArrayLike | None
    ) -> dict[str, Floats]:
        """Note classes and their weights; return the weights for the learner."""
        self.classes_, codes = np.unique(labels, return_inverse=True)
        counts = np.bincount(codes)
        given = validation.as_class_weight(self.class_weight, self.classes_, counts)
        self._class_weights = given
        self.class_prior_ = counts * given / (counts @ given)
        knows = has_fit_parameter(learner, "sample_weight")
        if sample_weight is not None and not knows:
            raise ValueError(
                f"sample_weight is given, but learner is {learner!r}, whose fit knows "
                "no sample_weight."
            )
        if not knows or (sample_weight is None and self.class_weight is None):
            return {}
        weights = validation.as_sample_weight(sample_weight, len(labels))
        return {"sample_weight": weights * given[codes]}

    @classmethod
    def _of(cls, learner: Any) -> EMDClassifier:
        """Make a classifier of a fitted learner, and the histograms it learned from."""
        found = cls()
        found.learner_ = learner
        found.classes_, found._y = np.unique(learner._labels, return_inverse=True)
        found._note_priors()
        return found

    def _note_priors(self) -> None:
        """Make up for what files of earlier versions do not have."""
        shares = np.bincount(self._y, minlength=len(self.classes_)) / len(self._y)
        own: dict[str, Any] = self.__dict__
        own.setdefault("class_prior_", shares)
        own.setdefault("_class_weights", np.ones(len(self.classes_)))

    def _own_learner(self) -> BaseEstimator:
        return as_learner(
            GroundMetricLearning() if self.learner is None else self.learner
        )

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
        own = vars(self)
        rows = own.get("prototypes_", own.get("_histograms"))
        rows = self.learner_._histograms if rows is None else rows
        validation.require_length(self._y, rows.shape[0], "_y")
        if not np.isin(self._y, np.arange(len(self.classes_))).all():
            raise ValueError("_y does not number classes_")
        self._note_priors()
        for name in ("class_prior_", "_class_weights"):
            values = validation.as_weights(getattr(self, name), len(self.classes_))
            if not (values > 0).all():
                raise ValueError(f"{name} are not all positive")
        self.neighbors_ = self._search()
        self.neighbors_._keep_rows(rows)
        self.n_features_in_ = rows.shape[1]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Shares of the votes, with one column for each of ``classes_``."""
        check_is_fitted(self)
        rows = self._as_rows(X, reset=False)
        weights = as_vote_weights(self.weights)
        alone = self._incomparable(X, rows.shape[0])
        shares: Floats = np.tile(self.class_prior_, (rows.shape[0], 1))
        if alone.all():
            return shares
        k = None  # as many as fit says
        if "prototypes_" in vars(self):
            k = 1 if weights == "uniform" else len(self._y)
        distances, found = self.neighbors_.kneighbors(rows[~alone], n_neighbors=k)
        voters = self._y[found]
        votes = vote_weights(weights, distances) * self._class_weights[voters]
        shares[~alone] = vote_shares(voters, votes, len(self.classes_))
        return shares

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Labels with the most votes."""
        winners = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[np.generic] = self.classes_[winners]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # One histogram does not follow a class of any shape.
        tags.classifier_tags.poor_score = self.prototypes is not None
        return tags
