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

import csv
import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from ._cone import MetricProjector

if TYPE_CHECKING:
    import os

    from ._criterion import Criterion, Evaluation

Floats = NDArray[np.float64]


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


@dataclass(frozen=True)
class Step:
    """One evaluation of the dissimilar side, and the step that followed it."""

    outer: int
    inner: int
    criterion: float  # the convex bound; C_k itself where inner is 0
    similar: float  # S+, by its tangent
    dissimilar: float  # S-
    step_size: float
    n_solves: int
    n_pivots: int
    n_rounds: int  # of the projection
    seconds: float


class Path(Sequence[Step]):
    """The steps of a descent, in order."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self._steps = list(steps)

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, k: int) -> Step: ...
    @overload
    def __getitem__(self, k: slice) -> Path: ...
    def __getitem__(self, k: int | slice) -> Step | Path:
        return Path(self._steps[k]) if isinstance(k, slice) else self._steps[k]

    def __repr__(self) -> str:
        return f"Path of {len(self)} steps"

    def column(self, name: str) -> Floats:
        """One quantity over all steps."""
        return np.array([getattr(step, name) for step in self._steps], dtype=float)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each step, with a header."""
        with FilePath(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(field.name for field in fields(Step))
            writer.writerows(astuple(step) for step in self._steps)


# Called after every step; a true answer ends the descent.
Callback = Callable[[Step], object]


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended, and how it got there."""

    metric: Floats
    path: Path
    converged: bool  # progress became too little; False if a limit or callback ended it


def descend(
    criterion: Criterion,
    metric: Floats,
    settings: Settings,
    *,
    n_threads: int = 1,
    callback: Callback | None = None,
) -> Descent:
    """Algorithm 2, from a metric in the unit ball."""
    run = _Run(criterion, metric, settings, n_threads, callback)
    for outer in range(settings.max_outer):
        run.inner_loop(outer)
        if run.is_over or run.outer_progress_is_little():
            break
    return Descent(run.result(), Path(run.steps), run.converged)


class _Run:
    """The state of a descent."""

    def __init__(
        self,
        criterion: Criterion,
        metric: Floats,
        settings: Settings,
        n_threads: int,
        callback: Callback | None,
    ) -> None:
        self.criterion = criterion
        self.settings = settings
        self.callback = callback
        self.metric = self.best_metric = metric
        self.best_value = np.inf
        self.outer_values: list[float] = []
        self.steps: list[Step] = []
        self.is_over = self.converged = False
        self.projector = MetricProjector(len(metric), n_jobs=n_threads)
        self.start = time.perf_counter()

    def inner_loop(self, outer: int) -> None:
        """Lower the convex bound at the current metric."""
        settings, tangent = self.settings, self.metric
        plus = self.criterion.similar.evaluate(tangent)
        bests: list[float] = []
        for inner in range(settings.max_inner):
            minus = self.criterion.dissimilar.evaluate(self.metric)
            similar = plus.value + float(
                (plus.gradient * (self.metric - tangent)).sum()
            )
            value = similar + minus.value
            if inner == 0:
                self.outer_values.append(value)
            if value < self.best_value:
                self.best_value, self.best_metric = value, self.metric
            bests.append(min([value, *bests[-1:]]))
            self.take_step(outer, inner, plus, minus, similar)
            if self.is_over or (
                inner + 1 >= settings.least_steps(outer) and self.is_little(bests)
            ):
                break

    def take_step(
        self,
        outer: int,
        inner: int,
        plus: Evaluation,
        minus: Evaluation,
        similar: float,
    ) -> None:
        """Move against the subgradient, project, and record."""
        gradient = plus.gradient + minus.gradient
        length = np.sqrt(np.square(gradient).sum())
        size = np.sqrt(np.square(self.metric).sum())
        relative = self.settings.step_size / np.sqrt(len(self.steps) + 1)
        n_rounds = 0
        if length == 0:  # nothing to gain anywhere near
            self.is_over = self.converged = True
        else:
            step = relative * size / length
            projection = self.projector.project(
                self.metric - step * gradient, radius=1.0
            )
            self.metric, n_rounds = projection.metric, projection.n_iter
        record = Step(
            outer, inner, similar + minus.value, similar, minus.value, float(relative),
            minus.n_solves, minus.n_pivots, n_rounds, time.perf_counter() - self.start,
        )  # fmt: skip
        self.steps.append(record)
        if self.callback is not None and self.callback(record):
            self.is_over = True

    def is_little(self, bests: list[float]) -> bool:
        """Whether the last steps gained too little."""
        window = self.settings.window
        if len(bests) <= window:
            return False
        before, now = bests[-1 - window], bests[-1]
        return before - now <= self.settings.tol * abs(before)

    def outer_progress_is_little(self) -> bool:
        """Whether the last outer step gained too little."""
        if len(self.outer_values) < 2:  # noqa: PLR2004 - two make a difference
            return False
        before, now = self.outer_values[-2:]
        self.converged = before - now <= self.settings.tol * abs(before)
        return self.converged

    def result(self) -> Floats:
        """Best or last metric."""
        return self.best_metric if self.settings.return_best else self.metric
