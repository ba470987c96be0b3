"""Pairs of histograms that are solved for one metric after another (Algorithm 1).

A descent changes the metric a little at every step, and then needs all distances and
the weighted sum of the optimal plans, which is a subgradient.
"""

from __future__ import annotations

import zlib
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ._dense import DenseSolver
from ._forbidden import as_distances
from ._points import PointSets
from ._solution import BatchSolution
from ._supports import PointsSolver, SparseSolver

if TYPE_CHECKING:
    from .. import _core
    from ._solution import Plans
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
        validation.require_named_alike(X, Y, points=points)
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
            Any real matrix of costs; infinite ones forbid arcs. If it obeys the
            triangle inequality, common mass can stay where it is, and problems are
            smaller. The batch checks all triangles if it solves d / 8 pairs or more; if
            it solves fewer, the potentials of each pair prove it (see
            ``BatchSolution.proof``). For sparse histograms on many bins this is not
            used: all mass moves.
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
        X, Y, _ = self._given
        validation.require_named_alike(X, Y, metric=metric, points=points)
        chosen = validation.as_choice(pairs, len(self))
        threads = validation.n_threads(self.n_jobs)
        values, n_pivots, proof, plans = self._solver.solve(
            metric, points, chosen, threads
        )
        values = as_distances(values)
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
