r"""Metrics that minimize a linear criterion (section 5.2, problem P2, of the paper).

.. math:: \min_M \langle C, M \rangle \quad \text{subject to} \quad
          M \in \mathcal{M} \cap B

The cone of metrics has to be cut off somewhere. There are three choices of B:

- the ball of the Frobenius norm: the solution is the projection of -C onto the cone,
  normalized (``_projection.py``);
- the ball of the l1 norm, :math:`\sum_{ij} |M_{ij}| \le 1`;
- :math:`M_{ij} + M_{jk} + M_{ki} \le 2` for all triples, also if two of them are the
  same: the *metric polytope*, whose integral points are the cuts.

The last two make linear programs with O(d^3) constraints. Solutions carry a lower bound
from weak duality. Multipliers :math:`u \ge 0` of triangles, and :math:`v \ge 0` of
triples, turn C into

.. math:: R = C + \sum u_{ijk} (E_{ij} - E_{ik} - E_{kj})
              + \sum v_{ijk} (E_{ij} + E_{ik} + E_{kj}), \quad
          \langle C, M \rangle \ge \langle R, M \rangle - 4 \sum v_{ijk},

where :math:`E_{ij}` has ones at ij and ji. Over the l1 ball, the right-hand side is at
least :math:`\min(0, \min_{i \ne j} R_{ij})`; in the polytope, whose entries are at most
1, it is at least :math:`\sum \min(0, R_{ij}) - 4 \sum v_{ijk}`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_array

from .. import _core
from .._warnings import warn_not_converged
from ._ball import unit_of
from ._projection import MetricProjector
from ._triangle import closure

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

TOL = 1e-6  # of the gap, relative to the value
MAX_ROUNDS = 200
SHORT = 1e-7  # of the optimum, where the projection would be zero
FEASIBLE = 1e-9  # in HiGHS
BROKEN = 1e-8
SMALL_SHARE = 1e-3
LARGEST_SUM = 2  # of a triple
ROUNDING = 64 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class LinearMinimum:
    """A metric that minimizes a linear criterion, with a lower bound as certificate.

    Attributes
    ----------
    metric : ndarray of shape (d, d)
        An exact metric in floating point; zero if no metric has a negative value.
    value : float
        The criterion at this metric.
    bound : float
        No metric of the set has a smaller value, up to rounding in sums.
    n_rounds : int
        Number of projections or linear programs.
    n_triangles : int
        Number of triangles and triples with multipliers, in the last round.
    converged : bool
        Whether value and bound agree to within the tolerance, relative to the value or,
        if that is larger, to a thousandth of the largest entry of C (in the polytope:
        of the sum of their sizes).
    """

    metric: Floats = field(repr=False)
    value: float
    bound: float
    n_rounds: int
    n_triangles: int
    converged: bool


class Triangles(NamedTuple):
    """Constraints: M_ij + sign (M_ik + M_kj) is at most 1 + sign.

    Attributes
    ----------
    corners : ndarray of shape (m, 3)
        i, j and k.
    signs : ndarray of shape (m,)
        -1 for triangles, 1 for triples.
    """

    corners: Indices
    signs: Floats

    def rows(self, d: int) -> csr_array:
        """Make the matrix of constraints on the entries above the diagonal."""
        number = np.zeros((d, d), dtype=np.int32)
        above = np.triu_indices(d, 1)
        number[above] = np.arange(len(above[0]))
        number += number.T
        i, j, k = self.corners.T
        columns = np.stack([number[i, j], number[i, k], number[k, j]], axis=1)
        ones = np.ones_like(self.signs)
        entries = np.stack([ones, self.signs, self.signs], axis=1)
        starts = np.arange(0, 3 * len(i) + 1, 3, dtype=np.int32)
        shape = (len(i), len(above[0]))
        return csr_array((entries.ravel(), columns.ravel(), starts), shape=shape)


def minimum_in_l1_ball(
    C: Floats, *, tol: float = TOL, max_rounds: int = MAX_ROUNDS, n_threads: int = 1
) -> LinearMinimum:
    r"""Minimize <C, M> over metrics whose entries sum to at most 1.

    The optimum is -t for the largest t such that some metric has
    :math:`\langle C + t, M \rangle \le 0`, or zero. Projections find it: for smaller t,

    .. math:: M_t = P(-(C + t)), \qquad
              t' = -\langle C, M_t \rangle / \textstyle\sum M_t

    is a step of Newton's method towards the root of :math:`\| M_t \|`, which is convex
    in t. The cone is polyhedral, so the metric is that of the optimum after few steps.
    The multipliers of the projection satisfy R = -(M_t + t), which proves a bound of
    -(t + max M_t). A linear program with the same triangles takes far longer: nearly
    all of them are tight at the optimum, which often has two different entries only.

    Parameters
    ----------
    C : ndarray of shape (d, d)
        Symmetric, with zeros on its diagonal.
    tol : float
        Stop when value and bound differ by no more; see :class:`LinearMinimum`.
    max_rounds : int
        Largest number of projections.
    n_threads : int
        Number of threads; results do not depend on it.

    Returns
    -------
    LinearMinimum
    """
    off, scale = 1.0 - np.eye(len(C)), float(np.abs(C).max())
    projector = MetricProjector(len(C), tol=TOL, n_jobs=n_threads)
    best = LinearMinimum(np.zeros_like(C), 0.0, -np.inf, 0, 0, converged=False)
    for n_rounds in range(1, max_rounds + 1):
        t = -best.value * (1 - SHORT)
        metric = projector.project(-(C + t * off)).metric
        triangles, multipliers = projector.multipliers()
        R = _reduced(C, _plain(triangles), multipliers)
        bound = max(best.bound, min(0.0, float(R[off > 0].min())))
        best = replace(
            best, bound=bound, n_rounds=n_rounds, n_triangles=len(multipliers)
        )
        if n_rounds == 1 and np.linalg.norm(metric) <= TOL * np.linalg.norm(C):
            return replace(best, converged=True)  # zero, up to rounding
        if not metric.any():
            break
        before = best.value
        metric = closure(metric / (metric.sum() * (1 + ROUNDING)), n_threads)
        if _product(C, metric) < before:
            best = replace(best, metric=metric, value=_product(C, metric))
        if _is_closed(best, tol, scale):
            return replace(best, converged=True)
        if best.value >= before:
            break
    return _warned(best)


def minimum_in_polytope(
    C: Floats, *, tol: float = TOL, max_rounds: int = MAX_ROUNDS, n_threads: int = 1
) -> LinearMinimum:
    """Minimize <C, M> over the metric polytope, by linear programs (HiGHS).

    Without triangles, entries are 0 or 1. Each program adds the worst triangle and the
    worst triple over each pair of bins that the solution before breaks. It drops none:
    solutions of equal value could alternate. Parameters and return value are those of
    :func:`minimum_in_l1_ball`.
    """
    unit = unit_of(C)
    C = C / unit  # tolerances of HiGHS are absolute
    found = (C < 0).astype(float)
    work, multipliers = _plain(np.empty((0, 3), dtype=np.int64)), np.zeros(0)
    n_rounds = 0
    while n_rounds < max_rounds:
        broken = _broken(found, n_threads)
        if len(broken.signs) == 0:
            break
        more = Triangles(
            np.concatenate([work.corners, broken.corners]),
            np.concatenate([work.signs, broken.signs]),
        )
        solved = _solve(C, more)
        if solved is None:
            break
        n_rounds, work = n_rounds + 1, more
        found, multipliers = solved
    metric = closure(found, n_threads)
    largest = float((metric - _core.detours(-metric, n_threads)).max())
    if largest > LARGEST_SUM:  # by as much as rounding
        metric = closure(metric * (LARGEST_SUM / largest * (1 - ROUNDING)), n_threads)
    R = _reduced(C, work, multipliers)
    bound = np.minimum(R, 0.0).sum() - 2 * multipliers @ (1 + work.signs)
    best = LinearMinimum(
        metric,
        unit * _product(C, metric),
        unit * float(bound),
        n_rounds,
        int(np.count_nonzero(multipliers)),
        converged=False,
    )
    if _is_closed(best, tol, unit * float(np.abs(C).sum())):
        return replace(best, converged=True)
    return _warned(best)


def _solve(C: Floats, work: Triangles) -> tuple[Floats, Floats] | None:
    """Solve the linear program with some triangles; None if HiGHS fails."""
    above = np.triu_indices(len(C), 1)
    solved = linprog(
        C[above],
        A_ub=work.rows(len(C)),
        b_ub=1 + work.signs,
        bounds=(0, 1),
        method="highs",
        options={"primal_feasibility_tolerance": FEASIBLE},
    )
    if solved.x is None:
        return None
    found = np.zeros_like(C)
    found[above] = np.clip(solved.x, 0.0, 1.0)
    return found + found.T, np.maximum(-solved.ineqlin.marginals, 0.0)


def _broken(M: Floats, n_threads: int) -> Triangles:
    """Find the worst triangle and the worst triple over each pair, if it is broken."""
    found, signs = [], []
    for sign in (-1.0, 1.0):
        excess = M - _core.detours(-sign * M, n_threads) - (1 + sign)
        for i, row in enumerate(excess):
            j = i + 1 + np.flatnonzero(row[i + 1 :] > BROKEN)
            k = (sign * (M[i] + M[j])).argmax(axis=1)
            found.append(np.stack([np.full_like(j, i), j, k], axis=1))
            signs.append(np.full(len(j), sign))
    corners, of_each = np.concatenate(found), np.concatenate(signs)
    # A triple is the same over all of its pairs.
    corners[of_each > 0] = np.sort(corners[of_each > 0], axis=1)
    _, first = np.unique(np.column_stack([corners, of_each]), axis=0, return_index=True)
    return Triangles(corners[first], of_each[first])


def _plain(corners: NDArray[np.integer]) -> Triangles:
    """Make constraints of triangles (i, j, k)."""
    return Triangles(corners.astype(np.int64), np.full(len(corners), -1.0))


def _reduced(C: Floats, triangles: Triangles, multipliers: Floats) -> Floats:
    """Compute R of the bound."""
    d = len(C)
    i, j, k = triangles.corners.T
    others = triangles.signs * multipliers
    added = np.bincount(
        np.concatenate([i * d + j, i * d + k, k * d + j]),
        np.concatenate([multipliers, others, others]),
        minlength=d * d,
    ).reshape(d, d)
    return np.asarray(C + added + added.T)


def _product(C: Floats, metric: Floats) -> float:
    return float((C * metric).sum())


def _is_closed(found: LinearMinimum, tol: float, scale: float) -> bool:
    unit = max(abs(found.value), SMALL_SHARE * scale)
    return found.value - found.bound <= tol * unit


def _warned(found: LinearMinimum) -> LinearMinimum:
    gap = (found.value - found.bound) / (abs(found.value) or 1.0)
    warn_not_converged(
        f"The linear criterion may be lower than that of the initial metric by "
        f"{gap:.1e} of its value, after {found.n_rounds} rounds."
    )
    return found
