r"""Exact barycenters: a linear program, solved on the few arcs that matter.

.. math:: \min_{b, P} \sum_k w_k \langle M, P_k \rangle \quad\text{such that}\quad
          P_k 1 = x_k,\; P_k' 1 = b,\; P_k \ge 0.

All n d^2 arcs are too many, so that the program starts with those of optimal plans to
some b, and grows. Any potentials u_k of the histograms give a lower bound,

.. math:: \sum_k w_k x_k'u_k + \min_q \sum_k w_k v_{kq}, \quad
          v_{kq} = \min_{p \in supp\, x_k} M_{pq} - u_{kp},

and the exact distances to any b an upper one. As long as they differ, some of the arcs
at which the minima in v are attained are missing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array

from ..transport import TransportBatch
from ._found import Barycenters

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Arcs = NDArray[np.bool_]

# Arcs join the program if they are this close to a minimum, in units of mean(M).
SLACK = 0.1
TIGHT = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


class Sources(NamedTuple):
    """The non-empty bins of all histograms of a barycenter, one after the other."""

    rows: Floats  # (n, d)
    weights: Floats  # (n,), positive, with sum 1
    k: Indices  # (s,), the histogram of each source
    p: Indices  # (s,), its bin
    starts: Indices  # (n,), the first source of each histogram

    @classmethod
    def of(cls, rows: Floats, weights: Floats) -> Sources:
        """List them."""
        rows, weights = rows[weights > 0], weights[weights > 0]
        k, p = np.nonzero(rows)
        return cls(rows, weights, k, p, np.searchsorted(k, np.arange(len(rows))))

    @property
    def masses(self) -> Floats:
        """Mass of each source."""
        return self.rows[self.k, self.p]


def exact_barycenter(
    rows: Floats,
    weights: Floats,
    M: Floats,
    first: Floats,
    *,
    tol: float,
    max_iter: int,
    n_jobs: int | None,
) -> Barycenters:
    """Average rows of mass 1 by weights, from a first guess; M is in its own units."""
    sources = Sources.of(rows, weights)
    arcs = np.zeros((len(sources.k), len(M)), dtype=bool)
    best, lower, b, u = (np.inf, first), -np.inf, first, None
    n_iter = n_arcs = 0
    while True:
        value, own = _nearest_plans(sources, M, b, arcs, n_jobs)
        best = min(best, (value, b), key=lambda pair: pair[0])
        lower = max(lower, _price(sources, M, own if u is None else u, arcs))
        n_before, n_arcs = n_arcs, int(np.count_nonzero(arcs))
        # The first guess is no vertex. Without new arcs, the program has been solved.
        is_solved = best[0] - lower <= tol or n_arcs == n_before
        if n_iter == max_iter or (n_iter > 0 and is_solved):
            break
        found = _solve(sources, M, arcs)
        if found is None:
            break
        (b, u), n_iter = found, n_iter + 1
    gap = max(best[0] - lower, 0.0)
    return Barycenters(best[1][None], np.array([gap]), np.zeros(1), np.array([n_iter]))


def _nearest_plans(
    sources: Sources, M: Floats, b: Floats, arcs: Arcs, n_jobs: int | None
) -> tuple[float, Floats]:
    """Solve all problems for this b; mark the arcs of plans, return value and u."""
    n = len(sources.rows)
    pairs = np.column_stack([np.arange(n), np.zeros(n, dtype=np.int64)])
    batch = TransportBatch(sources.rows, pairs, Y=b[None], n_jobs=n_jobs)
    solution = batch.solve(M)
    place = np.zeros(sources.rows.shape, dtype=np.int64)
    place[sources.k, sources.p] = np.arange(len(sources.k))
    for k in range(n):
        plan = solution.transport(k)
        arcs[place[k, plan.rows], plan.cols] = True
    return float(sources.weights @ solution.values), solution.potentials[0][
        sources.k, sources.p
    ]


def _price(sources: Sources, M: Floats, u: Floats, arcs: Arcs) -> float:
    """Return the lower bound of potentials; mark arcs near the minima in v."""
    reduced = M[sources.p] - u[:, None]
    v = np.minimum.reduceat(reduced, sources.starts, axis=0)
    arcs |= reduced <= v[sources.k] + SLACK
    w = sources.weights
    return float((w[sources.k] * sources.masses) @ u + (w @ v).min())


def _solve(sources: Sources, M: Floats, arcs: Arcs) -> tuple[Floats, Floats] | None:
    """Solve the program on these arcs: b, and the potentials of the sources."""
    (n, d), s = sources.rows.shape, len(sources.k)
    i, q = np.nonzero(arcs)
    n_arcs = len(i)
    targets = np.arange(n * d)
    column = np.arange(n_arcs)
    A = coo_array(
        (
            np.concatenate([np.ones(2 * n_arcs), -np.ones(n * d)]),
            (
                np.concatenate([i, s + sources.k[i] * d + q, s + targets]),
                np.concatenate([column, column, n_arcs + targets % d]),
            ),
        ),
        shape=(s + n * d, n_arcs + d),
    )
    found = linprog(
        np.concatenate(
            [sources.weights[sources.k[i]] * M[sources.p[i], q], np.zeros(d)]
        ),
        A_eq=A.tocsr(),
        b_eq=np.concatenate([sources.masses, np.zeros(n * d)]),
        method="highs-ipm",  # with crossover: faster here than the simplex
        options=TIGHT,
    )
    if found.status != 0:
        return None
    b = np.maximum(found.x[n_arcs:], 0.0)
    u: Floats = found.eqlin.marginals[:s] / sources.weights[sources.k]
    return b / b.sum(), u
