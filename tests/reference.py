"""Slow literal twins of the library's kernels, written from the paper."""

import numpy as np
from scipy.optimize import linprog


def emd_lp(r, c, M, forbidden=None):
    """Problem (P0): min m'x, A x = [r; c]_*, x >= 0, with HiGHS.

    A = [1_{1xd} (x) I_d; I_d (x) 1_{1xd}]_* encodes row sums and column sums of X, its
    columns stacked; the last line is dropped, being implied by the others. Where
    forbidden, x is held at zero.
    """
    d = len(r)
    rows = np.kron(np.ones((1, d)), np.eye(d))
    columns = np.kron(np.eye(d), np.ones((1, d)))
    A = np.vstack([rows, columns])[:-1]
    b = np.concatenate([r, c])[:-1]
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    upper = (
        np.full((d, d), np.inf)
        if forbidden is None
        else np.where(forbidden, 0.0, np.inf)
    )
    result = linprog(
        np.asarray(M).T.ravel(),
        A_eq=A,
        b_eq=b,
        bounds=[(0, limit) for limit in upper.T.ravel()],
        method="highs",
        options=tight,
    )
    assert result.status == 0, result.message
    return result.fun


def obeys_triangle_inequality(M, tol):
    """M_ij <= M_ik + M_kj for all i, j, k, and M_ii = 0: neither more nor less."""
    d = len(M)
    return all(M[i][i] == 0 for i in range(d)) and all(
        M[i][j] <= M[i][k] + M[k][j] + tol[i][j]
        for i in range(d)
        for j in range(d)
        for k in range(d)
    )


def plan_sum(plans, weights):
    """Algorithm 1: G <- G + omega_ij X*_ij, over the pairs."""
    G = np.zeros_like(plans[0])
    for plan, weight in zip(plans, weights, strict=True):
        G = G + weight * plan
    return G
