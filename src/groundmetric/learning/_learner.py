"""What learners of a metric share: their parameters and data, and how they fit."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..base._powers import Power, as_power, raised
from ..base._rows import all_or_nothing
from ..cone._triangle import closure
from ._counting import EVERYONE, Counting
from ._criteria import CRITERIA, EXACT, as_criterion
from ._descent import Settings
from ._learned import LearnedMetric
from ._run import run, valid_callbacks
from ._sample import sampled
from ._scale import median_distance, some_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


class MetricLearner(LearnedMetric):
    """An estimator that learns a metric between bins by a descent.

    Its subclasses have the parameters, and say what distances are, where metrics lie
    and what the descent lowers.
    """

    _min_samples = 2
    _is_exact: ClassVar[bool] = True  # distances are EMDs
    _criteria: ClassVar[tuple[type[Any], ...]] = EXACT
    _has_closed_form: ClassVar[bool] = False  # one step finds what is learned

    # Parameters that all of them have, or some.
    criterion: Any
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

    @all_or_nothing
    def fit(  # noqa: PYI019 - Self: 3.11
        self: Learner,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        similarity: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        empty: str = "error",
    ) -> Learner:
        """Learn from histograms and their labels, or from similarities of pairs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,), optional
            Labels.
        similarity : array-like of shape (n, n), optional
            Instead of labels: positive for similar pairs, negative for dissimilar ones.
        sample_weight, class_weight, empty
            How much histograms count, and what becomes of empty ones, as in
            :meth:`GroundMetricLearning.fit`.

        Returns
        -------
        self
        """
        counting = Counting(sample_weight, class_weight, empty)
        self._fit(self._task(X, y, similarity, counting))
        return self

    def _fit(self, task: Task) -> None:
        self._learn(self._descent(*task), task.rows)

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

    def _task(
        self,
        X: ArrayLike,
        y: ArrayLike | None,
        similarity: ArrayLike | None,
        counting: Counting = EVERYONE,
    ) -> Task:
        """Check the data, draw the sample, and forget what was learned before."""
        valid_callbacks(self.callbacks)
        everything, kept = counting.of(self, X, y, similarity)
        for name in self._optional:
            if name != "_empty":
                self.__dict__.pop(name, None)
        given = sampled(self, everything, kept)
        weights = given.pair_weights()
        self._note_labels(given.labels)
        self.power_ = self._valid_power()
        return Task(raised(given.rows, self.power_), weights)

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
        self.path_ = descent.path
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

    def _divide(self, before: str, unit: float) -> None:
        """Divide distances by this unit."""
        metric = closure(
            self._before(before) / unit, validation.n_threads(vars(self).get("n_jobs"))
        )
        setattr(self, f"{before}metric_", metric)

    def _positions_of(self, result: Floats, _d: int) -> Floats:
        """Return what distances are computed from, for a descent's result."""
        return result

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
