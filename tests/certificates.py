"""Checks that need no other solver: a result proves itself or fails here."""

import numpy as np

import groundmetric as gm

EPS = np.finfo(float).eps


def check_transport(t, r, c, M, *, rtol=1e-9):
    """Assert that t is an optimal transport from r to c under costs M.

    Marginals, value, dual feasibility on all bins, complementary slackness, and the
    duality gap computed here from r, c and the potentials alone.
    """
    r, c, M = (np.asarray(x, dtype=float) for x in (r, c, M))
    c = c * (r.sum() / c.sum())
    mass, largest = r.sum(), np.abs(M).max(initial=0.0)
    u, v = t.potentials
    m, n = r.size, c.size
    d = max(m, n)
    assert (u.shape, v.shape) == ((m,), (n,))

    # Where and how much mass moves.
    assert (t.flow > 0).all()
    keys = t.rows.astype(np.int64) * n + t.cols
    assert (np.diff(keys) > 0).all()  # sorted, no arc twice
    assert t.flow.size <= m + n - 1 + min(m, n)  # a tree on the bins, and what stays
    plan = t.plan
    np.testing.assert_allclose(plan.sum(axis=1), r, rtol=0, atol=d * EPS * mass)
    np.testing.assert_allclose(plan.sum(axis=0), c, rtol=0, atol=d * EPS * mass)
    assert not np.isin(t.rows, np.flatnonzero(r == 0)).any()
    assert not np.isin(t.cols, np.flatnonzero(c == 0)).any()

    # No plan is cheaper: u'r + v'c is a lower bound if u_p + v_q <= M_pq.
    slack = M - u[:, None] - v[None, :]
    feasibility = 1e-13 * largest
    assert slack.min() >= -feasibility
    assert slack[t.rows, t.cols].max() <= feasibility

    scale = (np.abs(M[t.rows, t.cols]) * t.flow).sum()
    assert abs(t.value - (M[t.rows, t.cols] * t.flow).sum()) <= 1e-12 * scale
    rounding = d * EPS * mass * (largest + np.abs(u).max() + np.abs(v).max())
    assert abs(t.value - (u @ r + v @ c)) <= rtol * scale + rounding
    assert abs(t.duality_gap) <= rtol * scale + rounding


def projection_error_bound(projector, A, metric, weights=None, cap=np.inf):
    """Bound the distance of metric to the projection of A, from the multipliers alone.

    With x = a - W^-1 N u, the primal at a metric y less the dual at u is half of
    |y - x|^2 + 2 sum_t u_t slack_t(y); strong convexity bounds |y - p|^2 by twice that.
    Norms are over the upper triangle. Slack that rounding explains does not count: it
    would show as its square root. A cap counts as k = d: its constraint is that
    M_ij <= cap / 2 + cap / 2.
    """
    A = np.asarray(A, dtype=float)
    x = (A + A.T) / 2
    np.fill_diagonal(x, 0.0)
    w = np.ones_like(x) if weights is None else weights
    triangles, u = projector.multipliers()
    assert (u > 0).all()
    i, j, k = triangles.T
    assert len({tuple(t) for t in triangles.tolist()}) == len(u)
    assert (triangles[:, :2] < len(A)).all()
    assert (k < len(A) + np.isfinite(cap)).all()
    x, w, y = (np.pad(each, (0, 1), constant_values=1.0) for each in (x, w, metric))
    y[-1], y[:, -1] = cap / 2, cap / 2
    for (a, b), sign in (((i, j), -1), ((i, k), 1), ((k, j), 1)):
        np.add.at(x, (a, b), sign * u / w[a, b])
        np.add.at(x, (b, a), sign * u / w[a, b])
    slack = y[i, k] + y[k, j] - y[i, j]
    x, w = x[:-1, :-1], w[:-1, :-1]
    upper = np.triu_indices(len(A), 1)
    square = (w * (metric - x) ** 2)[upper].sum()
    rounding = 128 * EPS * np.abs(A).max()
    return np.sqrt(square + 2 * (u * np.maximum(slack - rounding, 0.0)).sum())


def check_metric(P):
    """Assert a metric exactly, in floating point: no tolerance anywhere."""
    M = P.metric
    assert gm.triangle_violation(M) == 0.0
    assert gm.is_metric(M)
    assert (M == M.T).all()
    assert (np.diag(M) == 0).all()
    assert (M >= 0).all()
