"""Kernels of pairs of sparse histograms, each between the supports of its pair.

Pairs of a chunk have the first histogram in common. What they need are rows of one
table, with a row for each bin of the others and a column for each of the first. Costs
and exponentials are those of the table, and so are sums of plans: each of its entries
is multiplied by a sum of products of scalings.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base._arrays import to_numpy
from ._scalings import LARGEST_EXPONENT, Logarithms, Scalings

if TYPE_CHECKING:
    from ..base._arrays import Array, Arrays

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]


class PairScalings(Scalings):
    """Plain numbers.

    Parameters
    ----------
    costs : ndarray of shape (m, k)
        Between the bins of the others and those of the first.
    place : ndarray of int, shape (b, l)
        The rows of the table that each pair needs.
    eps : float
        Smoothing.
    arrays : Arrays
        Where pairs are solved.
    """

    def __init__(
        self, costs: Floats, place: Indices, eps: float, arrays: Arrays
    ) -> None:
        self.eps, self.arrays = eps, arrays
        self.xp, self.positions = arrays.xp, arrays.positions
        table = costs * (-1 / eps)
        self._table: Floats = np.exp(table, out=table)
        self._place = place
        self._kernels: Array | None = None

    @property
    def kernels(self) -> Array:
        """The kernel of each pair, (b, l, k), made when needed."""
        if self._kernels is None:
            table = self.arrays.put(self._table)
            self._kernels = self.arrays.rows(table, self._place)
        return self._kernels

    def product(self, v: Array, out: Array) -> None:
        """Multiply each row by its kernel."""
        out[...] = self.xp.matmul(v[:, None, :], self.kernels)[:, 0, :]

    def back(self, u: Array, out: Array) -> None:
        out[...] = self.xp.matmul(self.kernels, u[:, :, None])[:, :, 0]

    def part(self, which: Array) -> Scalings:
        some = copy(self)
        some._kernels = self.kernels[which]
        return some

    def summed(self, u: Array, v: Array, weights: Floats) -> Floats:
        """Sum of weights_b diag(v_b) K_b diag(u_b) by the rows of the table, (m, k)."""
        many = to_numpy(v) * weights[:, None].astype(self._table.dtype)
        total: Floats = by_rows(many, self._place, len(self._table)).T @ to_numpy(u)
        total *= self._table
        return total


class PairLogarithms(Logarithms):
    """Logarithms of these numbers."""

    def __init__(
        self, costs: Floats, place: Indices, eps: float, arrays: Arrays
    ) -> None:
        self.eps, self.arrays = eps, arrays
        self.xp, self.positions = arrays.xp, arrays.positions
        self._place, self._n_rows = place, len(costs)
        self.log_K = arrays.rows(arrays.put(costs / -eps), place)  # (b, l, k)

    def product(self, v: Array, out: Array) -> None:
        self._add_up(v[:, None, :] + self.xp.moveaxis(self.log_K, 2, 1), out)

    def back(self, u: Array, out: Array) -> None:
        self._add_up(u[:, None, :] + self.log_K, out)

    def part(self, which: Array) -> Scalings:
        some = copy(self)
        some.log_K = self.log_K[which]
        return some

    def summed(self, u: Array, v: Array, weights: Floats) -> Floats:
        """Sum of the plans, by the rows of the table."""
        plans = to_numpy(self.plans(v, u, self.arrays.put(weights)))
        place = self._place.reshape(-1, 1)
        which = by_rows(np.ones_like(place, plans.dtype), place, self._n_rows)
        total: Floats = which.T @ plans.reshape(len(place), -1)
        return total


def pair_scalings(
    costs: Floats, place: Indices, eps: float, arrays: Arrays
) -> PairScalings | PairLogarithms:
    """Plain numbers where the costs of all these pairs fit, else logarithms.

    What single precision cannot hold, double precision often can.
    """
    largest = float(costs.max()) / eps
    double = replace(arrays, dtype=np.dtype(np.float64))
    for some in (arrays, double) if "mps" not in str(arrays.device) else (arrays,):
        if largest <= LARGEST_EXPONENT[some.dtype]:
            own = costs.astype(some.dtype, copy=False)
            return PairScalings(own, place, eps, some)
    return PairLogarithms(costs, place, eps, arrays)


def by_rows(values: Floats, place: Indices, n_rows: int) -> csr_array:
    """Spread (b, l) values over n_rows columns, as a sparse matrix."""
    b, length = place.shape
    starts = np.arange(0, b * length + 1, length)
    parts = values.ravel(), place.ravel(), starts
    return csr_array(parts, shape=(b, n_rows))
