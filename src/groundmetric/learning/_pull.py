r"""The pull back to a known metric.

.. math:: L(M) + \lambda |M - M_0|^2, \qquad
          \lambda = \mathrm{pull} \cdot \frac{|\nabla L(M_0)|}{|M_0|}

A metric has d (d - 1) / 2 entries, and few histograms say little about most of them.
The pull keeps these near the prior: bins that no histogram uses return to their
distances in M_0. It is relative, so that a pull of 1 is as strong as the criterion when
the metric has changed by half of its norm.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._space import norm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ._criterion import Criterion, Evaluation

Floats = NDArray[np.float64]


class MetricPull:
    """A criterion plus the pull to the metric of the first evaluation.

    Parameters
    ----------
    criterion : Criterion
        L.
    metric : ndarray of shape (d, d)
        M_0, of the norm that metrics have in the descent.
    pull : float
        Its strength; 0 turns it off.
    """

    def __init__(self, criterion: Criterion, metric: Floats, pull: float) -> None:
        self._criterion, self._known = criterion, metric
        self._pull = pull
        self._slope = np.zeros_like(metric)  # of the concave part
        self._strength: float | None = None  # lambda, known after one evaluation

    def linearize(self, metric: Floats) -> Evaluation:
        """Evaluate the concave part of L."""
        found = self._criterion.linearize(metric)
        self._slope = found.gradient
        return found

    def evaluate(self, metric: Floats) -> Evaluation:
        """Evaluate the rest of L, and the pull."""
        found = self._criterion.evaluate(metric)
        if self._strength is None:
            steepness = norm(self._slope + found.gradient)
            self._strength = self._pull * steepness / (norm(self._known) or 1.0)
        away = metric - self._known
        return replace(
            found,
            value=found.value + self._strength * float(np.vdot(away, away)),
            gradient=found.gradient + 2 * self._strength * away,
        )

    def identity(self) -> Iterator[Any]:
        """Return what the criterion depends on, but for the histograms."""
        yield f"pull {self._pull}"
        yield self._known
        yield from self._criterion.identity()

    def state(self) -> Arrays:
        """Return lambda, and what evaluations leave behind."""
        known = {} if self._strength is None else {"lambda": np.array(self._strength)}
        return {**self._criterion.state(), **known}

    def set_state(self, state: Arrays) -> None:
        """Continue as the criterion that this state is of."""
        state = dict(state)
        strength = state.pop("lambda", None)
        if strength is not None:
            self._strength = float(strength)
        self._criterion.set_state(state)
