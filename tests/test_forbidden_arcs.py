"""Infinite costs: arcs that no plan may use. HiGHS knows them as bounds."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import csr_array

import groundmetric as gm
import problems
from certificates import check_transport
from reference import emd_lp

pytestmark = pytest.mark.core

INF = math.inf


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def least_on(forbidden, r, c):
    """Return the least mass that moves where it is forbidden, by HiGHS."""
    m, n = len(r), len(c)
    A = np.vstack([np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))])
    found = linprog(forbidden.ravel() * 1.0, A_eq=A, b_eq=np.r_[r, c], method="highs")
    return found.fun


def some_forbidden(rng, M, share):
    """Draw arcs, and make costs infinite there."""
    forbidden = rng.random(M.shape) < share
    return forbidden, np.where(forbidden, INF, M)


def check_allowed(t, r, c, M):
    """Optimal, proved by potentials, and on allowed arcs only."""
    assert np.isfinite(M[t.rows, t.cols]).all()
    assert np.isfinite(t.potentials[0]).all()
    assert np.isfinite(t.potentials[1]).all()
    u, v = t.potentials
    # Any finite cost will do in place of the infinite ones if the proof holds with it.
    large = np.abs(u).max() + np.abs(v).max() + np.abs(M[np.isfinite(M)]).max(initial=0)
    slack = M - u[:, None] - v
    scale = np.abs(M[np.isfinite(M)]).max(initial=0)
    assert slack.min() >= -1e-12 * scale
    check_transport(t, r, c, np.where(np.isinf(M), 2 * large, M))


def test_by_hand():
    # Mass of bin 0 may not stay; it changes places with that of bin 1.
    M = np.array([[INF, 1.0], [1.0, 0.0]])
    assert gm.emd([1, 1], [1, 1], M) == 2.0
    t = gm.transport([1, 1], [1, 1], M)
    assert t.plan.tolist() == [[0.0, 1.0], [1.0, 0.0]]
    # From bin 0 nothing may reach bin 1: half of the mass has no way.
    one_way = [[0.0, INF], [1.0, 0.0]]
    assert gm.emd([1, 1], [2, 0], one_way) == 1.0
    with pytest.raises(ValueError, match=r"No plan from r to c .* 0\.5 of the mass 2"):
        gm.emd([1.5, 0.5], [1, 1], one_way)


KINDS = ["euclidean", "negative", "asymmetric", "zero", "integer", "huge", "squared"]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("kind", KINDS)
def test_agrees_with_highs(rng, kind, share):
    n_feasible = 0
    for _ in range(12):
        d = int(rng.integers(2, 12))
        r, c = problems.pair(rng, rng.choice(["dense", "sparse", "counts"]), d)
        c = c * (r.sum() / c.sum())
        forbidden, M = some_forbidden(rng, problems.cost(rng, kind, d), share)
        lost = least_on(forbidden, r / r.sum(), c / r.sum())
        if lost > 1e-7:
            for solve in (gm.emd, gm.transport):
                with pytest.raises(ValueError, match="No plan from r to c avoids"):
                    solve(r, c, M)
            assert gm.pairwise_emd([r], [c], metric=M)[0, 0] == INF
            continue
        n_feasible += 1
        t = gm.transport(r, c, M)
        check_allowed(t, r, c, M)
        unit = max(np.abs(M[np.isfinite(M)]).max(initial=0), 1e-300)
        plain = np.where(forbidden, 0, M) / unit
        expected = emd_lp(r / r.sum(), c / r.sum(), plain, forbidden) * unit * r.sum()
        tolerance = {"rtol": 1e-9, "atol": 1e-9 * unit * r.sum()}
        np.testing.assert_allclose(t.value, expected, **tolerance)
        np.testing.assert_allclose(gm.emd(r, c, M), t.value, rtol=1e-12, atol=1e-300)
        found = gm.pairwise_emd([r], [c], metric=M)[0, 0]
        np.testing.assert_allclose(found, t.value, rtol=1e-12, atol=1e-300)
    assert n_feasible > 0 or share > 0.5


@pytest.mark.parametrize("d", [60, 300, 600])
def test_large_problems_prove_themselves(rng, d):
    """Up to the sizes at which a shortlist is priced; many arcs, and few."""
    M = rng.random((d, d))
    r, c = rng.dirichlet(np.ones(d), 2)
    band = np.abs(np.subtract.outer(np.arange(d), np.arange(d))) > d / 4
    for forbidden in (rng.random((d, d)) < 0.7, band):
        costs = np.where(forbidden, INF, M)
        check_allowed(gm.transport(r, c, costs), r, c, costs)


def test_small_costs_keep_their_digits(rng):
    """No large number in place of infinity takes digits from the others."""
    d, dear = 30, 2.0**40
    forbidden, cheap = some_forbidden(rng, rng.integers(0, 999, (d, d)) / 1024, 0.6)
    M = cheap.copy()
    M[0] += dear  # allowed, and the first bin has to pay
    r, c = rng.dirichlet(np.ones(d), 2)
    t, rest = gm.transport(r, c, M), gm.transport(r, c, cheap)
    check_allowed(t, r, c, M)
    assert t.value == pytest.approx(rest.value + dear * r[0], rel=1e-15)
    assert abs(rest.duality_gap) <= 1e-15
    assert not forbidden[t.rows, t.cols].any()


def test_a_tiny_mass_obeys_as_well():
    for tiny in (1e-8, 1e-15, 1e-25):
        M = np.array([[INF, 5.0, 1.0], [0.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
        t = gm.transport([tiny, 1, 1], [tiny, 1, 1], M)
        assert np.isfinite(M[t.rows, t.cols]).all()
        # It goes to bin 2 at 1, and another one has to leave: to bin 0 at 1, or to
        # bin 1 at 1 while bin 1 sends one to bin 0 for nothing.
        assert t.value == pytest.approx(2 * tiny, rel=1e-10, abs=0.0)
        np.testing.assert_allclose(t.plan.sum(axis=1), [tiny, 1, 1], rtol=1e-10)


def test_sums_that_agree_but_for_rounding():
    """Two parts that exchange nothing, with masses that are equal in words."""
    counts = np.array([[1, 2, 0, 3, 1], [2, 0, 1, 2, 2]])
    assert counts[:, :3].sum(axis=1).tolist() == [3, 3]
    X = counts / counts.sum(axis=1, keepdims=True)
    apart = np.zeros((5, 5), bool)
    apart[:3, 3:] = apart[3:, :3] = True
    M = np.where(apart, INF, np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0))))
    exact = gm.emd(*counts, M)  # whole numbers
    for scale in (1, 1 / 3, 0.1, 1e-5, 7e9):
        rows = X * scale
        value = gm.emd(*rows, M)
        np.testing.assert_allclose(value, exact / 7 * scale, rtol=1e-12)
        t = gm.transport(*rows, M)
        check_allowed(t, *rows, M)
        batch = gm.TransportBatch(rows, [(0, 1)]).solve(M)
        assert batch.values[0] == pytest.approx(value, rel=1e-12)
        assert not batch.plan_sum([1.0])[apart].any()
    off = counts.astype(np.float32) / np.float32(7)
    off[0, 0] += 2e-7
    off[0, 4] -= 2e-7
    with pytest.raises(ValueError, match=r"of the mass 1.* That may be rounding"):
        gm.emd(*off, M)


@pytest.mark.parametrize("n_bins", [6, 1000])
def test_batches(rng, n_bins):
    """Dense, with empty bins, and sparse: infinite where no plan exists."""
    X = np.zeros((5, n_bins))
    X[:2, :6] = rng.dirichlet(np.ones(6))
    X[1, :6] = X[1, [1, 0, 2, 3, 4, 5]]
    X[2, 5] = X[3, 0] = 1
    X[4, :6] = rng.dirichlet(np.ones(6))
    M = np.full((n_bins, n_bins), INF)
    below = np.tril_indices(6)
    M[below] = rng.random(len(below[0]))  # mass moves to the left only
    rows = csr_array(X) if n_bins > 6 else X
    D = gm.pairwise_emd(rows, metric=M)
    assert D[2, 3] == M[5, 0]
    assert D[3, 2] == INF
    solvable = np.isfinite(D)
    for i, j in np.ndindex(5, 5):
        left, right, costs = X[i, :6], X[j, :6], M[:6, :6]
        assert solvable[i, j] == (least_on(np.isinf(costs), left, right) < 1e-9)
        if solvable[i, j]:
            assert D[i, j] == pytest.approx(gm.emd(left, right, costs), rel=1e-12)
    pairs = np.argwhere(np.ones((5, 5)))
    batch = gm.TransportBatch(rows, pairs)
    for _ in range(2):  # from the greedy start, and from kept trees
        solution = batch.solve(M)
        np.testing.assert_allclose(solution.values, D.ravel(), rtol=1e-12)
    good = np.flatnonzero(np.isfinite(solution.values))
    for k in good:
        i, j = pairs[k]
        check_allowed(solution.transport(k), X[i], X[j], M)
    weights = np.where(np.isfinite(solution.values), 0.5, 0.0)
    total = sum(0.5 * solution.transport(k).plan for k in good)
    np.testing.assert_allclose(solution.plan_sum(weights), total, atol=1e-15)
    bad = int(np.argmax(np.isinf(solution.values)))
    for refused in (
        lambda: solution.transport(bad),
        lambda: solution.plan_sum(np.ones(25)),
        lambda: solution.potentials,
    ):
        with pytest.raises(ValueError, match=f"No plan from .* of pair {bad} avoids"):
            refused()
    left = batch.solve(M, good)
    for k, (u, v) in enumerate(zip(*left.potentials, strict=True)):
        assert (u[:, None] + v <= M + 1e-12).all()
        i, j = pairs[good[k]]
        assert u @ X[i] + v @ X[j] == pytest.approx(left.values[k], abs=1e-12)


def test_common_mass_stays_under_a_metric_with_parts(rng):
    """Infinite distances between two parts obey the triangle inequality."""
    points = rng.normal(size=(8, 2))
    M = np.linalg.norm(points[:, None] - points, axis=2)
    M[:4, 4:] = M[4:, :4] = INF
    X = np.concatenate([rng.dirichlet(np.ones(4), (6, 2))], axis=1).reshape(6, 8) / 2
    batch = gm.TransportBatch(X, [(i, j) for i in range(6) for j in range(6)])
    solution = batch.solve(M)
    assert solution.proof == "triangles"
    for k, (i, j) in enumerate(batch.pairs):
        expected = sum(
            gm.emd(X[i, part], X[j, part], M[part, part])
            for part in (slice(0, 4), slice(4, 8))
        )
        assert solution.values[k] == pytest.approx(expected, rel=1e-11, abs=1e-15)
        check_allowed(solution.transport(k), X[i], X[j], M)


def test_changing_costs_from_kept_trees(rng):
    X = rng.dirichlet(np.ones(12), 6)
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    batch = gm.TransportBatch(X, pairs)
    for share in (0.0, 0.5, 0.95, 0.3, 0.0):
        _, M = some_forbidden(rng, rng.random((12, 12)), share)
        values = batch.solve(M).values
        np.testing.assert_allclose(
            values, gm.TransportBatch(X, pairs).solve(M).values, rtol=1e-11
        )
        assert np.isinf(values).all() == (share > 0.9)


def test_rows_in_pairs_name_the_first_without_a_plan():
    one_way = [[0.0, INF], [1.0, 0.0]]
    assert gm.emd([[1, 1], [2, 0]], [[2, 0], [2, 0]], one_way).tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="No plan from row 1 of r to that of c"):
        gm.emd([[1, 1], [2, 0]], [[2, 0], [1, 1]], one_way)


def test_blocks_and_files_hold_infinite_distances(tmp_path):
    X = np.eye(3)
    M = [[0, 1, INF], [INF, 0, 2], [INF, INF, 0]]
    expected = np.array(M)
    np.testing.assert_array_equal(gm.pairwise_emd(X, metric=M), expected)
    for dtype in ("float32", "float64"):
        found = gm.pairwise_emd(X, metric=M, dtype=dtype, out=tmp_path / "d.npy")
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(ValueError, match="exceed the range of single"):
        gm.pairwise_emd(X, metric=np.array(M) * 1e200, dtype="float32")
    with pytest.raises(ValueError, match="exceed the range of double"):
        gm.pairwise_emd(X * 1e200, metric=np.array(M) * 1e200)


@pytest.mark.parametrize("value", [-INF, math.nan])
def test_other_numbers_that_are_not_finite_are_refused(value):
    M = [[0, value], [1, 0]]
    message = r"metric\[0, 1\] is .*finite, or inf to forbid an arc"
    for call in (
        lambda: gm.emd([1, 1], [2, 0], M),
        lambda: gm.transport([1, 1], [2, 0], M),
        lambda: gm.emd([[1, 1]], [[2, 0]], M),
        lambda: gm.pairwise_emd([[1, 1]], metric=M),
        lambda: gm.TransportBatch([[1, 1]], [(0, 0)]).solve(M),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_metrics_stay_finite():
    M = [[0, INF], [INF, 0]]
    for call in (
        lambda: gm.EMDNeighbors(M).fit(np.eye(2)),
        lambda: gm.emd_hat([1, 1], [2, 0], M),
        lambda: gm.emd_partial([1, 1], [2, 0], M),
        lambda: gm.project_metric(M),
        lambda: gm.sinkhorn_divergence(np.eye(2), metric=M),
        lambda: gm.GroundMetricLearning(init=M).fit(np.ones((4, 2)), [0, 1, 0, 1]),
    ):
        with pytest.raises(ValueError, match="is inf: entries must be finite"):
            call()
