"""The distances of a batch for one metric, with plans and potentials."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ._forbidden import refuse_infeasible

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ._certificate import Transport

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Plans(Protocol):
    """The plans of one solve, as long as the batch keeps them."""

    def plan_sum(self, pairs: Indices, weights: Floats) -> Floats | csr_array:
        """Weighted sum of plans."""

    def transport(self, pair: int, value: float, n_pivots: int) -> Transport:
        """Plan and certificate of a pair."""

    def potentials(self, pairs: Indices) -> tuple[Floats, Floats]:
        """Potentials of some pairs on all bins, in rows."""


@dataclass(frozen=True, eq=False)
class BatchSolution:
    """The distances of a batch for one metric.

    The batch holds the plans and overwrites them when it solves the same pairs again,
    so use them before that.

    Attributes
    ----------
    values : ndarray of shape (n_solved,)
        Distances; infinite if no plan avoids the arcs of infinite cost.
    n_pivots : ndarray of int, shape (n_solved,)
        Number of pivots for each pair.
    pairs : ndarray of int, shape (n_solved,)
        The solved pairs, as positions in ``batch.pairs``.
    proof : {"triangles", "potentials", "none"}
        How the solve knows that common mass can stay where it is: all triangles obey
        the inequality, or the potentials of each solved pair are feasible on all bins.
        "none": it cannot, and the problems were solved on all bins.
    potentials : tuple of two ndarrays of shape (n_solved, d) and (n_solved, e)
        (u, v), the dual solutions of all solved pairs on all bins, computed when first
        asked for.

    Examples
    --------
    >>> from groundmetric import TransportBatch
    >>> batch = TransportBatch([[2, 0], [1, 1], [0, 2]], [(0, 1), (0, 2)])
    >>> solution = batch.solve([[0, 3], [3, 0]], pairs=[1])
    >>> solution.values, solution.n_pivots
    (array([6.]), array([0], dtype=int32))
    >>> solution.transport(0).plan
    array([[0., 2.],
           [0., 0.]])
    >>> u, v = solution.potentials
    >>> u @ [2, 0] + v @ [0, 2]
    array([6.])
    """

    values: Floats
    n_pivots: NDArray[np.int32]
    pairs: NDArray[np.int64]
    proof: str
    _plans: Plans = field(repr=False)

    def plan_sum(self, weights: ArrayLike) -> Floats | csr_array:
        """Weighted sum of the optimal plans: a subgradient of the weighted values.

        Parameters
        ----------
        weights : array-like of shape (n_solved,)
            A number for each solved pair.

        Returns
        -------
        ndarray of shape (d, e), or CSR array if the batch has points
            For point clouds, d counts the points of all clouds: first those of X, one
            cloud after the other, then those of Y.
        """
        w = validation.as_weights(weights, self.values.size)
        self._require_plans(w != 0.0)
        return self._plans.plan_sum(self.pairs, w)

    def transport(self, k: int) -> Transport:
        """Plan and certificate of the k-th solved pair."""
        k = validation.as_position(k, "k", self.pairs.size)
        self._require_plans(np.arange(self.pairs.size) == k)
        return self._plans.transport(
            int(self.pairs[k]), float(self.values[k]), int(self.n_pivots[k])
        )

    @cached_property
    def potentials(self) -> tuple[Floats, Floats]:
        """The dual solutions of all solved pairs: (u, v), a pair in each row.

        u[k, p] + v[k, q] <= metric[p, q] for all bins, empty ones included, and
        u[k] @ X[i] + v[k] @ Y[j] is the distance of the k-th solved pair (i, j).
        """
        self._require_plans(np.ones(self.pairs.size, bool))
        return self._plans.potentials(self.pairs)

    def _require_plans(self, needed: NDArray[np.bool_]) -> None:
        """Reject pairs that no plan solves."""
        for k in np.flatnonzero(needed & np.isinf(self.values)):
            who = f"the first to the second histogram of pair {self.pairs[k]}"
            refuse_infeasible(who)
