"""Slow literal twins of the library's kernels, written from the paper."""

import itertools
from math import exp, factorial, log

import clarabel
import numpy as np
import scipy.sparse as sp
from scipy.integrate import dblquad, quad
from scipy.linalg import eigh
from scipy.optimize import linprog, minimize


def emd_lp(r, c, M, forbidden=None):
    """Problem (P0): min m'x, A x = [r; c]_*, x >= 0, with HiGHS.

    A = [1_{1xn} (x) I_m; I_n (x) 1_{1xm}]_* encodes row sums and column sums of X, its
    columns stacked; the last line is dropped, being implied by the others. Where
    forbidden, x is held at zero.
    """
    m, n = len(r), len(c)
    rows = np.kron(np.ones((1, n)), np.eye(m))
    columns = np.kron(np.eye(n), np.ones((1, m)))
    A = np.vstack([rows, columns])[:-1]
    b = np.concatenate([r, c])[:-1]
    tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    upper = (
        np.full((m, n), np.inf)
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


def triangle_fixing(A, tol=1e-12, max_sweeps=100_000):
    """Algorithm 3.1 of Brickell et al.: nearest metric, for any real matrix A.

    Cyclic projections onto the half-spaces x_ij <= x_ik + x_kj, one after another, each
    first undone by its own correction z (Dykstra, Hildreth), until a whole sweep
    changes nothing.
    """
    A = np.asarray(A, dtype=float)
    x = (A + A.T) / 2
    np.fill_diagonal(x, 0.0)
    d = len(x)
    if d == 2:  # no triangle says so, but the cone does: 0 <= x_01 + x_10
        return np.maximum(x, 0.0)
    triangles = [
        (i, j, k)
        for i in range(d)
        for j in range(i)
        for k in range(d)
        if k not in (i, j)
    ]
    z = dict.fromkeys(triangles, 0.0)
    scale = np.abs(x).max() or 1.0
    for _ in range(max_sweeps):
        change = 0.0
        for t in triangles:
            i, j, k = t
            theta = max((x[i, j] - x[i, k] - x[k, j]) / 3, -z[t])
            if theta == 0.0:
                continue
            for (a, b), sign in (((i, j), -1), ((i, k), 1), ((k, j), 1)):
                x[a, b] = x[b, a] = x[a, b] + sign * theta
            z[t] += theta
            change = max(change, abs(theta))
        if change <= tol * scale:
            return x
    raise AssertionError("triangle fixing did not converge")


def capped_fixing(A, cap, radius=np.inf, tol=1e-13, max_sweeps=100_000):
    """Triangle fixing with more sets: x_ij <= cap, x_ij >= 0, and a ball.

    Dykstra's method: project onto one set after another, each first undone by its own
    correction, until a whole sweep changes nothing.
    """
    A = np.asarray(A, dtype=float)
    d = len(A)
    i, j = np.triu_indices(d, 1)
    x = ((A + A.T) / 2)[i, j]
    edge = np.zeros((d, d), dtype=int)
    edge[i, j] = edge[j, i] = np.arange(i.size)
    rows = [np.eye(i.size)[e] for e in range(i.size)]  # x_e <= cap
    limits = [cap] * len(rows) + [0.0] * len(rows)
    rows += [-row for row in rows]  # -x_e <= 0
    for p, q in zip(i, j, strict=True):
        for k in set(range(d)) - {p, q}:
            row = np.zeros(i.size)
            row[edge[p, q]], row[edge[p, k]], row[edge[k, q]] = 1.0, -1.0, -1.0
            rows.append(row)
            limits.append(0.0)
    z, ball = np.zeros(len(rows)), np.zeros(i.size)
    for _ in range(max_sweeps):
        change = 0.0
        for t, (row, limit) in enumerate(zip(rows, limits, strict=True)):
            theta = max((row @ x - limit) / (row @ row), -z[t])
            x, z[t] = x - theta * row, z[t] + theta
            change = max(change, abs(theta))
        y = x + ball
        inside = y * min(1.0, radius / np.sqrt(2) / max(np.linalg.norm(y), 1e-300))
        change = max(change, np.abs(inside - x).max(initial=0.0))
        x, ball = inside, y - inside
        if change <= tol * (np.abs(A).max() or 1.0):
            M = np.zeros((d, d))
            M[i, j] = M[j, i] = x
            return M
    raise AssertionError("triangle fixing did not converge")


def metric_nearness_qp(A, weights=None, cap=None):
    """Project by an interior-point method (Clarabel), weighted or not."""
    A = np.asarray(A, dtype=float)
    d = len(A)
    i, j = np.triu_indices(d, 1)
    edge = np.zeros((d, d), dtype=int)
    edge[i, j] = edge[j, i] = np.arange(i.size)
    a = ((A + A.T) / 2)[i, j]
    w = np.ones(i.size) if weights is None else np.asarray(weights)[i, j]
    rows = [
        (edge[p, q], edge[p, k], edge[k, q])
        for p, q in zip(i, j, strict=True)
        for k in range(d)
        if k not in (p, q)
    ]
    # Triangles, and non-negativity, which they imply if there are any.
    G = sp.lil_matrix((len(rows) + i.size, i.size))
    for row, (far, near, other) in enumerate(rows):
        G[row, far], G[row, near], G[row, other] = 1.0, -1.0, -1.0
    G[len(rows) :] = -sp.eye(i.size)
    limits = np.zeros(G.shape[0])
    if cap is not None:
        G = sp.vstack([G, sp.eye(i.size)])
        limits = np.append(limits, np.full(i.size, cap))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    for tol in (1e-12, 1e-11, 1e-10):  # as tight as it can solve
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        solution = clarabel.DefaultSolver(
            sp.diags(w).tocsc(),
            -w * a,
            G.tocsc(),
            limits,
            [clarabel.NonnegativeConeT(G.shape[0])],
            settings,
        ).solve()
        if solution.status == clarabel.SolverStatus.Solved:
            break
    else:
        raise AssertionError(solution.status)
    M = np.zeros((d, d))
    M[i, j] = M[j, i] = solution.x
    return M


def linear_minimum(C, among):
    """Minimize <C, M> over metrics by a linear program with all of its constraints.

    All entries are variables. The metrics are those whose entries sum to at most 1
    ("l1"), or those of the metric polytope.
    """
    d = len(C)
    rows, limits = [], []

    def add(limit, *terms):
        row = np.zeros((d, d))
        for factor, entry in terms:
            row[entry] += factor
        rows.append(row.ravel())
        limits.append(limit)

    for i, j, k in itertools.product(range(d), repeat=3):
        add(0, (1, (i, j)), (-1, (i, k)), (-1, (k, j)))
        if among == "polytope":
            add(2, (1, (i, j)), (1, (j, k)), (1, (k, i)))
    for i, j in itertools.product(range(d), repeat=2):
        add(0, (1, (i, j)), (-1, (j, i)))
    if among == "l1":
        add(1, *((1, entry) for entry in itertools.product(range(d), repeat=2)))
    upper = [0 if i == j else None for i in range(d) for j in range(d)]
    solved = linprog(
        C.ravel(), A_ub=np.array(rows), b_ub=limits, bounds=[(0, u) for u in upper]
    )
    return solved.fun, solved.x.reshape(d, d)


def typical_table(r, c, total):
    """Problem (P5) by a general optimizer; the analytic center for total = inf.

    min over u, v of  N r'u + N c'v - sum log(1 - exp(-u_p - v_q)),  N = total, and
    X_pq = 1 / (exp(u_p + v_q) - 1); divided by N. At infinity log(u_p + v_q) takes the
    place of the logarithm, and X_pq = 1 / (u_p + v_q). All bins must have mass.
    """
    r, c = np.asarray(r, dtype=float), np.asarray(c, dtype=float)
    d = len(r)
    finite = np.isfinite(total)
    N = total if finite else 1.0
    margins = N * np.concatenate([r, c])

    def sums(z):  # u + t, v - t is as good as u, v: the last v is held at zero
        return z[:d, None] + np.append(z[d:], 0.0)[None]

    def table(z):
        return 1 / np.expm1(sums(z)) if finite else 1 / sums(z)

    def value(z):
        s = sums(z)
        if s.min() <= 0:
            return np.inf
        return margins[:-1] @ z - np.log(-np.expm1(-s) if finite else s).sum()

    def gradient(z):
        X = table(z)
        return (margins - np.concatenate([X.sum(axis=1), X.sum(axis=0)]))[:-1]

    def hessian(z):
        X = table(z)
        W = X * (X + finite)
        whole = np.block([[np.diag(W.sum(axis=1)), W], [W.T, np.diag(W.sum(axis=0))]])
        return whole[:-1, :-1]

    # The start is right if both histograms are uniform.
    entry = N / d**2
    start = np.zeros(2 * d - 1)
    start[:d] = np.log1p(1 / entry) if finite else 1 / entry
    result = minimize(
        value,
        start,
        jac=gradient,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-13 * N, "maxiter": 1000},
    )
    return table(result.x) / N


