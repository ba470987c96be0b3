"""Learning from batches of histograms that come one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._rows import all_or_nothing, as_classes
from ..cone._triangle import closure
from ..similarity._makers import weights_of
from ._descent import Descent, Settings
from ._learner import MetricLearner, raised
from ._path import DescentPath
from ._space import MetricCone

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ..similarity._weights import Weights
    from ._criterion import Criterion

Floats = NDArray[np.float64]
Learner = TypeVar("Learner", bound="StepwiseLearner")


class StepwiseLearner(MetricLearner):
    """A learner of metrics that takes one step at a time, if asked to."""

    criterion: str
    n_components: int | None

    def _settings(self) -> Settings:
        raise NotImplementedError

    def _start(self, rows: Floats, weights: Weights) -> Floats:
        raise NotImplementedError

    def _margins(self, rows: Floats, weights: Weights, threads: int) -> Criterion:
        raise NotImplementedError

    @all_or_nothing
    def partial_fit(  # noqa: PYI019 - Self: 3.11
        self: Learner, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> Learner:
        """Take one step from the current metric, by the margins within a batch.

        The first call starts as ``fit`` does; the steps become shorter from call to
        call, as in a descent. ``transform`` computes distances to the last batch.
        Parameters that say when to stop, what to draw and where to write do not apply,
        and ``result="best"`` is the last metric.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows, of two classes at least.
        y : array-like of shape (n,)
            Labels.
        classes : array-like, optional
            All labels that batches may have; those seen so far if None.

        Returns
        -------
        self
        """
        if self.criterion != "margin":
            raise ValueError(
                f"criterion is {self.criterion!r}, but batches are for margins."
            )
        if self.n_components is not None:
            raise ValueError("partial_fit learns no maps; n_components must be None.")
        if "components_" in vars(self):
            raise ValueError(
                "partial_fit learns no maps, but this learner was fitted with "
                "n_components and has one; fit it again, or start from a clone."
            )
        is_first = not hasattr(self, "metric_")
        rows = self._as_rows(X, reset=is_first)
        labels = as_classes(y, len(rows))
        weights = weights_of(len(rows), labels, None)
        self.classes_ = _classes(labels, getattr(self, "classes_", None), classes)
        self.power_ = self._judged_power()
        rows = raised(rows, self.power_)
        if is_first:
            self.initial_metric_ = self._start(rows, weights)
            self._last_metric = self._kept_metric = self.initial_metric_
            self.path_ = DescentPath()
        threads = validation.n_threads(self.n_jobs)
        if "_last_metric" not in vars(self):  # after fit
            whole = self.metric_ / np.linalg.norm(self.metric_)
            self._last_metric = self._kept_metric = closure(whole, threads)
        descent = Descent(
            self._margins(rows, weights, threads),
            MetricCone(self._last_metric, n_threads=threads),
            self._step_settings(),
        )
        descent.follow(self.path_, self._kept_metric)
        descent.run()
        self._keep(descent)
        self._last_metric, self._kept_metric = descent.metric, descent.result
        self._histograms, self._labels = rows, labels
        self._rescale()
        self.__dict__.pop("sample_indices_", None)  # of an earlier fit
        return self

    def _step_settings(self) -> Settings:
        """Judge the parameters; values of different batches cannot be compared."""
        settings = self._settings()
        result = "last" if settings.result == "best" else settings.result
        options: Any = {"floor": 0.0, "tol": 0.0, "max_inner": 1, "is_sampled": True}
        return replace(settings, result=result, **options)


def _classes(labels: Any, seen: Any, given: ArrayLike | None) -> Any:  # noqa: ANN401 - of labels
    """Return all classes so far; reject labels that are not among those given."""
    known = None if given is None else validation.as_labels(given, "classes")
    for earlier, of in ((seen, "earlier batches"), (known, "classes")):
        if earlier is not None and _is_text(earlier) != _is_text(labels):
            raise ValueError(
                f"y[0] is {labels.tolist()[0]!r}, but {of} have labels such as "
                f"{earlier.tolist()[0]!r}: labels must be of one kind, all numbers or "
                "all text."
            )
    if known is None:
        return np.unique(labels if seen is None else np.concatenate([seen, labels]))
    classes = np.unique(known)
    unknown = np.flatnonzero(~np.isin(labels, classes))
    if len(unknown) > 0:
        raise ValueError(
            f"y[{unknown[0]}] is {validation.spelled(labels[unknown[0]])}, which is "
            "not among classes."
        )
    return classes


def _is_text(labels: NDArray[Any]) -> bool:
    return isinstance(labels.tolist()[0], str)
