"""The barycenter of the rows of X, or several with other weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .._warnings import warn_not_converged
from ..base._arrays import full_device_in_words, to_numpy
from ..smoothed._batch import MAX_ITER, prepare
from ..smoothed._costs import as_dissimilarity
from ..smoothed._problems import DenseProblems
from ._exact import exact_barycenter
from ._found import Barycenters
from ._smoothed import smoothed_barycenters

Floats = NDArray[np.float64]

EXACT_TOL = 1e-8
SMOOTHED_TOL = {"float64": 1e-5, "float32": 1e-4}
# The exact barycenter starts from a smoothed one, if possible without logarithms.
FIRST_SMOOTHING, LARGEST_RATIO, N_FIRST = 0.03, 250.0, 300


def barycenter(
    X: ArrayLike,
    metric: Any,
    weights: ArrayLike | None = None,
    smoothing: float = 0.1,
    *,
    tol: float | None = None,
    max_iter: int = MAX_ITER,
    n_jobs: int | None = None,
    device: str | None = None,
    dtype: str = "float64",
) -> Floats:
    """Barycenter of histograms: the one with the smallest sum of distances to them.

    It has the same bins, and minimizes the weighted sum of their Sinkhorn divergences
    to it, or of their EMDs if smoothing is 0. Masses move rather than fade: that of two
    peaks is a peak between them, where the mean has both.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms of equal mass, in rows (to 1e-6). An array of PyTorch or CuPy is
        averaged where it lies.
    metric : array-like of shape (d, d) or learner
        Cost of moving a unit of mass between bins: symmetric, non-negative, zero on the
        diagonal. Or a fitted learner: X is then normalized and raised to its power, and
        so is the barycenter, as by the method ``histograms`` of the learner.
    weights : array-like of shape (n,) or (m, n), optional
        How much each histogram counts; only ratios matter. A row each for m
        barycenters, which are computed together; None counts all the same.
    smoothing : float, default=0.1
        The smoothing of :func:`sinkhorn_divergence`, which is debiased, so that the
        barycenter is not blurred. 0 is exact, a linear program: fit for up to 100 bins
        or so. The mean of histograms is the barycenter for ``math.inf``.
    tol : float, optional
        Stop when the weighted mean of the distances is at most tol * mean(metric) *
        mass above its minimum, and marginals of smoothed plans are within
        sqrt(tol / 10). If None, 1e-5, or 1e-4 in float32, or 1e-8 at smoothing 0. At
        smoothing 0 this is proved; otherwise it holds to the order of tol if the metric
        is of negative type, as Euclidean distances and their squares are.
    max_iter : int, default=10000
        Iterations after which to give up, with a ``ConvergenceWarning``; linear
        programs at smoothing 0.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. Results do not depend on it.
    device : {"cpu", "cuda", "mps"}, optional
        Compute with PyTorch on this device (needs the extra ``gpu``); None is numpy.
        Ignored at smoothing 0.
    dtype : {"float64", "float32"}, default="float64"
        Precision of the computation. Ignored at smoothing 0.

    Returns
    -------
    ndarray of shape (d,), or (m, d) if weights have two dimensions
        Of the mass of X, in float64. An exact barycenter need not be unique.

    See Also
    --------
    EMDClassifier : classifies by the nearest barycenter with ``prototypes``.

    Examples
    --------
    Two peaks, on a line of five bins:

    >>> import numpy as np
    >>> from groundmetric import barycenter
    >>> X = [[1, 0, 0, 0, 0], [0, 0, 0, 0, 1]]
    >>> metric = np.square(np.subtract.outer(range(5), range(5)))
    >>> barycenter(X, metric, smoothing=0)
    array([0., 0., 1., 0., 0.])
    >>> barycenter(X, metric, weights=[3, 1], smoothing=0)
    array([0., 1., 0., 0., 0.])

    Those of all classes:

    >>> y = np.array(["left", "right"])
    >>> barycenter(X, metric, weights=np.unique(y)[:, None] == y)
    array([[1., 0., 0., 0., 0.],
           [0., 0., 0., 0., 1.]])
    """
    smoothing = validation.as_smoothing(smoothing)
    if tol is None:
        precision = validation.as_precision(dtype)
        tol = SMOOTHED_TOL[precision] if smoothing > 0 else EXACT_TOL
    validation.require_named_alike(X, metric=metric)
    if validation.is_learner(metric):
        validation.require_learned(metric)
        X, metric = metric.histograms(to_numpy(X, "X")), metric.metric_
    if smoothing == 0.0:
        X, device, dtype = to_numpy(X, "X"), None, "float64"
    problems = DenseProblems(
        X,
        None,
        tol=tol,
        max_iter=max_iter,
        n_jobs=n_jobs,
        device=device,
        dtype=dtype,
    )
    M = as_dissimilarity(metric, problems.d)
    shares = validation.as_shares(weights, problems.n)
    found = _averaged(problems, M, np.atleast_2d(shares), smoothing)
    _warn_of_gaps(found, problems)
    histograms = found.histograms * problems.mass
    return histograms[0] if shares.ndim == 1 else histograms


def _averaged(
    problems: DenseProblems, M: Floats, shares: Floats, smoothing: float
) -> Barycenters:
    """Compute barycenters by each row of shares; one histogram is its own."""
    found = Barycenters.unknown(len(shares), problems.d)
    several = np.count_nonzero(shares, axis=1) > 1
    alone = np.flatnonzero(~several)
    rows = problems.arrays.get(problems.rows)
    found.histograms[alone] = rows[shares[alone].argmax(axis=1)]
    if not several.any():
        return found
    make = _smoothed if smoothing > 0 else _exact
    made = make(problems, M, shares[several], smoothing)
    found.histograms[several], found.n_iter[several] = made.histograms, made.n_iter
    found.gaps[several], found.errors[several] = made.gaps, made.errors
    return found


def _smoothed(
    problems: DenseProblems, M: Floats, shares: Floats, smoothing: float
) -> Barycenters:
    with full_device_in_words(int(np.count_nonzero(shares)), problems.d):
        return smoothed_barycenters(problems, prepare(problems, M, smoothing), shares)


def _exact(problems: DenseProblems, M: Floats, shares: Floats, _: float) -> Barycenters:
    """Start each linear program from a smoothed barycenter."""
    tol, limit, rows = problems.tol, problems.max_iter, problems.rows
    ratio = float(M.max() / (M.mean() or 1.0))
    ground = prepare(problems, M, max(FIRST_SMOOTHING, ratio / LARGEST_RATIO))
    problems.max_iter = N_FIRST
    first = smoothed_barycenters(problems, ground, shares).histograms
    problems.max_iter = limit
    parts = [
        exact_barycenter(
            rows, w, ground.M, b, tol=tol, max_iter=limit, n_jobs=problems.n_threads
        )
        for w, b in zip(shares, first, strict=True)
    ]
    names = ("histograms", "gaps", "errors", "n_iter")
    return Barycenters(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in names)
    )


def _warn_of_gaps(found: Barycenters, problems: DenseProblems) -> None:
    """Warn if some barycenters are not as good as the tolerance asks for."""
    off = ~(found.inaccuracy <= problems.tol)
    if off.any():
        warn_not_converged(
            f"{int(off.sum())} of {len(off)} barycenters did not converge in max_iter="
            f"{problems.max_iter} iterations: the worst may be "
            f"{found.gaps[off].max():.1e} * mean(metric) above the minimum, with "
            f"marginals off by {found.errors[off].max():.1e}, and tol is "
            f"{problems.tol:g}. Increase max_iter, tol or smoothing."
        )
