"""Thresholded metrics: the same distances through a hub, with less work."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import groundmetric as gm
from groundmetric import _core
from problems import COSTS, HISTOGRAMS, METRICS, cost, histogram, pair
from reference import emd_lp, hub_lp
from strategies import histogram_pairs, metrics, real_costs

pytestmark = pytest.mark.core

LINE = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
QUANTILES = (0.0, 0.05, 0.2, 0.4, 0.5, 1.0)


def solve(X, Y, M, *, hub):
    """Distances, and (pivots, pairs by the hub, arcs priced there)."""
    X, Y = np.atleast_2d(X).astype(float), np.atleast_2d(Y).astype(float)
    total = X[0].sum()
    counts = np.zeros(3, np.int64)
    values = _core.pairwise_dense(
        _core.Masses(X, total),
        _core.Masses(Y, total),
        _core.CostMatrix(np.asarray(M, dtype=float)),
        False,
        1,
        None,
        hub=hub,
        counts=counts,
    )
    return values, counts


def sample(rng, d, n):
    X = rng.gamma(0.7, size=(n, d))
    return X / X.sum(axis=1, keepdims=True)


def test_threshold_metric_by_hand():
    np.testing.assert_array_equal(
        gm.threshold_metric(LINE, 1.5),
        [[0, 1, 1.5, 1.5], [1, 0, 1, 1.5], [1.5, 1, 0, 1], [1.5, 1.5, 1, 0]],
    )
    np.testing.assert_array_equal(gm.threshold_metric(LINE, 7), LINE)
    np.testing.assert_array_equal(gm.threshold_metric([[0]], 1), [[0.0]])


@pytest.mark.parametrize("kind", METRICS)
def test_it_is_still_a_metric(kind):
    M = gm.metric_closure(cost(np.random.default_rng(0), kind, 20))
    for t in (1e-3, 0.5, 1.0, 2.5, 100.0):
        assert gm.is_metric(gm.threshold_metric(M, t))


@pytest.mark.parametrize(
    ("M", "t", "message"),
    [
        (LINE, 0, r"t is 0; a number above 0 is needed"),
        (LINE, -1.0, r"t is -1\.0; a number at least 0\.0 is needed"),
        (LINE, float("nan"), r"t is nan"),
        (LINE, float("inf"), r"t is inf; it must be finite"),
        (LINE, "1", r"t is '1'"),
        (LINE**2, 1, r"M breaks the triangle inequality"),
        (LINE[:2], 1, r"M has shape \(2, 4\), but must be square"),
        (-LINE, 1, r"M\[0, 1\] is -1\.0: entries must not be negative"),
    ],
)
def test_bad_input(M, t, message):
    with pytest.raises(ValueError, match=message):
        gm.threshold_metric(M, t)


def test_hub_by_hand():
    # Bins 0..3 on a line, cut at 1 (6 of 12 entries are 1 anyway): 0 -> 3 costs 1
    # through the hub instead of 3, so 2 units from bin 0 to bins 1 and 3 cost 2.
    M = np.minimum(LINE, 1)
    values, (_, n_by_hub, _) = solve([2, 0, 0, 0], [0, 1, 0, 1], M, hub=True)
    assert (values[0, 0], n_by_hub) == (2.0, 1)
    # Half of it near, the rest at the threshold: 1/4 + 1 + 1.
    M = np.full((4, 4), 1.0) - np.eye(4)
    M[0, 1] = M[1, 0] = 0.25
    values, (_, n_by_hub, _) = solve([2, 1, 0, 0], [0, 1, 1, 1], M, hub=True)
    # Bin 1 keeps its unit; both units of bin 0 go to bins 2 and 3, at 1 each.
    assert (values[0, 0], n_by_hub) == (2.0, 1)
    values, _ = solve([2, 0, 1, 0], [0, 2, 0, 1], M, hub=True)
    assert values[0, 0] == 2 * 0.25 + 1


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("d", [1, 2, 3, 8, 9, 33, 100])
def test_same_as_dense(d, q):
    rng = np.random.default_rng([d, int(100 * q)])
    X, Y = sample(rng, d, 4), sample(rng, d, 3)
    M = cost(rng, "euclidean", d)
    off = M[~np.eye(d, dtype=bool)]
    M = np.minimum(M, np.quantile(off, q) if d > 1 else 1.0)
    hub, counts = solve(X, Y, M, hub=True)
    dense, none = solve(X, Y, M, hub=False)
    np.testing.assert_allclose(hub, dense, rtol=1e-12, atol=0)
    worth = d > 1 and (off >= np.quantile(off, q)).mean() >= 0.6
    assert counts[1] == (12 if worth else 0)
    assert none[1] == none[2] == 0
    np.testing.assert_allclose(hub, gm.pairwise_emd(X, Y, metric=M), rtol=1e-14)


@pytest.mark.parametrize("kind", HISTOGRAMS)
@pytest.mark.parametrize("cost_kind", COSTS)
def test_same_as_dense_whatever_the_input(kind, cost_kind):
    # Also where the cost is not a metric, negative or full of ties.
    rng = np.random.default_rng([HISTOGRAMS.index(kind), COSTS.index(cost_kind)])
    for d in (2, 7, 30):
        X = np.array([histogram(rng, kind, d) for _ in range(4)])
        M = cost(rng, cost_kind, d)
        for q in (0.0, 0.1, 0.3):
            T = np.minimum(M, np.quantile(M, q))
            hub, _ = solve(X, X, T, hub=True)
            dense, _ = solve(X, X, T, hub=False)
            t = np.abs(T).max() * X[0].sum()
            np.testing.assert_allclose(hub, dense, rtol=1e-12, atol=1e-14 * t)


@pytest.mark.parametrize("seed", range(4))
def test_same_as_dense_where_costs_hardly_differ(seed):
    rng = np.random.default_rng(seed)
    for d in (8, 24):
        X = np.array([histogram(rng, "dense", d) for _ in range(8)])
        M = 1.0 + 1e-3 * rng.uniform(size=(d, d))
        M = np.triu(M, 1) + np.triu(M, 1).T
        T = np.minimum(M, np.quantile(M, 0.35))
        hub, _ = solve(X, X, T, hub=True)
        dense, _ = solve(X, X, T, hub=False)
        np.testing.assert_allclose(hub, dense, rtol=1e-12, atol=1e-15)


def test_agrees_with_linear_programs():
    rng = np.random.default_rng(1)
    for d in (4, 12):
        M = cost(rng, "euclidean", d)
        t = np.quantile(M, 0.3)
        r, c = pair(rng, "dense", d)
        T = gm.threshold_metric(gm.metric_closure(M), t)
        value = gm.pairwise_emd([r], [c], metric=T)[0, 0]
        assert value == pytest.approx(emd_lp(r, c, T), rel=1e-9)
        assert value == pytest.approx(hub_lp(r, c, M, t), rel=1e-9)


@settings(deadline=None)
@given(histogram_pairs(), st.data())
def test_same_as_dense_property(histograms, data):
    r, c = histograms
    M = data.draw(st.one_of(metrics(len(r)), real_costs(len(r))))
    t = data.draw(st.sampled_from(np.unique(M).tolist()))
    T = np.minimum(M, t)
    hub, _ = solve(r, c, T, hub=True)
    dense, _ = solve(r, c, T, hub=False)
    assert hub[0, 0] == pytest.approx(dense[0, 0], rel=1e-12, abs=1e-13 * r.sum())


def test_a_constant_cost():
    # All arcs at the threshold, none below: no pivot, no search.
    X = sample(np.random.default_rng(2), 20, 3)
    M = 1 - np.eye(20)
    hub, (n_pivots, n_by_hub, _) = solve(X, X, M, hub=True)
    total_variation = np.abs(X[:, None] - X[None]).sum(axis=-1) / 2
    np.testing.assert_allclose(hub, total_variation, rtol=1e-14)
    assert n_pivots == 0
    assert n_by_hub == 9
    zero, _ = solve(X, X, np.zeros((20, 20)), hub=True)
    assert (zero == 0).all()


def test_a_prohibitive_threshold_does_not_blur_the_rest():
    # Near arcs that cost 1e-15 of the threshold: through the hub, potentials would
    # round them away. The dense simplex solves these pairs, to nine digits.
    rng = np.random.default_rng(3)
    d = 12
    C = rng.random((d, d))
    far = rng.random((d, d)) < 0.75
    far[np.arange(d), (np.arange(d) * 5 + 1) % d] = False
    r = np.ones(d)
    values, counts = solve(r, r, np.where(far, 1e15, C), hub=True)
    assert counts[1] == 0
    assert values[0, 0] == pytest.approx(emd_lp(r, r, C, far), rel=1e-9)


def test_ties_everywhere_end():
    rng = np.random.default_rng(4)
    d = 100
    M = np.minimum(rng.integers(0, 12, (d, d)), 3)
    X = np.ones((1, d))
    hub, (n_pivots, _, _) = solve(X, X, M, hub=True)
    dense, _ = solve(X, X, M, hub=False)
    assert hub == dense
    assert n_pivots < 50 * d


def test_fewer_pivots_and_few_arcs():
    rng = np.random.default_rng(5)
    d = 256
    points = rng.normal(size=(d, 8))
    M = np.linalg.norm(points[:, None] - points[None], axis=-1)
    T = np.minimum(M, np.quantile(M, 0.2))
    X, Y = sample(rng, d, 3), sample(rng, d, 3)
    hub, (n_pivots, n_by_hub, n_priced) = solve(X, Y, T, hub=True)
    dense, (dense_pivots, _, _) = solve(X, Y, T, hub=False)
    np.testing.assert_allclose(hub, dense, rtol=1e-12)
    assert n_by_hub == 9
    assert n_pivots < dense_pivots
    # The dense simplex prices blocks of 16 rows, 16 * 128 arcs for a few pivots.
    assert n_priced < 200 * n_pivots


def test_threads_and_symmetry_change_nothing():
    rng = np.random.default_rng(6)
    X = sample(rng, 40, 12)
    M = cost(rng, "euclidean", 40)
    T = np.minimum(M, np.quantile(M, 0.2))
    one = gm.pairwise_emd(X, metric=T)
    np.testing.assert_array_equal(one, gm.pairwise_emd(X, metric=T, n_jobs=3))
    np.testing.assert_array_equal(one, one.T)
    np.testing.assert_allclose(one, gm.pairwise_emd(X, X, metric=T), rtol=1e-12)
    batch = gm.TransportBatch(X, [(0, 1), (3, 7)]).solve(T).values
    np.testing.assert_allclose(batch, [one[0, 1], one[3, 7]], rtol=1e-12)
