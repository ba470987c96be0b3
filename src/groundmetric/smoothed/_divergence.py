"""The Sinkhorn divergence of all rows of X and all rows of Y."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..base._arrays import full_device_in_words, to_numpy
from ..transport import pairwise_emd
from ..validation import Case
from ._batch import MAX_ITER, debiased, prepare, warn_of_errors
from ._costs import CostsOfBins, as_dissimilarity
from ._problems import DenseProblems
from ._supports import SparseProblems, case_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ._batch import Ground
    from ._problems import Solved

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Pairs that are listed at a time.
BLOCK = 2**18


def sinkhorn_divergence(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    metric: Any = None,
    points: ArrayLike | None = None,
    smoothing: float = 1.0,
    tol: float | None = None,
    max_iter: int = MAX_ITER,
    n_jobs: int | None = None,
    device: str | None = None,
    dtype: str = "float64",
) -> Floats:
    """Debiased Sinkhorn divergences between all rows of X and all rows of Y.

    The earth mover's distance, smoothed by an entropy: OT_eps(r, c) - OT_eps(r, r) / 2
    - OT_eps(c, c) / 2 with eps = smoothing * mean(metric). It is the EMD at smoothing 0
    and the energy distance -(r - c)' metric (r - c) / 2 at infinity. If the metric is
    of negative type, as Euclidean distances and their squares are, it is not negative,
    and zero between equal histograms only.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms of equal mass, in rows (to 1e-6). If it is an array of PyTorch or
        CuPy and device is None, the work is done where it lies (needs the extra
        ``gpu``). Tensors that require a gradient are rejected, since the result has
        no gradient; :func:`groundmetric.torch.sinkhorn_divergence` has one. Sparse
        histograms that use few of many bins stay sparse, and each pair is solved on
        its supports.
    Y : array-like or sparse matrix of shape (m, d), optional
        Others; X itself if None.
    metric : array-like of shape (d, d), str or callable, optional
        Cost of moving a unit of mass between bins: symmetric, non-negative, zero on the
        diagonal. The triangle inequality is not needed. With points, the name of a
        metric or a function, as in :func:`pairwise_emd`; None is "euclidean".
    points : array-like of shape (d, s), optional
        Coordinates of the bins, instead of a matrix: costs are computed between the
        non-empty bins of each pair. mean(metric) is the mean over all d * d pairs of
        bins: twice the variance of the points for "sqeuclidean", and otherwise computed
        block by block, in time of d * d * s and little memory.
    smoothing : float, default=1.0
        How much to smooth; 0 gives what :func:`pairwise_emd` gives (on the processor,
        in float64), ``math.inf`` is computed in closed form. The smaller it is, the
        more iterations are needed; below max(metric) / mean(metric) / 300 (in float32,
        / 30) they run on logarithms, which takes many times longer.
    tol : float, optional
        Stop when the marginals of all plans are within tol of the histograms (l1, for
        mass 1); 1e-6 if None, 1e-4 in float32. Divergences are more precise than that,
        their errors being of the order of its square.
    max_iter : int, default=10000
        Iterations after which to give up, with a ``ConvergenceWarning``.
    n_jobs : int, optional
        Number of threads, as in scikit-learn: None is 1, -1 is all processors.
        Results do not depend on it.
    device : {"cpu", "cuda", "mps"}, optional
        Compute with PyTorch on this device (needs the extra ``gpu``), on threads of its
        own; None is numpy.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the computation. In float32 divergences are off by up to 1e-5 *
        mean(metric) * mass for smoothing from 0.1 to 30, and by 2e-4 of it at 1000.

    Returns
    -------
    ndarray of shape (n, m)
        In float64. Symmetric and zero on the diagonal if Y is None.

    Examples
    --------
    >>> from groundmetric import sinkhorn_divergence
    >>> X, metric = [[2, 0], [1, 1], [0, 2]], [[0, 3], [3, 0]]
    >>> sinkhorn_divergence(X, metric=metric, smoothing=0)
    array([[0., 3., 6.],
           [3., 0., 3.],
           [6., 3., 0.]])
    >>> sinkhorn_divergence(X, metric=metric, smoothing=1).round(3)
    array([[0.   , 2.151, 6.   ],
           [2.151, 0.   , 2.151],
           [6.   , 2.151, 0.   ]])
    """
    smoothing = validation.as_smoothing(smoothing)
    limits = {"tol": tol, "max_iter": max_iter, "n_jobs": n_jobs}
    options: dict[str, Any] = {**limits, "device": device, "dtype": dtype}
    problems: DenseProblems | SparseProblems
    validation.require_named_alike(X, Y, metric=metric, points=points)
    case = case_for(X, Y, points)
    metric = case.accept(metric)
    if case is Case.DENSE:
        problems = DenseProblems(X, Y, **options)
        metric = as_dissimilarity(metric, problems.d)
    else:
        problems = SparseProblems(X, Y, **options)
        costs = CostsOfBins.of(metric, points, problems.d)
    if smoothing == 0.0:
        return pairwise_emd(
            to_numpy(X), to_numpy(Y), metric=metric, points=points, n_jobs=n_jobs
        )
    with full_device_in_words(BLOCK, problems.d):
        if isinstance(problems, DenseProblems):
            ground = prepare(problems, np.asarray(metric), smoothing)
            solve, unit = _solver(problems, ground), ground.unit
        else:
            solve, unit = problems.solver(costs, smoothing), costs.mean or 1.0
        out, n_off, worst = _all_pairs(problems, solve, symmetric=Y is None)
    warn_of_errors(n_off, worst, problems)
    return out * (unit * problems.mass)


def _all_pairs(
    problems: DenseProblems | SparseProblems,
    solve: Callable[[Indices], Solved],
    *,
    symmetric: bool,
) -> tuple[Floats, int, float]:
    """S of all pairs, how many did not converge, and how far the worst is off."""
    n, m = problems.n, len(problems) - problems.first_of_y
    out, n_off, worst = np.zeros((n, m)), 0, 0.0
    for pairs in _blocks(n, m, symmetric=symmetric):
        found = solve(pairs + np.array([0, problems.first_of_y]))
        out[tuple(pairs.T)] = found.values
        n_off += int(np.sum(~(found.error <= problems.tol)))
        worst = max(worst, float(found.error.max()))
    if symmetric:
        out += out.T
    return out, n_off, worst


def _solver(problems: DenseProblems, ground: Ground) -> Callable[[Indices], Solved]:
    """Make what takes pairs of rows and returns S in units of mean(M)."""
    k = ground.k
    if k is None:
        return lambda rows: problems.energies(ground.M, rows)
    own, g = problems.solve_own(k, None)
    return lambda rows: debiased(rows, problems.solve_pairs(k, rows, g), own)


def _blocks(n: int, m: int, *, symmetric: bool) -> Iterator[Indices]:
    """All pairs, or those above the diagonal, some rows at a time."""
    size = max(1, BLOCK // m)
    for start in range(0, n, size):
        i, j = np.mgrid[start : min(start + size, n), :m].reshape(2, -1)
        pairs = np.column_stack([i, j])
        if symmetric:
            pairs = pairs[i < j]
        if len(pairs):
            yield pairs
