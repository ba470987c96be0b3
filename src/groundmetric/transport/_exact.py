r"""Exact earth mover's distances (section 2 of the paper).

For histograms r, c of equal mass and a matrix M of costs between their bins,

.. math:: d_M(r, c) = \min_{X \in U(r, c)} \langle M, X \rangle,
          \quad U(r, c) = \{X \ge 0 : X 1 = r, X' 1 = c\}    \tag{P0}

and any optimal plan X is a subgradient of :math:`M \mapsto d_M(r, c)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .._cluster import is_lazy
from .._progress import progress_bar
from ._blocks import solve_here, solve_in_blocks, solve_there
from ._pairs import DensePairs, all_pairs, lazy_pairs

Floats = NDArray[np.float64]


def pairwise_emd(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    metric: Any = None,
    points: ArrayLike | None = None,
    out: object = None,
    condensed: bool = False,
    dtype: str | None = None,
    client: object = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """Earth mover's distances between all rows of X and all rows of Y.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d), or list of (masses, coordinates)
        Histograms of equal mass, in rows (to 1e-6; all are scaled to X[0]'s mass). Or
        point clouds, each with masses of shape (k,) and coordinates of shape (k, s)
        of its own; metric is then as with points.
    Y : array-like or sparse matrix of shape (m, e), optional
        Other histograms, usually on the same bins (e = d), or point clouds. If None, X
        itself; each pair is then solved once if the metric is symmetric. If X is a
        Dask array, Y must be one, too, and so is the result, which is computed lazily.
    metric : array-like of shape (d, e), learner, str or callable, optional
        Cost of moving a unit of mass from a bin of X to a bin of Y; any real matrix.
        Infinite entries forbid arcs; a pair that no plan solves without them has an
        infinite distance.
        Or a fitted learner, such as :class:`~groundmetric.GroundMetricLearning`: X and
        Y are then normalized and raised to its power, as in its method ``pairwise``.
        If 60 % of its entries or more equal the largest, as with
        :func:`~groundmetric.threshold_metric`, mass that moves at that price goes
        through a hub: the same distances (to 1e-12 of each), faster. ``transport``
        and :class:`~groundmetric.TransportBatch` do not use the hub.
        With points, the name of a metric in ``scipy.spatial.distance.cdist``, or a
        function that takes the coordinates of some bins (k, s) and of others (l, s)
        and returns their costs (k, l); None is "euclidean", the fastest.
    points : array-like of shape (d, s) or (d,), optional
        Coordinates of the bins, instead of a matrix. Costs are computed between the
        non-empty bins of each pair, and sparse X and Y stay sparse: d may be large.
        On a line, with one coordinate each, distances and "sqeuclidean" are solved by
        sorting.
        With word vectors as points, this is the word mover's distance.
    out : path, ndarray, memmap or zarr array, optional
        Where to write distances, block by block; a path to a ``.npy`` file makes one of
        the right shape. A file ``out.npy.blocks`` beside it (in a zarr array, an
        attribute) lists the finished blocks: after a crash, the same call resumes, and
        ends with the same distances. A finished file is overwritten.
    condensed : bool, default=False
        Return only the distances above the diagonal, in the order of scipy's ``pdist``;
        for Y None and a symmetric metric.
    dtype : {"float64", "float32"}, optional
        How distances are stored; None is float64, or the type of ``out``. They are
        always computed in float64.
    client : dask.distributed.Client, optional
        Solve blocks of pairs on the workers of a cluster (needs the extra
        ``distributed``), each on n_jobs threads. The loss of workers costs only time.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is 1, -1 is all processors.
        Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    ndarray of shape (n, m), or (n (n - 1) / 2,) if condensed
        ``out`` if given; for a path, a memory map of the file.

    Warns
    -----
    EfficiencyWarning
        Before a long computation, if ``metric`` would be a metric but for rounding:
        pairs are solved as given, but :func:`~groundmetric.metric_closure` of it is
        several times as fast.

    Examples
    --------
    >>> from groundmetric import pairwise_emd
    >>> pairwise_emd([[2, 0], [1, 1], [0, 2]], metric=[[0, 3], [3, 0]])
    array([[0., 3., 6.],
           [3., 0., 3.],
           [6., 3., 0.]])

    Bins with coordinates, and point clouds:

    >>> pairwise_emd([[2, 0], [1, 1], [0, 2]], points=[[0.0], [3.0]])
    array([[0., 3., 6.],
           [3., 0., 3.],
           [6., 3., 0.]])
    >>> pairwise_emd([([2], [[0, 0]]), ([1, 1], [[3, 4], [6, 8]])])
    array([[ 0., 15.],
           [15.,  0.]])

    Only the distances above the diagonal:

    >>> pairwise_emd([[2, 0], [1, 1], [0, 2]], metric=[[0, 3], [3, 0]], condensed=True)
    array([3., 6., 3.])
    """
    threads = validation.n_threads(n_jobs)
    in_blocks = out is not None or condensed or dtype is not None or client is not None
    if validation.is_learner(metric):
        if is_lazy(X) or is_lazy(Y):
            raise ValueError("metric is a learner, but X or Y is a Dask array.")
        X, Y, ground = validation.seen_by(metric, X, Y, points)
        metric, points = ground.get("metric"), ground.get("points")
    if is_lazy(X) or is_lazy(Y):
        if in_blocks or verbose:
            raise ValueError(
                "X or Y is a Dask array, so the result is one, too: out, condensed, "
                "dtype, client and verbose cannot be combined with it."
            )
        return lazy_pairs(X, Y, metric, points, threads)
    pairs = all_pairs(X, Y, metric, points)
    if isinstance(pairs, DensePairs):
        pairs.warn_if_rounded(threads)
    if in_blocks:
        return solve_in_blocks(
            pairs,
            solve_here(threads) if client is None else solve_there(client, threads),
            out=out,
            condensed=condensed,
            dtype=dtype,
            verbose=verbose,
        )
    n, m = pairs.shape
    with progress_bar(n * m, label="emd", show=verbose > 0) as report:
        return pairs.solve(slice(0, n), slice(0, m), threads, report)
