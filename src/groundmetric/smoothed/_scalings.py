"""Numbers in which Sinkhorn's iteration runs: scalings, or their logarithms.

Both offer the same few operations, so that the iteration is written once. Scalings
take one matrix product for all pairs, but double precision holds them only up to
max(M) / eps = 300 or so; logarithms hold anything, at d^2 exponentials for each pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..base._arrays import Array, Arrays

# Potentials range over max(M), so that scalings times the kernel range over
# exp(2 max(M) / eps), and masses of bins over some more.
LARGEST_EXPONENT = {np.dtype(np.float64): 300.0, np.dtype(np.float32): 30.0}

# Rows of d numbers that a pair takes at most: r, c, g, u, v, w, the result, temporary
# ones, and copies of r, c and w when some pairs have converged.
ROWS_A_PAIR = 12


class Scalings:
    """Plain numbers; K = exp(-M / eps) is shared by all pairs.

    Attributes
    ----------
    eps : float
        Smoothing, in the units of the cost.
    bytes_a_pair : int
        Memory that a pair takes during the iteration.
    """

    def __init__(self, M: NDArray[np.float64], eps: float, arrays: Arrays) -> None:
        self.eps = eps
        self.xp = arrays.xp
        self.positions = arrays.positions
        self.K = arrays.put(np.exp(-M / eps))
        self.bytes_a_pair = ROWS_A_PAIR * len(M) * arrays.dtype.itemsize

    def encode(self, r: Array) -> Array:
        """Histograms in these numbers."""
        return r

    def from_potentials(self, g: Array) -> Array:
        """exp(-g / eps), in an array of its own."""
        w = g / -self.eps
        self.xp.exp(w, out=w)
        return w

    def to_potentials(self, w: Array) -> Array:
        """-eps log(w)."""
        g = self.xp.log(w)
        g *= -self.eps
        return g

    def product(self, v: Array, out: Array) -> None:
        """Multiply each row by the kernel K, which is symmetric."""
        self.xp.matmul(v, self.K, out=out)

    def back(self, u: Array, out: Array) -> None:
        """Multiply each row by the transposed kernel."""
        self.product(u, out)

    def part(self, which: Array) -> Scalings:  # noqa: ARG002 - all share the kernel
        """Return the scalings of some of the pairs."""
        return self

    def divide(self, a: Array, b: Array, out: Array) -> None:
        """Divide a by b."""
        self.xp.divide(a, b, out=out)

    def middle(self, a: Array, b: Array, out: Array) -> None:
        """Geometric mean of a and b."""
        self.xp.multiply(a, b, out=out)
        self.xp.sqrt(out, out=out)

    def gap(self, v: Array, w: Array, c: Array) -> Array:
        """l1 distance of v w from c, for each row."""
        difference = v * w
        difference -= c
        self.xp.abs(difference, out=difference)
        return self.xp.sum(difference, axis=1)

    def plan_sum(self, u: Array, v: Array, weights: Array) -> Array:
        """Sum of weights_k diag(u_k) K diag(v_k); plans are never formed."""
        return self.K * self.xp.matmul((u * weights[:, None]).T, v)


class Logarithms(Scalings):
    """Logarithms of these numbers: log(K v) is a log-sum-exp for each pair and bin."""

    def __init__(self, M: NDArray[np.float64], eps: float, arrays: Arrays) -> None:
        self.eps = eps
        self.xp = arrays.xp
        self.positions = arrays.positions
        self.log_K = arrays.put(-M / eps)
        self.bytes_a_pair = (len(M) + ROWS_A_PAIR) * len(M) * arrays.dtype.itemsize

    def encode(self, r: Array) -> Array:
        empty = r == 0
        logs = self.xp.log(self.xp.where(empty, self.xp.ones_like(r), r))
        logs[empty] = -np.inf
        return logs

    def from_potentials(self, g: Array) -> Array:
        return g / -self.eps

    def to_potentials(self, w: Array) -> Array:
        return w * -self.eps

    def product(self, v: Array, out: Array) -> None:
        self._add_up(v[:, None, :] + self.log_K[None], out)

    def _add_up(self, terms: Array, out: Array) -> None:
        """Sum the exponentials of terms (pairs, p, q) over q; return logarithms."""
        largest = self.xp.max(terms, axis=2)
        terms -= largest[:, :, None]
        self.xp.exp(terms, out=terms)
        self.xp.log(self.xp.sum(terms, axis=2), out=out)
        out += largest

    def divide(self, a: Array, b: Array, out: Array) -> None:
        self.xp.subtract(a, b, out=out)

    def middle(self, a: Array, b: Array, out: Array) -> None:
        self.xp.add(a, b, out=out)
        out *= 0.5

    def gap(self, v: Array, w: Array, c: Array) -> Array:
        difference = self.xp.exp(v + w) - self.xp.exp(c)
        return self.xp.sum(self.xp.abs(difference), axis=1)

    def plan_sum(self, u: Array, v: Array, weights: Array) -> Array:
        return self.xp.sum(self.plans(u, v, weights), axis=0)

    def plans(self, u: Array, v: Array, weights: Array) -> Array:
        """weights_k diag(exp(u_k)) K diag(exp(v_k))."""
        plans = u[:, :, None] + self.log_K  # the same for all, or one for each
        plans += v[:, None, :]
        self.xp.exp(plans, out=plans)
        plans *= weights[:, None, None]
        return plans


def scalings_for(M: NDArray[np.float64], eps: float, arrays: Arrays) -> Scalings:
    """Plain numbers where they fit into the precision, else logarithms."""
    fits = M.max() <= LARGEST_EXPONENT[arrays.dtype] * eps
    return (Scalings if fits else Logarithms)(M, eps, arrays)
