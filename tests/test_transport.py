"""emd and transport: exact on everything that is a transportation problem."""

import numpy as np
import ot
import pytest
from hypothesis import given
from hypothesis import strategies as st

import groundmetric as gm
from certificates import check_transport
from problems import COSTS, HISTOGRAMS, METRICS, cost, pair, problem
from reference import emd_lp
from strategies import histogram_pairs, metrics, real_costs

pytestmark = pytest.mark.core

LINE = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))


def test_by_hand():
    # On a line, EMD is the l1 distance of the cumulative sums:
    # (3, 4, 4) and (1, 2, 4) differ by 2 + 2 + 0.
    t = gm.transport([3, 1, 0], [1, 1, 2], LINE)
    assert t.value == 4.0
    np.testing.assert_array_equal(t.plan, [[1, 0, 2], [0, 1, 0], [0, 0, 0]])
    assert t.duality_gap == 0.0
    check_transport(t, [3, 1, 0], [1, 1, 2], LINE)


def test_one_bin():
    t = gm.transport([2.5], [2.5], [[0.0]])
    assert (t.value, t.n_pivots) == (0.0, 0)
    np.testing.assert_array_equal(t.plan, [[2.5]])
    # Moving from the bin to itself at a price: 2.5 units at 3 each.
    t = gm.transport([2.5], [2.5], [[3.0]])
    assert t.value == 7.5
    check_transport(t, [2.5], [2.5], [[3.0]])


def test_two_bins_at_any_price():
    # U(r, c) is a segment: X_01 = x, X_10 = x - 1/2 for 1/2 <= x <= 3/4, at
    # cost 2x - 3(x - 1/2) = 3/2 - x, least at the end x = 3/4.
    t = gm.transport([0.75, 0.25], [0.25, 0.75], [[0, 2], [-3, 0]])
    assert t.value == 0.75
    np.testing.assert_array_equal(t.plan, [[0, 0.75], [0.25, 0]])


def test_counts_give_whole_numbers():
    rng = np.random.default_rng(0)
    r, c = (np.bincount(rng.integers(0, 40, 1000), minlength=40) for _ in range(2))
    M = cost(rng, "grid", 40)
    t = gm.transport(r, c, M)
    np.testing.assert_array_equal(t.flow, np.round(t.flow))
    np.testing.assert_array_equal(t.plan.sum(axis=1), r)
    np.testing.assert_array_equal(t.plan.sum(axis=0), c)
    assert t.value == round(t.value)


def test_common_mass_stays_under_a_metric_only():
    rng = np.random.default_rng(1)
    r, c = pair(rng, "dense", 30)
    M = cost(rng, "euclidean", 30)
    np.testing.assert_allclose(
        np.diag(gm.transport(r, c, M).plan), np.minimum(r, c), rtol=1e-14
    )
    # With squared costs a chain of short moves beats a long one: no bin keeps all.
    squared = gm.transport(r, c, M**2)
    assert np.trace(squared.plan) < np.minimum(r, c).sum() - 1e-3
    check_transport(squared, r, c, M**2)


@pytest.mark.parametrize("block", range(20))
def test_certificates_on_ten_thousand_problems(block):
    largest = (3, 10, 40, 300)
    for seed in range(500):
        d = 1 + (block * 500 + seed) % largest[seed % 4]
        r, c, M = problem(block * 500 + seed, d)
        check_transport(gm.transport(r, c, M), r, c, M)


@pytest.mark.parametrize("kind", HISTOGRAMS)
@pytest.mark.parametrize("cost_kind", COSTS)
def test_agrees_with_other_solvers(kind, cost_kind):
    rng = np.random.default_rng([HISTOGRAMS.index(kind), COSTS.index(cost_kind)])
    for d in (2, 5, 12):
        r, c = pair(rng, kind, d)
        M = cost(rng, cost_kind, d)
        t = gm.transport(r, c, M)
        unit = np.abs(M).max() * r.sum() or 1.0  # HiGHS has absolute tolerances
        lp = emd_lp(r / r.sum(), c / c.sum(), M / (np.abs(M).max() or 1.0)) * unit
        scale = (np.abs(M[t.rows, t.cols]) * t.flow).sum()
        assert abs(t.value - lp) <= 1e-9 * scale + 1e-9 * unit
        assert gm.emd(r, c, M) == t.value


