"""Learners of positions that may start from a prior, and what these learn.

A fit from a prior has its own descent (``_training.py``) and sparse histograms, and
leaves no d x d matrix: a :class:`State` says what distances are.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import validation
from ..learning._criteria import Margin, Softmax
from ..learning._entries import weigh
from ..learning._learner import MetricLearner
from ..learning._maps import LARGEST
from ..learning._parameters import exponentials
from ..learning._scale import median_distance, some_of
from ._positions import on_principal_axes, squared_distances
from ._prior import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._direct import DirectStep
    from ._setup import StateTraining

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class PriorLearner(MetricLearner):
    """A learner of positions, and of weights of bins if it starts from a prior."""

    _is_exact: ClassVar[bool] = False
    _criteria: ClassVar[tuple[type[Any], ...]] = Margin, Softmax
    _fitted: ClassVar[tuple[str, ...]] = (
        *("path_", "converged_", "power_", "smoothing_"),
        *("embedding_", "bin_weights_"),
    )
    _optional: ClassVar[tuple[str, ...]] = (
        *MetricLearner._optional,
        *("metric_", "initial_metric_", "_histograms"),
        *("initial_embedding_", "initial_bin_weights_", "_initial_eps"),
        *("_eps", "_values", "_bins", "_starts"),
    )

    # Parameters.
    smoothing: float
    n_components: int | None
    points: ArrayLike | None
    bin_weights: str | ArrayLike | None
    pull: float | None
    batch_size: int | None
    device: str | None
    dtype: str | None
    n_jobs: int | None

    smoothing_: float

    @property
    def _starts_from_prior(self) -> bool:
        """Whether the parameters ask for weights, a softmax or a pull."""
        is_pulled = self.pull is not None and np.any(np.asarray(self.pull) != 0)
        is_softmax = isinstance(self.criterion, Softmax) or (
            isinstance(self.criterion, str) and self.criterion == "softmax"
        )
        return is_softmax or self.bin_weights is not None or bool(is_pulled)

    def _keeps_sparse(self, *, reset: bool) -> bool:
        return self._starts_from_prior if reset else "_eps" in vars(self)

    def _ground(self) -> dict[str, Floats]:
        raise ValueError(
            f"metric is a {type(self).__name__}, whose distances are smoothed, not "
            "EMDs; use its own method pairwise, or EMDNeighbors and EMDKernel."
        )

    def fit_transform(
        self, X: ArrayLike, y: ArrayLike | None = None, **options: Any
    ) -> Floats:
        """Fit, and compute the distances of the training histograms to each other.

        The result is exactly symmetric with a zero diagonal, that of :meth:`transform`
        only up to rounding.
        """
        found: Floats = self.fit(X, y, **options).pairwise(X)
        return found

    def _keep_state(self, training: StateTraining | DirectStep, rows: Any) -> None:
        """Keep what was learned from a prior, in units of the median distance."""
        rows = csr_array(rows)
        some = some_of(rows)
        states = []
        for state in (training.first, training.result):
            between = state.distances(some, **self._options())
            states.append(state.divided(median_distance(between)))
        first, last = states
        self.initial_embedding_ = _centered(first.positions)
        self.embedding_ = on_principal_axes(_centered(last.positions))
        self.initial_bin_weights_, self.bin_weights_ = (
            exponentials(state.log_weights) for state in states
        )
        self._initial_eps, self._eps = first.eps, last.eps
        seen = weigh(rows, last.log_weights)
        self._values, self._bins, self._starts = seen.data, seen.indices, seen.indptr

    def _seen(self, rows: Any) -> Any:
        seen = super()._seen(rows)
        if "_eps" not in vars(self):
            return seen
        return weigh(seen, np.log(self.bin_weights_))

    def _seen_before(self, rows: Any) -> Any:
        seen = super()._seen_before(rows)
        if "_eps" not in vars(self):
            return seen
        return weigh(seen, np.log(self.initial_bin_weights_))

    def _before(self, before: str = "") -> Any:
        """Return costs, or the state of bins whose histograms have been weighted."""
        if "_eps" not in vars(self):
            return super()._before(before)
        positions = getattr(self, f"{before}embedding_")
        return State(
            np.zeros(len(positions)), positions, getattr(self, f"_{before}eps")
        )

    def _rescale(self) -> None:
        if "_eps" not in vars(self):  # otherwise it has been done
            super()._rescale()

    def _distances(self, metric: Any) -> Callable[..., Floats]:
        """Make the function that computes distances between rows of mass 1."""
        if not isinstance(metric, State):
            return self._distances_under(metric)
        return partial(_state_distances, metric, **self._options())

    def _distances_to(self, base: Any) -> Callable[[Any], Floats]:
        """Make the function that computes distances to rows as the learner sees them.

        Where these are points, they are embedded once.
        """
        learned = self._learned
        if isinstance(learned, State) and math.isinf(learned.eps):
            return learned.distances_to(csr_array(base), **self._options())
        between = self._distances(learned)
        return lambda rows: between(rows, base)

    def _distances_under(self, metric: Floats) -> Callable[..., Floats]:
        """Do the same for a matrix of costs."""
        raise NotImplementedError

    def _nearest(self, metric: Any, queries: Any, base: Any, k: int) -> Indices:
        if not isinstance(metric, State):
            return super()._nearest(metric, queries, base, k)
        parts = csr_array(base), csr_array(queries)
        return metric.nearest(*parts, k, **self._options())[1]

    def _options(self) -> dict[str, Any]:
        """Where distances are computed."""
        given = "float64" if self.dtype is None else self.dtype
        dtype = validation.as_precision(given)
        return {"n_jobs": self.n_jobs, "device": self.device, "dtype": dtype}

    def embed(self, X: ArrayLike) -> Floats:
        """Return the mean positions of histograms, if ``smoothing`` is infinite.

        Their squared Euclidean distances are the learned distances, so that any index,
        classifier or picture of vectors can use them.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.

        Returns
        -------
        ndarray of shape (n, r)
        """
        rows = self.histograms(X)
        if math.isfinite(self.smoothing_):
            raise ValueError(
                f"smoothing is {self.smoothing_}; only distances with "
                "smoothing=math.inf are those of vectors."
            )
        vectors: Floats = rows @ self.embedding_
        return vectors

    def __getattr__(self, name: str) -> Any:
        own = vars(self)
        if name == "_histograms" and "_starts" in own:
            parts = own["_values"], own["_bins"], own["_starts"]
            return csr_array(parts, shape=(len(parts[2]) - 1, len(self.embedding_)))
        positions = {"metric_": "", "initial_metric_": "initial_"}
        if name in positions and "_eps" in own:
            return _costs(own[f"{positions[name]}embedding_"], name)
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}"
        )

    def _restore(self) -> None:
        own = vars(self)
        parts: tuple[str, ...] = "metric_", "initial_metric_", "_histograms"
        if "_eps" in own:
            parts = "_values", "_bins", "_starts", "initial_embedding_"
            parts = (*parts, "initial_bin_weights_", "_initial_eps")
        for name in parts:
            if name not in own:
                raise ValueError(f"{name!r} is missing")
        d = len(self.embedding_)
        if "_eps" in own:
            rows = validation.as_sparse_distributions(
                self._histograms, "its histograms"
            )
            self._restore_rest(*rows.shape)
            validation.as_coordinates(self.initial_embedding_, d, "initial_embedding_")
            for name in ("_eps", "_initial_eps"):
                setattr(self, name, validation.as_smoothing(getattr(self, name), name))
        else:
            super()._restore()
        positions = validation.as_float_array(self.embedding_, "embedding_", 2)
        validation.as_points(positions, self.n_features_in_, "embedding_")
        for name in ("bin_weights_", *(["initial_bin_weights_"] * ("_eps" in own))):
            weights = validation.as_weights(getattr(self, name), d, name)
            if not (weights > 0).all():
                raise ValueError(f"{name} are not all positive")
        self.smoothing_ = validation.as_smoothing(self.smoothing_, "smoothing_")


def _state_distances(
    state: State, left: Any, right: Any = None, **options: Any
) -> Floats:
    """Distances of dense or sparse rows."""
    others = None if right is None else csr_array(right)
    return state.distances(csr_array(left), others, **options)


def _centered(positions: Floats) -> Floats:
    centered: Floats = positions - positions.mean(axis=0)
    return centered


def _costs(positions: Floats, name: str) -> Floats:
    """Squared distances between all bins, if there are not too many."""
    d = len(positions)
    if d > LARGEST:
        raise ValueError(
            f"{name} would have {d} x {d} entries; use embedding_ instead: costs are "
            "the squared distances between its rows."
        )
    return squared_distances(positions)
