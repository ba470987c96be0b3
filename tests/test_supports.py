"""Transport between histograms on different bins: rectangular costs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import groundmetric as gm
from certificates import check_transport
from groundmetric import _core
from problems import histogram
from reference import emd_lp, plan_sum
from strategies import COORDINATES, MASSES

pytestmark = pytest.mark.core


def test_two_mines_and_three_factories():
    # One ton from mine 0 to factory 0 (1) and one to factory 1 (4), one ton from
    # mine 1 to factory 1 (2) and one to factory 2 (3). If mine 0 served factory 2
    # instead of 1, it would cost 6 + 2 instead of 4 + 3.
    t = gm.transport([2, 2], [1, 2, 1], [[1, 4, 6], [5, 2, 3]])
    assert t.value == 10.0
    np.testing.assert_array_equal(t.plan, [[1, 1, 0], [0, 1, 1]])
    check_transport(t, [2, 2], [1, 2, 1], [[1, 4, 6], [5, 2, 3]])
    assert gm.emd([2, 2], [1, 2, 1], [[1, 4, 6], [5, 2, 3]]) == 10.0


def test_one_bin_sends_everything():
    # There is one plan: 1 * 5 + 2 * 7 + 0 * 1.
    t = gm.transport([3], [1, 2, 0], [[5, 7, 1]])
    assert t.value == 19.0
    np.testing.assert_array_equal(t.plan, [[1, 2, 0]])
    assert gm.emd([1, 2, 0], [3], [[5], [7], [1]]) == 19.0


@st.composite
def problems(draw, max_bins=7):
    """Histograms on m and on n bins, with zeros, and costs with ties."""
    m, n = draw(st.integers(1, max_bins)), draw(st.integers(1, max_bins))
    r = draw(hnp.arrays(float, m, elements=MASSES))
    c = draw(hnp.arrays(float, n, elements=MASSES))
    difference = r.sum() - c.sum()
    short, k = (c, n - 1) if difference > 0 else (r, m - 1)
    short[draw(st.integers(0, k))] += abs(difference)
    if r.sum() == 0:
        r[-1] = c[0] = 1.0
    return r, c, draw(hnp.arrays(float, (m, n), elements=COORDINATES))


@given(problems())
@settings(max_examples=300)
def test_certificate_and_linear_program(problem):
    r, c, cost = problem
    t = gm.transport(r, c, cost)
    check_transport(t, r, c, cost)
    assert t.value == pytest.approx(emd_lp(r, c, cost), rel=1e-9, abs=1e-9)
    assert gm.emd(c, r, cost.T) == pytest.approx(t.value, rel=1e-12, abs=1e-12)


@given(problems())
def test_padding_with_empty_bins_changes_nothing(problem):
    r, c, cost = problem
    d = max(cost.shape)
    square = np.full((d, d), -9.0)  # cheap, but there is no mass to move
    square[: len(r), : len(c)] = cost
    padded = [np.pad(x, (0, d - len(x))) for x in (r, c)]
    expected = gm.emd(*padded, square)
    assert gm.emd(r, c, cost) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.fixture
def sets():
    """Six histograms on 30 bins, five on 19, of mass 1, and costs between the bins."""
    rng = np.random.default_rng(0)
    kinds = ("dense", "sparse", "one-hot", "steep", "uniform", "tiny")
    X = np.stack([histogram(rng, kind, 30) for kind in kinds])
    Y = np.stack([histogram(rng, kind, 19) for kind in kinds[:5]])
    X, Y = (A / A.sum(axis=1, keepdims=True) for A in (X, Y))
    return X, Y, rng.gamma(1.0, size=(30, 19))


def test_pairwise_and_batch_agree_with_single_pairs(sets):
    X, Y, cost = sets
    expected = np.array([[gm.emd(x, y, cost) for y in Y] for x in X])
    for n_jobs in (1, 2):
        values = gm.pairwise_emd(X, Y, metric=cost, n_jobs=n_jobs)
        np.testing.assert_allclose(values, expected, rtol=1e-13)
    pairs = [(i, j) for i in range(6) for j in range(5)]
    batch = gm.TransportBatch(X, pairs, Y=Y, n_jobs=2)
    solution = batch.solve(cost)
    np.testing.assert_allclose(solution.values, expected.ravel(), rtol=1e-13)
    for k, (i, j) in enumerate(pairs):
        check_transport(solution.transport(k), X[i], Y[j], cost)
    weights = np.linspace(-1, 1, len(pairs))
    plans = [solution.transport(k).plan for k in range(len(pairs))]
    G = solution.plan_sum(weights)
    assert G.shape == (30, 19)
    np.testing.assert_allclose(G, plan_sum(plans, weights), atol=1e-14)
    assert batch.solve(2 * cost).n_pivots.sum() == 0


@pytest.mark.parametrize("shape", [(30, 19), (19, 30)])
def test_thresholded_costs_go_through_the_hub(sets, shape):
    X, Y, cost = sets
    if shape == (19, 30):
        X, Y, cost = Y, X, cost.T
    cost = np.ascontiguousarray(np.minimum(cost, np.quantile(cost, 0.3)))
    x, y = _core.Masses(X, 1.0), _core.Masses(Y, 1.0)
    counts = np.zeros(3, np.int64)
    values = _core.pairwise_dense(
        x, y, _core.CostMatrix(cost), False, 1, None, True, counts
    )
    assert counts[1] == len(X) * len(Y)  # solved by the hub
    expected = [[gm.emd(a, b, cost) for b in Y] for a in X]
    np.testing.assert_allclose(values, expected, rtol=1e-12)


def test_a_rectangular_cost_has_no_triangle_inequality():
    assert not _core.CostMatrix(np.zeros((2, 3))).is_quasimetric(1)


def test_shapes_that_do_not_fit_are_refused(sets):
    X, Y, cost = sets
    message = r"metric has shape \(19, 30\), but the histograms have 30 and 19 bins: "
    message += r"shape \(30, 19\) is needed"
    batch = gm.TransportBatch(X, [(0, 1)], Y=Y)
    for call in (
        lambda: gm.emd(X[0], Y[0], cost.T),
        lambda: gm.transport(X[0], Y[0], cost.T),
        lambda: gm.pairwise_emd(X, Y, metric=cost.T),
        lambda: batch.solve(cost.T),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"have 30 bins: shape \(30, 30\)"):
        gm.pairwise_emd(X, metric=cost)
    with pytest.raises(ValueError, match=r"Y\[0\] has mass 2\.0, but X\[0\] has mass"):
        gm.pairwise_emd(X, 2 * Y, metric=cost)