@pytest.mark.parametrize("d", [16, 64, 150])
@pytest.mark.parametrize("cost_kind", ["euclidean", "grid", "squared"])
def test_agrees_with_pot(d, cost_kind):
    rng = np.random.default_rng(d)
    for _ in range(10):
        r, c = (rng.gamma(1.0, size=d) for _ in range(2))
        r, c = r / r.sum(), c / c.sum()
        M = cost(rng, cost_kind, d)
        assert gm.emd(r, c, M) == pytest.approx(ot.emd2(r, c, M), rel=1e-9)


def test_agrees_with_highs_to_nine_digits():
    rng = np.random.default_rng(3)
    for d in (10, 25):
        for kind in ("euclidean", "squared", "asymmetric"):
            r, c = (rng.gamma(1.0, size=d) for _ in range(2))
            r, c = r / r.sum(), c / c.sum()
            M = cost(rng, kind, d)
            assert gm.emd(r, c, M) == pytest.approx(emd_lp(r, c, M), rel=1e-9)


def test_large():
    rng = np.random.default_rng(2)
    d = 2000
    r, c = (rng.gamma(1.0, size=d) for _ in range(2))
    r, c = r / r.sum(), c / c.sum()
    M = cost(rng, "euclidean", d)
    t = gm.transport(r, c, M)
    check_transport(t, r, c, M)
    # The simplex takes a few pivots a bin, not many: no quadratic behavior.
    assert t.n_pivots < 10 * d


@pytest.mark.parametrize("d", [10, 60, 200])
def test_ties_everywhere_end(d):
    # Equal masses and costs in {0, 1, 2}: every pivot is degenerate.
    rng = np.random.default_rng(d)
    M = rng.integers(0, 3, (d, d))
    r = np.ones(d)
    t = gm.transport(r, r, M)
    check_transport(t, r, r, M)
    assert t.n_pivots < 50 * d


def test_scales_of_mass_and_cost():
    rng = np.random.default_rng(4)
    r, c = pair(rng, "dense", 20)
    M = cost(rng, "euclidean", 20)
    value = gm.emd(r, c, M)
    for factor in (2.0**-800, 1e-150, 1e-12, 1e12, 1e150, 2.0**900):
        assert gm.emd(r, c, factor * M) == pytest.approx(factor * value, rel=1e-14)
        assert gm.emd(factor * r, factor * c, M) == pytest.approx(
            factor * value, rel=1e-14
        )


@pytest.mark.parametrize("small", [1e-10, 1e-12, 1e-16, 1e-20])
def test_small_masses_beside_large_ones(small):
    # Only the small mass moves, from bin 1 to bin 2: at cost 1 directly, or by
    # way of bin 0 at 1/4 + 1/2, if the cost is not a metric.
    r, c = [1.0, small, 0.0], [1.0, 0.0, small]
    assert gm.emd(r, c, 1 - np.eye(3)) == pytest.approx(small, rel=1e-14)
    detour = [[0, 1, 0.5], [0.25, 0, 1], [1, 1, 0]]
    assert gm.emd(r, c, detour) == pytest.approx(0.75 * small, rel=1e-14)


def with_forbidden_arcs(rng, d, price):
    C = rng.random((d, d))
    forbidden = rng.random((d, d)) < 0.6
    forbidden[np.arange(d), (np.arange(d) * 3 + 1) % d] = False
    return np.where(forbidden, price, C), C, forbidden


@pytest.mark.parametrize("price", [1e6, 1e10, 1e15])
def test_prohibitive_costs_do_not_blur_the_others(price):
    # Nine digits of the true optimum, though the largest cost is 1e15.
    rng = np.random.default_rng(8)
    for d in (10, 25):
        D, C, forbidden = with_forbidden_arcs(rng, d, price)
        r, c = np.ones(d), np.ones(d)
        t = gm.transport(r, c, D)
        assert t.value == pytest.approx(emd_lp(r, c, C, forbidden), rel=1e-9)
        assert abs(t.duality_gap) <= 1e-12 * t.value