def initial_metric_sum(tables, omega, neighbors):
    """Algorithm 3's double loop: Xi <- Xi + omega_ij Xi_ij, j in N+_ik and N-_ik."""
    n = len(omega)
    Xi = np.zeros_like(tables(0, 0))
    for i in range(n):
        for j in neighbors(i):
            Xi = Xi + omega[i, j] * tables(i, j)
    return Xi


def spread_plan(r, c):
    """Leave common mass; the rest moves independently of where it comes from."""
    plan = np.diag(np.minimum(r, c))
    mass = sum(max(a - b, 0.0) for a, b in zip(r, c, strict=True))
    for p in range(len(r)):
        for q in range(len(r)):
            if mass > 0:
                plan[p, q] += max(r[p] - c[p], 0.0) * max(c[q] - r[q], 0.0) / mass
    return plan


def criterion_side(emd, omega, k):
    """Algorithm 1: rank all distances of a side, add up the k nearest of each point.

    emd(i, j) is the distance of histograms i and j; pairs of weight zero are not of
    this side. Returns S and, for each i, its neighbors.
    """
    n = len(omega)
    z, sets = 0.0, []
    for i in range(n):
        ranked = sorted((emd(i, j), j) for j in range(n) if omega[i, j] != 0)
        nearest = ranked if k is None else ranked[:k]
        z += sum(omega[i, j] * value for value, j in nearest)
        sets.append({j for _, j in nearest})
    return z, sets


