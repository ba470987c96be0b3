"""pairwise_emd and TransportBatch: many pairs that share one metric."""

import numpy as np
import pytest

import groundmetric as gm
from certificates import check_transport
from groundmetric import _core
from problems import COSTS, METRICS, cost, histogram
from reference import plan_sum

pytestmark = pytest.mark.core


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    """Twelve histograms on 30 bins, some sparse, two of them equal."""
    kinds = ("dense", "sparse", "one-hot", "steep", "uniform", "tiny") * 2
    X = np.stack([histogram(rng, kind, 30) for kind in kinds])
    X[7] = X[1]
    return X


def all_pairs(n):
    return np.stack(np.triu_indices(n, 1), axis=1)


@pytest.mark.parametrize("kind", COSTS)
def test_pairwise_is_emd_for_every_pair(rng, X, kind):
    M = cost(rng, kind, 30)
    expected = [[gm.emd(x, y, M) for y in X] for x in X]
    tol = 1e-14 * np.abs(M).max()
    np.testing.assert_allclose(
        gm.pairwise_emd(X, metric=M), expected, rtol=1e-13, atol=tol
    )
    np.testing.assert_allclose(
        gm.pairwise_emd(X[:5], X[3:], metric=M),
        np.array(expected)[:5, 3:],
        rtol=1e-13,
        atol=tol,
    )


def test_pairwise_under_a_metric_is_a_distance_matrix(rng, X):
    D = gm.pairwise_emd(X, metric=cost(rng, "euclidean", 30))
    np.testing.assert_array_equal(D, D.T)
    assert (np.diag(D) == 0).all()
    assert D[1, 7] == 0  # equal histograms
    assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-14).all()


@pytest.mark.parametrize("kind", COSTS)
def test_batch_solution_proves_itself(rng, X, kind):
    pairs = all_pairs(len(X))
    M = cost(rng, kind, 30)
    solution = gm.TransportBatch(X, pairs).solve(M)
    for k, (i, j) in enumerate(pairs):
        t = solution.transport(k)
        check_transport(t, X[i], X[j], M)
        assert t.value == pytest.approx(solution.values[k], rel=1e-14)
        assert t.n_pivots == solution.n_pivots[k]


@pytest.mark.parametrize("kind", COSTS)
def test_plan_sum_is_the_sum_of_plans(rng, X, kind):
    pairs = all_pairs(len(X))
    M = cost(rng, kind, 30)
    solution = gm.TransportBatch(X, pairs).solve(M)
    weights = rng.normal(size=len(pairs))
    plans = [solution.transport(k).plan for k in range(len(pairs))]
    G = solution.plan_sum(weights)
    np.testing.assert_allclose(G, plan_sum(plans, weights), rtol=1e-12, atol=1e-15)
    # A subgradient of a positively homogeneous function: <M, G> is its value.
    total = weights @ solution.values
    assert (M * G).sum() == pytest.approx(total, rel=1e-12, abs=1e-12 * np.abs(M).max())


def test_two_sets(rng, X):
    M = cost(rng, "euclidean", 30)
    pairs = [(i, j) for i in range(4) for j in range(8)]
    values = gm.TransportBatch(X[:4], pairs, Y=X[4:]).solve(M).values
    np.testing.assert_allclose(
        values.reshape(4, 8), gm.pairwise_emd(X[:4], X[4:], metric=M), rtol=1e-14
    )


def digits_like(n=40, d=64, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, size=(n, d))
    return X / X.sum(axis=1, keepdims=True), cost(rng, "euclidean", d), rng


def test_no_pivots_if_the_metric_is_the_same():
    X, M, _ = digits_like()
    batch = gm.TransportBatch(X, all_pairs(len(X)))
    cold = batch.solve(M)
    assert cold.n_pivots.sum() > 20 * len(batch)
    again = batch.solve(M)
    assert again.n_pivots.sum() == 0
    np.testing.assert_array_equal(again.values, cold.values)
    # Nor if it is only scaled.
    assert batch.solve(2 * M).n_pivots.sum() == 0


