"""Pairs of histograms that are solved for one metric after another (Algorithm 1).

A descent changes the metric a little at every step, and then needs all distances and
the weighted sum of the optimal plans, which is a subgradient.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ._dense import DenseSolver
from ._points import PointSets
from ._supports import PointsSolver, SparseSolver

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .. import _core
    from ._certificate import Transport
    from ._supports import Metric

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class TransportBatch:
    """Pairs of histograms to solve repeatedly while the metric changes.

    Keeps the optimal tree of every solved pair, so that solving it again for a slightly
    different metric takes few pivots. A pair takes 24 bytes and, once it is solved, 4
    bytes for each bin in which its two histograms differ (if the cost is not a metric,
    for each non-empty bin of either); with points, both if it is solved for metrics and
    for other costs. See ``n_bytes``.

    Sparse histograms with points, or on more than 2,048 bins, stay sparse: only the
    non-empty bins of each pair take part, and memory does not grow with d.

    A batch cannot be pickled. Several threads may use one batch; they take turns.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or list of (masses, coordinates)
        Histograms of equal mass, in rows; or point clouds, as in :func:`pairwise_emd`.
    pairs : array-like of int, shape (n_pairs, 2)
        Pairs (i, j): row i of X with row j of Y.
    Y : array-like or sparse matrix of shape (m, e), optional
        Histograms of the same mass, usually on the same bins (e = d), or point clouds.
        If None, X.
    points : array-like of shape (d, s), optional
        Coordinates of the bins. Costs are distances between them then, computed between
        the non-empty bins of each pair; there is no d x d matrix, and sums of plans are
        sparse.
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

    Bins with coordinates:

    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[2, 0], [1, 1], [0, 2]])
    >>> batch = TransportBatch(X, [(0, 1), (0, 2)], points=[[0.0], [3.0]])
    >>> batch.solve().plan_sum([1.0, 0.5]).toarray()
    array([[1., 2.],
           [0., 0.]])
    """

    def __init__(
        self,
        X: ArrayLike,
        pairs: ArrayLike,
        *,
        Y: ArrayLike | None = None,
        points: ArrayLike | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        validation.n_threads(n_jobs)  # checked now, used in solve()
        self._given = X, Y, pairs
        self._sum = _checksum(X, Y)
        self._seen: dict[tuple[object, ...], TransportBatch] = {}
        self._seeing = Lock()
        self._solver: Solver
        case = validation.case_of(X, Y, points)
        if case is validation.Case.POINTS:
            self._solver = PointsSolver(PointSets.of(X, Y, points), pairs)
        elif case is validation.Case.SPARSE:
            self._solver = SparseSolver(X, Y, pairs)
        else:
            self._solver = DenseSolver(X, Y, pairs)

    @property
    def _core(self) -> _core.DenseBatch | _core.SparseBatch:
        return self._solver.core

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
        return self._solver.n_bytes

    def solve(
        self,
        metric: Any = None,
        pairs: ArrayLike | None = None,
        *,
        points: ArrayLike | None = None,
    ) -> BatchSolution:
        """Solve all pairs, or some of them, for a metric.

        Parameters
        ----------
        metric : array-like of shape (d, e), learner, str or callable, optional
            Any real matrix of costs. If it obeys the triangle inequality, common mass
            can stay where it is, and problems are smaller. The batch checks all
            triangles if it solves d / 8 pairs or more; if it solves fewer, the
            potentials of each pair prove it (see ``BatchSolution.proof``). For sparse
            histograms on many bins this is not used: all mass moves.
            Or a fitted learner: X and Y, which must not have changed since the batch
            was made, are then normalized and raised to its power.
            If the bins have points, the name of a metric of
            ``scipy.spatial.distance.cdist`` or a function of two blocks of points, as
            in :func:`pairwise_emd`; None is "euclidean", the fastest.
        pairs : array-like of int or of bool, optional
            Which pairs to solve: their positions in ``self.pairs``, or a mask.
        points : array-like of shape (d, s), optional
            Other points of the bins, for this solve only.

        Returns
        -------
        BatchSolution

        Warns
        -----
        EfficiencyWarning
            Once, after a long solve, if ``metric`` would be a metric but for rounding;
            see :func:`~groundmetric.metric_closure`.
        """
        if validation.is_learner(metric):
            batch, ground = self._seen_by(metric, points)
            return batch.solve(ground.get("metric"), pairs, points=ground.get("points"))
        chosen = validation.as_choice(pairs, len(self))
        threads = validation.n_threads(self.n_jobs)
        values, n_pivots, proof, plans = self._solver.solve(
            metric, points, chosen, threads
        )
        validation.require_in_range(values)
        return BatchSolution(values, n_pivots, chosen, proof, plans)

    def _seen_by(
        self,
        learner: Any,
        points: ArrayLike | None,
    ) -> tuple[TransportBatch, dict[str, Floats]]:
        """Make the batch of what a learner sees, and keep it for learners like it."""
        X, Y, pairs = self._given
        if validation.are_clouds(X):
            raise ValueError("metric is a learner, but X holds point clouds.")
        if _checksum(X, Y) != self._sum:
            raise ValueError("X or Y has changed since the batch was made.")
        left, right, ground = validation.seen_by(learner, X, Y, points)
        key = (_checksum(left, right), *ground)  # of what the learner sees
        with self._seeing:
            if key not in self._seen:
                self._seen[key] = TransportBatch(
                    left,
                    pairs,
                    Y=right,
                    points=ground.get("points"),
                    n_jobs=self.n_jobs,
                )
            return self._seen[key], ground


def _checksum(*rows: Any) -> int:
    """Sum up histograms, to notice if they change; point clouds are not looked at."""
    total = 0
    for each in rows:
        if each is not None and not validation.are_clouds(each):
            data = each.tocsr().data if hasattr(each, "tocsr") else np.asarray(each)
            total = zlib.crc32(np.ascontiguousarray(data).view(np.uint8).data, total)
    return total


class Plans(Protocol):
    """The plans of one solve, as long as the batch keeps them."""

    def plan_sum(self, pairs: Indices, weights: Floats) -> Floats | csr_array:
        """Weighted sum of plans."""

    def transport(self, pair: int, value: float, n_pivots: int) -> Transport:
        """Plan and certificate of a pair."""


class Solver(Protocol):
    """Pairs of one kind of histograms, and the core that solves them."""

    @property
    def core(self) -> _core.DenseBatch | _core.SparseBatch:
        """The part of the core that keeps the trees, or some of them."""

    @property
    def n_bytes(self) -> int:
        """Memory of all trees."""

    def solve(
        self, metric: Metric, points: ArrayLike | None, chosen: Indices, threads: int
    ) -> tuple[Floats, NDArray[np.int32], str, Plans]:
        """Return values, pivots, the proof that mass may stay, and the plans."""


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
        return self._plans.plan_sum(self.pairs, w)

    def transport(self, k: int) -> Transport:
        """Plan and certificate of the k-th solved pair."""
        k = validation.as_position(k, "k", self.pairs.size)
        return self._plans.transport(
            int(self.pairs[k]), float(self.values[k]), int(self.n_pivots[k])
        )