def margin_loss(D, omega, n_targets, share):
    """Value of the margin criterion, and the weight of each distance in it.

    D are the distances, omega the weights of pairs: triplet by triplet. Returns the
    value, the weights W (so that the value is sum(W * D) plus margins), the margin and
    the active triplets.
    """
    n = len(D)
    targets = []
    for i in range(n):
        ranked = sorted((D[i, j], j) for j in range(n) if omega[i, j] > 0)
        targets.append([j for _, j in ranked[:n_targets]])
    near = [D[i, j] for i in range(n) for j in targets[i]]
    margin = share * np.median(near) if near else 0.0
    v = np.where(omega > 0, omega / max(omega.max(), 1e-300), 0.0)
    found = [
        (i, j, other)
        for i in range(n)
        for j in targets[i]
        for other in range(n)
        if omega[i, other] < 0 and D[i, other] < D[i, j] + margin
    ]
    w = np.where(omega < 0, omega / min(omega.min(), -1e-300), 0.0)
    value, W = 0.0, np.zeros((n, n))
    for i, j, other in found:
        weight = v[i, j] * w[i, other]
        value += weight * (margin + D[i, j] - D[i, other])
        W[i, j] += weight
        W[i, other] -= weight
    size = sum(v[i, j] for i in range(n) for j in targets[i]) or 1.0
    return value / size, W / size, margin, found


def descend(side, omega, metric, *, t0, n_outer, n_inner):
    """Algorithm 2 with plain loops: no stopping rule, no pruning, no working set.

    side(M, omega) returns the value and a subgradient of one side at M. The step is
    relative, t0 / sqrt(t) * |M| / |G|. Returns the values z_in and the last metric.
    """
    M_out, t, values = metric, 1, []
    for _ in range(n_outer):
        z_plus, G_plus = side(M_out, np.maximum(omega, 0.0))
        M_in = M_out
        for _ in range(n_inner):
            z_minus, G_minus = side(M_in, np.minimum(omega, 0.0))
            values.append(z_minus + z_plus + (G_plus * (M_in - M_out)).sum())
            G = G_plus + G_minus
            step = t0 / np.sqrt(t) * np.linalg.norm(M_in) / np.linalg.norm(G)
            M_in = triangle_fixing(M_in - step * G, tol=1e-13)
            M_in = M_in / max(1.0, np.linalg.norm(M_in))
            t += 1
        M_out = M_in
    return values, M_out


def bin_to_bin(name, r, c):
    """Distances of two histograms of mass 1, bin by bin."""

    def entropy_to_middle(a, b):
        return sum(
            p * np.log(p / ((p + q) / 2)) for p, q in zip(a, b, strict=True) if p > 0
        )

    pairs = list(zip(r, c, strict=True))
    if name == "l1":
        return sum(abs(p - q) for p, q in pairs)
    if name == "l2":
        return np.sqrt(sum((p - q) ** 2 for p, q in pairs))
    if name == "hellinger":
        return np.sqrt(sum((np.sqrt(p) - np.sqrt(q)) ** 2 for p, q in pairs))
    if name == "chi2":
        return np.sqrt(sum((p - q) ** 2 / (p + q) for p, q in pairs if p + q > 0))
    if name == "jensen_shannon":
        both = entropy_to_middle(r, c) + entropy_to_middle(c, r)
        return np.sqrt(max(both / 2, 0.0))
    assert name == "fisher"
    return np.arccos(min(sum(np.sqrt(p * q) for p, q in pairs), 1.0))