def test_few_pivots_if_the_metric_changes_little():
    X, M, rng = digits_like()
    batch = gm.TransportBatch(X, all_pairs(len(X)))
    cold = batch.solve(M).n_pivots.sum()
    noise = rng.uniform(-1, 1, M.shape)
    # Adding a constant off the diagonal makes room: noise does not break M.
    nearby = M + 0.1 * (1 - np.eye(len(M))) + 1e-3 * M * (noise + noise.T) / 2
    batch.solve(M + 0.1 * (1 - np.eye(len(M))))
    warm = batch.solve(nearby).n_pivots.sum()
    assert 0 < warm <= 0.01 * cold


def test_old_tree_is_dropped_if_it_is_worse_than_the_greedy_start():
    X, M, rng = digits_like()
    pairs = all_pairs(len(X))
    batch = gm.TransportBatch(X, pairs)
    batch.solve(M)
    other = cost(rng, "euclidean", M.shape[0])
    fresh = gm.TransportBatch(X, pairs).solve(other)
    switched = batch.solve(other)
    np.testing.assert_allclose(switched.values, fresh.values, rtol=1e-13)
    assert switched.n_pivots.sum() <= 1.1 * fresh.n_pivots.sum()


def test_follows_a_changing_metric_through_every_kind(rng, X):
    # Metrics solve the reduced problem, the others the full one: the batch
    # has to switch back and forth.
    pairs = all_pairs(len(X))
    batch = gm.TransportBatch(X, pairs)
    for kind in (*COSTS, *METRICS):
        M = cost(rng, kind, 30)
        solution = batch.solve(M)
        fresh = gm.TransportBatch(X, pairs).solve(M)
        tol = 1e-14 * np.abs(M).max()
        np.testing.assert_allclose(solution.values, fresh.values, rtol=1e-12, atol=tol)


def test_subset(rng, X):
    pairs = all_pairs(len(X))
    M = cost(rng, "euclidean", 30)
    batch = gm.TransportBatch(X, pairs)
    everything = gm.TransportBatch(X, pairs).solve(M)
    chosen = [5, 3, 40]
    some = batch.solve(M, pairs=chosen)
    np.testing.assert_array_equal(some.pairs, chosen)
    np.testing.assert_array_equal(some.values, everything.values[chosen])
    np.testing.assert_allclose(
        some.plan_sum([1, 2, 3]),
        everything.plan_sum(np.bincount(chosen, [1, 2, 3], len(pairs))),
        atol=1e-15,
    )
    mask = np.zeros(len(pairs), bool)
    mask[chosen] = True
    np.testing.assert_array_equal(batch.solve(M, pairs=mask).pairs, sorted(chosen))
    assert batch.solve(M, pairs=[]).values.size == 0


def test_stale_solution_is_refused(rng, X):
    M, N = cost(rng, "euclidean", 30), cost(rng, "euclidean", 30)
    batch = gm.TransportBatch(X, all_pairs(len(X)))
    old = batch.solve(M, pairs=[0, 1])
    batch.solve(N, pairs=[2, 3])
    old.plan_sum([1, 1])  # other pairs were solved since: still good
    old.transport(1)
    batch.solve(N, pairs=[1])
    with pytest.raises(RuntimeError, match="solved these pairs again"):
        old.plan_sum([1, 1])
    with pytest.raises(RuntimeError, match="solved these pairs again"):
        old.transport(1)
    assert old.transport(0).value == old.values[0]
    # Switching from the reduced to the full problem forgets all trees.
    batch.solve(-N, pairs=[5])
    with pytest.raises(RuntimeError, match="solved these pairs again"):
        old.transport(0)


def test_memory_is_four_bytes_a_differing_bin():
    X, M, _ = digits_like(n=60)
    pairs = all_pairs(len(X))
    batch = gm.TransportBatch(X, pairs)
    batch.solve(M)
    differing = sum(int((X[i] != X[j]).sum()) for i, j in pairs)
    block = 2**16  # room for trees is made in these
    assert batch.n_bytes <= 4 * differing + 24 * len(pairs) + block + 1000
    assert batch.n_bytes >= 4 * differing