def test_a_far_bin_without_mass_does_not_blur_the_others():
    # Through bin 1 the way costs 2, not 3: no metric, though 3 - 2 is less than
    # rounding of the far bin's costs.
    far = 1e17
    M = np.array([[0, 1, 3, far], [1, 0, 1, far], [3, 1, 0, far], [far] * 3 + [0]])
    r, c = [1, 1, 0, 0], [0, 1, 1, 0]
    assert gm.emd(r, c, M) == 2.0
    assert gm.pairwise_emd([r], [c], metric=M)[0, 0] == 2.0


def test_costs_over_fourteen_decades():
    rng = np.random.default_rng(9)
    for d in (3, 20, 60):
        M = 10.0 ** rng.uniform(-14, 0, (d, d))
        r, c = pair(rng, "dense", d)
        t = gm.transport(r, c, M)
        check_transport(t, r, c, M)
        assert abs(t.duality_gap) <= 1e-12 * t.value


def test_equal_up_to_the_tolerance_of_mass():
    # A difference of 4e-7 of the mass is scaled away: emd(r, r) stays zero.
    r = np.array([0.5, 0.25, 0.25])
    assert gm.emd(r, r * (1 + 4e-7), LINE) == pytest.approx(0.0, abs=1e-15)


@given(histogram_pairs(), st.data())
def test_certificate_property(histograms, data):
    r, c = histograms
    M = data.draw(real_costs(len(r)))
    check_transport(gm.transport(r, c, M), r, c, M)


@given(histogram_pairs(), st.data())
def test_emd_is_a_distance_under_a_metric(histograms, data):
    r, c = histograms
    M = data.draw(metrics(len(r)))
    x = data.draw(st.permutations(range(len(r))))
    rc = gm.emd(r, c, M)
    total = r.sum()
    tol = 1e-12 * max(M.max(), 1.0) * total
    assert gm.emd(r, r, M) == 0.0
    assert rc >= 0.0
    assert gm.emd(c, r, M) == pytest.approx(rc, abs=tol)
    z = r[list(x)]  # a third histogram
    assert rc <= gm.emd(r, z, M) + gm.emd(z, c, M) + tol
    # Relabeling the bins changes nothing.
    permuted = gm.emd(r[list(x)], c[list(x)], M[np.ix_(x, x)])
    assert permuted == pytest.approx(rc, abs=tol)


@pytest.mark.parametrize("kind", METRICS)
def test_homogeneous_and_concave_in_the_metric(kind):
    # G_rc(tM) = t G_rc(M), and G_rc is concave (section 2.3).
    rng = np.random.default_rng(5)
    r, c = pair(rng, "dense", 15)
    M, N = cost(rng, kind, 15), cost(rng, "euclidean", 15)
    assert gm.emd(r, c, 4 * M) == 4 * gm.emd(r, c, M)
    half = gm.emd(r, c, (M + N) / 2)
    assert half >= (gm.emd(r, c, M) + gm.emd(r, c, N)) / 2 - 1e-14


def test_plan_is_a_subgradient():
    # Concave: G(N) <= G(M) + <N - M, X*> for every N (Lemma 11.4 of Bertsimas).
    rng = np.random.default_rng(6)
    r, c = pair(rng, "counts", 15)
    M = cost(rng, "grid", 15)
    t = gm.transport(r, c, M)
    for _ in range(50):
        N = M + rng.normal(size=M.shape)
        bound = t.value + ((N - M) * t.plan).sum()
        assert gm.emd(r, c, N) <= bound + 1e-12 * r.sum()


def test_pairwise_distances_out_of_range_are_refused():
    X, metric = [[10, 0], [0, 10]], [[0, 1e308], [1e308, 0]]
    with pytest.raises(ValueError, match="exceed the range of double precision"):
        gm.pairwise_emd(X, metric=metric)