def chi_squared_lmnn(A, X, y, targets, *, margin, push):
    """Loss of chi-squared LMNN (Kedem et al., Non-linear Metric Learning, section 3).

    L is the softmax of A, column by column.
    """
    L = np.exp(A) / np.exp(A).sum(axis=0)

    def chi2(x, z):
        pairs = zip(L @ x, L @ z, strict=True)
        return sum((p - q) ** 2 / (p + q) for p, q in pairs) / 2

    loss = 0.0
    for i, mine in enumerate(targets):
        for j in mine:
            pulled = chi2(X[i], X[j])
            loss += pulled
            for k in range(len(X)):
                if y[k] != y[i]:
                    loss += push * max(0.0, margin + pulled - chi2(X[i], X[k]))
    return loss


def aitchison(L, log_b, X, y, targets, *, margin, push):
    """Loss of generalized Aitchison embeddings (Le & Cuturi, section 4).

    Squared distances |L log(x + b) - L log(z + b)|^2 in the loss of LMNN.
    """
    b = np.exp(log_b)

    def squared(x, z):
        gap = L @ (np.log(x + b) - np.log(z + b))
        return gap @ gap

    loss = 0.0
    for i, mine in enumerate(targets):
        for j in mine:
            pulled = squared(X[i], X[j])
            loss += pulled
            for k in range(len(X)):
                if y[k] != y[i]:
                    loss += push * max(0.0, margin + pulled - squared(X[i], X[k]))
    return loss


def inverse_volume(x, weights):
    """1 / sqrt(det G) of the metric that a perturbation pulls back (Lebanon).

    G is the Fisher metric of F(x) = (w_p x_p / w'x)_p in the first d - 1 coordinates of
    x, the last being 1 minus their sum.
    """
    d = len(x)
    mass = sum(w * value for w, value in zip(weights, x, strict=True))
    image = [w * value / mass for w, value in zip(weights, x, strict=True)]
    J = np.zeros((d, d - 1))
    for p, a in itertools.product(range(d), range(d - 1)):
        own = weights[p] * ((p == a) - (p == d - 1)) / mass
        J[p, a] = own - image[p] * (weights[a] - weights[d - 1]) / mass
    G = sum(np.outer(J[p], J[p]) / image[p] for p in range(d))
    return 1 / np.sqrt(np.linalg.det(G))


def relative_volume(X, weights):
    """Mean of -log of inverse volumes, divided by their integral; two or three bins."""

    def at(*x):
        return inverse_volume([*x, 1 - sum(x)], weights)

    if len(weights) == 2:
        integral, _ = quad(at, 0, 1)
    else:
        integral, _ = dblquad(at, 0, 1, 0, lambda a: 1 - a)
    return -np.mean([log(inverse_volume(x, weights) / integral) for x in X])


def moment_of_gammas(weights, k):
    """E[(sum of w_p g_p)^k] for Gamma variables of shape 3/2 and a whole number k.

    k! times the coefficient of t^k in the product of (1 - w_p t)^(-3/2).
    """
    series = [1.0] + [0.0] * k
    for w in weights:
        factor = [1.0]
        for a in range(1, k + 1):
            factor.append(factor[-1] * w * (a + 0.5) / a)
        series = [
            sum(series[b] * factor[a - b] for b in range(a + 1)) for a in range(k + 1)
        ]
    return factorial(k) * series[k]


def pair_scatters(X, y):
    """Mean outer products of differences, of pairs of the same class and of others."""
    found = {True: [], False: []}
    for i, j in itertools.combinations(range(len(X)), 2):
        found[y[i] == y[j]].append(np.outer(X[i] - X[j], X[i] - X[j]))
    return np.mean(found[True], axis=0), np.mean(found[False], axis=0)


def geodesic(X, Y, t):
    """X #_t Y = X^(1/2) (X^(-1/2) Y X^(-1/2))^t X^(1/2)."""

    def power(A, p):
        values, vectors = np.linalg.eigh(A)
        return (vectors * values**p) @ vectors.T

    root, inverse = power(X, 0.5), power(X, -0.5)
    return root @ power(inverse @ Y @ inverse, t) @ root


def itml(V, same, bounds, *, gamma, n_rounds):
    """Algorithm 1 of Davis et al., a constraint at a time; returns A."""
    A, xi, lam = np.eye(V.shape[1]), np.array(bounds, dtype=float), np.zeros(len(V))
    for _ in range(n_rounds):
        for i, v in enumerate(V):
            p, delta = v @ A @ v, 1 if same[i] else -1
            alpha = min(lam[i], delta * gamma / (gamma + 1) * (1 / p - 1 / xi[i]))
            beta = delta * alpha / (1 - delta * alpha * p)
            xi[i] = gamma * xi[i] / (gamma + delta * alpha * xi[i])
            lam[i] -= alpha
            A = A + beta * np.outer(A @ v, A @ v)
    return A


