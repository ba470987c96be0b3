"""Check whether a matrix is a metric, find where it is not, and lower it to one.

The checks share one oracle, :func:`groundmetric.validation.broken_triangles`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation

Floats = NDArray[np.float64]


def triangle_violation(M: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Largest amount by which M breaks the triangle inequality; 0.0 if it holds.

    Parameters
    ----------
    M : array-like of shape (d, d)
        Any real matrix.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    float
        The largest of M[i, j] - (M[i, k] + M[k, j]) and 0, over all i, j, k, including
        i = j: M[i, i] <= M[i, k] + M[k, i] makes metrics non-negative.

    Examples
    --------
    >>> from groundmetric import triangle_violation
    >>> triangle_violation([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    2.0
    """
    matrix = validation.as_square(M, "M")
    return _largest_violation(matrix, n_jobs)


def _largest_violation(matrix: Floats, n_jobs: int | None) -> float:
    threads = validation.n_threads(n_jobs)
    worst = validation.broken_triangles(matrix, n_threads=threads)
    return worst[0].amount if worst else 0.0


def is_metric(M: ArrayLike, *, tol: float = 0.0, n_jobs: int | None = None) -> bool:
    """Whether M is a metric matrix: zero diagonal, symmetric, triangle inequality.

    Distances between different bins may be zero (strictly, a pseudometric); the paper's
    cone of metrics allows it too.

    Parameters
    ----------
    M : array-like of shape (d, d)
        Any real matrix.
    tol : float, default=0.0
        How much each condition may be violated.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Examples
    --------
    >>> from groundmetric import is_metric
    >>> is_metric([[0, 1, 3], [1, 0, 2], [3, 2, 0]])
    True
    >>> is_metric([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    False
    """
    matrix = validation.as_square(M, "M")
    tol = validation.as_number(tol, "tol", low=0.0)
    return bool(
        np.abs(np.diag(matrix)).max() <= tol
        and np.abs(matrix - matrix.T).max() <= tol
        and _largest_violation(matrix, n_jobs) <= tol
    )


def metric_violations(
    M: ArrayLike, *, max_items: int = 10
) -> list[validation.Violation]:
    """Find the triangles that M breaks, the worst first.

    Parameters
    ----------
    M : array-like of shape (d, d)
        Any real matrix. If it is symmetric, (i, j, k) and (j, i, k) are the same
        triangle, which is listed once, with i <= j.
    max_items : int, default=10
        The maximum length of the list.

    Returns
    -------
    list of Violation
        (i, j, k, amount) with M[i, j] = M[i, k] + M[k, j] + amount, amount > 0.

    Examples
    --------
    >>> from groundmetric import metric_violations
    >>> metric_violations([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    [Violation(i=0, j=2, k=1, amount=2.0)]
    """
    matrix = validation.as_square(M, "M")
    max_items = validation.as_count(max_items, "max_items", low=0)
    return validation.broken_triangles(matrix, max_items)


def metric_closure(M: ArrayLike, *, n_jobs: int | None = None) -> Floats:
    """Largest metric below M: the shortest paths through all bins.

    Rounding a metric, to float32 or to some digits, breaks triangles by as much. The
    closure M' repairs them, after which EMDs are faster to compute. If M' is nowhere
    lower by more than eps, then d_M' <= d_M <= d_M' + eps t, where t is the mass that
    moves under M'.

    Parameters
    ----------
    M : array-like of shape (d, d)
        Symmetric, non-negative, zero on the diagonal.
    n_jobs : int, optional
        Number of threads, as in scikit-learn.

    Returns
    -------
    ndarray of shape (d, d)
        An exact metric in floating point: its triangle violation is 0.0.

    Examples
    --------
    >>> from groundmetric import metric_closure
    >>> metric_closure([[0, 1, 5], [1, 0, 2], [5, 2, 0]])
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    matrix = validation.as_square(M, "M")
    validation.require_dissimilarity(matrix, "M")
    return closure(matrix, validation.n_threads(n_jobs))


def closure(matrix: Floats, threads: int) -> Floats:
    """Shortest paths; see :func:`metric_closure`."""
    return validation.shortest_paths(matrix, threads)


def threshold_metric(M: ArrayLike, t: float) -> Floats:
    r"""Cut a metric off at t, so that all larger distances become equal.

    .. math:: \min(M, t)

    is a metric if M is one, and it is robust: no bin is an outlier. EMDs are also
    faster to compute: if most entries are cut, :func:`~groundmetric.pairwise_emd` sends
    all mass that moves at price t through one hub and considers only the other arcs
    (section 8.2 of the paper; Pele & Werman, *Fast and Robust Earth Mover's Distances*,
    2009).

    Parameters
    ----------
    M : array-like of shape (d, d)
        A metric.
    t : float
        The largest distance allowed, above zero; for instance a quantile of M.

    Returns
    -------
    ndarray of shape (d, d)

    Examples
    --------
    >>> from groundmetric import threshold_metric
    >>> threshold_metric([[0, 1, 3], [1, 0, 2], [3, 2, 0]], 2)
    array([[0., 1., 2.],
           [1., 0., 2.],
           [2., 2., 0.]])
    """
    matrix = validation.as_square(M, "M")
    validation.require_metric(matrix, "M")
    return np.minimum(matrix, validation.as_positive_number(t, "t"))
