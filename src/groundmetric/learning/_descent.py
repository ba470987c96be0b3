r"""Projected subgradient descent (section 4 and Algorithm 2 of the paper).

Criteria are differences of convex functions. For C_k the outer loop replaces the
concave part by its tangent at the current metric,

.. math:: C_k(M) \le S^-_k(M) + S^+_k(M_p) + \langle \nabla_+, M - M_p \rangle,

and the inner loop lowers this convex bound by steps along subgradients, each followed
by the projection onto the metrics in the unit ball. Slips of the paper's text are
implemented as they are meant: the loops run *while* p < p_max and progress is
sufficient (it says "until"), and z_out is the value of the bound at q = 0, after it is
set. Margins have nothing linearized: each step follows the difference of a subgradient
of either convex function, and the criterion may rise.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ._path import DescentPath, DescentStep
from ._space import Moved, norm

if TYPE_CHECKING:
    from .._files import Arrays
    from ._criterion import Criterion, Evaluation
    from ._space import Space

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """Limits and step sizes of a descent; defaults are the paper's.

    Its step t0 = 0.1 presumes that metric and subgradient have comparable norms; the
    step here is relative to both, t0 / sqrt(t) * |M| / |G|. The next outer step starts
    from the last metric of the one before. The result is the mean of the metrics of all
    steps (single steps zigzag between tied plans, and their mean does not), the metric
    with the smallest bound on the criterion, or the last one.
    """

    step_size: float = 0.1
    max_outer: int = 8
    max_inner: int = 200
    tol: float = 0.0075  # progress that is too little, relatively, in `window` steps
    window: int = 6
    min_inner: int = 50
    shrink: float = 0.8
    floor: float = 0.0  # share of the first value at which there is enough progress
    result: str = "best"  # or "average", "last"
    criterion: str = "neighborhood"  # or "margin": what to lower
    is_sampled: bool = False  # evaluations are of samples: zero does not end it
    cap: float | None = None  # of entries, times their root mean square

    def least_steps(self, outer: int) -> int:
        """Count the steps of an inner loop that progress cannot end."""
        least = math.ceil(round(self.min_inner * self.shrink**outer, 6))
        return min(self.max_inner, max(least, self.window + 1))

    @property
    def most_steps(self) -> int:
        """Count the steps if progress ends no loop."""
        return self.max_outer * self.max_inner

    @property
    def usual_steps(self) -> int:
        """Count the steps if progress ends inner loops as soon as it can."""
        return sum(self.least_steps(outer) for outer in range(self.max_outer))

    def is_little(self, before: float, now: float) -> bool:
        """Return whether this is too little progress."""
        return not self.is_sampled and before - now <= self.tol * abs(before)


# Called with the descent after every step; a true answer ends it.
Observer = Callable[["Descent"], object]


class Descent:
    """Algorithm 2, from a point of a space of metrics, and where it stands.

    Attributes
    ----------
    space : Space
        Where it stands.
    path : DescentPath
        A row for each step.
    converged : bool
        Progress fell below tol.
    n_inexact : int
        Projections that have not converged.
    """

    def __init__(self, criterion: Criterion, space: Space, settings: Settings) -> None:
        self.criterion = criterion
        self.space = space
        self.settings = settings
        self._best = self._tangent = space.metric
        self._sum = np.zeros_like(self.metric)  # of the metrics after each step
        self._slope, self._level = np.zeros_like(self.metric), 0.0  # of the tangent
        self._best_value = np.inf
        self._outer = self._inner = 0  # p and q
        self.path = DescentPath()
        self.converged = self._is_stuck = False  # stuck: no step can be taken
        self.n_inexact = 0
        self._start = time.perf_counter()

    def run(self, observers: Sequence[Observer] = ()) -> None:
        """Go on to the end, or until an observer says so."""
        settings = self.settings
        while self._outer < settings.max_outer and not self._is_over:
            while self._inner < settings.max_inner and not self._inner_is_little():
                work = [self._linearize()] if self._inner == 0 else []
                value, gradient = self._evaluate_bound(work)
                if value < self._best_value:
                    self._best_value, self._best = value, self.metric
                if self._is_enough(value):
                    gradient = np.zeros_like(gradient)
                self._step(gradient, work)
                self._inner += 1
                answers = [observer(self) for observer in observers]  # all see it
                if any(answers) or self._is_over:
                    return
            self.converged = self._outer_is_little()
            self._outer, self._inner = self._outer + 1, 0

    @property
    def metric(self) -> Floats:
        """The metric where it stands."""
        return self.space.metric

    @property
    def _is_over(self) -> bool:
        return self.converged or self._is_stuck

    @property
    def result(self) -> Floats:
        """The metric to return, if this were the end."""
        if self.settings.result == "average" and len(self.path) > 0:
            return self.space.tidied(self._sum / len(self.path))
        return self._best if self.settings.result == "best" else self.metric

    @property
    def hit_limit(self) -> bool:
        """Whether there were no more steps to take."""
        return self._outer >= self.settings.max_outer and not self.converged

    def _linearize(self) -> Evaluation:
        """Replace the concave part of C_k by its tangent at the current metric."""
        concave = self.criterion.linearize(self.metric)
        self._tangent = self.metric
        self._slope, self._level = concave.gradient, concave.value
        return concave

    def _evaluate_bound(self, work: list[Evaluation]) -> tuple[float, Floats]:
        """Add the tangent and the rest of the criterion; append the latter to work."""
        rest = self.criterion.evaluate(self.metric)
        self.n_inexact += rest.n_inexact
        work.append(rest)
        moved = self.metric - self._tangent
        self._parts = self._level + float((self._slope * moved).sum()), rest.value
        return sum(self._parts), self._slope + rest.gradient

    def _step(self, gradient: Floats, work: list[Evaluation]) -> None:
        """Move against the subgradient, and record."""
        step_size = self.settings.step_size / math.sqrt(len(self.path) + 1)
        if norm(gradient) > 0:
            moved = self.space.move(gradient, step_size)
            self._is_stuck = moved.is_stuck
            self.n_inexact += not moved.is_exact
        else:  # nothing to gain anywhere near
            moved = Moved()
            self._is_stuck = self.converged = not self.settings.is_sampled
        self._sum = self._sum + self.metric
        similar, dissimilar = self._parts
        self.path.append(
            DescentStep(
                outer=self._outer,
                inner=self._inner,
                criterion=similar + dissimilar,
                similar=similar,
                dissimilar=dissimilar,
                step_size=step_size,
                violation=moved.violation,
                n_triplets=sum(part.n_triplets for part in work),
                n_clear=sum(part.n_clear for part in work),
                n_solves=sum(part.n_solves for part in work),
                n_stopped=sum(part.n_stopped for part in work),
                n_bounded=sum(part.n_bounded for part in work),
                n_pivots=sum(part.n_pivots for part in work),
                n_sweeps=moved.n_sweeps,
                seconds=time.perf_counter() - self._start,
            )
        )

    def ignore_floor(self) -> None:
        """Go on however small the criterion is."""
        self.settings = replace(self.settings, floor=0.0)

    def _is_enough(self, value: float) -> bool:
        """Return whether a criterion that is never negative is near enough to zero."""
        floor = self.settings.floor
        return (
            floor > 0
            and len(self.path) > 0
            and (0 <= value <= floor * self.path[0].criterion)
        )

    def _inner_is_little(self) -> bool:
        """Return whether the bound has made too little progress in this inner loop."""
        settings = self.settings
        if self._inner < settings.least_steps(self._outer):
            return False
        values = self.path[-self._inner :].column("criterion")
        return settings.is_little(values[: -settings.window].min(), values.min())

    def _outer_is_little(self) -> bool:
        """Return whether the criterion has made too little progress.

        At the first step of an outer step the bound is the criterion itself. Compare it
        with the one before; or, if inner loops are shorter than the window, with the
        one that many outer steps before, since single steps may go up.
        """
        times = np.flatnonzero(self.path.column("inner") == 0)
        values = self.path.column("criterion")[times]
        old = times <= times[-1] - self.settings.window
        before, now = values[old], values[~old]
        return before.size > 0 and self.settings.is_little(before.min(), now.min())

    def follow(self, path: DescentPath) -> None:
        """Count the steps that led here as steps of this descent."""
        self.path = path[:]
        self._outer = len(path)
        self.settings = replace(self.settings, max_outer=len(path) + 1)
        self._start -= path[-1].seconds if path else 0.0

    def state(self) -> Arrays:
        """Return all that the next steps depend on."""
        parts = {"space": self.space.state(), "criterion": self.criterion.state()}
        return {
            "best": self._best,
            "sum": self._sum,
            "tangent": self._tangent,
            "slope": self._slope,
            "values": np.array([self._level, self._best_value]),
            "position": np.array([self._outer, self._inner]),
            "over": np.array([self.converged, self._is_stuck]),
            "n_inexact": np.array(self.n_inexact),
            "path": self.path.to_array(),
            **{
                f"{name}.{key}": array
                for name, part in parts.items()
                for key, array in part.items()
            },
        }

    def set_state(self, state: Arrays) -> None:
        """Continue from there; a state that cannot be one is rejected."""
        for name in ("best", "tangent"):
            self.space.require(state[name], name)
        self._best, self._tangent = state["best"], state["tangent"]
        self._slope, self._sum = (
            self._like(state[name], name) for name in ("slope", "sum")
        )
        self._level, self._best_value = state["values"].tolist()
        self._outer, self._inner = state["position"].tolist()
        self.converged, self._is_stuck = state["over"].tolist()
        self.n_inexact = int(state["n_inexact"])
        self.path = DescentPath.from_array(state["path"])
        limits = self.settings.max_outer, self.settings.max_inner
        if not (0 <= self._outer < limits[0] and 0 <= self._inner <= limits[1]):
            raise ValueError(f"step {self._outer}, {self._inner} is out of range")
        self._start -= self.path[-1].seconds
        self.space.set_state(_part("space", state))
        self.criterion.set_state(_part("criterion", state))

    def _like(self, array: Floats, name: str) -> Floats:
        """Reject an array of another shape than metrics have, or with odd entries."""
        array = validation.as_float_array(array, name, self.metric.ndim)
        if array.shape != self.metric.shape:
            raise ValueError(f"{name} has shape {array.shape}")
        validation.require_finite(array, name)
        return array


def _part(name: str, arrays: Arrays) -> Arrays:
    prefix = f"{name}."
    return {
        key.removeprefix(prefix): value
        for key, value in arrays.items()
        if key.startswith(prefix)
    }
