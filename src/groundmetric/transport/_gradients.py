r"""Distances of pairs of rows, with all that their gradients are made of.

By duality, with an optimal plan P and optimal potentials u, v,

.. math:: EMD(r, c) = \langle M, P \rangle = u'r + v'c, \qquad
          \nabla_M EMD = P, \quad \nabla_r EMD = u, \quad \nabla_c EMD = v,

the latter two up to a number for all bins, since masses are equal. Where several plans
or potentials are optimal, each is a subgradient.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from .. import validation
from ._forbidden import refuse_infeasible
from ._rows import rows_in_pairs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ._plans import Arcs

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Numbers in a block of differences of points.
BLOCK = 2**22


class Gradients(NamedTuple):
    """Distances of pairs, and what their gradients are made of, if asked for.

    Attributes
    ----------
    values : ndarray of shape (n_pairs,)
        Distances.
    u, v : ndarray of shape (n_pairs, d) and (n_pairs, e)
        Potentials, centered: they sum to zero over all bins. Without columns if not
        asked for.
    rows, columns, flow : ndarray of shape (n_pairs, d + e)
        The arcs of the plans, padded with arcs without flow. Likewise.
    """

    values: Floats
    u: Floats
    v: Floats
    rows: NDArray[np.int32]
    columns: NDArray[np.int32]
    flow: Floats


def solve_rows(
    r: Floats,
    c: Floats,
    pairs: Indices,
    ground: dict[str, Any],
    *,
    n_jobs: int | None,
    potentials: bool,
    plans: bool,
) -> Gradients:
    """Solve pairs (i, j): row i of r with row j of c; masses are equal in each pair.

    ``ground`` has a metric, points, or both, as :func:`~groundmetric.emd` takes them.
    """
    threads = validation.n_threads(n_jobs)
    solver, given, factors = rows_in_pairs(r, c, pairs, ground)
    everyone = np.arange(len(pairs))
    values, _, _, found = solver.solve(given, None, everyone, threads)
    for k in np.flatnonzero(np.isnan(values)):
        refuse_infeasible(f"row {pairs[k, 0]} of r to row {pairs[k, 1]} of c")
    values = factors * values
    validation.require_in_range(values)
    n, d, e = len(pairs), r.shape[1], c.shape[1]
    u, v = np.empty((n, 0)), np.empty((n, 0))
    arcs = np.empty((n, 0), np.int32), np.empty((n, 0), np.int32), np.empty((n, 0))
    if potentials:
        u, v = (_centered(each) for each in found.potentials(everyone))
    if plans:
        arcs = _padded(found.arcs(everyone), n, d + e)
        arcs[2][...] *= np.reshape(factors, (-1, 1))
    return Gradients(values, u, v, *arcs)


def _centered(potentials: Floats) -> Floats:
    centered: Floats = potentials - potentials.mean(axis=1, keepdims=True)
    return centered


def _padded(
    arcs: Arcs, n: int, width: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], Floats]:
    """Write the arcs of each plan into a row; a basic solution has fewer than width."""
    starts, rows, columns, flow = arcs
    sizes = np.diff(starts)
    place = np.repeat(np.arange(n) * width - starts[:-1], sizes) + np.arange(len(flow))

    def padded(part: NDArray[Any]) -> NDArray[Any]:
        whole = np.zeros(n * width, part.dtype)
        whole[place] = part
        return whole.reshape(n, width)

    return padded(rows), padded(columns), padded(flow)


def in_rows(potentials: Floats, rows: Indices, weights: Floats, n: int) -> Floats:
    """Gradient in n histograms, of which pairs have one each: a weighted sum."""
    k = np.arange(len(rows))
    total: Floats = csr_array((weights, (rows, k)), shape=(n, len(k))) @ potentials
    return total


def in_costs(found: Gradients, weights: Floats, shape: tuple[int, int]) -> Floats:
    """Gradient in a matrix of costs: the weighted sum of the plans."""
    moved = found.flow * weights[:, None]
    place = found.rows.astype(np.int64) * shape[1] + found.columns
    total = np.bincount(place.ravel(), moved.ravel(), shape[0] * shape[1])
    return total.astype(np.float64).reshape(shape)


def in_points(
    found: Gradients, weights: Floats, points: Floats, *, squared: bool
) -> Floats:
    r"""Gradient in points, whose distances, or the squares of these, are the costs M.

    Each arc pulls along the direction from one of its points to the other, and equal
    points do not pull. With P the weighted sum of the plans, and
    :math:`W_{pq} = P_{pq} / M_{pq}`, or 2 P,

    .. math:: \nabla_{a_p} = \sum_q (W_{pq} + W_{qp}) (a_p - a_q).
    """
    moved, used = found.flow * weights[:, None], found.flow != 0.0
    arcs, shape = (found.rows[used], found.columns[used]), (len(points), len(points))
    plan = coo_array(csr_array((moved[used], arcs), shape=shape))
    per_distance = 2.0 * plan.data
    if not squared:
        per_distance = plan.data.copy()
        for part in _blocks(len(per_distance), points.shape[1]):
            difference = points[plan.row[part]] - points[plan.col[part]]
            distances = np.linalg.norm(difference, axis=1)
            distances[distances == 0.0] = np.inf
            per_distance[part] /= distances
    W = csr_array((per_distance, (plan.row, plan.col)), shape=shape)
    W = W + W.T
    gradient: Floats = W.sum(axis=1)[:, None] * points - W @ points
    return gradient


def _blocks(n: int, width: int) -> Iterator[slice]:
    size = max(1, BLOCK // width)
    return (slice(at, at + size) for at in range(0, n, size))
