r"""Adam: steps relative to the recent size of each entry's gradient (Kingma & Ba).

.. math:: m \leftarrow \beta_1 m + (1 - \beta_1) g, \quad
          v \leftarrow \beta_2 v + (1 - \beta_2) g^2, \quad
          \theta \leftarrow \theta - \eta_t\,
          \frac{m / (1 - \beta_1^t)}{\sqrt{v / (1 - \beta_2^t)} + \varepsilon}

Steps shrink along a cosine, :math:`\eta_t = \eta (1 + \cos(\pi t / T)) / 2`. Entries
without any gradient so far do not move at all.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .._files import Arrays

Floats = NDArray[Any]  # float32 or float64

MEAN, SQUARE, EPSILON = 0.9, 0.999, 1e-8
BLOCK = 2**15  # entries at a time, which stay in the processor's cache


class Adam:
    """A vector that is moved, and the moments of its gradients.

    Parameters
    ----------
    theta : ndarray
        The vector, moved in place.
    rates : ndarray or float
        eta of each entry.
    n_steps : int
        T, after which steps are zero, unless :meth:`move` has a share of its own.
    """

    def __init__(
        self, theta: Floats, rates: list[tuple[slice, float]], n_steps: int = 1
    ) -> None:
        self.theta = theta
        self._rates, self._n_steps = rates, n_steps
        self._mean, self._square = np.zeros_like(theta), np.zeros_like(theta)
        self.n_taken = 0

    @property
    def share(self) -> float:
        """The next step, relative to the first."""
        t = min(self.n_taken, self._n_steps)
        return (1 + math.cos(math.pi * t / self._n_steps)) / 2

    def move(self, gradient: Floats, share: float | None = None) -> None:
        """Take a step against a gradient, of this share or of that of the cosine."""
        share = self.share if share is None else share
        self.n_taken += 1
        root = math.sqrt(1 - SQUARE**self.n_taken)
        unbiased = root / (1 - MEAN**self.n_taken)
        for part, rate in self._rates:
            for first in range(part.start, part.stop, BLOCK):
                block = slice(first, min(first + BLOCK, part.stop))
                g, m, v = gradient[block], self._mean[block], self._square[block]
                m *= MEAN
                m += (1 - MEAN) * g
                v *= SQUARE
                square = g * g
                square *= 1 - SQUARE
                v += square
                size = np.sqrt(v, out=square)
                size += EPSILON * root
                np.divide(m, size, out=size)
                size *= share * rate * unbiased
                self.theta[block] -= size

    def state(self) -> Arrays:
        """Return all that the next steps depend on."""
        moments = {"mean": self._mean.copy(), "square": self._square.copy()}
        taken = np.array(self.n_taken)
        return {"theta": self.theta.copy(), "taken": taken, **moments}

    def set_state(self, state: Arrays) -> None:
        """Continue from there; a state that cannot be one is rejected."""
        own = {"theta": self.theta, "mean": self._mean, "square": self._square}
        for name, array in own.items():
            found = state[name]
            if found.shape != array.shape or found.dtype != array.dtype:
                raise ValueError(f"its {name} has shape {found.shape}")
            if not np.isfinite(found).all():
                raise ValueError(f"its {name} is not finite")
        taken = int(state["taken"])
        if taken < 0 or (state["square"] < 0).any():
            raise ValueError("its moments are not those of a descent")
        for name, array in own.items():
            array[...] = state[name]
        self.n_taken = taken
