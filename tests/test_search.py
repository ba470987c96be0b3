"""The pruned search against brute force: neighbors, distances and solves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import groundmetric as gm
from groundmetric import _core
from polls import every_check
from problems import cost

pytestmark = pytest.mark.core


def data(seed, n=40, d=12, classes=3):
    """Histograms with ties and duplicates, classes, and a metric."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.gamma(rng.gamma(1.0, size=(classes, d))[y] + 0.2)
    X[rng.integers(0, n, n // 8)] = X[0]
    X /= X.sum(axis=1, keepdims=True)
    return X, y.astype(np.int32), cost(rng, "euclidean", d), rng


def search_in(X, M):
    return _core.DenseSearch(_core.Masses(X, 1.0), _core.CostMatrix(M))


def brute_force(D, allowed, k, radii):
    """For each row, the k nearest allowed columns within its radius, in order."""
    lists = []
    for i, row in enumerate(D):
        others = np.flatnonzero(allowed[i] & (row <= radii[i]))
        lists.append(others[np.lexsort((others, row[others]))][:k])
    return lists


def require_same(found, D, expected):
    np.testing.assert_array_equal(np.diff(found.starts), [len(x) for x in expected])
    np.testing.assert_array_equal(found.indices, np.concatenate(expected))
    i = np.repeat(np.arange(len(expected)), np.diff(found.starts))
    np.testing.assert_array_equal(found.distances, D[i, found.indices])


def as_lists(allowed):
    starts = np.concatenate([[0], np.cumsum(allowed.sum(axis=1))])
    return starts, np.nonzero(allowed)[1].astype(np.int32)


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["all", "same", "other", "listed"]),
    k=st.sampled_from([1, 3, 10, 1000]),
    reach=st.sampled_from(["unlimited", "one radius", "a radius each", "none"]),
    threads=st.sampled_from([1, 3]),
)
def test_finds_what_brute_force_finds(seed, kind, k, reach, threads):
    X, y, M, rng = data(seed)
    n = len(X)
    D = gm.pairwise_emd(X, metric=M)
    same = y[:, None] == y[None, :]
    allowed = {
        "all": np.ones((n, n), bool),
        "same": same,
        "other": ~same,
        "listed": rng.uniform(size=(n, n)) < 0.3,
    }[kind]
    allowed = (allowed | allowed.T) & ~np.eye(n, dtype=bool)
    options = {
        "all": {},
        "same": {"classes": y, "same": True},
        "other": {"classes": y, "same": False},
        "listed": {"candidates": as_lists(allowed)},
    }[kind]
    radii = {
        "unlimited": np.full(n, np.inf),
        "one radius": np.full(n, np.median(D)),
        "a radius each": np.quantile(D, rng.uniform(0, 0.6, n)),
        "none": np.zeros(n),
    }[reach]
    found = search_in(X, M).find(None, k, radii, **options, n_threads=threads)
    require_same(found, D, brute_force(D, allowed, k, radii))
    n_looks = found.n_solved + found.n_stopped
    assert n_looks + found.n_bounded >= allowed.sum() // 2
    assert 0 <= found.n_bounded <= allowed.sum() // 2
    if k == 1000:  # every pair belongs to one of its ends
        assert n_looks + found.n_bounded == allowed.sum() // 2


