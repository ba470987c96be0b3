"""The search for the multiple of a matrix whose capped projection has a given norm."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
from certificates import check_metric
from groundmetric.cone._capped import Found, Goal, of_norm
from groundmetric.cone._result import result_of
from matrices import matrix

pytestmark = pytest.mark.core


def test_a_radius_just_below_the_largest_norm():
    # 0.707 is the norm if both entries are at the cap; s = 0.7 / |A| is the answer.
    P = gm.project_metric(4 * (1 - np.eye(2)), cap=0.5, radius=0.7)
    assert P.converged
    assert P.n_iter <= 20
    np.testing.assert_allclose(P.metric, 0.7 / np.sqrt(2) * (1 - np.eye(2)), rtol=1e-9)


@pytest.mark.parametrize("gap", [1e-3, 1e-7, 1e-9, 1e-11])
@pytest.mark.parametrize("d", [2, 6])
def test_radii_close_to_the_norm_on_a_plateau(gap, d):
    A = 10 * matrix(np.random.default_rng(0), "euclidean", d)
    full = gm.project_metric(A, cap=0.5).metric
    P = gm.project_metric(A, cap=0.5, radius=(1 - gap) * np.linalg.norm(full))
    check_metric(P)
    assert P.metric.max() <= 0.5
    assert P.converged
    assert P.residual <= 1e-6
    assert np.linalg.norm(P.metric - full) <= 1e2 * np.sqrt(gap)


def scalar(level):
    """Return a solver whose result has the norm level(s)."""

    def solve(matrix, _tol, _left):
        metric = np.full((1, 1), level(float(matrix[0, 0])))
        return Found(metric, 1, 0, 0.0, 0.0, converged=True)

    return solve


@pytest.mark.parametrize(
    "level",
    [
        lambda s: min(s, 0.9) if s < 15 else min(0.06 * s, 1.2),  # flat up to 15
        lambda s: min(s, 1.2),  # flat above
        lambda s: min(s, 0.9 + 1e-9 * s) if s < 15 else min(0.06 * s, 1.2),
    ],
)
@pytest.mark.parametrize("start", [0.5, 1.0, 20.0, 2.0**20])
def test_norms_that_are_flat_in_s(level, start):
    solve, A = scalar(level), np.ones((1, 1))
    goal = Goal(1e3, 1.0, 1e-6, 200, 2.0**20)
    found, s = of_norm(solve, A, goal, solve(start * A, 0.0, 1), start)
    assert found.converged
    assert found.metric[0, 0] == pytest.approx(1.0, rel=1e-6)
    assert found.metric[0, 0] == level(s)
    assert found.n_iter <= 100


def test_a_search_without_an_end_has_not_converged():
    # The norm jumps over 1, which that of a projection cannot.
    solve, A = scalar(lambda s: 0.5 if s < 3 else 1.5), np.ones((1, 1))
    goal = Goal(1e3, 1.0, 1e-6, 50, 2.0**20)
    assert not of_norm(solve, A, goal, solve(A, 0.0, 1))[0].converged


def test_the_limit_in_a_warning_is_the_one_hit():
    A = 10 * matrix(np.random.default_rng(5), "gaussian", 12)
    with pytest.warns(ConvergenceWarning, match="after max_iter=2 rounds;"):
        gm.project_metric(A, cap=0.2, radius=1.0, max_iter=2)
    found = Found(A, 7, 0, 0.0, 1e-3, converged=False)
    with pytest.warns(ConvergenceWarning, match="after 7 rounds, at the limit of its"):
        assert not result_of(found, A, A, 1000).converged


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
@pytest.mark.parametrize(
    "search",
    [
        lambda projector, A: projector.project(A, cap=1.0, radius=0.5),
        lambda projector, A: projector._project_to_norm(A, 1.0, 9.0),
    ],
)
def test_a_search_that_fails_leaves_the_projector_as_it_was(monkeypatch, error, search):
    A = matrix(np.random.default_rng(5), "euclidean", 12)
    projector = gm.MetricProjector(12)
    projector.project(A, cap=1.0)
    before = projector._state()
    solve, calls = gm.MetricProjector._solve, []

    def fail_later(self, *args, **options):
        calls.append(args)
        if len(calls) == 2:
            raise error
        return solve(self, *args, **options)

    monkeypatch.setattr(gm.MetricProjector, "_solve", fail_later)
    B = matrix(np.random.default_rng(6), "gaussian", 12)
    with pytest.raises(error):
        search(projector, B)
    assert len(calls) == 2
    after = projector._state()
    assert before.keys() == after.keys()
    for name, array in before.items():
        np.testing.assert_array_equal(after[name], array)