def partial_lp(r, c, M):
    """Section 2.2: min <M, X>, X 1 <= r, X'1 <= c, and all that both have moves."""
    r, c = np.asarray(r, dtype=float), np.asarray(c, dtype=float)
    d = len(r)
    rows = np.kron(np.eye(d), np.ones((1, d)))  # X row by row
    columns = np.kron(np.ones((1, d)), np.eye(d))
    result = linprog(
        np.asarray(M, dtype=float).ravel(),
        A_ub=np.vstack([rows, columns]),
        b_ub=np.concatenate([r, c]),
        A_eq=np.ones((1, d * d)),
        b_eq=[min(r.sum(), c.sum())],
        method="highs",
        options={
            "primal_feasibility_tolerance": 1e-10,
            "dual_feasibility_tolerance": 1e-10,
        },
    )
    assert result.status == 0, result.message
    return result.fun


def hub_lp(r, c, M, t):
    """Distances under min(M, t) as a flow: direct arcs, or p -> hub (t), hub -> q (0).

    Variables X (row by row), h and g; arcs that cost t or more are left out.
    """
    r, c, M = (np.asarray(x, dtype=float) for x in (r, c, M))
    d = len(r)
    eye, ones = np.eye(d), np.ones((1, d))
    zero = np.zeros((d, d))
    A = np.vstack(
        [
            np.hstack([np.kron(eye, ones), eye, zero]),
            np.hstack([np.kron(ones, eye), zero, eye]),
            np.hstack([np.zeros((1, d * d)), ones, -ones]),
        ]
    )
    near = [(0, None if cost < t else 0) for cost in M.ravel()]
    result = linprog(
        np.concatenate([np.minimum(M, t).ravel(), np.full(d, t), np.zeros(d)]),
        A_eq=A,
        b_eq=np.concatenate([r, c, [0.0]]),
        bounds=near + [(0, None)] * (2 * d),
        method="highs",
    )
    assert result.status == 0, result.message
    return result.fun


