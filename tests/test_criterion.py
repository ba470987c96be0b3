"""The two sides of the criterion: exact, though most pairs are not solved."""

import numpy as np
import pytest

import groundmetric as gm
from groundmetric import _core
from groundmetric._criterion import Criterion, Side, is_uniform
from groundmetric._pruning import one_sided_bounds
from problems import cost
from reference import criterion_side, one_sided, spread_plan

pytestmark = pytest.mark.core


def data(seed=0, n=24, d=20, classes=3):
    """Histograms of some classes, weights from labels, and a metric."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.gamma(rng.gamma(1.0, size=(classes, d))[y] + 0.2)
    X[1] = X[0]  # equal histograms, and so ties
    X /= X.sum(axis=1, keepdims=True)
    return X, gm.label_similarity(y), cost(rng, "euclidean", d), rng


def sides(X, omega, k, **options):
    criterion = Criterion(X, omega, k, k, **options)
    return criterion.similar, criterion.dissimilar


def split(omega):
    return np.maximum(omega, 0.0), np.minimum(omega, 0.0)


@pytest.mark.parametrize("k", [1, 3, 7, 100, None])
@pytest.mark.parametrize("seed", range(3))
def test_literally(seed, k):
    X, omega, M, _ = data(seed, n=12)
    D = gm.pairwise_emd(X, metric=M)
    for side, part in zip(sides(X, omega, k), split(omega), strict=True):
        z, sets = criterion_side(lambda i, j: D[i, j], part, k)
        found = side.evaluate(M)
        assert found.value == pytest.approx(z, rel=1e-12)
        assert [set(np.flatnonzero(row)) for row in found.neighbors] == sets


def test_all_pairs_count_twice():
    # C_inf = 2 sum over i < j of omega_ij d(i, j).
    X, omega, M, _ = data()
    D = gm.pairwise_emd(X, metric=M)
    total = Criterion(X, omega, None, None).value(M)
    assert total == pytest.approx(2 * np.triu(omega * D).sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 3])
def test_pruned_equals_brute_force_while_the_metric_moves(seed, k):
    X, omega, M, rng = data(seed, n=40, d=24, classes=2)
    pruned, brute = sides(X, omega, k), sides(X, omega, k, prune=False)
    work = {"pruned": 0, "brute": 0}
    for _ in range(6):
        for fast, slow in zip(pruned, brute, strict=True):
            a, b = fast.evaluate(M), slow.evaluate(M)
            assert a.value == pytest.approx(b.value, rel=1e-12)
            np.testing.assert_array_equal(a.neighbors, b.neighbors)
            # Subgradients may differ where plans are tied, but agree on the metric.
            assert (a.gradient * M).sum() == pytest.approx(b.value, rel=1e-9)
            assert a.n_solves <= fast.n_pairs
            assert b.n_solves == slow.n_pairs
            work["pruned"] += a.n_pivots
            work["brute"] += b.n_pivots
        noise = rng.normal(size=M.shape) * M.mean()
        M = gm.project_metric(M + 0.2 * noise).metric
    assert work["pruned"] < 0.6 * work["brute"]


def test_unique_plans_give_equal_subgradients():
    X, omega, M, _ = data(5, n=30, d=15, classes=2)
    X = X[2:]  # without the equal ones
    omega = gm.label_similarity(np.arange(28) % 2)
    for fast, slow in zip(
        sides(X, omega, 2), sides(X, omega, 2, prune=False), strict=True
    ):
        np.testing.assert_allclose(
            fast.evaluate(M).gradient, slow.evaluate(M).gradient, atol=1e-14
        )


@pytest.mark.parametrize("k", [2, None])
def test_subgradient_by_finite_differences(k):
    # Points in general position: plans and neighbors are unique near M.
    X, omega, M, rng = data(1)
    X = rng.gamma(1.0, size=X.shape)
    X /= X.sum(axis=1, keepdims=True)
    for side in sides(X, omega, k):
        G = side.evaluate(M).gradient
        np.testing.assert_array_equal(G, G.T)
        assert (np.diag(G) == 0).all()
        for _ in range(5):
            E = rng.normal(size=M.shape)
            E = np.triu(E, 1) + np.triu(E, 1).T
            h = 1e-7
            difference = side.evaluate(M + h * E).value - side.evaluate(M - h * E).value
            assert difference / (2 * h) == pytest.approx((G * E).sum(), rel=1e-5)


@pytest.mark.parametrize("k", [1, 4, None])
def test_subgradient_inequalities(k):
    # S- is convex and S+ concave; homogeneous of degree 1 both.
    X, omega, M, rng = data(2)
    plus, minus = sides(X, omega, k)
    at_minus, at_plus = minus.evaluate(M), plus.evaluate(M)
    assert (at_minus.gradient * M).sum() == pytest.approx(at_minus.value, rel=1e-12)
    for _ in range(10):
        N = cost(rng, "euclidean", len(M))
        tangent = at_minus.value + (at_minus.gradient * (N - M)).sum()
        assert minus.evaluate(N).value >= tangent - 1e-12
        tangent = at_plus.value + (at_plus.gradient * (N - M)).sum()
        assert plus.evaluate(N).value <= tangent + 1e-12
    assert minus.evaluate(4 * M).value == pytest.approx(4 * at_minus.value, rel=1e-12)


def test_results_do_not_depend_on_threads():
    X, omega, M, _ = data(3, n=40)
    one = [side.evaluate(M) for side in sides(X, omega, 3)]
    many = [side.evaluate(M) for side in sides(X, omega, 3, n_threads=3)]
    for a, b in zip(one, many, strict=True):
        assert (a.value, a.n_solves, a.n_pivots) == (b.value, b.n_solves, b.n_pivots)
        np.testing.assert_array_equal(a.gradient, b.gradient)


def test_a_side_without_pairs():
    X, omega, M, _ = data()
    side = Side(X, 0 * omega, 3)
    found = side.evaluate(M)
    assert (found.value, found.n_solves) == (0.0, 0)
    np.testing.assert_array_equal(found.gradient, np.zeros_like(M))


def batch_of(X):
    masses = _core.Masses(X, 1.0)
    pairs = np.stack(np.triu_indices(len(X), 1), axis=1)
    return _core.Batch(masses, masses, pairs), pairs


@pytest.mark.parametrize("kind", ["euclidean", "grid", "squared"])
def test_ceilings(kind):
    X, _, _, rng = data(4, n=20, d=30)
    M = cost(rng, kind, 30)
    matrix = _core.CostMatrix(M)
    truth = gm.pairwise_emd(X, metric=M)[np.triu_indices(20, 1)]
    batch, pairs = batch_of(X)
    everything = np.arange(len(pairs))
    _, _, free = batch.solve(matrix, everything, 1, None)
    for share in (0.0, 0.5, 0.9, 1.1):
        batch, _ = batch_of(X)
        ceilings = share * truth
        _, values, n_pivots = batch.solve(matrix, everything, 1, None, ceilings)
        above = values < 0
        # A negative value is minus a bound: above the ceiling, below the distance.
        assert (-values[above] > ceilings[above]).all()
        assert (-values[above] <= truth[above] * (1 + 1e-12)).all()
        np.testing.assert_allclose(values[~above], truth[~above], rtol=1e-12)
        assert above.any() == (share < 1)
        assert n_pivots.sum() <= free.sum()
        if above.any():
            first = everything[above][:1]
            with pytest.raises(RuntimeError, match="use the newest solution"):
                batch.plan_sum(0, first, np.ones(1), 30)
        # Going on from where it stopped ends at the optimum.
        _, values, _ = batch.solve(matrix, everything, 1, None)
        np.testing.assert_allclose(values, truth, rtol=1e-12, atol=1e-15)


def test_lipschitz_functions():
    X, _, M, _ = data(6, n=10, d=25)
    matrix = _core.CostMatrix(M)
    batch, pairs = batch_of(X)
    everything = np.arange(len(pairs))
    _, values, _ = batch.solve(matrix, everything, 1, None)
    F = batch.lipschitz(matrix, everything, 2)
    assert (F[:, :, None] - F[:, None, :] <= M + 1e-14).all()
    gaps = (F * (X[pairs[:, 0]] - X[pairs[:, 1]])).sum(axis=1)
    np.testing.assert_allclose(gaps, values, rtol=1e-12, atol=1e-15)
    fresh, _ = batch_of(X)
    with pytest.raises(RuntimeError):
        fresh.lipschitz(matrix, everything[:1], 1)


@pytest.mark.parametrize("kind", ["euclidean", "grid", "uniform"])
def test_one_sided_bounds(kind):
    X, _, _, rng = data(7, n=15, d=16)
    M = 1.0 - np.eye(16) if kind == "uniform" else cost(rng, kind, 16)
    D = gm.pairwise_emd(X, metric=M)
    bounds = one_sided_bounds(X, M)
    for i, r in enumerate(X):
        for j, c in enumerate(X):
            assert bounds[i, j] == pytest.approx(one_sided(r, c, M), abs=1e-11)
    assert (bounds <= D).all()
    if kind == "uniform":
        np.testing.assert_allclose(bounds, D, rtol=1e-11, atol=1e-15)
    assert (one_sided_bounds(np.ones((3, 1)), np.zeros((1, 1))) == 0).all()


@pytest.mark.parametrize("kind", ["euclidean", "grid"])
def test_raised_functions_bound_better(kind):
    X, _, _, rng = data(10, n=12, d=20)
    M = cost(rng, kind, 20)
    matrix = _core.CostMatrix(M)
    batch, pairs = batch_of(X)
    everything = np.arange(len(pairs))
    _, values, _ = batch.solve(matrix, everything, 1, None)
    functions = batch.lipschitz(matrix, everything, 1)
    for shift in (0, 1, 7):  # a pair's own function, and those of others
        best = np.roll(everything, shift).astype(np.int32)
        bounds = batch.bounds(matrix, everything, functions, best, 1)
        differences = X[pairs[:, 0]] - X[pairs[:, 1]]
        plain = np.abs((functions[best] * differences).sum(axis=1))
        assert (bounds <= values * (1 + 1e-12) + 1e-15).all()
        assert (bounds >= plain - 1e-14).all()
        assert (shift == 0) or (bounds > plain + 1e-6).any()
    np.testing.assert_allclose(
        batch.bounds(matrix, everything, functions, everything.astype(np.int32), 1),
        values,
        rtol=1e-12,
        atol=1e-15,
    )
    none = np.full(len(pairs), -1, np.int32)
    assert (batch.bounds(matrix, everything, functions, none, 2) == 0).all()


def test_bounds_from_functions():
    rng = np.random.default_rng(0)
    Z, rows = rng.normal(size=(5, 7)), np.array([3, 0, 3, 6, 1])
    lower = rng.uniform(size=(7, 7))
    expected = lower.copy()
    lower = expected = np.maximum(lower, lower.T)
    expected, best = lower.copy(), np.full((7, 7), -1, np.int32)
    which = best.copy()
    for s, (z, i) in enumerate(zip(Z, rows, strict=True)):
        gains = np.abs(z - z[i]) > expected[i]
        expected[i, gains] = expected[gains, i] = np.abs(z - z[i])[gains]
        which[i, gains] = which[gains, i] = 10 + s
    _core.raise_lower(Z, rows, 10, lower, best)
    np.testing.assert_array_equal(lower, expected)
    np.testing.assert_array_equal(best, which)


@pytest.mark.parametrize("k", [2, None])
def test_uniform_metric_takes_spread_plans(k):
    X, omega, _, rng = data(8, n=16, d=9)
    M = 0.25 * (1.0 - np.eye(9))
    assert is_uniform(M)
    assert not is_uniform(M + np.diag([0.1] * 9))
    for side, part in zip(sides(X, omega, k), split(omega), strict=True):
        found = side.evaluate(M)
        G = np.zeros_like(M)
        for i, j in np.argwhere(found.neighbors):
            G += part[i, j] * spread_plan(X[i], X[j])
        G = (G + G.T) / 2
        np.testing.assert_allclose(found.gradient, G - np.diag(np.diag(G)), atol=1e-15)
        # Optimal plans: the value, and a subgradient of a convex (concave) function.
        assert (found.gradient * M).sum() == pytest.approx(found.value, rel=1e-12)
        sign = 1 if part.min() < 0 else -1
        for _ in range(10):
            N = cost(rng, "euclidean", 9)
            tangent = found.value + (found.gradient * (N - M)).sum()
            assert sign * side.evaluate(N).value >= sign * tangent - 1e-12


def test_spread_plans_do_not_depend_on_the_order_of_bins():
    X, omega, _, rng = data(9, n=16, d=9)
    M, order = 1.0 - np.eye(9), rng.permutation(9)
    for a, b in zip(
        sides(X, omega, 3),
        sides(np.ascontiguousarray(X[:, order]), omega, 3),
        strict=True,
    ):
        G, H = a.evaluate(M).gradient, b.evaluate(M).gradient
        np.testing.assert_allclose(G[np.ix_(order, order)], H, atol=1e-15)


@pytest.mark.parametrize("seed", [0, 3, 212])
def test_pruned_equals_brute_force_at_distances_near_rounding(seed):
    # Almost equal histograms: bounds are wrong by more than the distances' last bits.
    rng = np.random.default_rng(seed)
    for _ in range(50):
        X = rng.gamma(0.5, size=(20, 2)) ** 12
        X /= X.sum(axis=1, keepdims=True)
        M, omega = 1.0 - np.eye(2), 1.0 - np.eye(20)
        a, b = Side(X, omega, 2).evaluate(M), Side(X, omega, 2, prune=False).evaluate(M)
        np.testing.assert_array_equal(a.neighbors, b.neighbors)
        assert a.value == b.value


def test_equal_histograms_are_tied_whatever_their_trees():
    rng = np.random.default_rng(12)
    X = rng.dirichlet(np.ones(6), 8)[rng.integers(0, 8, 24)]
    omega = rng.uniform(1, 2, (24, 24))
    omega = omega + omega.T
    np.fill_diagonal(omega, 0.0)
    pruned, brute = Side(X, omega, 3), Side(X, omega, 3, prune=False)
    for _ in range(10):
        M = cost(rng, "euclidean", 6)
        a, b = pruned.evaluate(M), brute.evaluate(M)
        np.testing.assert_array_equal(a.neighbors, b.neighbors)
        assert a.value == pytest.approx(b.value, rel=1e-12)
