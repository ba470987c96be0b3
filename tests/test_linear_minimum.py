"""Linear criteria over bounded sets of metrics: the l1 ball (P2), and the polytope."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
import reference
from groundmetric.cone._linear_minimum import minimum_in_l1_ball, minimum_in_polytope

pytestmark = pytest.mark.core

MINIMA = {"l1": minimum_in_l1_ball, "polytope": minimum_in_polytope}
both = pytest.mark.parametrize("among", MINIMA)


def symmetric(A):
    A = np.triu(A, 1).astype(float)
    return A + A.T


def random_criterion(d, seed):
    return symmetric(np.random.default_rng(seed).normal(size=(d, d)))


def check(found, C, among):
    """Check that a result is feasible, and that its numbers are what they say."""
    M = found.metric
    assert gm.is_metric(M)
    if among == "l1":
        assert M.sum() <= 1 + 1e-15
    else:
        triples = M[:, :, None] + M[None] + M.T[:, None, :]
        assert triples.max() <= 2
    assert found.value == pytest.approx((C * M).sum(), rel=1e-12, abs=1e-12)
    assert found.bound <= found.value + 1e-12 * np.abs(C).sum()


@st.composite
def criteria(draw):
    """Few integers, so that there are ties and zeros, or any numbers."""
    d = draw(st.integers(2, 6))
    entries = draw(
        st.sampled_from(
            [st.integers(-2, 2), st.floats(-1, 1, allow_subnormal=False, width=16)]
        )
    )
    upper = draw(
        st.lists(entries, min_size=d * (d - 1) // 2, max_size=d * (d - 1) // 2)
    )
    A = np.zeros((d, d))
    A[np.triu_indices(d, 1)] = upper
    return A + A.T


@both
@settings(max_examples=100, deadline=None)
@given(C=criteria())
def test_minimum_is_that_of_the_program_with_all_triangles(among, C):
    found = MINIMA[among](C)
    check(found, C, among)
    assert found.converged
    expected, _ = reference.linear_minimum(C, among)
    scale = np.abs(C).max() * (1 if among == "l1" else C.size)
    assert found.value == pytest.approx(expected, abs=1e-6 * scale)
    assert found.bound <= expected + 1e-9 * scale


@both
@pytest.mark.parametrize("seed", range(3))
def test_eight_bins(among, seed):
    C = random_criterion(8, seed)
    found = MINIMA[among](C)
    check(found, C, among)
    expected, metric = reference.linear_minimum(C, among)
    assert found.value == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(found.metric, metric, atol=1e-5)  # there are no ties


def test_two_bins():
    # In the ball, both entries are 1/2; in the polytope, M_01 + M_10 + M_00 <= 2.
    C = -(1 - np.eye(2))
    found = minimum_in_l1_ball(C)
    np.testing.assert_allclose(found.metric, -C / 2, rtol=1e-12)
    assert found.value == pytest.approx(-1.0)
    found = minimum_in_polytope(C)
    np.testing.assert_array_equal(found.metric, -C)
    assert (found.value, found.bound, found.n_rounds) == (-2.0, -2.0, 0)


def test_all_alike():
    # Any metric has a value of -1 if its entries sum to 1. In the polytope, entries of
    # 2 / 3 are best: the sum of all triples is at most 2 times their number.
    C = -(1 - np.eye(5))
    assert minimum_in_l1_ball(C).value == pytest.approx(-1.0, rel=1e-12)
    found = minimum_in_polytope(C)
    np.testing.assert_allclose(found.metric, -2 / 3 * C, rtol=1e-9)
    assert found.bound == pytest.approx(-20 * 2 / 3, rel=1e-9)


def test_minimum_with_three_different_entries():
    # Two bins and three others: 1 across, 2 within. Of 20 entries, 12 are across and 8
    # within, so that C is worth 12 - 16 = -4 of 28. No cut has a negative value.
    side = np.array([0, 0, 1, 1, 1])
    across = side[:, None] != side
    C = symmetric(np.where(across, 1, -1))
    found = minimum_in_l1_ball(C)
    check(found, C, "l1")
    assert found.converged
    assert found.value == pytest.approx(-1 / 7, rel=1e-6)
    expected = np.where(across, 1, 2) * (1 - np.eye(5)) / 28
    np.testing.assert_allclose(found.metric, expected, atol=1e-6)


@both
@pytest.mark.parametrize("C", [np.ones((4, 4)) - np.eye(4), np.zeros((3, 3))])
def test_no_metric_has_a_negative_value(among, C):
    found = MINIMA[among](C)
    assert found.converged
    np.testing.assert_array_equal(found.metric, 0.0)
    assert found.value == 0.0
    assert -1e-12 <= found.bound <= 0.0


@both
def test_certificate_at_larger_size(among):
    C = random_criterion(40, 0)
    found = MINIMA[among](C)
    check(found, C, among)
    assert found.converged
    assert found.value - found.bound <= 1e-6 * abs(found.value)
    again = MINIMA[among](C, n_threads=3)
    np.testing.assert_array_equal(again.metric, found.metric)
    assert MINIMA[among](8 * C).value == pytest.approx(8 * found.value, rel=2e-6)


@both
@pytest.mark.parametrize("scale", [1e-5, 1e5, 2.0**-300, 2.0**300])
@pytest.mark.parametrize("seed", range(3))
def test_the_unit_of_the_criterion_does_not_matter(among, scale, seed):
    C = random_criterion(9, seed)
    found, scaled = MINIMA[among](C), MINIMA[among](scale * C)
    assert scaled.converged
    np.testing.assert_allclose(scaled.metric, found.metric, atol=1e-9)
    assert scaled.value == pytest.approx(scale * found.value, rel=1e-9)
    assert scaled.bound == pytest.approx(scale * found.bound, rel=1e-5)


def test_few_projections_and_few_triangles():
    X, y = np.random.default_rng(0).dirichlet(np.ones(64), 40), np.arange(40) % 2
    Xi = X.T @ gm.label_similarity(y) @ X
    C = (Xi + Xi.T) * (1 - np.eye(64)) / np.abs(Xi).max()
    in_ball, in_polytope = minimum_in_l1_ball(C), minimum_in_polytope(C)
    assert in_ball.n_rounds <= 5
    assert in_polytope.n_rounds <= 20
    # Of 64 * 63 * 62 / 2 triangles and a third as many triples.
    assert in_polytope.n_triangles <= 1000


@both
def test_limit_warns_and_the_result_is_still_a_metric(among):
    C = random_criterion(30, 1)
    with pytest.warns(
        ConvergenceWarning, match="criterion may be lower.*after 1 round"
    ):
        found = MINIMA[among](C, max_rounds=1)
    check(found, C, among)
    assert not found.converged
    assert found.n_rounds == 1
    exact = MINIMA[among](C).value
    assert found.bound <= exact <= found.value


def test_programs_that_fail_warn(monkeypatch):
    module = "groundmetric.cone._linear_minimum._solve"
    monkeypatch.setattr(module, lambda *_: None)
    C = random_criterion(10, 0)
    with pytest.warns(ConvergenceWarning, match="after 0 rounds"):
        found = minimum_in_polytope(C)
    check(found, C, "polytope")
