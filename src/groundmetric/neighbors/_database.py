"""The histograms that a search keeps, in memory and in files.

Dense rows with a matrix of costs; or sparse rows with the coordinates of bins, and the
name of a metric between them or a function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import validation
from ..base._learner import KeepsLearner
from ..base._rows import HistogramTransformer, as_sparse_rows
from ..transport._line import Line
from ._bases import DenseBase, EuclideanBase, LearnerBase, LineBase
from ._blocks import PointsBase

if TYPE_CHECKING:
    from .._files import StrPath
    from ._bases import Base

Floats = NDArray[np.float64]


class Database(KeepsLearner, HistogramTransformer):
    """An estimator with parameters ``metric`` and ``points`` that keeps histograms."""

    metric: Any
    points: ArrayLike | None
    metric_: Any  # a matrix; with points, a name or a function
    n_samples_fit_: int
    _histograms: Floats
    _base: Base

    _fitted = ()
    _optional = (
        "learner_",
        "metric_",
        "_histograms",
        "points_",
        "_values",
        "_bins",
        "_starts",
        "_hidden",
    )

    def save(self, path: StrPath) -> None:
        """Write the fitted estimator to one ``.npz`` file."""
        if callable(getattr(self, "metric_", None)):
            raise ValueError(
                "metric is a function, which cannot be saved; pickle the estimator "
                "instead, or use the name of a metric."
            )
        super().save(path)

    def _store(self, X: ArrayLike) -> None:
        """Validate and keep histograms, metric and points."""
        self._keep_rows(self._as_rows(X, reset=True))
        hidden = np.flatnonzero(self._incomparable(X, self.n_samples_fit_))
        if len(hidden) == self.n_samples_fit_:
            raise ValueError("X has no histogram of positive mass to search in.")
        if len(hidden) > 0:
            self._hidden = hidden

    def _keep_rows(self, rows: Any) -> None:
        """Keep histograms as they are compared, and the metric."""
        n, d = rows.shape
        for name in self._optional:  # of an earlier fit, of the other kind
            self.__dict__.pop(name, None)
        metric, points = self.metric, self.points
        learner = metric if validation.is_learner(metric) else None
        if learner is not None:
            self.learner_ = learner
            points = learner.embedding_ if _has_positions(learner) else None
            has_rows = points is not None or _is_sparse(learner)
            metric = None if has_rows else learner.metric_
        if points is None and learner is not None and _is_sparse(learner):
            self._keep_sparse(rows)
        elif points is None:
            metric = 1.0 - np.eye(d) if metric is None else metric
            self.metric_ = validation.as_cost(metric, d).copy()
            if learner is None:
                validation.require_metric(self.metric_, "metric")
            self._histograms = rows
        else:
            self.metric_ = "euclidean" if metric is None else metric
            self.points_ = validation.as_coordinates(points, d).copy()
            self._keep_sparse(rows)
        self.n_samples_fit_, self.n_features_in_ = n, d
        self._prepare()

    def _keep_sparse(self, rows: Any) -> None:
        rows = csr_array(rows)
        self._values, self._bins = rows.data, rows.indices
        self._starts = rows.indptr

    def _as_rows(self, X: ArrayLike, *, reset: bool) -> Any:
        learner = self.metric if reset else vars(self).get("learner_")
        if validation.is_learner(learner):
            return self._rows_seen_by(learner, X, reset=reset)
        has_points = self.points is not None if reset else hasattr(self, "points_")
        if reset and self.metric is not None:
            case = validation.Case.POINTS if has_points else validation.Case.DENSE
            case.accept(self.metric)
        return self._dense_or_sparse(X, is_sparse=has_points, reset=reset)

    def _rows_seen_by(self, learner: Any, X: ArrayLike, *, reset: bool) -> Any:
        if reset:
            validation.require_learned(learner, self.points)
        sparse = _has_positions(learner) or _is_sparse(learner)
        rows = self._dense_or_sparse(X, is_sparse=sparse, reset=reset)
        validation.require_bins(learner, rows.shape[1])
        return learner._seen(rows)

    def _dense_or_sparse(self, X: ArrayLike, *, is_sparse: bool, reset: bool) -> Any:
        if not is_sparse:
            return super()._as_rows(X, reset=reset)
        return as_sparse_rows(self, X, reset=reset, empty=self._empty_rule())

    def _kept_rows(self) -> Any:
        """Return the histograms as they are compared."""
        return self._rows() if "_values" in vars(self) else self._histograms

    def _are_hidden(self) -> NDArray[np.bool_]:
        """Mark the histograms that are never found as neighbors."""
        hidden = np.zeros(self.n_samples_fit_, dtype=bool)
        hidden[vars(self).get("_hidden", [])] = True
        return hidden

    def _rows(self) -> csr_array:
        shape = (self.n_samples_fit_, self.n_features_in_)
        return csr_array((self._values, self._bins, self._starts), shape=shape)

    def _prepare(self) -> None:
        learner = vars(self).get("learner_")
        if learner is not None and not learner._is_exact:
            self._base = LearnerBase(self._kept_rows(), learner)
        elif not hasattr(self, "points_"):
            self._base = DenseBase(self._histograms, self.metric_)
        elif (line := Line.of(self.points_, self.metric_)) is not None:
            self._base = LineBase(self._rows(), line)
        elif self.metric_ == "euclidean":
            self._base = EuclideanBase(self._rows(), self.points_)
        else:
            self._base = PointsBase(self._rows(), self.points_, self.metric_)

    def _restore(self) -> None:
        learner = vars(self).get("learner_")
        if learner is not None and _is_sparse(learner):
            self._require("_values", "_bins", "_starts")
            self.n_samples_fit_ = len(self._starts) - 1
            self.n_features_in_ = learner.n_features_in_
            validation.as_sparse_distributions(self._rows(), "its histograms")
        elif not hasattr(self, "points_"):
            self._require("metric_", "_histograms")
            validation.as_distributions(self._histograms, "its histograms")
            self.n_samples_fit_, self.n_features_in_ = self._histograms.shape
            d = self.n_features_in_
            self.metric_ = validation.as_cost(self.metric_, d, "metric_")
            if "learner_" not in vars(self):
                validation.require_metric(self.metric_, "metric_")
        else:
            self._require("_values", "_bins", "_starts")
            # Earlier versions had Euclidean costs only.
            self.metric_ = getattr(self, "metric_", "euclidean")
            if not isinstance(self.metric_, str):
                raise ValueError("metric_ is not the name of a metric between points")
            self.n_samples_fit_ = len(self._starts) - 1
            self.n_features_in_ = len(self.points_)
            validation.as_coordinates(self.points_, self.n_features_in_, "points_")
            validation.as_sparse_distributions(self._rows(), "its histograms")
        self._prepare()

    def _require(self, *names: str) -> None:
        """Reject a file without these attributes."""
        missing = [name for name in names if not hasattr(self, name)]
        if missing:
            raise ValueError(f"{missing[0]!r} is missing")

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        state.pop("_base", None)  # compiled; rebuilt on load
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "n_samples_fit_"):
            self._prepare()


def _is_sparse(learner: Any) -> bool:
    """Return whether a learner has its own distances between sparse histograms."""
    return not learner._is_exact and bool(learner._keeps_sparse(reset=False))


def _has_positions(learner: Any) -> bool:
    """Return whether an exact learner has positions of the bins, and no matrix."""
    return bool(learner._is_exact) and "points" in learner._ground()
