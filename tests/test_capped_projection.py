"""The nearest metric without entries above a cap, also in a ball, and proof of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
from certificates import check_metric, projection_error_bound
from groundmetric.cone._capped import stretched
from matrices import KINDS, matrix
from reference import capped_fixing, metric_nearness_qp
from strategies import metrics, square_matrices

pytestmark = pytest.mark.core


def check_capped(P, cap):
    check_metric(P)
    assert P.metric.max() <= cap


def size_of(A, metric):
    """Return what residuals are relative to."""
    return max(np.linalg.norm(metric), 1e-3 * np.linalg.norm(A))


def caps_of(A):
    """Caps that hold few, some and most entries of the nearest metric down."""
    M = gm.project_metric(A).metric
    largest = M.max() or 1.0
    return [0.2 * largest, 0.6 * largest, 0.95 * largest]


def test_by_hand():
    # Without the triangle, min(A, 4); with it, M_02 = 4 <= M_01 + M_12, which are 1 and
    # 2: each has to grow by a half, if M_02 stays at the cap.
    P = gm.project_metric([[0, 1, 7], [1, 0, 2], [7, 2, 0]], cap=4)
    np.testing.assert_allclose(
        P.metric, [[0, 1.5, 4], [1.5, 0, 2.5], [4, 2.5, 0]], rtol=1e-12
    )
    assert P.metric.max() == 4.0
    assert P.converged
    check_metric(P)


def test_two_bins_and_one():
    def entry(a, cap):
        return gm.project_metric([[0, a], [a, 0]], cap=cap).metric[0, 1]

    assert [entry(5.0, 3.0), entry(2.0, 3.0), entry(-1.0, 3.0)] == [3.0, 2.0, 0.0]
    assert entry(1e200, 1e-100) == 1e-100
    assert entry(1e-300, 1e300) == 1e-300
    np.testing.assert_array_equal(gm.project_metric([[4.0]], cap=1).metric, [[0]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [3, 5])
def test_agrees_with_its_twin(kind, d):
    A = matrix(np.random.default_rng(d), kind, d)
    for cap in caps_of(A):
        truth = capped_fixing(A, cap)
        for tol in (1e-4, 1e-8):
            P = gm.project_metric(A, cap=cap, tol=tol)
            check_capped(P, cap)
            error = np.linalg.norm(P.metric - truth)
            assert error <= tol * size_of(A, truth) + 1e-9 * np.linalg.norm(A)


@pytest.mark.parametrize("kind", ["uniform", "euclidean", "descent", "blocks"])
def test_weights_and_caps(kind):
    rng = np.random.default_rng(4)
    A = matrix(rng, kind, 16)
    w = 10.0 ** rng.uniform(-1, 1, (16, 16))
    w += w.T
    for cap in caps_of(A):
        projector = gm.MetricProjector(16, weights=w, tol=1e-9)
        P = projector.project(A, cap=cap)
        check_capped(P, cap)
        size = np.sqrt((w * P.metric**2)[np.triu_indices(16, 1)].sum())
        proof = projection_error_bound(projector, A, P.metric, w, cap)
        assert proof <= 1.1e-9 * size
        truth = metric_nearness_qp(A, w, cap)
        error = np.linalg.norm(np.sqrt(w) * (P.metric - truth))
        assert error <= 1e-5 * np.linalg.norm(np.sqrt(w) * A)  # the reference's own


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [3, 33, 65, 128])
def test_it_proves_itself(kind, d):
    A = matrix(np.random.default_rng(d), kind, d)
    for cap in caps_of(A):
        projector = gm.MetricProjector(d)
        P = projector.project(A, cap=cap)
        check_capped(P, cap)
        assert P.converged
        assert P.residual <= 1e-6
        assert P.n_iter <= 100
        proof = projection_error_bound(projector, A, P.metric, cap=cap)
        floor = 1e-12 * np.linalg.norm(A)
        assert proof <= 1.01e-6 * size_of(A, P.metric) / np.sqrt(2) + floor


@pytest.mark.parametrize("kind", ["uniform", "euclidean", "descent"])
def test_entries_that_the_cap_holds_are_equal(kind):
    A = matrix(np.random.default_rng(6), kind, 64)
    for cap in caps_of(A):
        projector = gm.MetricProjector(64)
        M = projector.project(A, cap=cap).metric
        triangles, u = projector.multipliers()
        i, j = triangles[(triangles[:, 2] == 64) & (u > 0), :2].T
        assert i.size > 0
        assert set(M[i, j]) == {M.max()}
        assert M.max() == pytest.approx(cap, rel=1e-6)


def test_a_cap_that_holds_nothing_changes_nothing():
    A = matrix(np.random.default_rng(7), "euclidean", 40)
    free = gm.project_metric(A, tol=1e-9).metric
    for cap in (1.0001 * free.max(), 10 * A.max(), 1e300):
        P = gm.project_metric(A, cap=cap, tol=1e-9)
        assert np.linalg.norm(P.metric - free) <= 2e-9 * np.linalg.norm(free)


@settings(deadline=None)
@given(square_matrices(), st.sampled_from([0.25, 0.5, 1.0, 2.5]))
def test_properties(A, cap):
    P = gm.project_metric(A, cap=cap, tol=1e-9)
    check_capped(P, cap)
    M, close = P.metric, 1e-8 * (np.linalg.norm(A) + 1e-300)
    assert P.converged
    # Idempotent, and homogeneous together with the cap.
    again = gm.project_metric(M, cap=cap, tol=1e-9).metric
    assert np.linalg.norm(again - M) <= 1e-8 * np.linalg.norm(M)
    np.testing.assert_array_equal(
        gm.project_metric(4 * A, cap=4 * cap, tol=1e-9).metric, 4 * M
    )
    # Variational inequality, at some metrics under the cap.
    uniform = cap * (1.0 - np.eye(len(A)))
    cut = np.minimum(gm.project_metric(A).metric, cap)
    for other in (0 * M, uniform, cut):
        size = np.linalg.norm(other) + np.linalg.norm(A) + 1.0
        assert (((A + A.T) / 2 - M) * (other - M)).sum() <= 10 * close * size


@pytest.mark.parametrize("kind", ["uniform", "gaussian", "euclidean", "blocks"])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_ball_agrees_with_its_twin(kind, d):
    A = matrix(np.random.default_rng(d), kind, d)
    for cap in caps_of(A):
        size = np.linalg.norm(gm.project_metric(A, cap=cap).metric)
        for radius in (0.3 * size, 0.9 * size, 2 * size):
            truth = capped_fixing(A, cap, radius)
            P = gm.project_metric(A, cap=cap, radius=radius)
            check_capped(P, cap)
            assert P.converged
            assert np.linalg.norm(P.metric) <= radius
            error = np.linalg.norm(P.metric - truth)
            bound = P.residual * size_of(A, P.metric)
            assert error <= bound + 1e-9 * np.linalg.norm(A)


def test_ball_of_many_bins():
    A = matrix(np.random.default_rng(1), "uniform", 64)
    whole = gm.project_metric(A, cap=1.1).metric
    radius = 0.8 * np.linalg.norm(whole)
    P = gm.project_metric(A, cap=1.1, radius=radius)
    check_capped(P, 1.1)
    assert P.residual <= 1e-6
    assert P.n_iter <= 100
    assert np.linalg.norm(P.metric) == pytest.approx(radius, rel=1e-12)
    # Not what scaling gives: the cap has more room in the ball.
    scaled = 0.8 * whole
    assert np.linalg.norm(P.metric - scaled) > 1e-3 * radius
    assert ((A - P.metric) * (scaled - P.metric)).sum() < 0


@pytest.mark.parametrize("radius", [0.0, 1e-200])
def test_tiny_balls(radius):
    A = matrix(np.random.default_rng(1), "uniform", 8)
    P = gm.project_metric(A, cap=0.9, radius=radius)
    check_capped(P, 0.9)
    assert P.metric.max() <= radius


def test_stopped_early():
    A = matrix(np.random.default_rng(5), "gaussian", 40)
    for options in ({}, {"radius": 1.0}):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            P = gm.project_metric(A, cap=0.2, max_iter=2, **options)
        check_capped(P, 0.2)
        assert not P.converged


def test_a_projector_goes_from_caps_to_none_and_back():
    rng = np.random.default_rng(3)
    A = matrix(rng, "euclidean", 40)
    projector = gm.MetricProjector(40)
    cold = projector.project(A, cap=2.0)
    warm = projector.project(A + 1e-4 * matrix(rng, "gaussian", 40), cap=2.0)
    assert warm.n_sweeps < 0.8 * cold.n_sweeps
    free = projector.project(A)
    np.testing.assert_array_equal(free.metric, gm.project_metric(A).metric)
    assert (projector.multipliers()[0] < 40).all()
    again = projector.project(A, cap=2.0)
    np.testing.assert_array_equal(again.metric, cold.metric)
    other = gm.MetricProjector(40)
    other._set_state(projector._state())
    B = A + 1e-4 * matrix(rng, "gaussian", 40)
    np.testing.assert_array_equal(
        other.project(B, cap=2.0).metric, projector.project(B, cap=2.0).metric
    )


@given(st.data())
def test_stretched_metrics(data):
    d = data.draw(st.integers(2, 6))
    M = data.draw(metrics(d))
    cap, size = (data.draw(st.sampled_from([0.25, 1.0, 3.0])) for _ in range(2))
    S = stretched(M, cap, size, 1)
    assert gm.is_metric(S)
    assert S.max() <= cap
    most = cap * np.sqrt((M > 0).sum())  # all that can reach the cap
    expected = min(size, most) if M.any() else 0.0
    assert np.linalg.norm(S) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("cap", [0, -1.0, np.inf, np.nan, "1", []])
def test_a_cap_is_a_positive_number(cap):
    with pytest.raises(ValueError, match="cap is"):
        gm.project_metric(np.zeros((3, 3)), cap=cap)