def test_only_pairs_that_were_solved_take_room_for_trees():
    X, M, rng = digits_like()
    pairs = rng.integers(0, len(X), (100_000, 2))
    batch = gm.TransportBatch(X, pairs)
    before = batch.n_bytes
    assert before <= 24 * len(pairs) + 1000
    np.testing.assert_array_equal(batch.pairs, pairs)
    batch.solve(M, pairs=np.arange(0, len(pairs), 1000))
    assert before < batch.n_bytes <= before + 4 * 64 * 100 + 2**16
    after = batch.n_bytes
    batch.solve(2 * M, pairs=np.arange(0, len(pairs), 1000))  # in the same room
    assert batch.n_bytes == after
    batch.solve(-M, pairs=[0])  # forgets all trees
    assert batch.n_bytes <= before + 2 * 2**16


def test_large_trees_take_the_room_that_they_need():
    X, M, _ = digits_like(n=3, d=1500)
    batch = gm.TransportBatch(X, all_pairs(3))
    before = batch.n_bytes
    values = batch.solve(M).values
    assert before + 3 * 4 * 1500 <= batch.n_bytes <= before + 3 * 4 * 1500 + 1000
    np.testing.assert_array_equal(batch.solve(M).values, values)


def test_empty_batch(X):
    batch = gm.TransportBatch(X, [])
    solution = batch.solve(np.zeros((30, 30)))
    assert len(batch) == 0
    np.testing.assert_array_equal(solution.plan_sum([]), np.zeros((30, 30)))


@pytest.fixture
def core(rng, X):
    """Six pairs of a compiled batch, the first three solved, their cost and number."""
    masses = _core.Masses(X / X.sum(axis=1, keepdims=True), 1.0)
    batch = _core.DenseBatch(masses, masses, all_pairs(len(X))[:6])
    matrix = _core.CostMatrix(cost(rng, "euclidean", 30))
    number, *_ = batch.solve(matrix, np.arange(3), 1, None)
    return batch, matrix, number


FAR = 10**9  # so far from the arrays that memory is hurt, or not there


@pytest.mark.parametrize("k", [-1, 6, FAR])
def test_pairs_that_are_not_there_are_refused(core, k):
    batch, matrix, number = core
    chosen = np.array([0, k])
    message = rf"chosen\[1\] is {k}, but it must be at least 0 and less than 6"
    with pytest.raises(ValueError, match=message):
        batch.solve(matrix, chosen, 1, None)
    with pytest.raises(ValueError, match=message):
        batch.plan_sum(number, chosen, np.ones(2))
    with pytest.raises(ValueError, match=f"pair is {k}, but there are 6 pairs"):
        batch.certificate(number, matrix, k)


def test_pairs_that_were_not_solved_have_no_plan(core):
    batch, matrix, number = core
    for wrong in (0, number, number + 1):
        with pytest.raises(RuntimeError, match="solved these pairs again"):
            batch.plan_sum(wrong, np.array([3]), np.ones(1))
        with pytest.raises(RuntimeError, match="solved these pairs again"):
            batch.certificate(wrong, matrix, 3)


def test_arrays_that_do_not_fit_are_refused(core):
    batch, matrix, number = core
    some, small = np.arange(3), _core.CostMatrix(np.zeros((2, 2)))
    for call, message in (
        (
            lambda: batch.solve(small, some, 1, None),
            "cost is 2 x 2, but .* one of 30 x 30",
        ),
        (lambda: batch.solve(matrix, some[[2, 0, 2]], 1, None), "pair 2 twice"),
        (lambda: batch.plan_sum(number, some, np.ones(2)), "weights has 2"),
        (lambda: batch.certificate(number, small, 0), "cost is 2 x 2"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_batch_of_histograms_that_are_not_there_is_refused():
    x = _core.Masses(np.ones((2, 3)), 3.0)
    for pairs, message in (
        ([[0, 1], [0, 2]], r"pairs\[1\] is \(0, 2\), but there are 2 and 2 histograms"),
        ([[-1, 0]], r"pairs\[0\] is \(-1, 0\)"),
        ([[2**32, 0]], r"pairs\[0\] is \(4294967296, 0\)"),
        ([[0, 1, 0]], r"pairs has shape \(1, 3\), but \(1, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.DenseBatch(x, x, np.array(pairs))
    for other, message in (
        (_core.Masses(np.ones((2, 3)), 30.0), "differ in mass"),
        (_core.Masses(np.ones((2, 3)), 3.5), "differ in mass"),  # in the same units
    ):
        with pytest.raises(ValueError, match=message):
            _core.DenseBatch(x, other, np.array([[0, 1]]))
