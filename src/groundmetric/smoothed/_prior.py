"""A training from a prior, set up for an estimator, and the state that it learned."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base._arrays import find_arrays, to_numpy
from ..learning._entries import weigh
from ..learning._margin import MarginCriterion
from ..learning._parameters import PARTS, Parameters, Prior
from ._batch import LARGEST_SMOOTHING
from ._batches import TOL, Batches
from ._divergence import sinkhorn_divergence
from ._embedding import BLOCK, Embedded, embed, nearest
from ._pull import PulledCriterion
from ._softmax import TEMPERATURE, SoftmaxCriterion
from ._training import Training, TrainingSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from ..base._arrays import Arrays
    from ..learning._criterion import Criterion
    from ..similarity._weights import Weights

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]

# Queries at a time, at least: the base is solved with itself for each block.
LEAST_QUERIES = 128


@dataclass(frozen=True, eq=False)
class PriorLearning:
    """How to learn from a prior; all arguments have been validated.

    Attributes
    ----------
    smoothing : float
        Above 0, or infinite.
    n_components : int, optional
        Dimension of the positions.
    bin_weights : array-like of shape (d,), optional
        Weights to start from; 1 if None.
    learned : tuple of {"weights", "map", "offsets"}
        What is learned.
    margins : (int, float), optional
        Number of targets and margin, instead of a softmax.
    temperature : float
        Of the softmax, as a share of the median distance at the start.
    pull : float
        Strength of the pull to the prior; 0 turns it off.
    batch_size : int, optional
        Histograms of a step; all of them if None.
    settings : TrainingSettings
        Number and size of steps.
    seed : int
        Draws batches.
    dtype : {"float32", "float64"}
        Precision.
    n_threads : int
        Threads of numpy, and over pairs.
    options : dict
        tol, max_iter and device of finite smoothing.
    """

    smoothing: float = math.inf
    n_components: int | None = None
    bin_weights: ArrayLike | None = None
    learned: tuple[str, ...] = PARTS
    margins: tuple[int, float] | None = None
    temperature: float = TEMPERATURE
    pull: float = 1.0
    batch_size: int | None = 1024
    settings: TrainingSettings = field(default_factory=TrainingSettings)
    seed: int = 0
    dtype: str = "float32"
    n_threads: int = 1
    options: dict[str, Any] = field(default_factory=dict)

    def training(
        self, rows: csr_array, weights: Weights, points: ArrayLike | None
    ) -> tuple[Training, float]:
        """Set a training up, for sparse rows of mass 1; and return eps."""
        prior = Prior.of(rows, points, self.n_components, self.bin_weights)
        parameters = Parameters(prior, self.learned, self.dtype, self._arrays(rows))
        batches = Batches(
            rows,
            weights,
            parameters,
            self.smoothing,
            batch_size=self.batch_size,
            seed=self.seed,
            options={"n_jobs": self.n_threads, **self.options},
        )
        criterion: Criterion
        pull = self.pull
        if self.margins is None:
            criterion = SoftmaxCriterion(batches, temperature=self.temperature)
        else:
            n, searches = rows.shape[0], batches.searches
            criterion = MarginCriterion(
                np.empty((n, 0)), weights, *self.margins, searches=searches
            )
            pull *= batches.first_median()  # the unit of this criterion
        if pull > 0:
            criterion = PulledCriterion(criterion, parameters, pull)
        training = Training(criterion, parameters, self.settings)
        return training, batches.eps

    def _arrays(self, rows: csr_array) -> Arrays | None:
        """Return where parameters live: on the device, if mean positions are all.

        Plans and margins take them to the processor in any case.
        """
        device, precision = self.options.get("device"), np.dtype(self.dtype)
        is_mean = self.smoothing > LARGEST_SMOOTHING[precision]
        if device is None or not is_mean or self.margins is not None:
            return None
        arrays = find_arrays(rows, device, precision)
        if "mps" in str(arrays.device):
            raise ValueError(
                "device is 'mps', which has no sparse products; from a prior with an "
                "infinite smoothing, choose 'cpu' or 'cuda'."
            )
        return arrays


class State(NamedTuple):
    """Weights and positions of the bins, and the smoothing.

    Attributes
    ----------
    log_weights : ndarray of shape (d,)
        l.
    positions : ndarray of shape (d, r)
        a_p.
    eps : float
        In units of squared distances between positions; may be infinite.
    """

    log_weights: Floats
    positions: Floats
    eps: float

    @classmethod
    def of(cls, training: Training, eps: float) -> State:
        """Return what a training has learned so far, in double precision."""
        return cls.at(training.parameters, training._adam.theta, eps)

    @classmethod
    def at(cls, parameters: Parameters, theta: Floats, eps: float) -> State:
        """Return what parameters mean at a vector, in double precision."""
        return cls(
            to_numpy(parameters.log_weights(theta)).astype(np.float64),
            to_numpy(parameters.positions(theta)).astype(np.float64),
            eps,
        )

    @property
    def smoothing(self) -> float:
        """eps, relative to the mean cost between bins: that of sinkhorn_divergence."""
        centered = self.positions - self.positions.mean(axis=0)
        mean = 2 * float(np.square(centered).sum()) / len(centered)
        return self.eps / mean if mean > 0 else math.inf

    def divided(self, unit: float) -> State:
        """Divide all distances by a unit."""
        return State(
            self.log_weights, self.positions / math.sqrt(unit), self.eps / unit
        )

    def embed(self, rows: csr_array) -> Floats:
        """Mean positions of weighted histograms."""
        return embed(rows, self.log_weights, self.positions)

    def weigh(self, rows: csr_array) -> csr_array:
        """Weight the bins of histograms, and scale them to mass 1."""
        return weigh(rows, self.log_weights)

    def distances(
        self,
        left: csr_array,
        right: csr_array | None = None,
        **options: Any,
    ) -> Floats:
        """Distances between rows of mass 1."""
        if math.isinf(self.eps):
            options.pop("tol", None)  # nothing is iterated
            base = Embedded(self.embed(left if right is None else right), **options)
            return base.distances(None if right is None else self.embed(left))
        found = sinkhorn_divergence(
            self.weigh(left),
            None if right is None else self.weigh(right),
            metric="sqeuclidean",
            points=self.positions,
            smoothing=self.smoothing,
            **{"tol": TOL, **options},
        )
        return np.maximum(found, 0.0, out=found)

    def distances_to(
        self, base: csr_array, **options: Any
    ) -> Callable[[csr_array], Floats]:
        """Make a function of rows at infinite smoothing; the base is embedded once."""
        points = Embedded(self.embed(base), **options)
        return lambda rows: points.distances(self.embed(rows))

    def nearest(
        self,
        base: csr_array,
        queries: csr_array,
        k: int,
        **options: Any,
    ) -> tuple[Floats, Indices]:
        """Return distances and indices of the k nearest rows; ties go to the first."""
        if math.isinf(self.eps):
            return nearest(self.embed(base), self.embed(queries), k)
        size = max(LEAST_QUERIES, BLOCK // (8 * base.shape[0]))
        parts = []
        for first in range(0, queries.shape[0], size):
            between = self.distances(queries[first : first + size], base, **options)
            chosen = np.argsort(between, axis=1, kind="stable")[:, :k]
            parts.append((np.take_along_axis(between, chosen, axis=1), chosen))
        distances, indices = zip(*parts, strict=True)
        return np.concatenate(distances), np.concatenate(indices)
