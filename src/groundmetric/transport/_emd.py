"""The distance, or the plan, of one pair; or the distances of rows in pairs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from ..validation import Case
from ._certificate import Transport, as_transport
from ._forbidden import refuse_infeasible
from ._line import Line
from ._points import PointSets
from ._rows import are_rows, emd_of_rows
from ._supports import PointsSolver

Floats = NDArray[np.float64]
ONLY = np.zeros(1, np.int64)  # the position of a single pair


def emd(
    r: ArrayLike,
    c: ArrayLike,
    metric: Any = None,
    *,
    points: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Any:
    """Earth mover's distance between two histograms, or between rows in pairs.

    Two vectors give a float. If r or c has several rows, row i of one is compared with
    row i of the other, or all rows with the same vector, and the result is an array.
    For the distances of all rows to all others, use :func:`pairwise_emd`.

    Parameters
    ----------
    r : array-like of shape (m,) or (n, m), sparse matrix, or list of point clouds
        Non-negative histogram, or n of them in rows. A sparse matrix with a single row
        is a vector.
    c : array-like of shape (e,) or (n, e), sparse matrix, or list of point clouds
        Non-negative histogram of the same mass (to 1e-6; c is scaled to r's mass),
        usually on the same bins; or n of them. Masses need to be equal in each pair
        only.
    metric : array-like of shape (m, e), str or callable, optional
        Cost of moving a unit of mass from bin p of r to bin q of c. Usually a metric
        on common bins; any real matrix is accepted, and solved exactly. Only the costs
        between bins that are not empty are copied. Infinite entries forbid arcs: no
        plan uses them, and if none can avoid them, a ValueError says so.
        With points, as in :func:`pairwise_emd`.
    points : array-like of shape (d, s) or (d,), optional
        Coordinates of the bins, instead of a matrix. If they are on a line, with one
        coordinate each, and ``metric`` is None or "sqeuclidean", sorting takes the
        place of the simplex.
    n_jobs : int, optional
        Number of threads for rows, as in scikit-learn. Results do not depend on it.

    Returns
    -------
    float, or ndarray of shape (n,)
        The cost of the cheapest plan; of each pair if r or c has rows.

    Examples
    --------
    >>> from groundmetric import emd
    >>> M = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    >>> emd([3, 1, 0], [1, 1, 2], M)
    4.0

    Between histograms on different bins, here two mines and three factories:

    >>> emd([2, 2], [1, 2, 1], [[1, 4, 6], [5, 2, 3]])
    10.0

    Rows in pairs, and rows with one vector:

    >>> emd([[3, 1, 0], [0, 2, 0]], [[1, 1, 2], [1, 1, 0]], M)
    array([4., 1.])
    >>> emd([[3, 1, 0], [0, 2, 2]], [1, 1, 2], M)
    array([4., 1.])

    Infinite costs forbid arcs:

    >>> from math import inf
    >>> emd([1, 1], [1, 1], [[inf, 1], [1, 0]])
    2.0

    Points on a line:

    >>> emd([3, 1, 0], [1, 1, 2], points=[0, 1, 2])
    4.0
    """
    validation.require_named_alike(r, c, metric=metric, points=points, names=("r", "c"))
    if are_rows(r) or are_rows(c):
        return emd_of_rows(r, c, metric, points, n_jobs)
    if n_jobs is not None:
        validation.n_threads(n_jobs)
    if points is not None:
        return _value_between_points(r, c, metric, points)
    pair = _pair(r, c, metric)
    value = _core.emd(*pair)
    if math.isnan(value):
        _refuse(_core.transport(*pair), pair[2])
    return _in_range(value)


def transport(
    r: ArrayLike,
    c: ArrayLike,
    metric: Any = None,
    *,
    points: ArrayLike | None = None,
) -> Transport:
    """Optimal plan between two histograms, with its certificate.

    Takes the same arguments as :func:`emd`, but a single pair. For the plans of many
    pairs, use :class:`TransportBatch`.

    Returns
    -------
    Transport
        Value, plan, potentials of all bins, and duality gap.

    Examples
    --------
    >>> from groundmetric import transport
    >>> t = transport([3, 1, 0], [1, 1, 2], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    >>> t.value, t.duality_gap
    (4.0, 0.0)
    >>> t.plan
    array([[1., 0., 2.],
           [0., 1., 0.],
           [0., 0., 0.]])
    """
    validation.require_named_alike(r, c, metric=metric, points=points, names=("r", "c"))
    if points is not None:
        return _between_points(r, c, metric, points)
    pair = _pair(r, c, metric)
    certificate = _core.transport(*pair)
    if math.isnan(certificate.value):
        _refuse(certificate, pair[2])
    _in_range(certificate.value)
    return as_transport(certificate)


def _pair(
    r: ArrayLike, c: ArrayLike, metric: Any
) -> tuple[Floats, Floats, float, Floats]:
    """Validate two histograms, and the costs between their bins."""
    left = validation.as_histograms(r, "r", ndim=1)
    right = validation.as_histograms(c, "c", ndim=1)
    given = Case.DENSE.accept(metric)
    cost = validation.as_cost(
        given, left.n_bins, n_columns=right.n_bins, single=True, may_forbid=True
    )
    return left.values, right.values, validation.common_mass(left, right), cost


def _value_between_points(
    r: ArrayLike, c: ArrayLike, metric: Any, points: ArrayLike
) -> float:
    """Solve one pair on bins with coordinates; on a line, without its plan."""
    left, right, total, coordinates = _pair_of_points(r, c, points)
    line = Line.of(coordinates, Case.POINTS.accept(metric))
    if line is None:
        return _between_points(left, right, metric, coordinates).value
    x, y = line.vector(left, total), line.vector(right, total)
    return _in_range(float(line.core.in_pairs(x, y, np.zeros((1, 2), np.int64), 1)[0]))


def _between_points(
    r: ArrayLike, c: ArrayLike, metric: Any, points: ArrayLike
) -> Transport:
    """Solve one pair on bins with coordinates."""
    left, right, total, coordinates = _pair_of_points(r, c, points)
    name = Case.POINTS.accept(metric)
    line = Line.of(coordinates, name)
    if line is not None:
        t = line.transport(left, right, total)
        _in_range(t.value)
        return t
    sets = PointSets.of(left[None], right[None], coordinates)
    solver = PointsSolver(sets, np.zeros((1, 2), np.int64))
    values, n_pivots, _, plans = solver.solve(name, None, ONLY, 1)
    return plans.transport(0, _in_range(float(values[0])), int(n_pivots[0]))


def _pair_of_points(
    r: ArrayLike, c: ArrayLike, points: ArrayLike
) -> tuple[Floats, Floats, float, Floats]:
    """Validate two histograms on the same bins, and their coordinates."""
    left = validation.as_histograms(r, "r", ndim=1)
    right = validation.as_histograms(c, "c", ndim=1)
    validation.require_same_bins(left, right)
    coordinates = validation.as_coordinates(points, left.n_bins)
    return left.values, right.values, validation.common_mass(left, right), coordinates


def _refuse(certificate: _core.Certificate, mass: float) -> None:
    refuse_infeasible("r to c", certificate.forbidden, mass)


def _in_range(value: float) -> float:
    if not math.isfinite(value):
        validation.require_in_range(value)
    return value
