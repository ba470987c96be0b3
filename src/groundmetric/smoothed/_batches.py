"""Batches of sparse histograms and their distances, for criteria on a prior's state.

A softmax takes all distances of a batch, margins search for near pairs in it
(``_search.py``). Both see parameters as one flat vector, and an evaluation depends on
this vector and on the batch alone.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..base._arrays import to_numpy
from ..learning._batches import Draws
from ..learning._checkpoint import identify
from ..similarity._weights import LabelWeights
from ._batch import LARGEST_SMOOTHING, MAX_ITER
from ._means import MeanDistances
from ._plans import PlanDistances
from ._search import SmoothedPairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from scipy.sparse import csr_array

    from .. import _files
    from ..base._arrays import Array, Arrays
    from ..learning._parameters import Parameters
    from ..similarity._weights import Weights

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]

TOL = 1e-3  # marginal error; that of distances is of the order of its square
# Histograms whose median distance is the unit of the temperature.
MEASURED_BY = 256
OPTIONS = {"tol": TOL, "max_iter": MAX_ITER, "n_jobs": None, "device": None}


class BatchDistances(Protocol):
    """Distances of a batch at a vector of parameters, and their gradient."""

    distances: Array
    n_inexact: int

    def solve(self, theta: Array) -> None:
        """Compute the distances, (n, n)."""

    def gradient(self, weights: Array) -> Array:
        """Gradient of the weighted sum of distances, in the flat vector."""


class Batches(SmoothedPairs):
    """One batch of histograms after another.

    Parameters
    ----------
    rows : csr_array of shape (n, d)
        Histograms of mass 1.
    weights : Weights
        Weights of pairs; those of weight zero do not count.
    parameters : Parameters
        What is learned.
    smoothing : float
        Above 0; may be infinite. eps is this times the mean squared distance between
        bins at the start.
    batch_size : int, optional
        Histograms in a batch; all of them if None.
    seed : int
        Draws the batches, and the histograms of :meth:`first_median`.
    options : dict, optional
        tol, max_iter, n_jobs and device of a finite smoothing.
    """

    def __init__(
        self,
        rows: csr_array,
        weights: Weights,
        parameters: Parameters,
        smoothing: float = math.inf,
        *,
        batch_size: int | None = None,
        seed: int = 0,
        options: dict[str, Any] | None = None,
    ) -> None:
        n = rows.shape[0]
        self.rows, self.weights, self.parameters = rows, weights, parameters
        self._smoothing = smoothing
        self._options = {**OPTIONS, **(options or {}), "dtype": parameters.dtype.name}
        self._seed = seed
        self.draws = Draws(n, n if batch_size is None else batch_size, seed)
        self._is_whole = self.draws.size == n
        self._all = np.arange(n)
        self._last: tuple[BatchDistances, Indices] | None = None

    @property
    def arrays(self) -> Arrays:
        """Where distances of a batch are: with the parameters."""
        return self.parameters.arrays

    @property
    def eps(self) -> float:
        """The smoothing, in units of squared distances; infinite above a limit."""
        if self._smoothing > LARGEST_SMOOTHING[self.parameters.dtype]:
            return math.inf
        a = to_numpy(self.parameters.positions(self.parameters.start)).astype(float)
        return self._smoothing * 2 * float(np.square(a - a.mean(axis=0)).sum() / len(a))

    def solver_of(self, members: Indices) -> BatchDistances:
        """Make what computes the distances of some histograms."""
        rows, eps = self.rows[members], self.eps
        if math.isinf(eps):
            return MeanDistances(rows, self.parameters)
        return PlanDistances(rows, self.parameters, eps, self._options)

    def next_solved(self, theta: Array) -> tuple[BatchDistances, Indices]:
        """Draw the next batch, and compute its distances."""
        if self._is_whole and self._last is not None:
            solver, members = self._last
        else:
            members = self._all if self._is_whole else self.draws.draw()
            solver = self.solver_of(members)
        solver.solve(theta)
        self._last = solver, members
        return solver, members

    def solved_for(self, metric: Floats, *, fresh: bool) -> tuple[Any, Indices]:
        """Distances of the next batch; otherwise those of the last one."""
        last = None if fresh else self._last
        solver, members = last or self.next_solved(metric)
        return _ByPair(solver), members

    def relative_weights(self, members: Indices) -> Callable[[slice], Array]:
        """Weights of pairs of a batch, some rows at a time.

        They are relative to the largest of their kind: 1 and -1, with labels.
        """
        points = self.points_of(members)
        if isinstance(self.weights, LabelWeights):
            classes = self.arrays.put(self.weights.classes[members])
            one = self.arrays.put(np.ones(1))

            def of_labels(rows: slice) -> Array:
                same = classes[rows, None] == classes
                signs = self.arrays.xp.where(same, one, -one)
                return signs if points is None else signs * points

            return of_labels
        near, far = (
            self.weights.largest(similar=kind) or 1.0 for kind in (True, False)
        )
        dtype = self.parameters.dtype

        def of(rows: slice) -> Array:
            omega = self.weights.of(members[rows, None], members).astype(dtype)
            omega *= np.where(omega > 0, dtype.type(1 / near), dtype.type(1 / far))
            found = self.arrays.put(omega)
            return found if points is None else found * points

        return of

    def points_of(self, members: Indices) -> Array | None:
        """Weights of the histograms of a batch, if they differ."""
        points = self.weights.points
        return None if points is None else self.arrays.put(points[members])

    def first_median(self) -> float:
        """Median distance of some histograms at the start; 1 if all are equal."""
        n = len(self._all)
        some = np.random.default_rng(self._seed).permutation(n)[:MEASURED_BY]
        solver = self.solver_of(np.sort(some))
        solver.solve(self.parameters.start)
        distances = self.arrays.get(solver.distances)
        values = distances[np.triu_indices(len(some), 1)]
        positive = values[values > 0]
        median = float(np.median(values)) if len(values) else 0.0
        if median > 0:
            return median
        return float(np.median(positive)) if len(positive) else 1.0

    def identity(self) -> Iterator[Any]:
        """Return what distances depend on, but for histograms and weights."""
        yield f"smoothed {self._smoothing} {self.draws.size} {self._options['tol']}"
        for part in self.parameters.identity():
            yield part if isinstance(part, str) else identify(part)

    def state(self) -> _files.Arrays:
        """Return where the draws are."""
        return self.draws.state()

    def set_state(self, state: _files.Arrays) -> None:
        """Continue these draws."""
        self.draws.set_state(state)
        self._last = None


class _ByPair:
    """Distances whose gradient takes a list of pairs."""

    def __init__(self, solver: BatchDistances) -> None:
        self._solver = solver
        self.distances, self.n_inexact = solver.distances, solver.n_inexact

    def gradient(self, i: Indices, j: Indices, weights: Floats) -> Array:
        W = np.zeros_like(self.distances)
        np.add.at(W, (i, j), weights)
        return self._solver.gradient(W)
