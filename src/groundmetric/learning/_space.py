"""The set in which metrics lie, and how a step moves in it.

The descent knows a criterion and its subgradient G in the metric. A step against G
depends on the set of metrics: any matrix in the cone, with the projection of
section 4.2 of the paper, or squared distances between points that move.

With a cap (section 8.2 of the paper), no entry is above c times the root mean square of
those off the diagonal, T = c / sqrt(d (d - 1)) for metrics of unit norm. Criteria are
homogeneous, so that only the direction of A = M - t G counts: of its multiples, take
the one whose projection onto the metrics with M_ij <= T has unit norm.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..cone._capped import stretched
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
    """The metrics of at most unit norm, from one of them on; or capped ones."""

    def __init__(
        self, metric: Floats, *, cap: float | None = None, n_threads: int = 1
    ) -> None:
        self.metric = metric
        self._cap = cap_of_unit_norm(cap, len(metric))
        self._projector = MetricProjector(len(metric), n_jobs=n_threads)
        self._threads = n_threads

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Go t0 / sqrt(t) |M| / |G| against G, then to the nearest metric."""
        length, size = norm(gradient), norm(self.metric)
        goal = self.metric - (step_size * size / length) * gradient
        if self._cap is None:
            projection = self._projector.project(goal, radius=1.0)
        else:
            projection = self._projector._project_to_norm(goal, self._cap, 1.0)
        length = norm(projection.metric)
        if length > 0 and self._cap is not None:
            self.metric = _lifted(projection.metric, self._cap, self._threads)
        elif length >= UNIT:
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
        """Restore triangle inequalities, and the norm that a cap belongs to."""
        if self._cap is not None:
            mean = stretched(metric, self._cap, 1.0, self._threads)
            return _lifted(mean, self._cap, self._threads)
        return closure(metric, self._threads)

    def require(self, metric: Floats, name: str) -> None:
        """Reject what is not a metric."""
        validation.as_cost(metric, len(self.metric), name)
        validation.require_metric(metric, name)
        if self._cap is not None and metric.max() > self._cap:
            raise ValueError(f"{name} has entries above the cap")

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


def as_cap(cap: float | None) -> float | None:
    """Validate the largest entry, relative to the root mean square."""
    if cap is None:
        return None
    if validation.as_positive_number(cap, "cap") <= 1:
        raise ValueError(
            f"cap is {validation.spelled(cap)}; a number above 1 is needed, because "
            "the largest entry is at least the root mean square."
        )
    return float(cap)


def cap_of_unit_norm(cap: float | None, d: int) -> float | None:
    """Return the largest entry of a metric of unit norm; None if there is no limit."""
    return None if cap is None or d == 1 else cap / math.sqrt(d * (d - 1))


def capped(metric: Floats, cap: float | None, n_threads: int) -> Floats:
    """Return a metric under the cap, the same if it is; else the nearest, scaled."""
    limit, size = cap_of_unit_norm(cap, len(metric)), norm(metric)
    if limit is None or metric.max() <= limit * size:
        return metric
    projector = MetricProjector(len(metric), n_jobs=n_threads)
    nearest = projector._project_to_norm(metric / size, limit, 1.0).metric
    return _lifted(nearest, limit, n_threads)


def _lifted(metric: Floats, cap: float, threads: int) -> Floats:
    """Give a metric under the cap unit norm.

    If its norm is less, M + b has the ratio T of largest entry and norm at the root of

        (d (d - 1) T^2 - 1) b^2 + 2 (T^2 sum(M) - max(M)) b = max(M)^2 - T^2 |M|^2.
    """
    size, largest, d = norm(metric), float(metric.max()), len(metric)
    if size >= UNIT:
        return metric
    square = d * (d - 1) * cap**2 - 1  # positive, as the cap is above the mean
    half = cap**2 * float(metric.sum()) - largest
    excess = (largest - cap * size) * (largest + cap * size)
    root = math.sqrt(half**2 + square * excess)
    b = (root - half) / square if half <= 0 else excess / (root + half)
    return stretched(metric + b * (1.0 - np.eye(d)), cap, 1.0, threads)


def norm(matrix: Floats) -> float:
    """Frobenius norm, of any size; without BLAS, whose threads take long to wake up."""
    largest = float(np.abs(matrix).max())
    return largest * math.sqrt(np.square(matrix / (largest or 1.0)).sum())
