r"""Conic combinations of candidate metrics.

.. math:: M = \sum_k w_k M_k, \quad w \ge 0, \qquad
          \frac{\partial L}{\partial w_k} = \langle M_k, G \rangle

Metrics form a convex cone, so M is a metric whenever the candidates are, and a step
needs no projection. Weights take exponentiated steps, which keep them positive,

.. math:: w_k \leftarrow w_k \exp\left(-\frac{t_0}{\sqrt t}\,
          \frac{g_k - \bar g}{\max_j |g_j - \bar g|}\right), \qquad
          \bar g = \frac{\sum_k w_k g_k}{\sum_k w_k},

with candidates scaled to a mean of 1. Criteria are homogeneous: the mean slope only
changes the scale of M. G is a weighted sum of optimal plans, the subgradient that
criteria of metrics have.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..cone._triangle import closure
from ._checkpoint import identify
from ._space import Moved, norm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .._files import Arrays
    from ._criterion import Criterion, Evaluation

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

LEAST = 1e-12  # weight of a candidate, relative to the largest


class Candidates:
    """Metrics to combine.

    Attributes
    ----------
    metrics : ndarray of shape (n_candidates, d, d)
        Scaled to a mean of 1 over all pairs of bins.
    units : ndarray of shape (n_candidates,)
        The means before.
    used : ndarray of bool, of shape (n_given,)
        Which of the metrics and coordinates given are candidates: all of them, except
        coordinates that are constant.
    """

    def __init__(
        self, metrics: Floats, *, used: Mask | None = None, n_threads: int = 1
    ) -> None:
        self.used: Mask = np.ones(len(metrics), dtype=bool) if used is None else used
        self.units: Floats = metrics.mean(axis=(1, 2))
        self.metrics: Floats = metrics / self.units[:, None, None]
        self._threads = n_threads

    @classmethod
    def of(
        cls,
        metrics: Sequence[ArrayLike],
        points: ArrayLike | None,
        d: int,
        *,
        n_threads: int = 1,
    ) -> Candidates:
        """Validate metrics; points add those along each coordinate."""
        if isinstance(metrics, str) or not hasattr(metrics, "__len__"):
            raise ValueError(f"metrics is {metrics!r}; a list of metrics is needed.")
        found, used = [], [True] * len(metrics)
        for k, given in enumerate(metrics):
            name = f"metrics[{k}]"
            metric = validation.as_cost(given, d, name)
            validation.require_metric(metric, name)
            if not metric.any():
                raise ValueError(f"{name} is zero everywhere.")
            found.append(metric)
        if points is not None:
            coordinates = validation.as_coordinates(points, d)
            used += varying(coordinates).tolist()
            found += line_metrics(coordinates)
        if not used:
            raise ValueError("There are neither metrics nor points to combine.")
        if not found:
            raise ValueError("points are all the same.")
        return cls(np.stack(found), used=np.array(used), n_threads=n_threads)

    def __len__(self) -> int:
        return len(self.metrics)

    def combined(self, weights: Floats) -> Floats:
        """Return the sum of w_k M_k, with triangle inequalities that hold exactly."""
        return closure(np.tensordot(weights, self.metrics, axes=1), self._threads)

    def slopes(self, gradient: Floats) -> Floats:
        """Return <M_k, G> for each candidate."""
        found: Floats = np.tensordot(self.metrics, gradient, axes=2)
        return found

    def as_given(self, weights: Floats) -> Floats:
        """Return weights of what was given, before it was scaled; 0 if not used."""
        given = np.zeros(len(self.used))
        given[self.used] = weights / self.units
        return given


def varying(points: Floats) -> Mask:
    """Return which coordinates are not constant."""
    found: Mask = (points != points[0]).any(axis=0)
    return found


def line_metrics(points: Floats) -> list[Floats]:
    """Distances |x_ps - x_qs| along each coordinate s that is not constant."""
    return [np.abs(column[:, None] - column) for column in points.T[varying(points)]]


class ConicCombinations:
    """Weights of candidates, such that the combined metric has unit norm."""

    def __init__(self, candidates: Candidates, weights: Floats | None = None) -> None:
        self._candidates = candidates
        start = np.ones(len(candidates)) if weights is None else weights
        self.metric = self._scaled(start)

    def _scaled(self, weights: Floats) -> Floats:
        """Scale weights, none of them far below the others, to a metric of norm 1."""
        weights = np.maximum(weights, LEAST * weights.max())
        M = np.tensordot(weights, self._candidates.metrics, axes=1)
        scaled: Floats = weights / norm(M)
        return scaled

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Take an exponentiated step against the slopes of the candidates."""
        w = self.metric
        away = gradient - (w @ gradient) / w.sum()
        largest = float(np.abs(away).max())
        if largest == 0:
            return Moved(is_stuck=True)  # all candidates are equally good
        self.metric = self._scaled(w * np.exp(-step_size / largest * away))
        return Moved()

    def tidied(self, metric: Floats) -> Floats:
        """Scale a mean of weights."""
        return self._scaled(metric)

    def require(self, metric: Floats, name: str) -> None:
        """Reject what are not weights of these candidates."""
        w = validation.as_float_array(metric, name, 1)
        if w.shape != self.metric.shape:
            raise ValueError(f"{name} has shape {w.shape}")
        validation.require_finite(w, name)
        if (w < 0).any() or not w.any():
            raise ValueError(f"{name} has weights that are not positive")

    def state(self) -> Arrays:
        """Return the weights."""
        return {"weights": self.metric}

    def set_state(self, state: Arrays) -> None:
        """Continue from there."""
        self.require(state["weights"], "weights")
        self.metric = state["weights"]


class CombinedCriterion:
    """A criterion of metrics, as a function of the weights of candidates."""

    def __init__(self, criterion: Criterion, candidates: Candidates) -> None:
        self._criterion, self._candidates = criterion, candidates
        self._last: tuple[Floats, Floats] | None = None

    def _metric(self, weights: Floats) -> Floats:
        if self._last is None or not np.array_equal(self._last[0], weights):
            self._last = weights.copy(), self._candidates.combined(weights)
        return self._last[1]

    def _in_weights(self, found: Evaluation) -> Evaluation:
        return replace(found, gradient=self._candidates.slopes(found.gradient))

    def linearize(self, weights: Floats) -> Evaluation:
        """Evaluate the concave part."""
        return self._in_weights(self._criterion.linearize(self._metric(weights)))

    def evaluate(self, weights: Floats) -> Evaluation:
        """Evaluate the rest."""
        return self._in_weights(self._criterion.evaluate(self._metric(weights)))

    def identity(self) -> Iterator[Any]:
        """Return what the criterion depends on, but for the histograms."""
        yield f"combined {self._candidates.metrics.shape}"
        yield identify(self._candidates.metrics)
        yield from self._criterion.identity()

    def state(self) -> Arrays:
        """Return what evaluations leave behind for later ones."""
        return self._criterion.state()

    def set_state(self, state: Arrays) -> None:
        """Continue as the criterion that this state is of."""
        self._criterion.set_state(state)
