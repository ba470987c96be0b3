"""How long to learn, and with which settings, by the errors on held-out histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..base._groups import as_groups
from ..base._rows import HistogramTransformer, all_or_nothing
from ._candidates import (
    MOST_STARTS,
    Candidate,
    Grid,
    as_list,
    candidates_of,
    knows_bins,
    learners_of,
    prepared,
    require_known,
)
from ._counting import Counting
from ._folds import Folds, Split, descent_of, rows_for, splits_of
from ._sample import sampled
from ._selection import LEARNED, all_scores, as_array, as_results, choice_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ._learner import MetricLearner

Floats = NDArray[np.float64]
Labels = NDArray[Any]

# What the fitted learner has of the fit of the search.
OF_FIT = ("n_features_in_", "feature_names_in_", "_empty", "sample_indices_")


class MetricLearningCV(HistogramTransformer):
    """Metric learning with its settings chosen by cross-validation.

    How long to learn matters most, and depends on the data; so do the power of the
    histograms, and how strongly to hold on to what was given. One descent for each fold
    and candidate gives metrics after 0, 1, ... steps, and their errors on the held-out
    histograms choose among them.

    If a metric, metrics or ``points`` were given, the choice is what is nearest to
    these of all that is within one standard error of the best, that of the difference
    between the two on the same folds: the fewest steps, of these the strongest pull,
    and of these the first candidate, in the order of estimators and of the grid.
    Otherwise, it is the best candidate, with the fewest steps within one standard
    error. Then one descent on everything takes as many steps. The result is a learner
    as ``best_estimator_`` is.

    Parameters
    ----------
    estimator : learner or list of learners, optional
        What to learn with, such as a :class:`GroundMetricLearning`, which it is if
        None, :class:`MappedMetricLearning`, :class:`CombinedMetricLearning` or
        :class:`SinkhornMetricLearning`. Its ``max_steps`` limits the steps to choose
        from, and the ``floor`` of its margins does not apply. Its callbacks see the
        last descent only. A :class:`DiscriminantMetricLearning` has one step.
    param_grid : dict or list of dict, optional
        Parameters to choose from, such as
        ``{"power": [0.5, 1.0], "criterion__margin": [0.3, 1.0]}``; of several learners,
        each takes those that it has. ``{}`` chooses only the steps. By default, these
        replace those of the estimator: ``power`` is one of 1, 0.5, 0.25 and "log1p",
        and ``pull`` is 10 or 1 where all entries of a metric, or the positions of a
        smoothed learner, are pulled to what was given; maps keep their own. Steps are
        taken with the two powers that are best before learning; in closed form, with
        all, a ``shrinkage`` of "auto" or 0.5, and a ``trust`` of 0, 1 or 3. The EMD
        with what was given, ``init``, ``metrics`` or ``points``, is then always tried,
        with histograms as they are; beside smoothed learners, for up to 1,000 bins.
    cv : int, cross-validation generator or iterable, default=3
        Folds. A number stands for that many stratified folds, drawn twice; if ``fit``
        is given groups, folds of whole groups.
    scoring : callable, optional
        ``scoring(distances, y_train, y_test)``, larger for better distances from test
        to training histograms. By default the accuracy of k nearest neighbors, averaged
        over k = 1, ..., 20.
    patience : int or None, default=4
        Stop scoring once this many steps in a row have not improved the best mean
        score; None scores all steps, which smoothed distances between many classes
        may need.
    n_jobs : int, optional
        Number of threads for an estimator that does not set it.
    verbose : int, default=0
        1 shows bars of steps (needs tqdm).
    random_state : int, RandomState instance or None, default=0
        Draws the folds, if ``cv`` is a number, and the samples and batches of learners
        whose own is None.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all histograms.
    best_step_ : int
        The number of steps chosen; 0 for the initial metric.
    best_params_ : dict
        The parameters chosen from ``param_grid``, or from the default grid.
    best_score_ : float
        Their mean score on held-out histograms.
    cv_results_ : dict of ndarray
        A row for each choice: ``estimator`` (its class), ``params``, ``step``,
        ``mean_test_score``, ``std_test_score`` (over folds), ``se_test_score``,
        ``split0_test_score``, ... Scores are NaN where other candidates took more
        steps.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearning, MetricLearningCV
    >>> X = np.random.default_rng(0).dirichlet(np.ones(6), 20)
    >>> search = MetricLearningCV(GroundMetricLearning(max_steps=3), {}, cv=2)
    >>> 0 <= search.fit(X, np.arange(20) % 2).best_step_ <= 3
    True
    """

    _min_samples = 2
    _fitted: ClassVar[tuple[str, ...]] = (
        *("best_estimator_", "best_step_", "best_params_", "best_score_"),
    )

    def __init__(
        self,
        estimator: Any = None,
        param_grid: Grid | None = None,
        *,
        cv: Any = 3,
        scoring: Callable[[Floats, Any, Any], float] | None = None,
        patience: int | None = 4,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: object = 0,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.patience = patience
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        empty: str = "error",
        client: object = None,
    ) -> MetricLearningCV:
        """Choose a candidate and its number of steps, and learn from all histograms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels.
        groups : array-like of shape (n,), optional
            Group of each histogram, such as a patient; folds do not divide groups.
        sample_weight, class_weight, empty
            As in :meth:`GroundMetricLearning.fit`; held-out scores have no weights.
        client : dask.distributed.Client, optional
            Learn on the workers of a cluster, see :meth:`GroundMetricLearning.fit`.

        Returns
        -------
        self
        """
        self._validate(client)
        counting = Counting(sample_weight, class_weight, empty)
        everything, kept = counting.of(self, X, y, needs_labels=True)
        own = self.n_jobs, self.verbose, self.random_state
        learners = prepared(as_list(self._families()), *own)
        sampler = clone(learners[0])
        apart = None if groups is None else as_groups(groups, len(everything.points))
        given = sampled(sampler, everything, kept)
        if apart is not None:
            apart = apart[getattr(sampler, "sample_indices_", slice(None))]
        rows, chosen = given.rows, given.labels
        splits = self._splits(rows, chosen, apart)  # type: ignore[arg-type]  # not None
        how: dict[str, Any] = {"scoring": self.scoring, "patience": self.patience}
        folds = Folds(given, splits, **how, client=client)
        best = self._choose(learners, folds, rows.shape[1]).make()
        best._note_labels(chosen)
        weights = given.pair_weights()
        descent, seen = descent_of(best, rows_for(best, rows), weights, client)
        best._learn(descent, seen, self.best_step_)
        known = vars(sampler) | vars(self)
        best.__dict__.update({name: known[name] for name in OF_FIT if name in known})
        self.best_estimator_ = best
        return self

    def _families(self) -> Any:
        """Return the learners to choose from, before there are data."""
        return self.estimator

    def _splits(self, rows: Any, labels: Labels, groups: Labels | None) -> list[Split]:
        """Draw the folds."""
        return splits_of(self.cv, rows, labels, self.random_state, groups)

    def _validate(self, client: object) -> None:
        """Reject parameters before the folds, which take long."""
        learners = learners_of(self._families(), client)
        if self.patience is not None:
            validation.as_count(self.patience, "patience", low=1)
        if self.scoring is not None and not callable(self.scoring):
            raise ValueError(f"scoring is {self.scoring!r}; a function is needed.")
        require_known(learners, self.param_grid)

    def _keeps_sparse(self, *, reset: bool) -> bool:
        learners = as_list(self._families()) if reset else [self._best()]
        return any(learner._keeps_sparse(reset=reset) for learner in learners)

    def _choose(
        self, learners: list[MetricLearner], folds: Folds, n_bins: int
    ) -> Candidate:
        """Score the steps of all candidates on held-out histograms, and choose."""
        candidates = candidates_of(learners, self.param_grid, n_bins)
        most = MOST_STARTS if self.param_grid is None else None
        scores = as_array(all_scores(folds, candidates, most))  # (., splits, steps)
        self.cv_results_ = as_results(candidates, scores)
        is_given = any(map(knows_bins, learners))
        pulls = [each.pull for each in candidates] if is_given else None
        chosen, step = choice_of(scores, pulls)
        self.best_step_ = step
        self.best_params_ = dict(candidates[chosen].params)
        self.best_score_ = float(scores[chosen, :, step].mean())
        return candidates[chosen]

    def _current(self) -> list[Any]:
        """Return what was learned, or what will be learned with."""
        best = vars(self).get("best_estimator_")
        return as_list(self._families()) if best is None else [best]

    @property
    def _is_exact(self) -> bool:
        return all(getattr(each, "_is_exact", True) for each in self._current())

    def _best(self) -> MetricLearner:
        check_is_fitted(self, "best_estimator_")
        best: MetricLearner = self.best_estimator_
        return best

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the distances to the training histograms, under the best metric."""
        return self._best().transform(X)

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and of Y (X if None)."""
        return self._best().pairwise(X, Y)

    def histograms(self, X: ArrayLike) -> Floats:
        """Return histograms as the metric sees them: of mass 1, raised to a power."""
        return self._best().histograms(X)

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Make a function of two histograms, for ``metric=`` in scikit-learn."""
        return self._best().get_metric()

    def _seen(self, rows: Any) -> Any:
        return self._best()._seen(rows)

    def _ground(self) -> dict[str, Floats]:
        return self._best()._ground()

    def _distances(self, metric: Floats) -> Callable[..., Floats]:
        return self._best()._distances(metric)

    def _restore(self) -> None:
        self.best_step_ = int(self.best_step_)
        self.n_features_in_ = self.best_estimator_.n_features_in_

    def __getattr__(self, name: str) -> Any:
        own = type(self).__name__
        if name in LEARNED and "best_estimator_" in vars(self):
            return getattr(self.best_estimator_, name)
        if name == "cv_results_":
            raise AttributeError(
                f"{own} has no cv_results_: fit computes them, and files do not store "
                "them."
            )
        raise AttributeError(f"{own!r} object has no attribute {name!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
