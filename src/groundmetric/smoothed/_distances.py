"""Smoothed distances of all pairs of some histograms, and their gradients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base._arrays import full_device_in_words
from ._batch import MAX_ITER, SinkhornBatch, warn_of_errors
from ._costs import CostsOfBins
from ._problems import DenseProblems
from ._supports import SPARSE, SparseProblems

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

TOL = 1e-3  # marginal error; that of distances is of the order of its square
# Potentials, d numbers a pair, are kept in this many bytes until the gradient is known;
# other pairs are solved again for it.
KEPT_BYTES = {"processor": 2**30, "device": 2**32}


class DenseDivergences:
    """Sinkhorn divergences of all pairs of some histograms, for one metric at a time.

    Attributes
    ----------
    distances : ndarray of shape (n, n)
        Those of the last metric.
    n_inexact : int
        How many of them have not converged.
    """

    def __init__(self, X: Floats, smoothing: float, options: dict[str, Any]) -> None:
        self._smoothing = smoothing
        self._n = len(X)
        place = "processor" if _is_on_processor(options) else "device"
        pairs = np.column_stack(np.triu_indices(self._n, 1))
        self._batch = SinkhornBatch(
            X, pairs, tol=TOL, max_bytes=KEPT_BYTES[place], **options
        )

    def solve(self, metric: Floats) -> None:
        """Compute the distances."""
        self._solution = self._batch.solve(metric, self._smoothing)
        self.n_inexact = int(np.count_nonzero(~self._solution.converged))
        self.distances = np.zeros((self._n, self._n))
        i, j = self._batch.pairs.T
        self.distances[i, j] = self.distances[j, i] = self._solution.values

    def gradient(self, i: Indices, j: Indices, weights: Floats) -> Floats:
        """Gradient of the sum of weighted distances in the metric."""
        G = self._solution.plan_sum(_by_pair(i, j, weights, self._n))
        return symmetric(G)


class SparseDivergences:
    """The same for sparse histograms, each pair on its supports."""

    def __init__(self, X: csr_array, smoothing: float, options: dict[str, Any]) -> None:
        self._smoothing = smoothing
        self._problems = SparseProblems(X, None, tol=TOL, max_iter=MAX_ITER, **options)
        self._pairs = np.column_stack(np.triu_indices(len(self._problems), 1))

    def solve(self, metric: Floats) -> None:
        """Compute the distances."""
        self._metric, self._unit = metric, float(metric.mean()) or 1.0
        costs = CostsOfBins(lambda p, q: metric[np.ix_(p, q)], float(metric.mean()))
        self._solver = self._problems.solver(costs, self._smoothing)
        found = self._solver(self._pairs)
        off = ~(found.error <= self._problems.tol)
        self.n_inexact = int(np.count_nonzero(off))
        warn_of_errors(self.n_inexact, np.max(found.error, initial=0), self._problems)
        n = len(self._problems)
        self.distances = np.zeros((n, n))
        i, j = self._pairs.T
        self.distances[i, j] = self.distances[j, i] = found.values * self._unit

    def gradient(self, i: Indices, j: Indices, weights: Floats) -> Floats:
        """Gradient of the sum of weighted distances; eps follows the metric."""
        w = _by_pair(i, j, weights, len(self._problems))
        G = self._solver.plan_sum(self._pairs, w)
        total = w @ self.distances[tuple(self._pairs.T)]
        G += (total - np.vdot(self._metric, G)) / (self._metric.sum() or 1.0)
        return symmetric(G)


class Energies:
    """The same for infinite smoothing: a few products of whole matrices."""

    n_inexact = 0

    def __init__(self, X: Floats, options: dict[str, Any]) -> None:
        self._problems = DenseProblems(X, None, tol=None, max_iter=1, **options)

    def solve(self, metric: Floats) -> None:
        """-(r - c)' M (r - c) / 2, multiplied out."""
        arrays, rows = self._problems.arrays, self._problems.rows
        multiply = self._problems.product
        with self._in_words():
            products = arrays.get(multiply(multiply(rows, arrays.put(metric)), rows.T))
        own = np.diag(products)
        between = (products + products.T - own[:, None] - own) / 2
        self.distances = np.maximum(between, 0.0)

    def gradient(self, i: Indices, j: Indices, weights: Floats) -> Floats:
        """Sum of -(r - c) (r - c)' / 2, weighted, multiplied out."""
        arrays, rows = self._problems.arrays, self._problems.rows
        n = len(self._problems)
        W: Floats = np.zeros((n, n))
        np.add.at(W, (i, j), weights / 2)
        W += W.T
        np.fill_diagonal(W, -W.sum(axis=1))  # nothing is paired with itself
        multiply = self._problems.product
        with self._in_words():
            gradient: Floats = arrays.get(
                multiply(rows.T, multiply(arrays.put(W), rows))
            )
        return symmetric(gradient)

    def _in_words(self) -> AbstractContextManager[None]:
        n = len(self._problems)
        return full_device_in_words(n * (n - 1) // 2, self._problems.d)


Distances = DenseDivergences | SparseDivergences | Energies


def distances_of(X: Floats, smoothing: float, options: dict[str, Any]) -> Distances:
    """Choose how to compute the distances of histograms of mass 1.

    Devices are better at products of whole matrices.
    """
    if math.isinf(smoothing):
        return Energies(X, options)
    if _is_on_processor(options) and are_sparse_enough(X):
        return SparseDivergences(csr_array(X), smoothing, options)
    return DenseDivergences(X, smoothing, options)


def are_sparse_enough(X: Floats) -> bool:
    """Return whether solving on supports takes less than on all bins."""
    return SPARSE * int(np.count_nonzero(X)) <= X.size


def _is_on_processor(options: dict[str, Any]) -> bool:
    return options["device"] in {None, "cpu"}


def symmetric(G: Floats) -> Floats:
    """Make a gradient symmetric, as costs are, without diagonal."""
    gradient: Floats = (G + G.T) / 2
    np.fill_diagonal(gradient, 0.0)
    return gradient


def _by_pair(i: Indices, j: Indices, weights: Floats, n: int) -> Floats:
    """Sum up weights for each pair above the diagonal, row by row."""
    first, second = np.minimum(i, j), np.maximum(i, j)
    place = first * n - first * (first + 1) // 2 + second - first - 1
    return np.bincount(place, weights, n * (n - 1) // 2).astype(float)
