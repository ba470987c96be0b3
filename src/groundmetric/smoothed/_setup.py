"""From a learner's parameters to a training from a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from .. import validation
from ..base._arrays import find_arrays
from ..learning._criteria import Softmax, as_criterion
from ..learning._parameters import PARTS, starting_weights
from ._effort import warn_of_training
from ._prior import PriorLearning, State
from ._training import Training, TrainingSettings

if TYPE_CHECKING:
    from ..similarity._weights import Weights
    from ._learner import PriorLearner


class StateTraining(Training):
    """A training whose result is the state of the bins."""

    def __init__(self, training: Training, eps: float) -> None:
        super().__init__(training.criterion, training.parameters, training.settings)
        self._eps = eps

    @property
    def first(self) -> State:
        """The state before the first step."""
        return State.at(self.parameters, self.parameters.start, self._eps)

    @property
    def result(self) -> Any:
        """The state learned so far."""
        return State.at(self.parameters, self._adam.theta, self._eps)


def training_of(learner: PriorLearner, rows: Any, weights: Weights) -> StateTraining:
    """Check the parameters, and set a training up for rows of mass 1."""
    rows = csr_array(rows)
    size = learner.batch_size
    if size is not None:
        size = validation.as_count(size, "batch_size", low=2)
    given = "float32" if learner.dtype is None else learner.dtype
    dtype = validation.as_precision(given)
    if learner.device is not None:
        find_arrays(rows, learner.device, np.dtype(dtype))
    goal = _goal_of(learner, weights)
    learning = PriorLearning(
        smoothing=learner.smoothing_,
        n_components=learner.n_components,
        bin_weights=starting_weights(learner.bin_weights, rows),
        learned=PARTS if learner.bin_weights is not None else PARTS[1:],
        batch_size=size,
        seed=_seed_of(learner.random_state, size),
        dtype=dtype,
        n_threads=validation.n_threads(learner.n_jobs),
        options={"device": learner.device},
        **goal,
    )
    training = StateTraining(*learning.training(rows, weights, learner.points))
    warn_of_training(learner, rows, training)
    return training


def _seed_of(random_state: object, batch_size: int | None) -> int:
    """Return what draws batches, and the histograms that give the unit of distances.

    Without batches, nothing differs from fit to fit.
    """
    if random_state is None and batch_size is None:
        return 0
    return int(check_random_state(random_state).randint(2**31))


def _goal_of(learner: PriorLearner, weights: Weights) -> dict[str, Any]:
    """Return what depends on the criterion: its parameters, steps and pull."""
    goal = as_criterion(learner.criterion, only=learner._criteria)
    is_softmax = isinstance(goal, Softmax)
    found: dict[str, Any] = {}
    settings: dict[str, Any] = {
        "max_outer": validation.as_count(learner.max_steps, "max_steps", low=1)
    }
    if is_softmax:
        found["temperature"], settings["step_size"] = goal._limits()
        _require_both(weights)
    else:
        found["margins"] = goal._limits()
    pull = float(is_softmax) if learner.pull is None else learner.pull
    found["pull"] = validation.as_factor(pull, "pull")
    return {**found, "settings": TrainingSettings(**settings)}


def _require_both(weights: Weights) -> None:
    """Reject weights without similar or without dissimilar pairs."""
    for similar, kind in ((True, "similar"), (False, "dissimilar")):
        if weights.n_pairs(similar=similar) == 0:
            raise ValueError(
                f"criterion is a softmax, but there are no {kind} pairs: it needs "
                "similar and dissimilar ones."
            )
