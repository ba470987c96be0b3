"""Pairs of histograms that are solved for one metric after another (Algorithm 1).

A descent changes the metric a little at every step, and then needs all distances and
the weighted sum of the optimal plans, which is a subgradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from ._exact import Sets, Transport

if TYPE_CHECKING:
    from ._bins import Bins

Floats = NDArray[np.float64]


class TransportBatch:
    """Pairs of histograms to solve repeatedly while the metric changes.

    Keeps the optimal tree of every solved pair, so that solving it again for a slightly
    different metric takes few pivots. A pair takes 24 bytes and, once it is solved, 4
    bytes for each bin in which its two histograms differ (if the cost is not a metric,
    for each non-empty bin of either); see ``n_bytes``.

    A batch cannot be pickled. Several threads may use one batch; they take turns.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms of equal mass, in rows.
    pairs : array-like of int, shape (n_pairs, 2)
        Pairs (i, j): row i of X with row j of Y.
    Y : array-like or sparse matrix of shape (m, e), optional
        Histograms of the same mass, usually on the same bins (e = d). If None, X.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. Results do not depend on it.

    Examples
    --------
    >>> from groundmetric import TransportBatch
    >>> batch = TransportBatch([[2, 0], [1, 1], [0, 2]], [(0, 1), (0, 2)])
    >>> solution = batch.solve([[0, 3], [3, 0]])
    >>> solution.values
    array([3., 6.])
    >>> solution.plan_sum([1.0, 0.5])
    array([[1., 2.],
           [0., 0.]])
    """

    def __init__(
        self,
        X: ArrayLike,
        pairs: ArrayLike,
        *,
        Y: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self._sets = Sets.of(X, Y)
        self.n_jobs = n_jobs
        validation.n_threads(n_jobs)  # judged here, used in solve()
        x, y = self._sets.x, self._sets.y
        pairs = validation.as_pairs(pairs, len(x), len(y))
        self._core = _core.Batch(x, y, pairs)

    def __len__(self) -> int:
        return len(self._core)

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A TransportBatch cannot be pickled; pickle X and pairs instead."
        )

    @property
    def pairs(self) -> NDArray[np.int64]:
        """The pairs (i, j), as a new array of shape (n_pairs, 2)."""
        return self._core.pairs()

    @property
    def n_bytes(self) -> int:
        """Memory kept between solves, in bytes, excluding the histograms."""
        return self._core.n_bytes

    def solve(self, metric: ArrayLike, pairs: ArrayLike | None = None) -> BatchSolution:
        """Solve all pairs, or some of them, for a metric.

        Parameters
        ----------
        metric : array-like of shape (d, e)
            Any real matrix of costs. If it obeys the triangle inequality, common mass
            can stay where it is, and problems are smaller. The batch checks all
            triangles if it solves d / 8 pairs or more; if it solves fewer, the
            potentials of each pair prove it (see ``BatchSolution.proof``).
        pairs : array-like of int or of bool, optional
            Which pairs to solve: their positions in ``self.pairs``, or a mask.

        Returns
        -------
        BatchSolution
        """
        chosen = validation.as_choice(pairs, len(self))
        given = self._sets.as_cost(metric)
        cost = _core.CostMatrix(self._sets.gather(given))
        threads = validation.n_threads(self.n_jobs)
        number, proof, values, n_pivots = self._core.solve(cost, chosen, threads, None)
        validation.require_in_range(values)
        full = None if self._sets.bins is None else Full(self._sets.bins, given)
        return BatchSolution(
            values, n_pivots, chosen, proof, self._core, cost, number, full
        )


class Full(NamedTuple):
    """What turns results on the bins that are not empty into results on all."""

    bins: Bins
    cost: Floats

    def plan(self, plan: Floats) -> Floats:
        """Add the empty rows and columns."""
        out = np.zeros(self.cost.shape)
        out[np.ix_(*self.bins)] = plan
        return out

    def transport(self, t: Transport) -> Transport:
        """Name the bins as they are, and extend the potentials to empty ones."""
        u, v = (np.full(n, -np.inf) for n in self.cost.shape)
        u[self.bins.rows], v[self.bins.cols] = t.potentials
        # The largest that the others allow: first v, then u.
        cols = np.flatnonzero(np.isinf(v))
        inner = u[self.bins.rows, None]
        v[cols] = (self.cost[np.ix_(self.bins.rows, cols)] - inner).min(axis=0)
        for p in np.flatnonzero(np.isinf(u)):
            u[p] = (self.cost[p] - v).min()
        rows, cols = self.bins.rows[t.rows], self.bins.cols[t.cols]
        return replace(
            t,
            rows=rows.astype(np.int32),
            cols=cols.astype(np.int32),
            potentials=(u, v),
        )


@dataclass(frozen=True, eq=False)
class BatchSolution:
    """The distances of a batch for one metric.

    The batch holds the plans and overwrites them when it solves the same pairs again,
    so use them before that.

    Attributes
    ----------
    values : ndarray of shape (n_solved,)
        Distances.
    n_pivots : ndarray of int, shape (n_solved,)
        Number of pivots for each pair.
    pairs : ndarray of int, shape (n_solved,)
        The solved pairs, as positions in ``batch.pairs``.
    proof : {"triangles", "potentials", "none"}
        How the solve knows that common mass can stay where it is: all triangles obey
        the inequality, or the potentials of each solved pair are feasible on all bins.
        "none": it cannot, and the problems were solved on all bins.

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
    """

    values: Floats
    n_pivots: NDArray[np.int32]
    pairs: NDArray[np.int64]
    proof: str
    _batch: _core.Batch = field(repr=False)
    _cost: _core.CostMatrix = field(repr=False)
    _number: int = field(repr=False)
    _full: Full | None = field(repr=False)

    def plan_sum(self, weights: ArrayLike) -> Floats:
        """Weighted sum of the optimal plans: a subgradient of the weighted values.

        Parameters
        ----------
        weights : array-like of shape (n_solved,)
            A number for each solved pair.

        Returns
        -------
        ndarray of shape (d, e)
        """
        w = validation.as_weights(weights, self.values.size)
        plan = self._batch.plan_sum(self._number, self.pairs, w)
        return plan if self._full is None else self._full.plan(plan)

    def transport(self, k: int) -> Transport:
        """Plan and certificate of the k-th solved pair."""
        k = validation.as_position(k, "k", self.pairs.size)
        certificate = self._batch.certificate(
            self._number, self._cost, int(self.pairs[k])
        )
        t = replace(Transport.from_core(certificate), n_pivots=int(self.n_pivots[k]))
        return t if self._full is None else self._full.transport(t)
