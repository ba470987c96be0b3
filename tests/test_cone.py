"""project_metric: the nearest metric, and proof of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
from certificates import check_metric, projection_error_bound
from matrices import KINDS, matrix
from reference import metric_nearness_qp, triangle_fixing
from strategies import square_matrices

pytestmark = pytest.mark.core


def test_by_hand():
    # The edge 7 is longer than 1 + 2 by 4: a third of that for each edge.
    P = gm.project_metric([[0, 1, 7], [1, 0, 2], [7, 2, 0]])
    a, b, c = 1 + 4 / 3, 2 + 4 / 3, 7 - 4 / 3
    np.testing.assert_allclose(P.metric, [[0, a, c], [a, 0, b], [c, b, 0]], rtol=1e-12)
    assert P.distance == pytest.approx(np.sqrt(6) * 4 / 3)
    assert P.converged
    check_metric(P)


def test_two_bins_and_one():
    # With two bins the cone is the half-line M_01 = M_10 >= 0.
    np.testing.assert_array_equal(
        gm.project_metric([[5, 1], [3, -2]]).metric, [[0, 2], [2, 0]]
    )
    np.testing.assert_array_equal(
        gm.project_metric([[0, -3], [1, 0]]).metric, [[0, 0], [0, 0]]
    )
    P = gm.project_metric([[4.0]])
    np.testing.assert_array_equal(P.metric, [[0]])
    assert P.distance == 4.0


def test_symmetric_part_counts():
    A = np.array([[0, 1, 2], [3, 0, 1.5], [2, 1.5, 0]])
    np.testing.assert_allclose(
        gm.project_metric(A).metric, gm.project_metric((A + A.T) / 2).metric
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [3, 4, 7, 10])
def test_agrees_with_triangle_fixing(kind, d):
    A = matrix(np.random.default_rng(d), kind, d)
    truth = triangle_fixing(A)
    for tol in (1e-4, 1e-6, 1e-8):
        P = gm.project_metric(A, tol=tol)
        check_metric(P)
        error = np.linalg.norm(P.metric - truth)
        assert error <= tol * np.linalg.norm(truth) + 1e-10 * np.linalg.norm(A)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [5, 16, 24])
def test_agrees_with_an_interior_point_method(kind, d):
    rng = np.random.default_rng(d)
    A = matrix(rng, kind, d)
    w = rng.uniform(0.1, 10, (d, d))
    w += w.T
    for weights in (None, w):
        truth = metric_nearness_qp(A, weights)
        root = 1.0 if weights is None else np.sqrt(weights)
        for tol in (1e-4, 1e-6):
            P = gm.project_metric(A, tol=tol, weights=weights)
            check_metric(P)
            error = np.linalg.norm(root * (P.metric - truth))
            slack = 1e-7 * np.linalg.norm(root * A)  # the reference's own error
            assert error <= tol * np.linalg.norm(root * truth) + slack


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 2, 33, 64, 128])
def test_tolerance_means_distance_to_the_projection(kind, d):
    A = matrix(np.random.default_rng(d), kind, d)
    projector = gm.MetricProjector(d, tol=1e-10)
    truth = projector.project(A).metric
    norm = np.linalg.norm(truth)
    floor = 1e-12 * np.linalg.norm(A)
    # The reference proves itself, by its multipliers and numpy alone.
    if d > 2:
        proof = projection_error_bound(projector, A, truth)
        assert proof <= 1e-10 * max(norm, 1e-3 * np.linalg.norm(A)) + floor
    for tol in (1e-4, 1e-6, 1e-8):
        P = gm.project_metric(A, tol=tol)
        check_metric(P)
        assert P.converged
        error = np.linalg.norm(P.metric - truth)
        assert error <= tol * max(norm, 1e-3 * np.linalg.norm(A)) + floor
        assert P.residual <= tol


@pytest.mark.parametrize("d", [6, 40])
def test_weighted_projection_proves_itself(d):
    rng = np.random.default_rng(d)
    A = matrix(rng, "euclidean", d)
    weights = 10.0 ** rng.uniform(-2, 1, (d, d))
    weights = (weights + weights.T) / 2
    projector = gm.MetricProjector(d, weights=weights, tol=1e-8)
    P = projector.project(A)
    norm = np.sqrt((weights * P.metric**2)[np.triu_indices(d, 1)].sum())
    assert projection_error_bound(projector, A, P.metric, weights) <= 1.1e-8 * norm
    np.testing.assert_allclose(
        gm.project_metric(A, weights=np.full((d, d), 3.0), tol=1e-9).metric,
        gm.project_metric(A, tol=1e-9).metric,
        atol=1e-7,
    )


@pytest.mark.parametrize("scale", [1e306, 1.7e308, 1e-306, 5e-324])
def test_the_scale_of_the_weights_does_not_matter(scale):
    A = matrix(np.random.default_rng(0), "euclidean", 12)
    projector = gm.MetricProjector(12, weights=np.full((12, 12), scale), tol=1e-9)
    P = projector.project(A)
    assert P.converged
    assert P.residual <= 1e-9
    np.testing.assert_allclose(
        P.metric, gm.project_metric(A, tol=1e-9).metric, rtol=1e-8, atol=1e-8
    )
    _, multipliers = projector.multipliers()
    assert (multipliers / scale).max() == pytest.approx(1.0, rel=10)


@pytest.mark.parametrize("light", [1e-12, 1e-300, 1e-600])
def test_weights_over_many_orders_of_magnitude(light):
    # The edges of weight 1 are a metric as they are, and stay so.
    rng = np.random.default_rng(3)
    M = matrix(rng, "metric", 12)
    lost = np.triu(rng.random(M.shape) < 0.2, 1)
    lost |= lost.T
    A = np.where(lost, 3 * M.max(), M)
    # 1e-600 is not a float, but 1e-300 and 1e300 are.
    low, high = (light, 1.0) if light else (1e-300, 1e300)
    P = gm.project_metric(A, weights=np.where(lost, low, high))
    check_metric(P)
    assert P.converged
    np.testing.assert_allclose(P.metric[~lost], M[~lost], rtol=1e-5)


def test_a_bound_that_is_not_finite_is_no_success():
    # The core alone does not scale weights: sums of these overflow.
    A = matrix(np.random.default_rng(0), "euclidean", 12)
    core = gm.MetricProjector(12)._core
    huge = np.full((12, 12), 1e308)
    metric, n_iter, _, _, residual, converged = core.project(A, huge, 1e-6, 50, 1, None)
    assert not converged
    assert residual == np.inf
    assert n_iter == 1
    assert gm.is_metric(metric)
    assert core.n_triangles == 0


def test_missing_entries():
    # A metric with a tenth of its entries lost, and garbage of weight 1e-6 there:
    # what is known stays as it was.
    rng = np.random.default_rng(0)
    M = matrix(rng, "metric", 20)
    lost = np.triu(rng.random(M.shape) < 0.1, 1)
    lost |= lost.T
    A = np.where(lost, 100.0, M)
    P = gm.project_metric(A, weights=np.where(lost, 1e-6, 1.0), tol=1e-8)
    np.testing.assert_allclose(P.metric[~lost], M[~lost], atol=1e-2)
    assert P.metric.max() <= 2 * M.max()


@pytest.mark.parametrize("kind", KINDS)
def test_radius(kind):
    A = matrix(np.random.default_rng(1), kind, 20)
    cone = gm.project_metric(A, tol=1e-9).metric
    norm = np.linalg.norm(cone)
    for radius in (0.5, 1.0, 1e6):
        P = gm.project_metric(A, radius=radius, tol=1e-9)
        check_metric(P)
        assert np.linalg.norm(P.metric) <= radius
        np.testing.assert_allclose(
            P.metric, cone * min(1.0, radius / (norm or 1.0)), atol=1e-12 * (norm + 1)
        )
        assert P.distance == pytest.approx(np.linalg.norm(P.metric - A))
    np.testing.assert_array_equal(gm.project_metric(A, radius=0).metric, 0 * cone)


def test_results_do_not_depend_on_threads():
    for kind, d in (("euclidean", 300), ("gaussian", 100)):
        A = matrix(np.random.default_rng(3), kind, d)
        one = gm.project_metric(A, tol=1e-5)
        for n_jobs in (2, 5):
            many = gm.project_metric(A, tol=1e-5, n_jobs=n_jobs)
            np.testing.assert_array_equal(one.metric, many.metric)
            assert one.n_iter == many.n_iter


def test_rounds_that_run_out_leave_a_metric_and_a_warning():
    A = matrix(np.random.default_rng(4), "gaussian", 40)
    with pytest.warns(ConvergenceWarning, match="stopped after max_iter=2 rounds;"):
        P = gm.project_metric(A, max_iter=2, tol=1e-9)
    assert not P.converged
    assert P.n_iter == 2
    assert P.residual > 1e-9
    check_metric(P)
    # The residual is honest: it bounds the true distance.
    truth = gm.project_metric(A, tol=1e-9).metric
    error = np.linalg.norm(P.metric - truth)
    size = max(np.linalg.norm(P.metric), 1e-3 * np.linalg.norm(A))
    assert 0 < error <= P.residual * size


@settings(deadline=None)
@given(square_matrices(), st.sampled_from([0.25, 2.0, 1024.0]), st.data())
def test_properties_of_a_projection(A, factor, data):
    tol = 1e-9
    P = gm.project_metric(A, tol=tol)
    check_metric(P)
    M, size = P.metric, np.linalg.norm(A) + 1e-300
    close = 1e-8 * size
    # Idempotent: a metric stays, bit for bit.
    np.testing.assert_array_equal(gm.project_metric(M).metric, M)
    # Positively homogeneous, exactly so for powers of two.
    np.testing.assert_array_equal(
        gm.project_metric(factor * A, tol=tol).metric, factor * M
    )
    # Equivariant under relabeling.
    x = list(data.draw(st.permutations(range(len(A)))))
    relabeled = gm.project_metric(A[np.ix_(x, x)], tol=tol).metric
    assert np.linalg.norm(relabeled - M[np.ix_(x, x)]) <= close
    # Moreau: the residual is orthogonal to the projection, and in the polar cone.
    assert abs(((A - M) * M).sum()) <= close * size
    uniform = 1.0 - np.eye(len(A))
    assert ((A - M) * uniform).sum() <= close * np.linalg.norm(uniform)
    # Non-expansive.
    B = data.draw(st.sampled_from([A.T + 1.0, -A, A + np.eye(len(A)), A[::-1, ::-1]]))
    N = gm.project_metric(B, tol=tol).metric
    bound = np.linalg.norm(A - B) + 1e-8 * (size + np.linalg.norm(B))
    assert np.linalg.norm(M - N) <= bound


def test_scales():
    A = matrix(np.random.default_rng(5), "euclidean", 12)
    M = gm.project_metric(A).metric
    for factor in (2.0**-500, 2.0**500, 2.0**1000):
        np.testing.assert_array_equal(gm.project_metric(factor * A).metric, factor * M)


@pytest.mark.parametrize("factor", [1e-308, 1e-320, 1e307])
def test_metric_exactly_at_the_ends_of_the_range(factor):
    for kind in ("gaussian", "euclidean", "metric"):
        A = matrix(np.random.default_rng(8), kind, 6) * factor
        check_metric(gm.project_metric(A))
    P = gm.project_metric(np.full((10, 10), 8e307), radius=1.0)
    check_metric(P)
    assert np.linalg.norm(P.metric) == pytest.approx(1.0)
    tiny = np.array([[0, 5e-324], [5e-324, 0]])
    np.testing.assert_array_equal(gm.project_metric(tiny).metric, tiny)


def test_ties_do_not_fill_the_memory():
    # Every triangle over every edge is broken alike: 8e6 of them.
    d = 200
    projector = gm.MetricProjector(d)
    P = projector.project(-np.ones((d, d)))
    assert (P.metric == 0).all()
    assert projector.n_triangles <= 40 * d * (d - 1) / 2
    values = np.random.default_rng(11).choice([1.0, 5.0], (d, d))
    P = projector.project(np.triu(values, 1) + np.triu(values, 1).T)
    check_metric(P)
    assert P.converged
    assert projector.n_triangles <= 40 * d * (d - 1) / 2


def test_residual_is_honest_after_a_large_repair():
    # A chain of ones in a matrix of 1e6: closure lowers nearly all of it.
    d = 40
    A = np.full((d, d), 1e6)
    chain = np.arange(d - 1)
    A[chain, chain + 1] = A[chain + 1, chain] = 1.0
    with pytest.warns(ConvergenceWarning):
        P = gm.project_metric(A, max_iter=1)
    truth = gm.project_metric(A).metric
    size = max(np.linalg.norm(P.metric), 1e-3 * np.linalg.norm(A))
    assert np.linalg.norm(P.metric - truth) <= P.residual * size


def test_progress(capsys):
    A = matrix(np.random.default_rng(6), "gaussian", 30)
    P = gm.project_metric(A, verbose=1)
    assert f"{P.n_iter}round" in capsys.readouterr().err.replace(" ", "")


NAN = float("nan")


@pytest.mark.parametrize(
    ("A", "options", "message"),
    [
        ([[0, 1, 2], [1, 0, 1]], {}, r"A has shape \(2, 3\), but must be square"),
        (np.zeros((0, 0)), {}, r"A is empty: its shape is \(0, 0\)"),
        ([0, 1], {}, r"A has shape \(2,\), but 2 dimensions are needed"),
        ([[0, NAN], [1, 0]], {}, r"A\[0, 1\] is nan: .* finite"),
        ([[0, 1], [-np.inf, 0]], {}, r"A\[1, 0\] is -inf: .* finite"),
        ([[0, 1], [1, 0]], {"tol": -1}, r"tol is -1; a number at least 0\.0"),
        ([[0, 1], [1, 0]], {"tol": NAN}, r"tol is nan"),
        ([[0, 1], [1, 0]], {"max_iter": 0}, r"max_iter is 0; it must be at least 1"),
        ([[0, 1], [1, 0]], {"max_iter": 1.5}, r"max_iter is 1\.5; a whole number"),
        ([[0, 1], [1, 0]], {"max_iter": 2**40}, r"max_iter is .* at most"),
        ([[0, 1], [1, 0]], {"radius": -1.0}, r"radius is -1\.0"),
        ([[0, 1], [1, 0]], {"n_jobs": 0}, r"n_jobs is 0"),
        ([[0, 1], [1, 0]], {"weights": [[1, 0], [0, 1]]}, r"weights\[0, 1\] is 0\.0"),
        (
            [[0, 1], [1, 0]],
            {"weights": [[1, 2], [3, 1]]},
            r"weights\[0, 1\] .* symmetric",
        ),
        (
            [[0, 1], [1, 0]],
            {"weights": np.ones((3, 3))},
            r"weights has shape \(3, 3\), but \(2, 2\)",
        ),
        (
            [[0, 1], [1, 0]],
            {"weights": np.ones((2, 2)), "radius": 1.0},
            "radius and weights cannot be combined",
        ),
    ],
)
def test_bad_input(A, options, message):
    with pytest.raises(ValueError, match=message):
        gm.project_metric(A, **options)
