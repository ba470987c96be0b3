"""Learners whose metric is a linear map of the bins' coordinates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from .. import validation
from ..base._rows import as_rows
from ._descent import Descent
from ._effort import warn_if_long
from ._learner import MetricLearner
from ._maps import LinearMaps, MappedSearch, centered, scaled, starting_map
from ._margin import MarginCriterion
from ._pairs import Histograms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..similarity._weights import Weights
    from ._descent import Settings

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Bins up to which the matrix of all distances between them is made: 800 MB.
LARGEST = 10_000
# Seconds of a pair, and of each entry of its costs: about 1e-4 for 80 x 80.
A_PAIR, AN_ENTRY = 1e-5, 1.5e-8


class _Lazy:
    """What a fit with a map does not store; others have it as a plain attribute."""

    def __init__(self, make: Any) -> None:  # noqa: ANN401 - of the learner
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, learner: Any, owner: type) -> Any:  # noqa: ANN401 - likewise
        if learner is None:
            return self
        if "components_" not in vars(learner):
            raise AttributeError(
                f"{owner.__name__!r} object has no attribute {self._name!r}"
            )
        return self._make(learner)


def _all_distances(learner: Any, before: str = "") -> Floats:  # noqa: ANN401 - of ours
    positions: Floats = getattr(learner, f"{before}embedding_")
    d = len(positions)
    if d > LARGEST:
        raise ValueError(
            f"{before}metric_ would have {d} x {d} entries; use {before}embedding_ "
            f"instead, for instance in pairwise_emd(points=learner.{before}embedding_)."
        )
    metric: Floats = cdist(positions, positions)
    return metric


def _sparse_rows(learner: Any) -> csr_array:  # noqa: ANN401 - of ours
    parts = learner._values, learner._bins, learner._starts  # noqa: SLF001
    return csr_array(parts, shape=(len(parts[2]) - 1, len(learner.embedding_)))


def _of_unscaled(A: Floats, k: int) -> Floats:
    """Turn a map of points divided by 2^k into one of the points themselves."""
    with np.errstate(over="ignore"):
        components: Floats = np.ldexp(A, -k)
    if not np.isfinite(components).all():
        raise ValueError(
            f"points are less than 2^{k} in absolute value: a map to distances of "
            "about 1 exceeds the range of double precision; scale them up."
        )
    return components


class MappedLearner(MetricLearner):
    """A learner that may learn a map, of ``points`` to ``n_components`` dimensions.

    If it does, histograms are sparse, and no d x d matrix is stored.
    """

    _fitted: ClassVar[tuple[str, ...]] = ("path_", "converged_", "power_")
    _of_matrix: ClassVar[tuple[str, ...]] = (
        "metric_",
        "initial_metric_",
        "_histograms",
    )
    _of_map: ClassVar[tuple[str, ...]] = (
        "components_",
        "embedding_",
        "initial_embedding_",
        "_values",
        "_bins",
        "_starts",
    )
    _optional: ClassVar[tuple[str, ...]] = (
        *MetricLearner._optional,  # noqa: SLF001 - of the parent
        *_of_matrix,
        *_of_map,
    )

    n_components: int | None
    points: ArrayLike | None
    n_jobs: int | None

    metric_ = _Lazy(_all_distances)
    initial_metric_ = _Lazy(partial(_all_distances, before="initial_"))
    _histograms = _Lazy(_sparse_rows)

    @property
    def _has_map(self) -> bool:
        return "components_" in vars(self)

    @property
    def _is_mapped(self) -> bool:
        """Whether distances are those of positions: as fitted, or as it will be."""
        if "path_" in vars(self):
            return self._has_map
        return self.n_components is not None

    def metrics_of_steps(self, rows: Any, weights: Weights) -> Iterator[Floats]:  # noqa: ANN401 - dense or sparse
        """Yield the result after 0, 1, ... steps; of maps, the bins' positions."""
        metrics = super().metrics_of_steps(rows, weights)
        if self.n_components is None:
            return metrics
        points, _ = self._centered_points(rows.shape[1])
        return (points @ A.T for A in metrics)

    def nearest(self, metric: Floats, queries: Floats, base: Floats, k: int) -> Indices:
        """Find the k nearest without solving all pairs, if there is a matrix."""
        if self._is_mapped:
            return super().nearest(metric, queries, base, k)
        threads = validation.n_threads(self.n_jobs)
        return Histograms(base).nearest(metric, queries, k, threads)

    def _before(self, before: str = "") -> Floats:
        name = "embedding_" if self._has_map else "metric_"
        learned: Floats = getattr(self, before + name)
        return learned

    def _divide(self, before: str, unit: float) -> None:
        if not self._has_map:
            super()._divide(before, unit)
            return
        setattr(self, f"{before}embedding_", self._before(before) / unit)
        if not before:
            self.components_: Floats = self.components_ / unit

    def _ground(self) -> dict[str, Floats]:
        return {"points" if self._has_map else "metric": self._learned}

    def _as_rows(self, X: ArrayLike, *, reset: bool) -> Any:  # noqa: ANN401 - dense or sparse
        if self.n_components is None if reset else not self._has_map:
            return super()._as_rows(X, reset=reset)
        judge: Any = validation.as_sparse_distributions
        least = self._min_samples if reset else 1
        return as_rows(self, X, judge, reset=reset, min_samples=least)

    def _settle(self) -> None:
        for name in self._of_map:
            self.__dict__.pop(name, None)
        if self.n_components is not None:
            A, start, rows = (self.__dict__.pop(name) for name in self._of_matrix)
            rows = csr_array(rows)
            points, k = self._centered_points(rows.shape[1])
            self.components_ = _of_unscaled(A, k)
            self.embedding_ = points @ A.T
            self.initial_embedding_ = points @ start.T
            self._values, self._bins, self._starts = (
                rows.data,
                rows.indices,
                rows.indptr,
            )

    def _centered_points(self, d: int) -> tuple[Floats, int]:
        """Coordinates of the bins, divided by 2^k, and k.

        Without points, each bin has a coordinate of its own.
        """
        points, k = scaled(np.eye(d) if self.points is None else self.points, d)
        return centered(points, d), k

    def _varying(self, rows: csr_array, points: Floats) -> Floats:
        """Return what has the principal axes to start from.

        Bins with a coordinate of their own vary alike along all of them; histograms
        say which matter.
        """
        if self.points is not None:
            return points
        dense = rows.toarray()
        varying: Floats = dense - dense.mean(axis=0)
        return varying

    def _descent_of_maps(
        self,
        rows: csr_array,
        weights: Weights,
        margins: tuple[int, float],
        settings: Settings,
    ) -> Descent:
        """Set up the descent of a map."""
        rows = csr_array(rows)
        points, _ = self._centered_points(rows.shape[1])
        start = starting_map(points, self.n_components, self._varying(rows, points))
        last: Any = vars(self).get("components_") if self.warm_start else None
        if np.shape(last) == start.shape:
            start = last * (np.linalg.norm(start) / (np.linalg.norm(last) or 1.0))
        threads = validation.n_threads(self.n_jobs)
        similar, dissimilar = (
            MappedSearch(rows, points, weights, similar=similar, n_threads=threads)
            for similar in (True, False)
        )
        criterion = MarginCriterion(
            None, weights, *margins, searches=(similar, dissimilar)
        )
        n, n_bins = rows.shape[0], rows.nnz / rows.shape[0]
        n_pairs = n * (4 * margins[0] + n / 8)
        seconds = (
            settings.max_outer * n_pairs * (A_PAIR + AN_ENTRY * n_bins**2) / threads
        )
        n_bytes = 28 * rows.nnz + 40 * points.size
        advice = "fewer histograms (max_samples) or fewer steps make it shorter"
        warn_if_long(seconds, n_bytes, rows.shape, advice)
        return Descent(criterion, LinearMaps(points, start), settings)

    def _restore(self) -> None:
        if not self._has_map:
            for name in self._of_matrix:
                if name not in vars(self):
                    raise ValueError(f"there is no {name!r}")
            super()._restore()
            return
        missing = [name for name in self._of_map if name not in vars(self)]
        if missing:
            raise ValueError(f"there is no {missing[0]!r}")
        for name in ("embedding_", "initial_embedding_"):
            positions = validation.as_float_array(getattr(self, name), name, 2)
            validation.as_coordinates(positions, len(self.embedding_), name)
        rows = validation.as_sparse_distributions(self._histograms, "its histograms")
        self._restore_rest(*rows.shape)
