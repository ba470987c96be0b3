r"""Projected subgradient descent on C_k (section 4 and Algorithm 2 of the paper).

The outer loop replaces the concave side by its tangent at the current metric,

.. math:: C_k(M) \le S^-_k(M) + S^+_k(M_p) + \langle \nabla_+, M - M_p \rangle,

and the inner loop lowers this convex bound by steps along subgradients, each followed
by the projection onto the metrics in the unit ball. Slips of the paper's text are
implemented as they are meant: the loops run *while* p < p_max and progress is
sufficient (it says "until"), and z_out is the value of the bound at q = 0, after it is
set.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..cone._projection import MetricProjector
from ..cone._triangle import closure
from ._path import DescentPath, DescentStep

if TYPE_CHECKING:
    from .._files import Arrays
    from .._progress import Report
    from ._checkpoint import Checkpoint
    from ._criterion import Criterion, Evaluation

Floats = NDArray[np.float64]

UNIT = 1 - 1e-9  # a norm that rounding explains


@dataclass(frozen=True)
class Settings:
    """How far and how long to go; defaults are the paper's.

    Its step t0 = 0.1 presumes that metric and subgradient have comparable norms; the
    step here is relative to both, t0 / sqrt(t) * |M| / |G|. The next outer step starts
    from the last metric of the one before; what is returned in the end is the metric
    with the smallest bound on the criterion, or the last one.
    """

    step_size: float = 0.1
    max_outer: int = 8
    max_inner: int = 200
    tol: float = 0.0075  # progress that is too little, relatively, in `window` steps
    window: int = 6
    min_inner: int = 50
    shrink: float = 0.8
    return_best: bool = True

    def least_steps(self, outer: int) -> int:
        """Count the steps of an inner loop that progress cannot end."""
        return int(self.min_inner * self.shrink**outer)

    def is_little(self, before: float, now: float) -> bool:
        """Tell whether this is too little progress."""
        return before - now <= self.tol * abs(before)


# Called after every step; a true answer ends the descent.
Callback = Callable[[DescentStep], object]


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended, and how it got there."""

    metric: Floats
    path: DescentPath
    converged: bool  # progress became too little, and every projection was exact
    hit_limit: bool  # there were no more steps to take


def descend(
    criterion: Criterion,
    metric: Floats,
    settings: Settings,
    *,
    n_threads: int = 1,
    callback: Callback | None = None,
    checkpoint: Checkpoint | None = None,
) -> Descent:
    """Algorithm 2, from a metric in the unit ball."""
    run = _Run(criterion, metric, settings, n_threads)
    if checkpoint is not None:
        checkpoint.resume(run.set_state)
    with checkpoint or nullcontext():
        while not run.is_over:
            step = run.take_step()
            if callback is not None and callback(step):
                break
            if not run.is_over:
                run.end_inner_loop()
            if checkpoint is not None and not run.is_over:
                checkpoint.keep(run.state())  # takes a hundredth of a step
    best = run.best_metric if settings.return_best else run.metric
    hit_limit = run.outer >= settings.max_outer and not run.converged
    converged = run.converged and run.n_inexact == 0
    return Descent(best, run.path, converged, hit_limit)


def watched(
    callback: Callback | None, report: Report | None, settings: Settings
) -> Callback:
    """Show each step in the bar, then let the callback see it."""

    def after(step: DescentStep) -> object:
        if report is not None:
            # Outer steps that ended early count as if they had not.
            report(
                step.outer * settings.max_inner + step.inner + 1,
                criterion=step.criterion,
                violation=step.violation,
                step=step.step_size,
            )
        return callback is not None and callback(step)

    return after


