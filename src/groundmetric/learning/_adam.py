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
from typing import TYPE_CHECKING

import numpy as np

from ..base._arrays import numpy_arrays, to_numpy

if TYPE_CHECKING:
    from .. import _files
    from ..base._arrays import Array, Arrays

MEAN, SQUARE, EPSILON = 0.9, 0.999, 1e-8
BLOCK = 2**15  # entries at a time, which stay in the processor's cache


class Adam:
    """A vector that is moved, and the moments of its gradients.

    Parameters
    ----------
    theta : array
        The vector, moved in place.
    rates : list of (slice, float)
        eta of each part.
    n_steps : int
        T, after which steps are zero, unless :meth:`move` has a share of its own.
    arrays : Arrays, optional
        Where the vector lives; with numpy by default.
    """

    def __init__(
        self,
        theta: Array,
        rates: list[tuple[slice, float]],
        n_steps: int = 1,
        arrays: Arrays | None = None,
    ) -> None:
        self.theta = theta
        self._rates, self._n_steps = rates, n_steps
        self._arrays = numpy_arrays(theta.dtype) if arrays is None else arrays
        self._xp = self._arrays.xp
        self._block = BLOCK if self._xp is np else len(theta)
        self._mean, self._square = (self._xp.zeros_like(theta) for _ in range(2))
        self.n_taken = 0

    @property
    def share(self) -> float:
        """The next step, relative to the first."""
        t = min(self.n_taken, self._n_steps)
        return (1 + math.cos(math.pi * t / self._n_steps)) / 2

    def move(self, gradient: Array, share: float | None = None) -> None:
        """Take a step against a gradient, of this share or of that of the cosine."""
        share, xp = self.share if share is None else share, self._xp
        self.n_taken += 1
        root = math.sqrt(1 - SQUARE**self.n_taken)
        unbiased = root / (1 - MEAN**self.n_taken)
        for part, rate in self._rates:
            for first in range(part.start, part.stop, self._block):
                block = slice(first, min(first + self._block, part.stop))
                g, m, v = gradient[block], self._mean[block], self._square[block]
                m *= MEAN
                m += (1 - MEAN) * g
                v *= SQUARE
                square = g * g
                square *= 1 - SQUARE
                v += square
                size = xp.sqrt(v, out=square)
                size += EPSILON * root
                xp.divide(m, size, out=size)
                size *= share * rate * unbiased
                self.theta[block] -= size

    def state(self) -> _files.Arrays:
        """Return all that the next steps depend on."""
        own = {"theta": self.theta, "mean": self._mean, "square": self._square}
        arrays = {name: np.array(to_numpy(array)) for name, array in own.items()}
        return {**arrays, "taken": np.array(self.n_taken)}

    def set_state(self, state: _files.Arrays) -> None:
        """Continue from there; a state that cannot be one is rejected."""
        own = {"theta": self.theta, "mean": self._mean, "square": self._square}
        for name, array in own.items():
            found = state[name]
            wrong_type = found.dtype != self._arrays.dtype
            if found.shape != tuple(array.shape) or wrong_type:
                raise ValueError(f"its {name} has shape {found.shape}")
            if not np.isfinite(found).all():
                raise ValueError(f"its {name} is not finite")
        taken = int(state["taken"])
        if taken < 0 or (state["square"] < 0).any():
            raise ValueError("its moments are not those of a descent")
        for name, array in own.items():
            array[...] = self._arrays.put(state[name])
        self.n_taken = taken