def gist(image, *, n_orientations, grid, scales, size, prefilter):
    """GIST of one gray (size, size) image by its formulas: loops, whole planes."""
    margin = size // 4
    low, high = image.min(), image.max()
    v = np.pad((image - low) / (high - low) * 255, margin, mode="symmetric")
    m = len(v)
    k = np.arange(m)
    cycles = np.where(k < (m + 1) // 2, k, k - m) / m  # a pixel
    f = np.sqrt(cycles[:, None] ** 2 + cycles[None, :] ** 2)
    phi = np.angle(cycles[None, :] + 1j * cycles[:, None])
    if prefilter:
        g = 2.0 ** -((f / (4 / size)) ** 2)
        x = np.log(1 + v)
        y = x - np.fft.ifft2(g * np.fft.fft2(x)).real
        v = y / (0.2 + np.sqrt(np.fft.ifft2(g * np.fft.fft2(y * y)).real.clip(0)))
    edges = [int(size * i / grid) for i in range(grid + 1)]
    bins = []
    for scale in scales:
        for j in range(n_orientations):
            delta = np.angle(np.exp(1j * (phi - np.pi * j / n_orientations)))
            G = np.exp(
                -3.5 * (f / (0.3 / 1.85**scale) - 1) ** 2
                - 2 * np.pi * (n_orientations / 8) ** 2 * delta**2
            )
            G[0, 0] = 0
            energy = np.abs(np.fft.ifft2(np.fft.fft2(v) * G))
            energy = energy[margin : margin + size, margin : margin + size]
            for top, bottom in itertools.pairwise(edges):
                for left, right in itertools.pairwise(edges):
                    bins.append(energy[top:bottom, left:right].mean())
    return np.array(bins) / sum(bins)


def knn_error(distances, y_train, y_test, k):
    """Let the k nearest vote; the first row and the smallest label win ties."""
    wrong = 0
    for i in range(len(y_test)):
        order = sorted(range(len(y_train)), key=lambda j: (distances[i][j], j))
        votes = {}
        for j in order[:k]:
            votes[y_train[j]] = votes.get(y_train[j], 0) + 1
        winner = min(votes, key=lambda label: (-votes[label], label))
        wrong += winner != y_test[i]
    return wrong / len(y_test)


def recall_accuracy(distances, y, k):
    """Figure 1, left: the average share of the own class within the k nearest."""
    shares = []
    for i in range(len(y)):
        others = [j for j in range(len(y)) if j != i]
        others.sort(key=lambda j: (distances[i][j], j))
        shares.append(sum(y[j] == y[i] for j in others[:k]) / k)
    return sum(shares) / len(shares)


def smoothed_potentials(r, c, M, *, n_rounds, n_scales):
    """Potentials of the columns by Sinkhorn's algorithm while eps shrinks; the plan.

    Starts at the lower quartile of the costs less their column's smallest, above
    the smallest of their row; each eps is a quarter of the one before, and each kernel
    the fourth power of the plan before. Factors and kernels are kept in range.
    """
    r, c = r * (len(c) / r.sum()), c * (len(c) / c.sum())
    v = M.min(axis=0)
    above = (M - v) - (M - v).min(axis=1, keepdims=True)
    eps = np.sort(above.ravel())[above.size // 4]
    kernel = np.maximum(np.exp(-above / eps), 2.0**-100)
    for _ in range(n_scales):
        b = np.ones(len(c))
        for _ in range(n_rounds):
            a = r / (kernel @ b)
            b = np.clip(c / (kernel.T @ a), 1e-6, 1e6)
        v = v + eps * np.log(b)
        plan = a[:, None] * kernel * b
        kernel = np.maximum(plan / plan.max(axis=1, keepdims=True), 1e-8) ** 4
        eps /= 4
    return v, plan


def sinkhorn_plan(r, c, M, eps, n_iter):
    """Fit the marginals of P in turn, P_pq = r_p c_q exp((f_p + g_q - M_pq) / eps)."""
    d = len(r)
    r, c, M = (np.asarray(array).tolist() for array in (r, c, M))
    f, g = [0.0] * d, [0.0] * d
    for _ in range(n_iter):
        for p in range(d):
            terms = [c[q] * exp((g[q] - M[p][q]) / eps) for q in range(d)]
            f[p] = -eps * log(sum(terms))
        for q in range(d):
            terms = [r[p] * exp((f[p] - M[p][q]) / eps) for p in range(d)]
            g[q] = -eps * log(sum(terms))
    return np.array(
        [
            [r[p] * c[q] * exp((f[p] + g[q] - M[p][q]) / eps) for q in range(d)]
            for p in range(d)
        ]
    )


def entropic_cost(r, c, M, eps, n_iter):
    """<M, P> + eps KL(P | r c') at the optimal plan."""
    P = sinkhorn_plan(r, c, M, eps, n_iter)
    d = len(r)
    return sum(
        P[p][q] * (M[p][q] + eps * np.log(P[p][q] / (r[p] * c[q])))
        for p in range(d)
        for q in range(d)
        if P[p][q] > 0
    )


def sinkhorn_divergence(r, c, M, eps, n_iter=1000):
    """OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2, for histograms of mass 1."""
    return entropic_cost(r, c, M, eps, n_iter) - (
        entropic_cost(r, r, M, eps, n_iter) / 2
        + entropic_cost(c, c, M, eps, n_iter) / 2
    )


def smoothed_pair(r, c, A, rho):
    """S between two histograms and its gradient in M_pq = |a_p - a_q|^2, plan by plan.

    eps = rho mean(M) depends on M too, and dOT/deps = KL(P | rc').
    """
    d = len(r)
    M = np.array([[((A[p] - A[q]) ** 2).sum() for q in range(d)] for p in range(d)])
    if np.isinf(rho):
        return -(r - c) @ M @ (r - c) / 2, -np.outer(r - c, r - c) / 2
    eps = rho * M.mean()
    value, gradient = 0.0, np.zeros((d, d))
    for share, a, b in ((1.0, r, c), (-0.5, r, r), (-0.5, c, c)):
        P = sinkhorn_plan(a, b, M, eps, 400)
        full = P > 0
        kl = (P[full] * np.log(P[full] / np.outer(a, b)[full])).sum()
        value += share * ((M * P).sum() + eps * kl)
        gradient += share * (P + rho / d**2 * kl)
    return value, gradient


def smoothed_step(X, omega, A, rho, *, n_targets, share, step):
    """One step of margins on positions: the value before it, and positions after it."""
    n, d = X.shape
    found = [[smoothed_pair(X[i], X[j], A, rho) for j in range(n)] for i in range(n)]
    D = np.array([[value for value, _ in row] for row in found])
    value, W, _, _ = margin_loss(D, omega, n_targets, share)
    G = sum(W[i, j] * found[i][j][1] for i in range(n) for j in range(n))
    g = np.zeros_like(A)
    for p in range(d):
        for q in range(d):  # d|a_p - a_q|^2
            g[p] += 2 * G[p, q] * (A[p] - A[q])
            g[q] -= 2 * G[p, q] * (A[p] - A[q])
    return value, A - step * np.linalg.norm(A) / np.linalg.norm(g) * g


def map_gradient(A, points, G):
    """Chain rule, entry by entry: G_pq times the derivative of |A (x_p - x_q)| in A."""
    gradient = np.zeros_like(A)
    for p in range(len(points)):
        for q in range(len(points)):
            away = points[p] - points[q]
            length = np.linalg.norm(A @ away)
            if length > 0:
                gradient += G[p, q] * np.outer(A @ away, away) / length
    return gradient


def map_step(A, points, gradient, step):
    """Go against the gradient, then scale to a mean squared distance of 1."""
    A = A - step * np.linalg.norm(A) / np.linalg.norm(gradient) * gradient
    positions = points @ A.T
    squares = [((a - b) ** 2).sum() for a in positions for b in positions]
    return A / np.sqrt(np.mean(squares))


def perturbed(r, log_weights):
    """Aitchison's perturbation: w_p r_p, scaled to mass 1."""
    raised = [r_p * np.exp(l_p) for r_p, l_p in zip(r, log_weights, strict=True)]
    return np.array(raised) / sum(raised)


def mapped_distance(r, c, log_weights, positions):
    """EMD between perturbed histograms, with costs |z_p - z_q|."""
    M = [[np.sqrt(((a - b) ** 2).sum()) for b in positions] for a in positions]
    return emd_lp(perturbed(r, log_weights), perturbed(c, log_weights), M)


def prior_distance(r, c, log_weights, positions, eps):
    """S between perturbed histograms, with costs |a_p - a_q|^2; eps may be infinite."""
    r, c = perturbed(r, log_weights), perturbed(c, log_weights)
    d = len(r)
    if np.isinf(eps):
        mean = sum((r[p] - c[p]) * positions[p] for p in range(d))
        return float(mean @ mean)
    M = [
        [((positions[p] - positions[q]) ** 2).sum() for q in range(d)] for p in range(d)
    ]
    return sinkhorn_divergence(r, c, M, eps, n_iter=300)


def softmax_loss(D, omega, tau):
    """Minus the mean log share of similar histograms among all others."""
    n = len(D)
    terms = []
    for i in range(n):
        others = [j for j in range(n) if j != i and omega[i, j] != 0]
        near = [j for j in others if omega[i, j] > 0]
        if near:
            v = [
                abs(omega[i, j]) / np.abs(omega[omega * omega[i, j] > 0]).max()
                for j in others
            ]
            e = dict(zip(others, v * np.exp(-D[i, others] / tau), strict=True))
            terms.append(-np.log(sum(e[j] for j in near) / sum(e.values())))
    return sum(terms) / len(terms)


def prior_loss(X, omega, prior, state, *, tau, eps, pull):
    """Softmax of the distances of a state (l, A, delta), plus the pull to the prior.

    The prior has points x (d, s), the first map A_0 (s, r) and the first l.
    """
    points, first_map, first_logs = prior
    logs, A, offsets = state
    positions = np.array(
        [A.T @ x + delta for x, delta in zip(points, offsets, strict=True)]
    )
    D = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(i):
            D[i, j] = D[j, i] = prior_distance(X[i], X[j], logs, positions, eps)
    away = (
        np.mean((logs - first_logs) ** 2)
        + ((A - first_map) ** 2).sum() / (first_map**2).sum()
        + np.mean([delta @ delta for delta in offsets])
    )
    return softmax_loss(D, omega, tau) + pull * away


def adam(theta, gradients, rates):
    """Kingma and Ba's Algorithm 1, with rates that fall along a cosine."""
    theta, m, v = theta.copy(), np.zeros_like(theta), np.zeros_like(theta)
    for t, gradient in enumerate(gradients, 1):
        g = gradient(theta)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        step = rates * (1 + np.cos(np.pi * (t - 1) / len(gradients))) / 2
        theta -= step * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return theta


def seen_by_learner(r, power):
    """Raise a histogram of mass 1 to a power bin by bin, or take logarithms."""
    if power == "log1p":
        seen = [np.log(1 + 1000 * len(r) * r_p) for r_p in r]
    else:
        seen = [r_p**power for r_p in r]
    return np.array(seen) / sum(seen)


def chosen_by_scores(scores, pulls):
    """Find the candidate and number of steps, by scores (candidates, folds, steps).

    The fewest steps within one standard error of the best; then the strongest pull;
    then the first candidate. Without pulls, only steps of the best candidate count.
    """
    n_candidates, n_folds, n_steps = scores.shape
    scored = [
        (c, t)
        for c in range(n_candidates)
        for t in range(n_steps)
        if not np.isnan(scores[c, 0, t])
    ]
    best = max(scored, key=lambda pair: scores[pair[0], :, pair[1]].mean())
    within = []
    for c, t in scored:
        lead = [scores[best[0], f, best[1]] - scores[c, f, t] for f in range(n_folds)]
        error = np.std(lead) / np.sqrt(n_folds - 1)
        if pulls is None and c != best[0]:
            continue
        if np.mean(lead) <= error:
            within.append((t, 0.0 if pulls is None else -pulls[c], c))
    t, _, c = min(within)
    return c, t


def with_share(r, p, share):
    """Give bin p this share, and divide the rest as it was divided before."""
    rest = sum(r) - r[p]
    if rest == 0:
        return list(r)
    return [share if q == p else (1 - share) * r[q] / rest for q in range(len(r))]


def wrong_share(distances, labels, label, k):
    """Share of other labels among the k nearest; ties go to the first."""
    near = sorted(range(len(distances)), key=lambda i: (distances[i], i))[:k]
    return sum(labels[i] != label for i in near) / k


def shares_listed(ratios, q):
    """Share of the draws in which each pair has one of the q largest ratios."""
    n_pairs = len(ratios[0])
    shares = []
    for pair in range(n_pairs):
        times = 0
        for row in ratios:
            # A pair tied with the one after the list is not in it.
            times += sum(other >= row[pair] for other in row) <= q
        shares.append(times / len(ratios))
    return shares


def variance_over_draws(values, share):
    """Return A (1 / J + share / (1 - share)) + B / T of v_jt = a_j + b_t + e_jt."""
    J, T = len(values), len(values[0])
    cells = [(j, t) for j in range(J) for t in range(T) if not np.isnan(values[j][t])]
    design = np.zeros((len(cells), J + T))
    for row, (j, t) in enumerate(cells):
        design[row, j] = design[row, J + t] = 1
    v = np.array([values[j][t] for j, t in cells])
    effects = np.linalg.lstsq(design, v)[0]
    a, b = effects[:J], effects[J:]
    e2 = np.sum((v - design @ effects) ** 2) / (len(cells) - J - T + 1)
    # The covariance of the a_j, less their mean, is e2 times this.
    center = np.eye(J, J + T) - np.eye(J, J + T, 0).sum(axis=0) / J
    noise = e2 * np.trace(center @ np.linalg.pinv(design.T @ design) @ center.T)
    A = np.var(a, ddof=1) - noise / (J - 1)
    return max(A, 0) * (1 / J + share / (1 - share)) + np.var(b, ddof=1) / T


def discriminants(X, y, features, rho=None):
    """S_B w = lambda Sigma w with w' Sigma w = 1, in all features of the bins.

    Features are in rows, one for each bin. Returns the positions of the bins, Sigma,
    S_B and W.
    """
    n = len(y)
    phi = X @ features
    mean = phi.mean(axis=0)
    centered, between = phi.copy(), np.zeros((phi.shape[1],) * 2)
    for label in set(y.tolist()):
        members = y == label
        own = phi[members].mean(axis=0)
        centered[members] -= own
        between += members.sum() / n * np.outer(own - mean, own - mean)
    scatter = sum(np.outer(z, z) for z in centered) / n
    p = min(*features.shape, n - 1)
    mu = np.trace(scatter) / p
    if rho is None:
        # Ledoit & Wolf (2004), lemma 3.2 and 3.3: distance to mu I, and its variance.
        delta = (scatter**2).sum() - p * mu**2
        errors = [((np.outer(z, z) - scatter) ** 2).sum() for z in centered]
        rho = max(min(sum(errors) / n**2, delta) / delta, 1e-4)
    sigma = (1 - rho) * scatter + rho * mu * np.eye(len(scatter))
    values, W = eigh(between, sigma)
    W = W[:, values > 1e-8 * values[-1]]
    return features @ W, sigma, between, W


def barycenter_lp(X, w, M):
    """Minimize sum_k w_k <M, P_k> over P_k 1 = x_k, P_k' 1 = b: one program, all arcs.

    Returns the minimum, and one of the b that attain it.
    """
    n, d = X.shape
    rows, right, cost = [], [], np.concatenate([*[wk * M.ravel() for wk in w], [0] * d])
    for k in range(n):
        for p in range(d):
            row = np.zeros(n * d * d + d)
            row[k * d * d + p * d + np.arange(d)] = 1.0
            rows.append(row)
            right.append(X[k, p])
        for q in range(d):
            row = np.zeros(n * d * d + d)
            row[k * d * d + np.arange(d) * d + q] = 1.0
            row[n * d * d + q] = -1.0
            rows.append(row)
            right.append(0.0)
    result = linprog(cost, A_eq=np.array(rows), b_eq=right, method="highs")
    assert result.status == 0, result.message
    return result.fun, result.x[n * d * d :]


def debiased_barycenter(X, w, M, eps, n_iter):
    """Algorithm 1 of Janati, Cuturi and Gramfort (2020), in a plain loop."""
    K = np.exp(-M / eps)
    v, bias = [np.ones(len(M)) for _ in X], np.ones(len(M))
    for _ in range(n_iter):
        u = [x / (K @ vk) for x, vk in zip(X, v, strict=True)]
        b = bias.copy()
        for uk, wk in zip(u, w, strict=True):
            b = b * (K @ uk) ** wk
        v = [b / (K @ uk) for uk in u]
        bias = np.sqrt(bias * b / (K @ bias))
    return b
