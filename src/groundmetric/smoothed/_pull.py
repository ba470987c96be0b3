r"""The pull back to what was known.

.. math:: \lambda \left( \frac{1}{d} |l - l^0|^2
          + \frac{|A - A_0|^2}{|A_0|^2}
          + \frac{1}{d} \sum_p |\delta_p|^2 \right)

All three are relative: weights by their logarithms, the map to its own size, and
offsets to the points, whose mean square length is 1. So one number serves all of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ..base._arrays import Array
    from ..learning._criterion import Criterion, Evaluation
    from ..learning._parameters import Parameters


class PulledCriterion:
    """A criterion of parameters, plus the pull to where these started.

    Parameters
    ----------
    criterion : Criterion
        What is lowered otherwise.
    parameters : Parameters
        What they mean.
    pull : float
        lambda.
    """

    def __init__(
        self, criterion: Criterion, parameters: Parameters, pull: float
    ) -> None:
        self._criterion, self._parameters = criterion, parameters
        self._pull = pull

    def linearize(self, theta: Array) -> Evaluation:
        """Leave the concave part as it is."""
        return self._criterion.linearize(theta)

    def evaluate(self, theta: Array) -> Evaluation:
        """Add value and gradient of the pull."""
        found = self._criterion.evaluate(theta)
        value, gradient = found.value, found.gradient  # of this evaluation alone
        start = self._parameters.start
        for name, part in self._parameters.slices.items():
            strength = self._pull / self._scale(name)
            if strength == 0:
                continue
            away = theta[part] - start[part]
            value += strength * float(away @ away)
            away *= 2 * strength
            gradient[part] += away
        return replace(found, value=value)

    def _scale(self, name: str) -> float:
        """Return what squared changes are relative to."""
        if name == "map":
            start = self._parameters.start[self._parameters.slices[name]]
            return float(start @ start)
        return float(self._parameters.shape[0])

    def identity(self) -> Iterator[Any]:
        """Return what the criterion depends on, but for the histograms."""
        yield f"pull {self._pull}"
        yield from self._criterion.identity()

    def state(self) -> Arrays:
        """Return what evaluations leave behind for later ones."""
        return self._criterion.state()

    def set_state(self, state: Arrays) -> None:
        """Continue as the criterion that this state is of."""
        self._criterion.set_state(state)
