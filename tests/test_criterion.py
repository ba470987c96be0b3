"""The two sides of the criterion: exact, though most pairs are not solved."""

import gc
import tracemalloc

import numpy as np
import pytest

import groundmetric as gm
from groundmetric.learning import _criterion
from groundmetric.learning._criterion import Evaluation, is_uniform
from groundmetric.learning._margin import MarginCriterion
from groundmetric.learning._neighborhood import NeighborhoodCriterion, Side
from groundmetric.similarity._weights import MatrixWeights
from problems import cost
from reference import criterion_side, spread_plan

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
    criterion = NeighborhoodCriterion(X, omega, k, k, **options)
    return criterion.similar, criterion.dissimilar


def split(omega):
    return np.maximum(omega, 0.0), np.minimum(omega, 0.0)


def neighbor_sets(side, M):
    """List the set of neighbors of each histogram."""
    pairs = side.neighbors(M)
    sets = [set() for _ in pairs.starts[1:]]
    for i, j in zip(pairs.i, pairs.j, strict=True):
        sets[i].add(j)
    return sets


def brute_force(X, part, k, M):
    """Value, subgradient and neighbors, every pair solved from its greedy start."""
    i, j = np.triu_indices(len(X), 1)
    batch = gm.TransportBatch(X, np.stack([i, j], axis=1))
    solution = batch.solve(M)
    D = np.zeros((len(X), len(X)))
    D[i, j] = D[j, i] = solution.values
    value, sets = criterion_side(lambda a, b: D[a, b], part, k)
    W = np.zeros_like(D)
    for a, others in enumerate(sets):
        W[a, list(others)] = part[a, list(others)]
    plans = solution.plan_sum((W + W.T)[i, j])
    G = (plans + plans.T) / 2
    np.fill_diagonal(G, 0.0)
    return value, G, sets


@pytest.mark.parametrize("k", [1, 3, 7, 100, None])
@pytest.mark.parametrize("seed", range(3))
def test_literally(seed, k):
    X, omega, M, _ = data(seed, n=12)
    D = gm.pairwise_emd(X, metric=M)
    for side, part in zip(sides(X, omega, k), split(omega), strict=True):
        z, sets = criterion_side(lambda i, j: D[i, j], part, k)
        found = side.evaluate(M)
        assert found.value == pytest.approx(z, rel=1e-12)
        assert neighbor_sets(side, M) == sets


