"""The descent of parameters that start from a prior: Adam on one batch after another.

It offers what the descent of Algorithm 2 offers (``learning/_descent.py``), so that
learners watch, checkpoint and store both in the same way; there are no outer and inner
steps, and no metric.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base._arrays import to_numpy
from ..base._blas import one_blas_thread
from ..learning._adam import Adam
from ..learning._path import DescentPath, DescentStep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .._files import Arrays
    from ..learning._criterion import Criterion, Evaluation
    from ..learning._parameters import Parameters

Floats = NDArray[Any]  # float32 or float64


@dataclass(frozen=True)
class TrainingSettings:
    """Limits and step sizes of a training.

    Attributes
    ----------
    max_outer : int
        Steps; their sizes fall to zero on the way.
    step_size : float
        First step of an entry of the map or of an offset, where points have a mean
        square length of 1.
    weight_factor : float
        First step of the logarithm of a weight, relative to this.
    """

    max_outer: int = 400
    step_size: float = 0.01
    weight_factor: float = 10.0
    max_inner: int = 1
    tol: float = 0.0


class Training:
    """Steps from a prior, and where they stand.

    Attributes
    ----------
    parameters : Parameters
        What is learned.
    path : DescentPath
        A row for each step.
    n_inexact : int
        Distances that have not converged.
    """

    converged = False  # all steps are taken

    def __init__(
        self,
        criterion: Criterion,
        parameters: Parameters,
        settings: TrainingSettings,
    ) -> None:
        self.criterion, self.parameters = criterion, parameters
        self.settings = settings
        rates = dict.fromkeys(parameters.slices, settings.step_size)
        if "weights" in rates:
            rates["weights"] *= settings.weight_factor
        self._adam = Adam(
            parameters.arrays.xp.asarray(parameters.start, copy=True),
            [(parameters.slices[name], rate) for name, rate in rates.items()],
            settings.max_outer,
            parameters.arrays,
        )
        self.path = DescentPath()
        self.n_inexact = 0
        self._start = time.perf_counter()

    @property
    def metric(self) -> Floats:
        """The flat vector, where it stands, on the processor."""
        theta: Floats = to_numpy(self._adam.theta)
        return theta

    @property
    def result(self) -> Floats:
        """The vector to return, if this were the end."""
        return np.array(self.metric)

    @property
    def hit_limit(self) -> bool:
        """Whether there are no more steps to take."""
        return len(self.path) >= self.settings.max_outer

    def run(self, observers: Sequence[Callable[[Training], object]] = ()) -> None:
        """Go on to the end, or until an observer says so."""
        with one_blas_thread():
            while not self.hit_limit:
                self._step()
                answers = [observer(self) for observer in observers]  # all see it
                if any(answers):
                    return

    def _step(self) -> None:
        found = self.criterion.evaluate(self._adam.theta)
        self.n_inexact += found.n_inexact
        step_size = self.settings.step_size * self._adam.share
        self._adam.move(found.gradient)
        self._record(found, step_size)

    def _record(self, found: Evaluation, step_size: float) -> None:
        self.path.append(
            DescentStep(
                outer=len(self.path),
                inner=0,
                criterion=found.value,
                similar=0.0,
                dissimilar=found.value,
                step_size=step_size,
                violation=0.0,
                n_triplets=found.n_triplets,
                n_clear=found.n_clear,
                n_solves=found.n_solves,
                n_stopped=0,
                n_bounded=0,
                n_pivots=0,
                n_sweeps=0,
                seconds=time.perf_counter() - self._start,
            )
        )

    def ignore_floor(self) -> None:
        """Take all steps, as always."""

    def state(self) -> Arrays:
        """Return all that the next steps depend on."""
        parts = {"adam": self._adam.state(), "criterion": self.criterion.state()}
        return {
            "path": self.path.to_array(),
            "n_inexact": np.array(self.n_inexact),
            **{
                f"{name}.{key}": array
                for name, part in parts.items()
                for key, array in part.items()
            },
        }

    def set_state(self, state: Arrays) -> None:
        """Continue from there; a state that cannot be one is rejected."""
        path = DescentPath.from_array(state["path"])
        if len(path) != int(state["adam.taken"]):
            raise ValueError("its path is not that of its steps")
        for name, part in (("criterion", self.criterion), ("adam", self._adam)):
            own = {
                key.removeprefix(f"{name}."): array
                for key, array in state.items()
                if key.startswith(f"{name}.")
            }
            part.set_state(own)
        self.path, self.n_inexact = path, int(state["n_inexact"])
        self._start = time.perf_counter() - (path[-1].seconds if path else 0.0)
