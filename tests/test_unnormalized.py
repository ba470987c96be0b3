"""Histograms of different masses: emd_hat is a metric, emd_partial is not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import groundmetric as gm
from problems import COSTS, HISTOGRAMS, cost, histogram
from reference import partial_lp
from strategies import MASSES, metrics, real_costs

pytestmark = pytest.mark.core

LINE = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(float)
NAN, INF = float("nan"), float("inf")


def test_by_hand():
    # One of the three units in bin 0 moves to bin 2, at 2; two are left, at 2 each.
    assert gm.emd_hat([3, 0, 0], [0, 0, 1], LINE) == 2 + 2 * 2
    assert gm.emd_hat([3, 0, 0], [0, 0, 1], LINE, penalty=0.5) == 2 + 2 * 0.5
    assert gm.emd_partial([3, 0, 0], [0, 0, 1], LINE) == 2
    # The unit in bin 2 takes the one from bin 1 rather than one from bin 0.
    assert gm.emd_hat([2, 1, 0], [0, 0, 1], LINE, penalty=1) == 1 + 2
    assert gm.emd_hat([0, 0, 1], [2, 1, 0], LINE, penalty=1) == 1 + 2
    # Two units of c are matched: one stays in bin 2, one comes from bin 1.
    assert gm.emd_partial([4, 1, 1], [0, 0, 2], LINE) == 0.5


def test_zero_histograms():
    zero = [0, 0, 0]
    assert gm.emd_hat(zero, zero, LINE) == 0.0
    assert gm.emd_hat(zero, [1, 0, 2], LINE) == 3 * 2
    assert gm.emd_hat([1, 0, 2], zero, LINE, penalty=0.25) == 3 * 0.25
    with pytest.raises(ValueError, match="c has zero mass"):
        gm.emd_partial([1, 0, 2], zero, LINE)
    X = [zero, [1, 0, 2]]
    np.testing.assert_array_equal(
        gm.pairwise_emd_hat(X, metric=LINE), [[0.0, 6.0], [6.0, 0.0]]
    )
    np.testing.assert_array_equal(
        gm.pairwise_emd_hat([zero], [zero, zero], metric=LINE), [[0.0, 0.0]]
    )


def test_one_bin():
    assert gm.emd_hat([3], [5], [[0]]) == 0.0
    assert gm.emd_hat([3], [5], [[0]], penalty=2) == 4.0
    assert gm.emd_hat([3], [5], [[1]]) == 3 + 2
    assert gm.emd_partial([3], [5], [[1]]) == 1.0


def test_equal_masses_give_the_emd():
    rng = np.random.default_rng(0)
    for kind in ("euclidean", "squared", "negative"):
        M = cost(rng, kind, 12)
        r, c = histogram(rng, "dense", 12), histogram(rng, "sparse", 12)
        emd = gm.emd(r, c, M)
        scale = 1e-13 * np.abs(M).max()
        for penalty in (None, 0.0, 10.0):
            value = gm.emd_hat(r, c, M, penalty)
            assert value == pytest.approx(emd, rel=1e-13, abs=scale)
        assert gm.emd_partial(7 * r, 7 * c, M) == pytest.approx(emd, abs=scale)


@pytest.mark.parametrize("kind", HISTOGRAMS)
@pytest.mark.parametrize("cost_kind", COSTS)
def test_agrees_with_linear_programs(kind, cost_kind):
    rng = np.random.default_rng([HISTOGRAMS.index(kind), COSTS.index(cost_kind)])
    for d in (1, 2, 6):
        r, c = (histogram(rng, kind, d) for _ in range(2))
        c = c / c.sum() * r.sum() * rng.choice([0.3, 1.0, 2.5])
        M = cost(rng, cost_kind, d)
        top, mass = np.abs(M).max() or 1.0, max(r.sum(), c.sum())
        moved, surplus = min(r.sum(), c.sum()), abs(r.sum() - c.sum())
        lp = partial_lp(r / mass, c / mass, M / top) * mass * top
        near = {"rel": 1e-9, "abs": 1e-9 * mass * top}
        assert gm.emd_partial(r, c, M) == pytest.approx(lp / moved, **near)
        for penalty in (None, 0.0, top):
            price = max(M.max(), 0.0) if penalty is None else penalty
            hat = lp + surplus * price
            assert gm.emd_hat(r, c, M, penalty) == pytest.approx(hat, **near)
            both = gm.pairwise_emd_hat([r, c], metric=M, penalty=penalty)
            assert both[0, 1] == pytest.approx(hat, **near)


@st.composite
def triples(draw):
    d = draw(st.integers(1, 6))
    three = [draw(hnp.arrays(float, d, elements=MASSES)) for _ in range(3)]
    return (*three, draw(metrics(d)))


@settings(deadline=None)
@given(triples(), st.sampled_from([0.5, 0.75, 1.0, 3.0]))
def test_emd_hat_is_a_metric(problem, alpha):
    a, b, c, M = problem
    penalty = alpha * M.max()
    D = gm.pairwise_emd_hat([a, b, c], metric=M, penalty=penalty)
    tol = 1e-12 * M.max() * (a.sum() + b.sum() + c.sum())
    assert (np.diag(D) == 0).all()
    assert (D >= 0).all()
    assert gm.triangle_violation(D) <= tol
    assert gm.emd_hat(a, b, M, penalty) == pytest.approx(D[0, 1], abs=tol)
    assert gm.emd_hat(b, a, M, penalty) == pytest.approx(D[0, 1], abs=tol)


@settings(deadline=None)
@given(triples(), st.data(), st.sampled_from([None, 0.0, 0.25, 2.0]))
def test_one_by_one_or_all_at_once(problem, data, penalty):
    a, b, c, _ = problem
    M = data.draw(real_costs(len(a)))
    D = gm.pairwise_emd_hat([a, b], [b, c], metric=M, penalty=penalty)
    tol = 1e-12 * (np.abs(M).max() + 2) * (a.sum() + b.sum() + c.sum())
    for i, r in enumerate((a, b)):
        for j, s in enumerate((b, c)):
            assert D[i, j] == pytest.approx(gm.emd_hat(r, s, M, penalty), abs=tol)


def test_a_small_penalty_breaks_the_triangle_inequality():
    # Bins 2 apart, one unit in each: 2 directly; through nothing, twice the penalty.
    M = [[0, 2], [2, 0]]
    X = [[1, 0], [0, 1], [0, 0]]
    enough = gm.pairwise_emd_hat(X, metric=M, penalty=1.0)
    assert gm.triangle_violation(enough) == 0.0
    less = gm.pairwise_emd_hat(X, metric=M, penalty=0.75)
    np.testing.assert_array_equal(less, [[0, 2, 0.75], [2, 0, 0.75], [0.75, 0.75, 0]])
    assert gm.triangle_violation(less) == 0.5


def test_emd_partial_is_no_metric():
    # Each of the two is a part of the third: 0 + 0 < 2.
    a, b, both = [1, 0, 0], [0, 0, 1], [1, 0, 1]
    assert gm.emd_partial(a, both, LINE) == gm.emd_partial(both, b, LINE) == 0.0
    assert gm.emd_partial(a, b, LINE) == 2.0


@settings(deadline=None)
@given(triples())
def test_parts_cost_nothing(problem):
    a, b, _, M = problem
    if a.sum() > 0:
        tol = 1e-15 * M.max()  # a + b is rounded
        assert gm.emd_partial(a, a + b, M) <= tol
        assert gm.emd_partial(a + b, a, M) <= tol


@pytest.mark.parametrize("ratio", [1e-12, 1e-30, 1e-200])
def test_a_small_histogram_beside_a_large_one(ratio):
    # All of it moves from bin 1, half to bin 0 and half to bin 2, at 1: the large one
    # has nothing in bin 1.
    r = np.array([0, 1, 0]) * ratio
    assert gm.emd_partial(r, [1, 0, 1], LINE) == pytest.approx(1.0, rel=1e-14)
    values = gm.pairwise_emd_hat([r, 2 * r, [1, 0, 1]], metric=LINE, penalty=2)
    assert values[2, 0] == pytest.approx(4.0, rel=1e-11)
    if ratio > 1e-20:
        assert values[0, 1] == pytest.approx(2 * ratio, rel=1e-14)


def test_a_threshold_goes_well_with_it():
    # The bin that takes the surplus is at the threshold from all others.
    rng = np.random.default_rng(1)
    X = rng.gamma(0.5, size=(5, 20))
    M = gm.metric_closure(cost(rng, "euclidean", 20))
    T = gm.threshold_metric(M, np.quantile(M, 0.2))
    D = gm.pairwise_emd_hat(X, metric=T)
    one_by_one = [[gm.emd_hat(r, c, T) for c in X] for r in X]
    np.testing.assert_allclose(D, one_by_one, rtol=1e-12, atol=1e-13)


def test_threads_change_nothing():
    rng = np.random.default_rng(2)
    X, M = rng.gamma(0.5, size=(9, 15)), cost(rng, "asymmetric", 15)
    np.testing.assert_array_equal(
        gm.pairwise_emd_hat(X, metric=M), gm.pairwise_emd_hat(X, metric=M, n_jobs=3)
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, -1, 0], [1, 0, 0], LINE), r"r\[1\] is -1\.0: .* negative"),
        (([1, 0, 0], [1, NAN, 0], LINE), r"c\[1\] is nan: .* finite"),
        (([1e-260, 0, 0], [1, 0, 0], LINE), r"r has mass 1e-260"),
        (([1, 0], [1, 0, 0], LINE), r"r has 2 bins, but c has 3"),
        (([1, 0, 0], [1, 0, 0], LINE[:2]), r"metric has shape \(2, 3\)"),
    ],
)
@pytest.mark.parametrize("function", [gm.emd_hat, gm.emd_partial])
def test_bad_input(function, arguments, message):
    with pytest.raises(ValueError, match=message):
        function(*arguments)


@pytest.mark.parametrize("penalty", [-1, NAN, INF, "1"])
def test_bad_penalty(penalty):
    with pytest.raises(ValueError, match=r"penalty is "):
        gm.emd_hat([1, 0, 0], [0, 1, 0], LINE, penalty)
    with pytest.raises(ValueError, match=r"penalty is "):
        gm.pairwise_emd_hat([[1, 0, 0]], metric=LINE, penalty=penalty)


def test_bad_rows():
    with pytest.raises(ValueError, match=r"X\[1, 0\] is -1\.0"):
        gm.pairwise_emd_hat([[1, 0, 0], [-1, 0, 0]], metric=LINE)
    with pytest.raises(ValueError, match=r"Y\[1\] has mass 1e-260"):
        gm.pairwise_emd_hat([[1, 0, 0]], [[0, 0, 0], [0, 1e-260, 0]], metric=LINE)
    with pytest.raises(ValueError, match="X has 3 bins, but Y has 2"):
        gm.pairwise_emd_hat([[1, 0, 0]], [[1, 0]], metric=LINE)
    with pytest.raises(ValueError, match="exceed the range of double"):
        gm.pairwise_emd_hat([[1e200, 0, 0], [0, 0, 2e200]], metric=LINE * 1e200)


def test_masses_and_costs_far_from_one():
    # What moves is paid by the unit: the masses do not matter.
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    for mass, price in ((1e-240, 1e-100), (1e200, 1e200)):
        value = gm.emd_partial([mass, 0], [0, mass], price * swap)
        assert value == pytest.approx(price, rel=1e-12)
    with pytest.raises(ValueError, match="exceed the range of double"):
        gm.emd_hat([1e200, 0], [0, 2e200], 1e200 * swap)
