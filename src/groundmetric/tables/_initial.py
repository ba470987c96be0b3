r"""Initial metrics (section 5 and Algorithm 3 of the paper).

Replace every distance by the dot product with a representative table,

.. math:: \chi_k(M) = \langle M, \Xi \rangle, \quad
          \Xi = \sum_i \sum_{j \in N^+_{ik} \cup N^-_{ik}} \omega_{ij} \Xi_{ij},

and minimize this linear criterion over the metrics of unit norm (P2). By the Frobenius
norm, the solution is the projection of :math:`-\Xi` onto the cone of metrics, scaled
(P3). By the l1 norm, and in the metric polytope, this is a linear program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from .. import validation
from .._warnings import warn
from ..cone._linear_minimum import minimum_in_l1_ball, minimum_in_polytope
from ..cone._projection import project_metric
from ..cone._triangle import closure
from ..similarity._makers import weights_of
from ..transport._exact import pairwise_emd
from . import _tables
from ._nearest import nearest

if TYPE_CHECKING:
    from ..similarity._weights import Weights

Floats = NDArray[np.float64]

TABLES = ("typical", "independence", "uniform")
NORMS = ("l2", "l1", "polytope")
STARTS = (*TABLES, "points")
TOL = 1e-6  # of the projection
SMALL = 1e-100  # metrics of a smaller norm are scaled up before a descent


def initial_metric(
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    similarity: ArrayLike | None = None,
    table: str = "typical",
    n_neighbors: int | None = None,
    neighbor_metric: ArrayLike | None = None,
    total: float = 1.0,
    blend: float = 1.0,
    norm: str = "l2",
    n_jobs: int | None = None,
) -> Floats:
    """Metric to start the descent from, or to use as is.

    It is large between bins that typically exchange mass when histograms are
    dissimilar, and small between bins that typically exchange mass when they are
    similar.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,), optional
        Class labels. Pass either these or ``similarity``.
    similarity : array-like of shape (n, n), optional
        Symmetric weights: positive for similar pairs, negative for dissimilar ones.
    table : {"typical", "independence", "uniform"}, default="typical"
        The representative table. "uniform" gives the uniform metric, all ones, under
        which the distance is half the l1 distance; it uses neither X nor y.
    n_neighbors : int, optional
        For each histogram, count only this many nearest similar and dissimilar ones.
        If None, count all of them: the paper's k = infinity.
    neighbor_metric : array-like of shape (d, d), optional
        The ground metric for finding these neighbors; by default, l1 distances are
        used instead of EMDs.
    total : float, default=1.0
        Total mass of typical tables, see :func:`typical_table`.
    blend : float, default=1.0
        Share of this metric in a blend with the uniform metric, both of unit norm.
    norm : {"l2", "l1", "polytope"}, default="l2"
        Among which metrics the linear criterion is minimized: those of at most unit
        Frobenius norm ("l2"), those whose entries sum to at most 1 ("l1"), or those
        with M_ij + M_jk + M_ki <= 2 for all triples of bins ("polytope"). The last two
        are linear programs, proven optimal up to 1e-6 of the value. Their solutions
        have few different entries, often just 0 and another one, so blend them. The
        result is scaled to unit Frobenius norm in any case.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. Results do not depend on it.

    Returns
    -------
    ndarray of shape (d, d)
        A metric of unit Frobenius norm.

    Warns
    -----
    UserWarning
        If no metric makes the linear criterion negative: by the tables' estimate,
        similar histograms are on average at least as far apart as dissimilar ones
        under every metric. The minimizer is then zero, and the uniform metric is
        returned instead.
    ConvergenceWarning
        If the solution of a linear program is not proven to be optimal.

    Examples
    --------
    >>> from groundmetric import initial_metric
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> initial_metric(X, [0, 0, 1, 1]).round(2)
    array([[0.  , 0.29, 0.58],
           [0.29, 0.  , 0.29],
           [0.58, 0.29, 0.  ]])
    """
    validation.require_named_alike(X, metric=neighbor_metric)
    rows = validation.as_distributions(X, "X")
    threads = validation.n_threads(n_jobs)
    blend = validation.as_number(blend, "blend", low=0.0, high=1.0)
    total = _tables.as_total(total)
    validation.require_one_of(table, "table", TABLES)
    validation.require_one_of(norm, "norm", NORMS)
    if n_neighbors is not None:
        n_neighbors = validation.as_count(n_neighbors, "n_neighbors", low=1)
    if neighbor_metric is not None:
        neighbor_metric = validation.as_cost(
            neighbor_metric, rows.shape[1], "neighbor_metric"
        )
    uniform = uniform_metric(rows.shape[1])
    if table == "uniform" or rows.shape[1] == 1:
        return uniform

    omega = weights_of(len(rows), y, similarity).matrix()
    omega = omega / (np.abs(omega).max() or 1.0)
    if n_neighbors is not None:
        if neighbor_metric is None:
            distances = cdist(rows, rows, "cityblock")
        else:
            distances = pairwise_emd(rows, metric=neighbor_metric, n_jobs=n_jobs)
        omega = _near(omega, distances, n_neighbors)
    center = _center(rows, omega, table, total, threads)
    metric = _minimizer(center, norm, threads)
    # If <M, Xi> >= 0 for all metrics, the minimizer is zero up to rounding.
    length = np.linalg.norm(metric)
    if length <= TOL * np.linalg.norm(center) or (metric * center).sum() >= 0:
        warn(
            f"By the {table} tables, no metric brings similar histograms closer "
            "together than dissimilar ones; returning the uniform metric instead."
        )
        return uniform
    mixed = blend * (metric / length) + (1 - blend) * uniform
    return closure(mixed / np.linalg.norm(mixed), threads)


def _center(
    rows: Floats, omega: Floats, table: str, total: float, n_threads: int
) -> Floats:
    """Sum the tables, each as often as its weight says: Xi, up to a factor."""
    if table == "independence":
        center = _tables.independence_sum(rows, omega)
    else:
        # T_ji is the transpose of T_ij, and only the symmetric part counts.
        upper = np.triu(omega + omega.T, 1)
        pairs = np.ascontiguousarray(np.argwhere(upper))
        center = _tables.typical_sum(
            rows, pairs, upper[tuple(pairs.T)], total=total, n_threads=n_threads
        )
    return center / (np.abs(center).max() or 1.0)


def _minimizer(center: Floats, norm: str, n_threads: int) -> Floats:
    """Minimize <M, Xi>; the result is -Xi projected onto the ray of the solution."""
    if norm == "l2":
        return project_metric(-center, tol=TOL, n_jobs=n_threads).metric
    symmetric = (center + center.T) / 2
    np.fill_diagonal(symmetric, 0.0)
    minimum = minimum_in_l1_ball if norm == "l1" else minimum_in_polytope
    found = minimum(symmetric, tol=TOL, n_threads=n_threads)
    square = float(np.square(found.metric).sum())
    return found.metric * (-found.value / (square or 1.0))


def starting_metric(
    init: str | ArrayLike | None,
    rows: Floats,
    weights: Weights,
    n_jobs: int | None,
    points: ArrayLike | None = None,
) -> Floats:
    """Make the metric that a descent starts from: by name, or as given."""
    if init is None:
        init = "uniform" if points is None else "points"
    if isinstance(init, str):
        if init not in STARTS:
            raise ValueError(
                f"init is {init!r}; one of {', '.join(STARTS)} or a metric is needed."
            )
        if init == "uniform":
            return uniform_metric(rows.shape[1])
        if init == "points":
            return points_metric(points, rows.shape[1], validation.n_threads(n_jobs))
        return initial_metric(
            rows, similarity=weights.matrix(), table=init, blend=0.5, n_jobs=n_jobs
        )
    metric = validation.as_cost(init, rows.shape[1], "init")
    validation.require_metric(metric, "init")
    largest = metric.max()
    if largest == 0 and len(metric) > 1:
        raise ValueError("init is zero everywhere: a descent cannot start from there.")
    scaled = metric / (largest or 1.0)  # so that squares neither over- nor underflow
    norm = float(np.linalg.norm(scaled))
    if SMALL <= largest * norm <= 1:
        return metric
    return closure(scaled / (norm or 1.0), validation.n_threads(n_jobs))


def points_metric(points: ArrayLike | None, d: int, n_threads: int) -> Floats:
    """Euclidean distances between the bins' points, of unit norm."""
    if points is None:
        raise ValueError("init is 'points', but there are no points.")
    coordinates = validation.as_points(points, d)
    _, exponent = np.frexp(np.abs(coordinates).max(initial=0.0))
    coordinates = np.ldexp(coordinates, -exponent - 1)  # or squares would overflow
    distances = cdist(coordinates, coordinates)
    return closure(distances / (float(np.linalg.norm(distances)) or 1.0), n_threads)


def uniform_metric(d: int) -> Floats:
    """Make M_1, of unit norm. The paper writes 1 for i = j; it means i != j."""
    uniform: Floats = (1.0 - np.eye(d)) / np.sqrt(max(d * (d - 1), 1))
    return uniform


def _near(omega: Floats, distances: Floats, k: int) -> Floats:
    """Keep omega_ij only for j in N+_ik and N-_ik; the result is not symmetric."""
    return omega * (nearest(distances, omega > 0, k) | nearest(distances, omega < 0, k))
