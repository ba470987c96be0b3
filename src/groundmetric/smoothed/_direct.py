"""A learner's only step, where what to learn has a closed form.

It offers what a descent offers, so that learners, cross-validation and reports treat
both in the same way.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..base._blas import one_blas_thread
from ..learning._path import DescentPath, DescentStep
from ._training import TrainingSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ._prior import State


@dataclass(frozen=True)
class Found:
    """What the step finds.

    Attributes
    ----------
    state : State
        Weights and positions of the bins.
    criterion : float
        The value before the step of what the step makes least.
    """

    state: State
    criterion: float


class DirectStep:
    """From a first state to the best one.

    Parameters
    ----------
    first : State
        Where the bins are before.
    solve : callable
        Finds the best state.
    """

    converged = True
    n_inexact = 0
    settings = TrainingSettings(max_outer=1)

    def __init__(self, first: State, solve: Callable[[], Found]) -> None:
        self.first = self.result = first
        self._solve = solve
        self.path = DescentPath()

    @property
    def metric(self) -> NDArray[np.float64]:
        """Positions, where they stand."""
        return self.result.positions

    @property
    def hit_limit(self) -> bool:
        """Whether there is nothing left to do."""
        return len(self.path) > 0

    def run(self, observers: Sequence[Callable[[Any], object]] = ()) -> None:
        """Take the step, unless it has been taken."""
        if self.hit_limit:
            return
        start = time.perf_counter()
        with one_blas_thread():
            found = self._solve()
        self.result = found.state
        given: dict[str, Any] = dict.fromkeys(DescentStep.__dataclass_fields__, 0)
        given |= {"similar": 0.0, "step_size": 1.0, "violation": 0.0}
        given |= dict.fromkeys(("criterion", "dissimilar"), found.criterion)
        given["seconds"] = time.perf_counter() - start
        self.path.append(DescentStep(**given))
        for observer in observers:
            observer(self)

    def ignore_floor(self) -> None:
        """Take the step in any case, as always."""
