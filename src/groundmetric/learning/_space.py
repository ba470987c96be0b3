"""The set in which metrics lie, and how a step moves in it.

The descent knows a criterion and its subgradient G in the metric. A step against G
depends on the set of metrics: any matrix in the cone, with the projection of
section 4.2 of the paper, or squared distances between points that move.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..cone._projection import MetricProjector
from ..cone._triangle import closure

if TYPE_CHECKING:
    from .._files import Arrays

Floats = NDArray[np.float64]

UNIT = 1 - 1e-9  # a norm that rounding explains


class Moved(NamedTuple):
    """Outcome of a step.

    Attributes
    ----------
    violation : float
        Largest violation of a triangle inequality that the projection had to repair
        at its end.
    n_sweeps : int
        Passes of the projection.
    is_exact : bool
        Whether the projection converged.
    is_stuck : bool
        Whether no step could be taken.
    """

    violation: float = 0.0
    n_sweeps: int = 0
    is_exact: bool = True
    is_stuck: bool = False


class Space(Protocol):
    """A point in a set of metrics."""

    @property
    def metric(self) -> Floats:
        """The metric of this point."""

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Step against a subgradient in the metric, relative to both norms."""

    def tidied(self, metric: Floats) -> Floats:
        """Repair what rounding did to a mean of metrics of this set."""

    def require(self, metric: Floats, name: str) -> None:
        """Reject a matrix that is not in the set."""

    def state(self) -> Arrays:
        """Return all that the next steps depend on."""

    def set_state(self, state: Arrays) -> None:
        """Continue from there."""


class MetricCone:
    """The metrics of at most unit norm, from one of them on."""

    def __init__(self, metric: Floats, *, n_threads: int = 1) -> None:
        self.metric = metric
        self._projector = MetricProjector(len(metric), n_jobs=n_threads)
        self._threads = n_threads

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Go t0 / sqrt(t) |M| / |G| against G, then to the nearest metric."""
        length, size = norm(gradient), norm(self.metric)
        projection = self._projector.project(
            self.metric - (step_size * size / length) * gradient, radius=1.0
        )
        length = norm(projection.metric)
        if length >= UNIT:
            self.metric = projection.metric
        elif length > 0:
            # Where the criterion is positive, steps shorten the metric. It is
            # homogeneous, and so is the step: only the direction counts.
            self.metric = closure(projection.metric / length, self._threads)
        return Moved(
            projection.violation,
            projection.n_sweeps,
            is_exact=projection.converged,
            is_stuck=length == 0,  # every metric is worse than none
        )

    def tidied(self, metric: Floats) -> Floats:
        """Restore triangle inequalities."""
        return closure(metric, self._threads)

    def require(self, metric: Floats, name: str) -> None:
        """Reject what is not a metric."""
        validation.as_cost(metric, len(self.metric), name)
        validation.require_metric(metric, name)

    def state(self) -> Arrays:
        """Return the metric, and the triangles at work."""
        return {"metric": self.metric, **self._projector._state()}

    def set_state(self, state: Arrays) -> None:
        """Continue from there."""
        state = dict(state)
        metric = state.pop("metric")
        self.require(metric, "metric")
        self._projector._set_state(state)
        self.metric = metric


def norm(matrix: Floats) -> float:
    """Frobenius norm, of any size; without BLAS, whose threads take long to wake up."""
    largest = float(np.abs(matrix).max())
    return largest * math.sqrt(np.square(matrix / (largest or 1.0)).sum())
