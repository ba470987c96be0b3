"""Learning from batches of histograms that come one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._powers import raised
from ..base._rows import all_or_nothing, as_classes
from ..cone._triangle import closure
from ..similarity._makers import weights_of
from ._criteria import Margin, as_criterion
from ._descent import Descent
from ._path import DescentPath
from ._space import MetricCone

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._estimator import GroundMetricLearning

Floats = NDArray[np.float64]


class StepsOnBatches:
    """A learner with ``partial_fit``."""

    @all_or_nothing
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None
    ) -> GroundMetricLearning:
        """Take one step from the current metric, by the margins within a batch.

        The first call starts as ``fit`` does; the steps become shorter from call to
        call, as in a descent. ``transform`` computes distances to the last batch.
        Parameters that say when to stop, what to draw and where to write do not apply.

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
        learner: Any = self
        take_step(learner, X, y, classes)
        return cast("GroundMetricLearning", self)


def take_step(
    learner: GroundMetricLearning, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None
) -> None:
    """Take one step of a learner from its current metric, by margins within a batch."""
    goal = as_criterion(learner.criterion, only=(Margin,))
    if learner._valid_pull() > 0:
        raise ValueError(
            f"pull is {learner.pull!r}, but partial_fit has no pull; use fit."
        )
    is_first = not hasattr(learner, "metric_")
    rows = learner._as_rows(X, reset=is_first)
    labels = as_classes(y, len(rows))
    kept = ~learner._incomparable(X, len(rows))
    rows, labels = rows[kept], labels[kept]
    weights = weights_of(len(rows), labels, None)
    learner.classes_ = _classes(labels, getattr(learner, "classes_", None), classes)
    learner.power_ = learner._valid_power()
    rows = raised(rows, learner.power_)
    if is_first:
        learner.initial_metric_ = learner._last_metric = learner._start(rows, weights)
        learner.path_ = DescentPath()
    threads = validation.n_threads(learner.n_jobs)
    if "_last_metric" not in vars(learner):  # after fit
        whole = learner.metric_ / np.linalg.norm(learner.metric_)
        learner._last_metric = closure(whole, threads)
    # Values of different batches cannot be compared, so there is no best step.
    options: Any = {"floor": 0.0, "tol": 0.0, "max_inner": 1, "is_sampled": True}
    settings = learner._settings()
    descent = Descent(
        goal._on(rows, weights, threads),
        MetricCone(learner._last_metric, cap=settings.cap, n_threads=threads),
        replace(settings, result="last", **options),
    )
    descent.follow(learner.path_)
    descent.run()
    learner._keep_path(descent)
    learner.metric_ = learner._last_metric = descent.metric
    learner._histograms, learner._labels = rows, labels
    learner._rescale()
    learner.__dict__.pop("sample_indices_", None)  # of an earlier fit


def _classes(labels: Any, seen: Any, given: ArrayLike | None) -> Any:
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
