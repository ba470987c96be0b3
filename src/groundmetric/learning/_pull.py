r"""The pull back to a known metric.

.. math:: L(M) + \lambda |M - M_0|^2, \qquad
          \lambda = \mathrm{pull} \cdot \frac{|\nabla L(M_0)|}{|M_0|}

The gradient is the first that is not zero: a batch may have nothing to gain, and until
one has, the metric stays at M_0.

A metric has d (d - 1) / 2 entries, and few histograms say little about most of them.
The pull keeps these near the prior: bins that no histogram uses return to their
distances in M_0. It is relative, so that a pull of 1 is as strong as the criterion when
the metric has changed by half of its norm. Where a map and weights of bins are learned,
each has a lambda of its own, and weights count as changed by half of their norm when
their logarithms have, on average, changed by a half.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._space import norm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    parts : sequence of (slice, float), optional
        Parts of a vector that have a lambda each, and the norm of what each of them is
        relative to; by default the whole metric, and |M_0|.
    """

    def __init__(
        self,
        criterion: Criterion,
        metric: Floats,
        pull: float,
        parts: Sequence[tuple[Any, float]] = (),
    ) -> None:
        self._criterion, self._known = criterion, metric
        self._pull = pull
        self._parts = parts or [(..., norm(metric) or 1.0)]
        self._slope = np.zeros_like(metric)  # of the concave part
        self._strengths = np.zeros(len(self._parts))  # lambda; 0 until it is known

    def linearize(self, metric: Floats) -> Evaluation:
        """Evaluate the concave part of L."""
        found = self._criterion.linearize(metric)
        self._slope = found.gradient
        return found

    def evaluate(self, metric: Floats) -> Evaluation:
        """Evaluate the rest of L, and the pull."""
        found = self._criterion.evaluate(metric)
        if (self._strengths == 0).any():
            self._set_strengths(self._slope + found.gradient)
        value, gradient = found.value, found.gradient.copy()
        for strength, (some, _) in zip(self._strengths, self._parts, strict=True):
            away = metric[some] - self._known[some]
            value += float(strength) * float(np.vdot(away, away))
            gradient[some] += 2 * strength * away
        return replace(found, value=value, gradient=gradient)

    def _set_strengths(self, steepness: Floats) -> None:
        """Set lambda where it is not yet known."""
        for k, (some, size) in enumerate(self._parts):
            if self._strengths[k] == 0:
                self._strengths[k] = self._pull * norm(steepness[some]) / size

    def identity(self) -> Iterator[Any]:
        """Return what the criterion depends on, but for the histograms."""
        yield f"pull {self._pull}"
        yield self._known
        yield from self._criterion.identity()

    def state(self) -> Arrays:
        """Return lambda, and what evaluations leave behind."""
        return {**self._criterion.state(), "lambda": self._strengths.copy()}

    def set_state(self, state: Arrays) -> None:
        """Continue as the criterion that this state is of."""
        state = dict(state)
        strengths = state.pop("lambda")
        if strengths.shape != (len(self._parts),):
            raise ValueError(f"its lambda has shape {strengths.shape}")
        self._strengths = np.array(strengths)
        self._criterion.set_state(state)
