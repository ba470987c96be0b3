"""What learners of a metric share: their data, distances, and files."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..base._powers import Power, as_power, raised
from ..base._rows import HistogramTransformer, as_classes
from ..cone._triangle import closure
from ..similarity._makers import weights_of
from ._criteria import CRITERIA, EXACT, as_criterion
from ._descent import Settings
from ._path import DescentPath
from ._run import run, valid_callbacks
from ._sample import sampled
from ._scale import median_distance, some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..similarity._weights import Weights
    from ._descent import Descent

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]
Learner = TypeVar("Learner", bound="MetricLearner")


class Task(NamedTuple):
    """Training data: histograms raised to the learner's power, and weights."""

    rows: Any  # dense or sparse
    weights: Weights


class MetricLearner(HistogramTransformer):
    """An estimator that learns a metric between bins by a descent.

    Its subclasses have the parameters, and say what distances are, where metrics lie
    and what the descent lowers.
    """

    _min_samples = 2
    _fitted: ClassVar[tuple[str, ...]] = (
        *("metric_", "initial_metric_", "path_", "converged_", "power_"),
        "_histograms",
    )
    _optional: ClassVar[tuple[str, ...]] = (
        "classes_",
        "_labels",
        "sample_indices_",
        "_last_metric",
    )
    _is_exact: ClassVar[bool] = True  # distances are EMDs
    _criteria: ClassVar[tuple[type[Any], ...]] = EXACT
    _has_closed_form: ClassVar[bool] = False  # one step finds what is learned

    # Parameters that all of them have, or some.
    criterion: Any
    power: Power
    step_size: float
    max_steps: int
    tol: float = 0.0  # takes all steps
    max_samples: int | None = None
    callbacks: Sequence[Any]
    verbose: int
    random_state: object

    sample_indices_: Indices

    def __sklearn_clone__(self) -> Any:
        """Clone with the same callbacks, which may count or may not be copied."""
        if "callbacks" not in self.get_params(deep=False):
            return super().__sklearn_clone__()
        bare = copy(self)
        bare.callbacks = ()
        other = super(MetricLearner, bare).__sklearn_clone__()
        other.callbacks = self.callbacks
        return other

    @property
    def _tried(self) -> dict[str, list[Any]]:
        """What cross-validation tries by default, besides powers and pulls."""
        return {}

    def _descent(self, rows: Any, weights: Weights) -> Descent:
        """Check the parameters, and set the descent up."""
        raise NotImplementedError

    def _settle(self, n: int) -> None:
        """Settle what depends on the number of histograms: folds have fewer."""

    def _settings(self) -> Settings:
        """Check what the steps depend on."""
        goal = as_criterion(self.criterion, only=self._criteria)
        settings: Settings = goal._settings(
            Settings(
                step_size=validation.as_factor(self.step_size, "step_size"),
                max_outer=validation.as_count(self.max_steps, "max_steps", low=1),
                max_inner=1,
                tol=validation.as_number(self.tol, "tol", low=0.0),
            )
        )
        return settings

    def _distances(self, metric: Floats) -> Callable[..., Floats]:
        """Make the function that computes distances between rows of mass 1."""
        raise NotImplementedError

    def _nearest(
        self, metric: Floats, queries: Floats, base: Floats, k: int
    ) -> Indices:
        """Find the k nearest rows of the base for each query; ties go to the first."""
        between = self._distances(metric)(queries, base)
        return np.argsort(between, axis=1, kind="stable")[:, :k]

    def _require_metric(self, metric: Floats, name: str) -> None:
        """Reject a matrix that cannot have been learned."""
        raise NotImplementedError

    def _task(
        self, X: ArrayLike, y: ArrayLike | None, similarity: ArrayLike | None
    ) -> Task:
        """Check the data, draw the sample, and forget what was learned before."""
        valid_callbacks(self.callbacks)
        rows = self._as_rows(X, reset=True)
        labels = None if y is None else as_classes(y, rows.shape[0])
        for name in self._optional:
            self.__dict__.pop(name, None)
        rows, labels, similarity = sampled(self, rows, labels, similarity)
        weights = weights_of(rows.shape[0], labels, similarity)
        self._note_labels(labels)
        self.power_ = self._valid_power()
        return Task(raised(rows, self.power_), weights)

    def _note_labels(self, labels: Labels | None) -> None:
        if labels is not None:
            self.classes_, self._labels = np.unique(labels), labels

    def _learn(self, descent: Descent, rows: Any, n_steps: int | None = None) -> None:
        """Run the descent, for at most this many steps, and keep what it finds."""
        initial = descent.metric
        if n_steps != 0:
            callbacks = valid_callbacks(self.callbacks)
            run(
                descent,
                rows,
                callbacks,
                verbose=self.verbose,
                n_steps=n_steps,
                random_state=self.random_state,
            )
        self._keep(descent, initial, rows)
        self._keep_path(descent)
        self._rescale()

    def _keep(self, descent: Descent, initial: Floats, rows: Any) -> None:
        """Keep what was learned, what it started from, and the histograms."""
        self.metric_, self.initial_metric_ = descent.result, initial
        self._histograms = rows

    def _keep_path(self, descent: Descent) -> None:
        self.path_: DescentPath = descent.path
        self.n_iter_ = len(descent.path)
        self.converged_ = bool(descent.converged and descent.n_inexact == 0)

    def _rescale(self) -> None:
        """Scale distances: between training histograms, their median becomes 1.

        In the descent's unit ball, distances would be about 0.002, which penalties and
        tolerances of other estimators treat as zero.
        """
        rows = some_of(self._histograms)
        for before in ("", "initial_"):
            between = self._distances(self._before(before))
            self._divide(before, median_distance(between(rows, None)))

    def _before(self, before: str = "") -> Floats:
        """Return what distances are computed from, now or ("initial_") at the start."""
        learned: Floats = getattr(self, f"{before}metric_")
        return learned

    def _divide(self, before: str, unit: float) -> None:
        """Divide distances by this unit."""
        metric = closure(
            self._before(before) / unit, validation.n_threads(vars(self).get("n_jobs"))
        )
        setattr(self, f"{before}metric_", metric)

    def _positions_of(self, result: Floats, _d: int) -> Floats:
        """Return what distances are computed from, for a descent's result."""
        return result

    @property
    def _learned(self) -> Floats:
        """The matrix, positions or map from which distances are computed."""
        return self._before()

    def histograms(self, X: ArrayLike) -> Floats:
        """Return histograms as the metric sees them: of mass 1, raised to ``power``.

        Functions that accept ``metric=learner``, such as :func:`pairwise_emd`, do this
        themselves.
        """
        check_is_fitted(self, "path_")
        return self._seen(self._as_rows(X, reset=False))

    def _seen(self, rows: Floats) -> Floats:
        """Raise rows of mass 1 to the power that was learned with."""
        seen: Floats = raised(rows, self.power_)
        return seen

    def _seen_before(self, rows: Floats) -> Floats:
        """Return rows of mass 1 as the initial metric sees them."""
        seen: Floats = raised(rows, self.power_)
        return seen

    def _ground(self) -> dict[str, Floats]:
        """Return what :func:`pairwise_emd` needs for histograms that we have seen."""
        return {"metric": self._learned}

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the distances to the training histograms, under the learned metric.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.

        Returns
        -------
        ndarray of shape (n, n_train)
        """
        rows = self.histograms(X)
        return self._distances(self._learned)(rows, self._histograms)

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and of Y (X if None)."""
        left = self.histograms(X)
        right = None if Y is None else self.histograms(Y)
        return self._distances(self._learned)(left, right)

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Make a function of two histograms, for ``metric=`` in scikit-learn."""
        check_is_fitted(self, "path_")
        between, seen = self._distances(deepcopy(self._learned)), copy(self)._seen

        def distance(r: ArrayLike, c: ArrayLike) -> float:
            rows = validation.as_distributions(np.stack([r, c]), "histograms")
            pair = seen(rows)
            return float(between(pair[:1], pair[1:])[0, 0])

        return distance

    def set_params(self: Learner, **params: Any) -> Learner:  # noqa: PYI019 - Self: 3.11
        """Set parameters, also those of a criterion that was given by name."""
        nested = any(name.startswith("criterion__") for name in params)
        given = params.get("criterion", self.criterion)
        if nested and isinstance(given, str) and given in CRITERIA:
            params["criterion"] = CRITERIA[given]()
        learner: Learner = super().set_params(**params)
        return learner

    def _valid_power(self) -> Power:
        return as_power(self.power)

    def _restore(self) -> None:
        rows = validation.as_float_array(self._histograms, "its histograms", 2)
        last = [name for name in ("_last_metric",) if name in vars(self)]
        for name in ("metric_", "initial_metric_", *last):
            validation.as_cost(getattr(self, name), rows.shape[1], name)
            self._require_metric(getattr(self, name), name)
        validation.as_distributions(rows, "its histograms")
        self._restore_rest(*rows.shape)

    def _restore_rest(self, n: int, d: int) -> None:
        """Validate what does not depend on the kind of metric."""
        if "_labels" in vars(self):
            validation.require_length(self._labels, n, "_labels")
        self.n_features_in_ = d
        self.path_ = DescentPath.from_array(np.asarray(self.path_))
        self.n_iter_ = len(self.path_)

    @property
    def _n_features_out(self) -> int:
        return int(self._histograms.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
