"""How long to learn, and with which settings, by the errors on held-out histograms."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..base._rows import (
    HistogramTransformer,
    all_or_nothing,
    as_classes,
)
from ..similarity._makers import weights_of
from ._estimator import GroundMetricLearning
from ._folds import (
    Folds,
    as_array,
    as_results,
    descent_of,
    fewest_steps,
    splits_of,
)
from ._learner import MetricLearner
from ._run import valid_callbacks

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Labels = NDArray[Any]

# What a fitted learner has, and this class takes from the best one.
LEARNED = (
    *("metric_", "initial_metric_", "path_", "n_iter_", "converged_", "power_"),
    *("embedding_", "initial_embedding_", "components_", "smoothing_", "classes_"),
    "weights_",
    *("sample_indices_", "_labels", "_histograms", "_learned", "_n_features_out"),
    *("bin_weights_", "initial_bin_weights_", "embed"),
    *("_distances_to", "_seen_before"),
)

DRAWN_ONCE = ("max_samples", "random_state")  # before there are candidates

Grid = dict[str, list[Any]] | list[dict[str, list[Any]]]


class MetricLearningCV(HistogramTransformer):
    """Metric learning with the number of steps chosen by cross-validation.

    How long to learn matters most, and depends on the data. One descent for each fold
    gives metrics after 0, 1, ... steps, and their errors on the held-out histograms
    choose among them: the fewest steps within one standard error of the best, that of
    the difference between the two on the same folds. Then one descent on everything
    takes as many steps. The result is a learner as ``best_estimator_`` is.

    Parameters
    ----------
    estimator : GroundMetricLearning, MappedMetricLearning, CombinedMetricLearning or \
SinkhornMetricLearning, optional
        What to learn with; its ``max_steps`` limits the steps to choose from, and the
        ``floor`` of its margins does not apply. A :class:`GroundMetricLearning` with
        its defaults if None. Its callbacks see the last descent only.
    param_grid : dict or list of dict, optional
        Parameters of the estimator to choose from, such as
        ``{"power": [0.5, 1.0], "criterion__margin": [0.3, 1.0]}``.
    cv : int, cross-validation generator or iterable, default=3
        Folds. A number stands for that many stratified folds, drawn twice.
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
        Draws the folds, if ``cv`` is a number.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all histograms.
    best_step_ : int
        The number of steps chosen; 0 for the initial metric.
    best_params_ : dict
        The parameters chosen from ``param_grid``.
    best_score_ : float
        Their mean score on held-out histograms.
    cv_results_ : dict of ndarray
        A row for each choice: ``params``, ``step``, ``mean_test_score``,
        ``std_test_score`` (over folds), ``se_test_score``, ``split0_test_score``, ...
        Scores are NaN where other parameters took more steps.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearning, MetricLearningCV
    >>> X = np.random.default_rng(0).dirichlet(np.ones(6), 20)
    >>> search = MetricLearningCV(GroundMetricLearning(max_steps=3), cv=2)
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
        client: object = None,
    ) -> MetricLearningCV:
        """Choose the number of steps, and learn from all histograms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels.
        client : dask.distributed.Client, optional
            Learn on the workers of a cluster, see :meth:`GroundMetricLearning.fit`.

        Returns
        -------
        self
        """
        self._validate(client)
        rows = self._as_rows(X, reset=True)
        given = as_classes(y, rows.shape[0])  # type: ignore[arg-type]  # None is rejected
        best = self._learner({})
        best.__dict__.pop("sample_indices_", None)
        rows, sampled, _ = best._sampled(rows, given, None)
        labels: Labels = given if sampled is None else sampled
        self._choose(rows, labels, client)
        best.set_params(**clone(self.best_params_, safe=False))
        best._note_labels(labels)
        weights = weights_of(rows.shape[0], labels, None)
        descent, seen = descent_of(best, rows, weights, client)
        best._learn(descent, seen, self.best_step_)
        for name in ("n_features_in_", "feature_names_in_"):
            if name in vars(self):
                setattr(best, name, getattr(self, name))
        self.best_estimator_ = best
        return self

    def _validate(self, client: object) -> None:
        """Reject parameters before the folds, which take long."""
        learner = self._base()
        if not isinstance(learner, MetricLearner):
            raise ValueError(
                f"estimator is {learner!r}; a GroundMetricLearning, "
                "MappedMetricLearning, CombinedMetricLearning or "
                "SinkhornMetricLearning is needed."
            )
        valid_callbacks(learner.callbacks)
        if self.patience is not None:
            validation.as_count(self.patience, "patience", low=1)
        if self.scoring is not None and not callable(self.scoring):
            raise ValueError(f"scoring is {self.scoring!r}; a function is needed.")
        if client is not None and not isinstance(learner, GroundMetricLearning):
            raise ValueError(
                f"client is given, but a {type(learner).__name__} learns on one "
                "machine."
            )
        for params in ParameterGrid(self.param_grid or {}):
            for name in params:
                self._require_choice(name, params)

    def _require_choice(self, name: str, params: dict[str, Any]) -> None:
        """Reject a parameter that candidates cannot differ in."""
        if name in DRAWN_ONCE:
            raise ValueError(
                f"param_grid has {name!r}, but histograms are drawn once for all "
                "candidates; set it in the estimator."
            )
        # A nested parameter is one of an object that may itself be in the grid.
        own = {key: params[key] for key in params if f"{name}__".startswith(f"{key}__")}
        try:
            self._learner(own)
        except (AttributeError, ValueError):
            raise ValueError(
                f"param_grid has {name!r}; {type(self._base()).__name__} has no such "
                "parameter."
            ) from None

    def _base(self) -> Any:
        return GroundMetricLearning() if self.estimator is None else self.estimator

    def _learner(self, params: dict[str, Any]) -> MetricLearner:
        """Make a learner with these parameters."""
        learner: MetricLearner = clone(self._base())
        if learner.get_params(deep=False).get("n_jobs", 1) is None:
            learner.set_params(n_jobs=self.n_jobs)
        if learner.verbose == 0:
            learner.set_params(verbose=self.verbose)
        return learner.set_params(**clone(params, safe=False))

    def _keeps_sparse(self, *, reset: bool) -> bool:
        learner = self._base() if reset else self._best()
        return bool(learner._keeps_sparse(reset=reset))

    def _choose(self, rows: Floats, labels: Labels, client: object) -> None:
        """Score the steps of all candidates on held-out histograms, and choose."""
        folds = Folds(
            rows,
            labels,
            splits_of(self.cv, rows, labels, self.random_state),
            scoring=self.scoring,
            patience=self.patience,
            client=client,
        )
        candidates = list(ParameterGrid(self.param_grid or {}))
        scores = as_array(
            [folds.scores(partial(self._learner, params)) for params in candidates]
        )  # (candidates, splits, steps)
        self.cv_results_ = as_results(candidates, scores)
        means = scores.mean(axis=1)
        chosen, best = np.unravel_index(np.nanargmax(means), means.shape)
        step = fewest_steps(scores[chosen], int(best))
        self.best_step_, self.best_params_ = step, dict(candidates[chosen])
        self.best_score_ = float(means[chosen, step])

    @property
    def _is_exact(self) -> bool:
        return bool(getattr(self._base(), "_is_exact", True))

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
