"""What a learned metric offers: distances, and files."""

from __future__ import annotations

from copy import copy, deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .. import validation
from ..base._powers import Power, raised
from ..base._rows import HistogramTransformer
from ._counting import with_nan
from ._path import DescentPath

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class LearnedMetric(HistogramTransformer):
    """A fitted learner; its subclasses say how it learns, and what distances are."""

    _fitted: ClassVar[tuple[str, ...]] = (
        *("metric_", "initial_metric_", "path_", "converged_", "power_"),
        "_histograms",
    )
    _optional: ClassVar[tuple[str, ...]] = (
        "classes_",
        "_labels",
        "sample_indices_",
        "_last_metric",
        "_empty",
    )
    power_: Power
    path_: DescentPath
    n_iter_: int
    _histograms: Any

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

    def _before(self, before: str = "") -> Floats:
        """Return what distances are computed from, now or ("initial_") at the start."""
        learned: Floats = getattr(self, f"{before}metric_")
        return learned

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
        seen = self._seen(self._as_rows(X, reset=False))
        return with_nan(seen, self._incomparable(X, seen.shape[0]))

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
        rows, alone = self._comparable(X)
        return with_nan(self._distances(self._learned)(rows, self._histograms), alone)

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the distances between rows of X and of Y (X if None)."""
        left, alone = self._comparable(X)
        right, others = (None, alone) if Y is None else self._comparable(Y)
        between = self._distances(self._learned)(left, right)
        return with_nan(with_nan(between, alone).T, others).T

    def _comparable(self, X: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
        """Return histograms as seen, and whose distances are NaN."""
        check_is_fitted(self, "path_")
        rows = self._seen(self._as_rows(X, reset=False))
        return rows, self._incomparable(X, rows.shape[0])

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Make a function of two histograms, for ``metric=`` in scikit-learn."""
        check_is_fitted(self, "path_")
        between, seen = self._distances(deepcopy(self._learned)), copy(self)._seen

        def distance(r: ArrayLike, c: ArrayLike) -> float:
            rows = validation.as_distributions(np.stack([r, c]), "histograms")
            pair = seen(rows)
            return float(between(pair[:1], pair[1:])[0, 0])

        return distance

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