@pytest.mark.parametrize("kind", ["same", "other", "listed"])
@pytest.mark.parametrize("k", [3, 1000])
def test_ranges_of_the_base_find_what_the_whole_finds(kind, k):
    X, y, M, rng = data(5)
    n = len(X)
    allowed = (y[:, None] == y) == (kind == "same")
    np.fill_diagonal(allowed, val=False)
    options = {"classes": y, "same": kind == "same"}
    if kind == "listed":
        options = {"candidates": as_lists(allowed)}
    radii = np.quantile(gm.pairwise_emd(X, metric=M), rng.uniform(0.2, 0.7, n))
    search = search_in(X, M)
    whole = search.find(None, k, radii, **options, keep_trees=True)
    weights = rng.uniform(size=len(whole.indices))
    plans = np.zeros_like(M)
    for first, end in ((0, 11), (11, 12), (12, n)):
        within = np.full(n, -1.0)
        within[first:end] = radii[first:end]
        part = search.find(
            None, k, within, **options, keep_trees=True, within=(first, end)
        )
        some = slice(whole.starts[first], whole.starts[end])
        np.testing.assert_array_equal(part.indices, whole.indices[some])
        np.testing.assert_array_equal(part.distances, whole.distances[some])
        np.testing.assert_array_equal(np.diff(part.starts)[end:], 0)
        plans += part.plan_sum(weights[some])
        inside = allowed[first:end, first:end].sum() // 2
        outside = allowed[first:end].sum() - 2 * inside
        n_looks = part.n_solved + part.n_stopped
        assert n_looks + part.n_bounded >= inside + outside
        assert 0 <= part.n_bounded <= inside + outside
    np.testing.assert_allclose(plans, whole.plan_sum(weights), rtol=1e-12)


@pytest.mark.parametrize("within", [(-1, 3), (3, 2), (0, 41)])
def test_ranges_beyond_the_base_are_refused(within):
    X, _, M, _ = data(5)
    with pytest.raises(ValueError, match="within must be a range of the base"):
        search_in(X, M).find(None, 1, np.full(40, np.inf), within=within)


@pytest.mark.parametrize("seed", range(3))
def test_queries_from_outside(seed):
    X, _, M, rng = data(seed)
    Q = rng.dirichlet(np.ones(X.shape[1]), 7)
    Q[0] = X[3]
    D = gm.pairwise_emd(Q, X, metric=M)
    everyone = np.ones(D.shape, bool)
    for k, radii in ((4, np.full(7, np.inf)), (40, np.quantile(D, 0.2, axis=1))):
        found = search_in(X, M).find(_core.Masses(Q, 1.0), k, radii)
        require_same(found, D, brute_force(D, everyone, k, radii))


def test_hints_change_the_work_and_not_the_result():
    X, y, M, rng = data(1, n=120, d=20, classes=2)
    search = search_in(X, M)
    radii = np.full(len(X), np.inf)
    options = {"classes": y, "same": False}
    plain = search.find(None, 3, radii, **options)
    good = plain.starts, plain.indices.astype(np.int32)
    bad = np.arange(121) * 3, rng.integers(0, 120, 360).astype(np.int32)
    for hints in (good, bad):
        found = search.find(None, 3, radii, **options, hints=hints)
        np.testing.assert_array_equal(found.indices, plain.indices)
        np.testing.assert_array_equal(found.distances, plain.distances)
    hinted = search.find(None, 3, radii, **options, hints=good)
    assert hinted.n_solved + hinted.n_stopped <= plain.n_solved + plain.n_stopped


def test_few_pairs_are_looked_at():
    X, y, M, _ = data(2, n=200, d=30, classes=2)
    search = search_in(X, M)
    n_pairs = np.count_nonzero(np.triu(y[:, None] != y[None, :]))
    nearest = search.find(None, 3, np.full(200, np.inf), classes=y, same=False)
    assert nearest.n_solved + nearest.n_stopped < 0.25 * n_pairs
    assert search.n_solves == nearest.n_solved + nearest.n_stopped
    # A radius that few pairs are within: most are bounded, some stopped.
    D = gm.pairwise_emd(X, metric=M)
    radii = np.full(200, np.quantile(D[y[:, None] != y[None, :]], 0.05))
    within = search.find(None, 200, radii, classes=y, same=False)
    assert within.n_solved < 0.1 * n_pairs
    assert within.n_bounded > 0.5 * n_pairs


def test_results_do_not_depend_on_threads():
    X, y, M, _ = data(3, n=100)
    runs = [
        search_in(X, M).find(
            None, 4, np.full(100, np.inf), classes=y, keep_trees=True, n_threads=n
        )
        for n in (1, 2, 5)
    ]
    weights = np.linspace(-1, 1, len(runs[0].indices))
    sums = [run.plan_sum(weights) for run in runs]
    for run, total in zip(runs[1:], sums[1:], strict=True):
        np.testing.assert_array_equal(run.indices, runs[0].indices)
        np.testing.assert_array_equal(total, sums[0])
        for name in ("n_solved", "n_stopped", "n_bounded", "n_pivots"):
            assert getattr(run, name) == getattr(runs[0], name)