def test_all_pairs_count_twice():
    # C_inf = 2 sum over i < j of omega_ij d(i, j).
    X, omega, M, _ = data()
    D = gm.pairwise_emd(X, metric=M)
    total = NeighborhoodCriterion(X, omega, None, None).value(M)
    assert total == pytest.approx(2 * np.triu(omega * D).sum(), rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("k", [1, 3, None])
def test_pruned_equals_brute_force_while_the_metric_moves(seed, k):
    # Plans too: ties and all, for each pair is solved from the same start.
    X, omega, M, rng = data(seed, n=40, d=24, classes=2)
    pruned, n_looks, n_pairs = sides(X, omega, k), 0, 0
    for _ in range(6):
        for fast, part in zip(pruned, split(omega), strict=True):
            found = fast.evaluate(M)
            value, G, sets = brute_force(X, part, k, M)
            assert found.value == pytest.approx(value, rel=1e-12)
            assert neighbor_sets(fast, M) == sets
            np.testing.assert_allclose(found.gradient, G, rtol=0, atol=1e-15)
            n_looks += found.n_solves
            n_pairs += np.count_nonzero(part) // 2
        noise = rng.normal(size=M.shape) * M.mean()
        M = gm.project_metric(M + 0.2 * noise).metric
    assert n_looks == n_pairs if k is None else n_looks < 0.6 * n_pairs


def test_an_evaluation_depends_on_the_metric_alone():
    X, omega, M, rng = data(3, n=30, d=16, classes=2)
    used = sides(X, omega, 3)
    for _ in range(3):
        for side in used:
            side.evaluate(cost(rng, "euclidean", 16))
    for old, new in zip(used, sides(X, omega, 3), strict=True):
        a, b = old.evaluate(M), new.evaluate(M)
        assert a.value == b.value
        np.testing.assert_array_equal(a.gradient, b.gradient)


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
    side = Side(X, MatrixWeights(0 * omega), 3, similar=True)
    found = side.evaluate(M)
    assert (found.value, found.n_solves) == (0.0, 0)
    np.testing.assert_array_equal(found.gradient, np.zeros_like(M))


@pytest.mark.parametrize("k", [2, None])
def test_uniform_metric_takes_spread_plans(k):
    X, omega, _, rng = data(8, n=16, d=9)
    M = 0.25 * (1.0 - np.eye(9))
    assert is_uniform(M)
    assert not is_uniform(M + np.diag([0.1] * 9))
    for side, part in zip(sides(X, omega, k), split(omega), strict=True):
        found = side.evaluate(M)
        G = np.zeros_like(M)
        pairs = side.neighbors(M)
        for i, j in zip(pairs.i, pairs.j, strict=True):
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
        side = Side(X, MatrixWeights(omega), 2, similar=True)
        found = side.evaluate(M)
        value, _, sets = brute_force(X, omega, 2, M)
        assert neighbor_sets(side, M) == sets
        assert found.value == pytest.approx(value, rel=1e-12)


def test_equal_histograms_are_tied_whatever_their_trees():
    rng = np.random.default_rng(12)
    X = rng.dirichlet(np.ones(6), 8)[rng.integers(0, 8, 24)]
    omega = rng.uniform(1, 2, (24, 24))
    omega = omega + omega.T
    np.fill_diagonal(omega, 0.0)
    side = Side(X, MatrixWeights(omega), 3, similar=True)
    for _ in range(10):
        M = cost(rng, "euclidean", 6)
        found = side.evaluate(M)
        value, _, sets = brute_force(X, omega, 3, M)
        assert neighbor_sets(side, M) == sets
        assert found.value == pytest.approx(value, rel=1e-12)


def count_evaluations(monkeypatch, request):
    """Count how many evaluations there are in memory whenever one is added."""
    counts, alive = Evaluation.counts, []

    def counting(self):
        alive.append(sum(isinstance(item, Evaluation) for item in gc.get_objects()))
        return counts(self)

    gc.collect()
    gc.freeze()  # all that is there already need not be searched
    request.addfinalizer(gc.unfreeze)
    monkeypatch.setattr(Evaluation, "counts", counting)
    return alive


@pytest.mark.parametrize("name", ["margin", "neighborhood"])
def test_gradients_of_parts_are_not_kept(name, monkeypatch, request):
    # 20 parts, each with a gradient of d x d numbers.
    monkeypatch.setattr(_criterion, "PART", 3)
    X, omega, M, _ = data(n=60, d=8)
    if name == "margin":
        criterion = MarginCriterion(X, MatrixWeights(omega), 2, 0.3)
    else:
        criterion = NeighborhoodCriterion(X, omega, 2, 2)
    alive = count_evaluations(monkeypatch, request)
    found = criterion.evaluate(M)
    assert len(alive) == 20
    assert 1 <= min(alive) <= max(alive) <= 2
    monkeypatch.setattr(_criterion, "PART", 60)
    if name == "margin":
        criterion = MarginCriterion(X, MatrixWeights(omega), 2, 0.3)
    else:
        criterion = NeighborhoodCriterion(X, omega, 2, 2)
    whole = criterion.evaluate(M)
    assert found.value == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, whole.gradient, atol=1e-12)
    assert found.counts() == whole.counts()


def test_sums_in_order_and_their_counts():
    parts = [
        Evaluation(float(k), np.full((2, 2), 10.0**k), n_solves=k, n_clear=1)
        for k in range(4)
    ]
    total = Evaluation.summed(iter(parts))
    assert total.value == 6.0
    np.testing.assert_array_equal(total.gradient, np.full((2, 2), 1111.0))
    np.testing.assert_array_equal(parts[0].gradient, np.ones((2, 2)))  # not changed
    assert (total.n_solves, total.n_clear, total.n_pivots) == (6, 4, 0)
    half = total.divided(2.0)
    assert (half.value, half.gradient[0, 0], half.n_solves) == (3.0, 555.5, 6)


@pytest.mark.parametrize("name", ["margin", "neighborhood"])
def test_memory_is_that_of_few_gradients(name, monkeypatch):
    # 20 parts: their gradients, of 0.5 MB each, would take 10 MB.
    monkeypatch.setattr(_criterion, "PART", 3)
    X, omega, M, _ = data(n=60, d=256)
    if name == "margin":
        criterion = MarginCriterion(X, MatrixWeights(omega), 2, 0.3)
    else:
        criterion = NeighborhoodCriterion(X, omega, 2, 2)
    criterion.evaluate(M)  # what the search keeps
    tracemalloc.start()
    try:
        criterion.evaluate(M)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * M.nbytes