class _Run:
    """The state of a descent."""

    def __init__(
        self, criterion: Criterion, metric: Floats, settings: Settings, n_threads: int
    ) -> None:
        self.criterion = criterion
        self.settings = settings
        self.n_threads = n_threads
        self.projector = MetricProjector(len(metric), n_jobs=n_threads)
        self.metric = self.best_metric = self.tangent = metric
        self.slope, self.level = np.zeros_like(metric), 0.0  # S+ at the tangent's point
        self.best_value = np.inf
        self.outer = self.inner = 0  # p and q
        self.path = DescentPath()
        self.is_over = self.converged = False
        self.n_inexact = 0  # projections that have not converged
        self.start = time.perf_counter()

    def linearize(self) -> Evaluation:
        """Replace S+ by its tangent at the current metric."""
        similar = self.criterion.similar.evaluate(self.metric)
        self.tangent, self.slope, self.level = (
            self.metric, similar.gradient, similar.value,
        )  # fmt: skip
        return similar

    def take_step(self) -> DescentStep:
        """Evaluate the bound, move against its subgradient, project, and record."""
        evaluations = [self.linearize()] if self.inner == 0 else []
        minus = self.criterion.dissimilar.evaluate(self.metric)
        evaluations.append(minus)
        similar = self.level + float((self.slope * (self.metric - self.tangent)).sum())
        value = similar + minus.value
        if value < self.best_value:
            self.best_value, self.best_metric = value, self.metric
        gradient = self.slope + minus.gradient
        step_size = self.settings.step_size / math.sqrt(len(self.path) + 1)
        violation, n_sweeps = self.move(gradient, step_size)
        step = DescentStep(
            outer=self.outer,
            inner=self.inner,
            criterion=value,
            similar=similar,
            dissimilar=minus.value,
            step_size=step_size,
            violation=violation,
            n_solves=sum(side.n_solves for side in evaluations),
            n_stopped=sum(side.n_stopped for side in evaluations),
            n_bounded=sum(side.n_bounded for side in evaluations),
            n_pivots=sum(side.n_pivots for side in evaluations),
            n_sweeps=n_sweeps,
            seconds=time.perf_counter() - self.start,
        )
        self.path.append(step)
        self.inner += 1
        return step

    def move(self, gradient: Floats, step_size: float) -> tuple[float, int]:
        """Go t0 / sqrt(t) |M| / |G| against G, then to the nearest metric."""
        length, size = _norm(gradient), _norm(self.metric)
        if length == 0:  # nothing to gain anywhere near
            self.is_over = self.converged = True
            return 0.0, 0
        projection = self.projector.project(
            self.metric - (step_size * size / length) * gradient, radius=1.0
        )
        self.n_inexact += not projection.converged
        norm = _norm(projection.metric)
        if norm == 0:  # every metric is worse than none
            self.is_over = True
        else:
            # Where the criterion is positive, steps shorten the metric. It is
            # homogeneous, and so is the step: only the direction counts.
            scaled = projection.metric / norm
            self.metric = (
                projection.metric if norm >= UNIT else closure(scaled, self.n_threads)
            )
        return projection.violation, projection.n_sweeps

    def end_inner_loop(self) -> None:
        """Go to the next outer step, or end, if the rules say so."""
        settings = self.settings
        values = self.path[-self.inner :].column("criterion")
        before = values[: -settings.window]
        little = (
            self.inner >= settings.least_steps(self.outer)
            and len(before) > 0
            and settings.is_little(before.min(), values.min())
        )
        if not little and self.inner < settings.max_inner:
            return
        self.converged = self.outer_is_little()
        self.outer, self.inner = self.outer + 1, 0
        self.is_over = self.converged or self.outer >= settings.max_outer

    def outer_is_little(self) -> bool:
        """Tell whether the criterion has made too little progress.

        At the first steps of outer steps the bound is the criterion itself. What counts
        is its progress since the outer step before; or, if inner loops are shorter than
        the window, since as many outer steps as fill it: single steps may go up.
        """
        times = np.flatnonzero(self.path.column("inner") == 0)
        values = self.path.column("criterion")[times]
        old = times <= times[-1] - self.settings.window
        before, now = values[old], values[~old]
        return before.size > 0 and self.settings.is_little(before.min(), now.min())

    def state(self) -> Arrays:
        """Return all that the next steps depend on."""
        return {
            "metric": self.metric,
            "best_metric": self.best_metric,
            "tangent": self.tangent,
            "slope": self.slope,
            "values": np.array([self.level, self.best_value]),
            "position": np.array([self.outer, self.inner]),
            "n_inexact": np.array(self.n_inexact),
            "path": self.path.to_array(),
            **_prefixed("projector", self.projector.state()),
            **_prefixed("similar", self.criterion.similar.state()),
            **_prefixed("dissimilar", self.criterion.dissimilar.state()),
        }

    def set_state(self, state: Arrays) -> None:
        """Go on from there; a state that cannot be one is refused."""
        d = len(self.metric)
        for name in ("metric", "best_metric", "tangent"):
            validation.as_cost(state[name], d, name)
            validation.require_metric(state[name], name)
        self.metric, self.best_metric = state["metric"], state["best_metric"]
        self.tangent = state["tangent"]
        self.slope = validation.as_cost(state["slope"], d, "slope")
        self.level, self.best_value = state["values"].tolist()
        self.outer, self.inner = state["position"].tolist()
        self.n_inexact = int(state["n_inexact"])
        self.path = DescentPath.from_array(state["path"])
        limits = self.settings.max_outer, self.settings.max_inner
        if not (0 <= self.outer < limits[0] and 0 <= self.inner < limits[1]):
            raise ValueError(f"step {self.outer}, {self.inner} is out of range")
        self.start -= self.path[-1].seconds
        self.projector.set_state(_part("projector", state))
        self.criterion.similar.set_state(_part("similar", state))
        self.criterion.dissimilar.set_state(_part("dissimilar", state))


def _norm(matrix: Floats) -> float:
    """Frobenius norm, of any size; without BLAS, whose threads take long to wake up."""
    largest = float(np.abs(matrix).max())
    return largest * math.sqrt(np.square(matrix / (largest or 1.0)).sum())


def _prefixed(name: str, arrays: Arrays) -> Arrays:
    return {f"{name}.{key}": value for key, value in arrays.items()}


def _part(name: str, arrays: Arrays) -> Arrays:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): value
        for key, value in arrays.items()
        if key.startswith(prefix)
    }