@pytest.mark.parametrize("k", [3, 100])
def test_sums_of_plans(k):
    X, y, M, rng = data(4)
    radii = np.full(len(X), np.inf)
    kept = search_in(X, M).find(None, k, radii, classes=y, keep_trees=True)
    forgotten = search_in(X, M).find(None, k, radii, classes=y)
    weights = rng.normal(size=len(kept.indices))
    total = kept.plan_sum(weights)
    # A tree that was not kept is found again.
    np.testing.assert_array_equal(forgotten.plan_sum(weights), total)
    i = np.repeat(np.arange(len(X)), np.diff(kept.starts))
    pairs = np.sort(np.stack([i, kept.indices], axis=1), axis=1)
    solution = gm.TransportBatch(X, pairs).solve(M)
    np.testing.assert_allclose(total, solution.plan_sum(weights), atol=1e-14)


HALF = np.full(40, 0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors is 0, but it must be at least 1"),
        ({"n_neighbors": -1}, "n_neighbors is -1"),
        ({"radii": HALF[1:]}, "radii has 39 entries, but 40 are needed"),
        ({"classes": np.zeros(3, np.int32)}, "classes has 3 entries, but 40"),
        (
            {"candidates": (np.zeros(3, np.int64), np.zeros(0, np.int32))},
            "candidates must hold 40 lists",
        ),
        ({"hints": (np.arange(41), np.full(40, 40, np.int32))}, r"hints\[0\] is 40"),
        ({"hints": (np.arange(41), np.full(40, -1, np.int32))}, r"hints\[0\] is -1"),
        ({"hints": (np.arange(41)[::-1].copy(), np.zeros(0, np.int32))}, "40 lists"),
        ({"queries": (np.ones((40, 9)), 1.0)}, "9 bins.*the base has 12"),
        ({"queries": (np.ones((40, 12)), 2.0)}, "differ in mass"),
        ({"queries": (np.ones((40, 12)), 1.5)}, "differ in mass"),
    ],
)
def test_wrong_requests_are_refused(options, message):
    X, _, M, _ = data(5)
    request = {"queries": None, "n_neighbors": 3, "radii": HALF} | options
    if request["queries"] is not None:
        request["queries"] = _core.Masses(*request["queries"])
    with pytest.raises(ValueError, match=message):
        search_in(X, M).find(**request)


def test_sums_of_plans_need_a_weight_for_each_neighbor_among_the_base():
    X, _, M, _ = data(5)
    search = search_in(X, M)
    found = search.find(None, 3, HALF)
    with pytest.raises(ValueError, match="weights has 3 entries, but"):
        found.plan_sum(np.ones(3))
    others = search.find(_core.Masses(X, 1.0), 3, HALF)
    with pytest.raises(ValueError, match="only for neighbors found among the base"):
        others.plan_sum(np.ones(len(others.indices)))


def test_a_cost_of_other_bins_is_refused():
    X, _, M, _ = data(5)
    with pytest.raises(ValueError, match=r"cost is 11 x 11, but .* one of 12 x 12"):
        search_in(X, M[:11, :11].copy())


def test_a_search_that_was_stopped_can_be_used_again():
    X, _, M, _ = data(5, n=400)
    search = search_in(X, M)
    radii = np.full(400, np.inf)
    expected = search.find(None, 399, radii)

    def stop(_):
        raise RuntimeError("enough")

    with every_check(), pytest.raises(RuntimeError, match="enough"):
        search.find(None, 399, radii, n_threads=2, progress=stop)
    assert search.n_solves == expected.n_solved + expected.n_stopped
    np.testing.assert_array_equal(
        search.find(None, 399, radii).indices, expected.indices
    )
