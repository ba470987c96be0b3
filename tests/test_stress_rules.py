"""Rules of the core that results rarely show: each test fails without its rule."""

import numpy as np
import pytest

import groundmetric as gm
from certificates import check_metric, projection_error_bound
from groundmetric import _core
from reference import metric_nearness_qp

pytestmark = pytest.mark.core


def test_costs_that_differ_in_the_tenth_digit_decide():
    # A tolerance of 1e-11 would leave the greedy start as it is.
    for seed in range(20):
        rng = np.random.default_rng(seed)
        d = 8
        C = rng.random((d, d))
        r, c = rng.dirichlet(np.ones(d), 2)
        above = (gm.emd(r, c, 1 + 1e-10 * C) - 1) / 1e-10
        assert above == pytest.approx(gm.emd(r, c, C), abs=1e-5)


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-3])
def test_the_residual_of_a_projection_is_the_whole_bound(tol):
    # Half of the gap, or a generous allowance for rounding, would make it smaller.
    for seed in range(5):
        rng = np.random.default_rng(seed)
        d = 12
        A = np.exp(rng.normal(size=(d, d)))
        A = A + A.T
        np.fill_diagonal(A, 0.0)
        projector = gm.MetricProjector(d, tol=tol)
        P = projector.project(A)
        size = np.linalg.norm(P.metric) / np.sqrt(2)
        bound = projection_error_bound(projector, A, P.metric) / size
        assert P.residual == pytest.approx(bound, rel=1e-6)


def test_clipped_steps_save_sweeps():
    # Ending every step where its first multiplier vanishes takes twice as many.
    n_sweeps = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        d = 12
        A, W = rng.normal(size=(d, d)), 10 ** rng.uniform(-3, 0, (d, d))
        n_sweeps += gm.project_metric(A + A.T, weights=W + W.T).n_sweeps
    assert n_sweeps <= 30_000


def test_the_start_through_a_hub_saves_pivots():
    # 327 pivots; 428 if cheap arcs had no preference, 3,005 from the hub alone.
    rng = np.random.default_rng(3)
    points = rng.random((64, 2))
    M = np.sqrt(((points[:, None] - points) ** 2).sum(axis=-1))
    cost = _core.CostMatrix(np.minimum(M, 0.2))
    x = _core.Masses(rng.dirichlet(np.ones(64), 12), 1.0)
    counts = np.zeros(3, dtype=np.int64)
    _core.pairwise_dense(x, x, cost, True, 1, None, True, counts)
    n_pivots, n_by_hub, _ = counts
    assert n_by_hub == 78
    assert n_pivots <= 380


@pytest.mark.parametrize("total", [1.0, 1e6, np.inf])
def test_tables_of_steep_histograms(total):
    # Margins to 1e-10 from masses over 14 decades.
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = 10.0 ** rng.uniform(-14, 0, (2, int(rng.integers(2, 20))))
        X /= X.sum(axis=1, keepdims=True)
        _, error = _core.typical_sum(X, np.array([[0, 1]]), np.ones(1), total, 1, None)
        assert error <= 1e-10


def wide_problem(d, seed):
    """Draw a matrix that is not a metric, and weights over ten decades."""
    rng = np.random.default_rng(seed)
    A = [rng.normal(size=(d, d)), np.exp(rng.normal(size=(d, d)))][seed % 2]
    A = A + A.T
    np.fill_diagonal(A, 0.0)
    W = 10.0 ** rng.uniform(-10, 0, (d, d))
    return A, np.triu(W) + np.triu(W, 1).T


@pytest.mark.parametrize(("d", "most"), [(8, 20), (20, 40), (40, 150)])
def test_projections_with_weights_over_ten_decades_converge(d, most):
    # Sweeps and conjugate gradients alone are still far off after 1,000 rounds.
    for seed in range(2):
        A, W = wide_problem(d, seed)
        projector = gm.MetricProjector(d, weights=W)
        P = projector.project(A)
        check_metric(P)
        assert P.n_iter <= most
        assert P.converged
        assert P.residual <= 1e-6
        # What is kept is rounded where weights are small, but no worse a start.
        again = projector.project(A)
        assert again.converged
        assert again.metric == pytest.approx(P.metric, abs=1e-9)


def test_the_direct_method_finds_the_projection():
    # The same by an interior-point method, which knows nothing of triangles in use.
    A, W = wide_problem(8, 0)
    W = np.sqrt(W)  # five decades: the other method is not accurate with ten
    P = gm.project_metric(A, weights=W, tol=1e-12)
    assert P.converged
    assert P.metric == pytest.approx(metric_nearness_qp(A, W), abs=1e-4)


@pytest.mark.parametrize("d", [8, 20])
@pytest.mark.filterwarnings("ignore:The projection stopped")
def test_projections_that_are_cut_short_say_how_far_they_are(d):
    for seed in range(4):
        A, W = wide_problem(d, seed)
        projector = gm.MetricProjector(d, weights=W, max_iter=4)
        P = projector.project(A)
        check_metric(P)
        assert P.converged == (P.residual <= 1e-6)
        upper = np.triu_indices(d, 1)
        size = max(
            np.sqrt((W * P.metric**2)[upper].sum()),
            1e-3 * np.sqrt((W * A**2)[upper].sum()),
        )
        bound = projection_error_bound(projector, A, P.metric, W) / size
        assert bound <= 1.001 * P.residual + 1e-9
