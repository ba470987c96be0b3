"""Algorithm 2: the descent."""

import csv
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric.learning import _space
from groundmetric.learning._criterion import Evaluation
from groundmetric.learning._descent import Descent, Settings
from groundmetric.learning._neighborhood import NeighborhoodCriterion as Criterion
from groundmetric.learning._path import DescentPath, DescentStep
from groundmetric.learning._space import MetricCone
from reference import criterion_side
from reference import descend as literal_descend

pytestmark = pytest.mark.core


def descend(criterion, metric, settings, *, observers=(), **options):
    """Run a descent to its end."""
    descent = Descent(criterion, MetricCone(metric, **options), settings)
    descent.run(observers)
    return SimpleNamespace(
        metric=descent.result, path=descent.path, converged=descent.converged
    )


def small(seed=0, n=12, d=6):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.gamma(rng.gamma(1.0, size=(2, d))[y] + 0.5)
    X /= X.sum(axis=1, keepdims=True)
    return X, gm.label_similarity(y), gm.initial_metric(X, table="uniform")


def digits(first, second, n=15):
    images, labels = load_digits(return_X_y=True)
    rows = [np.flatnonzero(labels == digit)[:n] for digit in (first, second)]
    chosen = np.concatenate(rows)
    X = images[chosen] / images[chosen].sum(axis=1, keepdims=True)
    omega = gm.label_similarity(labels[chosen])
    return X, omega, gm.initial_metric(X, table="uniform")


def literal_side(X, k):
    """Value and subgradient of a side, from single plans."""

    def side(M, omega):
        plans = {}

        def emd(i, j):
            plans[i, j] = gm.transport(X[i], X[j], M)
            return plans[i, j].value

        z, sets = criterion_side(emd, omega, k)
        G = sum(
            omega[i, j] * plans[i, j].plan for i, near in enumerate(sets) for j in near
        )
        G = (G + G.T) / 2
        return z, G - np.diag(np.diag(G))

    return side


@pytest.mark.parametrize("k", [2, None])
def test_literally(k):
    X, omega, _ = small()
    # A metric in general position, so that plans are unique.
    M = np.triu(np.random.default_rng(1).uniform(1.0, 1.9, size=(6, 6)), 1)
    M = (M + M.T) / np.linalg.norm(M + M.T)
    # Two outer steps of three: progress ends neither loop.
    settings = Settings(max_outer=2, max_inner=3, tol=-np.inf, result="last")
    found = descend(Criterion(X, omega, k, k), M, settings)
    values, metric = literal_descend(
        literal_side(X, k), omega, M, t0=0.1, n_outer=2, n_inner=3
    )
    np.testing.assert_allclose(found.path.column("criterion"), values, rtol=1e-5)
    np.testing.assert_allclose(found.metric, metric, atol=1e-5)
    assert not found.converged


@pytest.mark.parametrize("pair", [(1, 7), (3, 8), (4, 9)])
def test_criterion_decreases(pair):
    X, omega, M = digits(*pair)
    criterion = Criterion(X, omega, 3, 3)
    found = descend(criterion, M, Settings(max_outer=4, min_inner=15, max_inner=15))
    before, after = criterion.value(M), criterion.value(found.metric)
    assert after < before - 0.2 * abs(before)
    # The path's smallest bound belongs to the metric that is returned.
    assert after <= found.path.column("criterion").min() + 1e-12
    assert gm.is_metric(found.metric)
    assert np.linalg.norm(found.metric) <= 1.0
    # C_k itself stands at the start of every outer step.
    assert found.path[0].criterion == pytest.approx(before, rel=1e-9)


def test_outer_values_fall_when_inner_loops_converge():
    # The bound is tight at its tangent point and above C_k elsewhere: a metric that
    # lowers the bound lowers C_k.
    X, omega, M = small(3)
    settings = Settings(
        max_outer=5, min_inner=300, max_inner=300, shrink=1.0, step_size=0.05
    )
    path = descend(Criterion(X, omega, 2, 2), M, settings).path
    outer = np.array([step.criterion for step in path if step.inner == 0])
    assert len(outer) >= 2
    assert (np.diff(outer) <= 1e-3 * np.abs(outer[:-1])).all()
    assert outer[-1] < outer[0]


def test_bound_is_above_the_criterion():
    X, omega, M = digits(3, 5)
    criterion = Criterion(X, omega, 3, 3)
    metrics = []
    original = criterion.dissimilar.evaluate

    def spy(metric):
        metrics.append(metric)
        return original(metric)

    criterion.dissimilar.evaluate = spy
    path = descend(criterion, M, Settings(max_outer=2, min_inner=6, max_inner=6)).path
    fresh = Criterion(X, omega, 3, 3)
    for step, metric in zip(path, metrics, strict=True):
        assert step.criterion >= fresh.value(metric) - 1e-12
        assert step.criterion == pytest.approx(step.similar + step.dissimilar)


def test_projection_is_as_near_as_it_says_on_real_steps(monkeypatch):
    # What a descent on digits asks to be projected, for every tolerance.
    inputs = []
    project = gm.MetricProjector.project

    def spy(self, A, **options):
        inputs.append(A)
        return project(self, A, **options)

    monkeypatch.setattr(gm.MetricProjector, "project", spy)
    X, omega, M = digits(3, 8)
    descend(Criterion(X, omega, 3, 3), M, Settings(max_outer=2, max_inner=5))
    monkeypatch.undo()
    assert len(inputs) == 10
    for A in inputs:
        truth = gm.project_metric(A, tol=1e-10).metric
        for tol in (1e-4, 1e-6, 1e-8):
            P = gm.project_metric(A, tol=tol)
            assert gm.triangle_violation(P.metric) == 0.0
            error = np.linalg.norm(P.metric - truth)
            assert error <= (tol + 1e-10) * np.linalg.norm(truth)


def test_stopping_rules():
    X, omega, M = digits(0, 1)
    # Progress of 100 % in six steps never happens: the least numbers of steps decide.
    greedy = Settings(tol=1.0, min_inner=10, shrink=0.5, max_outer=3)
    found = descend(Criterion(X, omega, 3, 3), M, greedy)
    per_outer = np.bincount(found.path.column("outer").astype(int))
    assert per_outer.tolist() == [
        10,
        7,
    ]  # 10 * 0.5 < 6 + 1 steps, which it takes to see
    assert found.converged
    limited = Settings(tol=-np.inf, max_outer=3, max_inner=4)
    found = descend(Criterion(X, omega, 3, 3), M, limited)
    assert len(found.path) == 12
    assert not found.converged


def test_callback_can_stop():
    X, omega, M = digits(0, 1)
    seen = []

    def stop_at_five(descent):
        seen.append(descent.path[-1])
        return len(seen) == 5

    criterion = Criterion(X, omega, 3, 3)
    found = descend(criterion, M, Settings(), observers=[stop_at_five])
    assert len(found.path) == 5
    assert list(found.path) == seen
    assert not found.converged


def test_nothing_to_learn_ends_at_once():
    # Equal histograms: all distances and subgradients are zero.
    X = np.full((4, 3), 1 / 3)
    omega = gm.label_similarity([0, 0, 1, 1])
    M = gm.initial_metric(X, table="uniform")
    found = descend(Criterion(X, omega, 1, 1), M, Settings())
    assert found.converged
    assert len(found.path) == 1
    np.testing.assert_array_equal(found.metric, M)


def test_results_do_not_depend_on_threads():
    X, omega, M = digits(2, 3)
    settings = Settings(max_outer=2, max_inner=5)
    one = descend(Criterion(X, omega, 3, 3), M, settings)
    two = descend(Criterion(X, omega, 3, 3, n_threads=2), M, settings, n_threads=2)
    np.testing.assert_array_equal(one.metric, two.metric)


def test_path_to_csv(tmp_path):
    X, omega, M = digits(0, 1)
    path = descend(
        Criterion(X, omega, 3, 3), M, Settings(max_outer=1, max_inner=3)
    ).path
    path.to_csv(tmp_path / "path.csv")
    with (tmp_path / "path.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3
    assert [float(row["criterion"]) for row in rows] == list(path.column("criterion"))
    assert (np.diff(path.column("seconds")) > 0).all()
    assert (path.column("n_solves") > 0).all()
    assert isinstance(path[0], DescentStep)
    assert isinstance(path[1:], DescentPath)
    assert repr(path) == "DescentPath of 3 steps"


class Scripted:
    """A criterion whose values are given, and that pushes one entry up."""

    def __init__(self, values):
        self.values = iter(values)

    def linearize(self, metric):
        """Return zero."""
        return Evaluation.nothing(metric)

    def evaluate(self, metric):
        """Return the next value."""
        gradient = np.zeros_like(metric)
        gradient[0, 1] = gradient[1, 0] = -1e-3
        return Evaluation(next(self.values), gradient)


def scripted(values, **options):
    M = gm.initial_metric(np.ones((2, 3)), table="uniform")
    return descend(Scripted(values), M, Settings(**options))


def test_outer_progress_is_from_one_outer_step_to_the_next():
    # First values of the outer steps: 20 % better, then 4 %, which is less than 10 %.
    values = [-1.0, -1.1, -1.2, -1.21, -1.25, -1.3, -9.0]
    found = scripted(values, max_inner=2, max_outer=9, tol=0.1, window=2)
    assert found.converged
    assert len(found.path) == 6
    # Exactly the tolerance is too little.
    found = scripted([-1.0, -1.5, -2.0], max_inner=1, max_outer=9, tol=0.5, window=1)
    assert found.converged
    assert len(found.path) == 2


def test_outer_progress_of_short_inner_loops_is_within_a_window():
    values = [-1.0, -0.5, -0.8, -0.9, -1.5, -1.2, -1.6, -1.0, -1.65, -9.0]
    found = scripted(values, max_inner=1, max_outer=20, tol=0.2, window=3)
    assert found.converged
    # At -0.9, the best of the last three is above -1; so this is where it ends...
    assert len(found.path) == 4
    # ... unless the window is longer: the best of five is always 20 % below -1.
    found = scripted(values, max_inner=1, max_outer=9, tol=0.2, window=5)
    assert not found.converged
    assert len(found.path) == 9


def test_inner_progress_is_within_a_window():
    # Three steps at least; then the best must gain 10 % in two steps.
    values = [-1.0, -1.0, -1.0, -1.2, -1.1, -1.25, -1.2, -9.0]
    found = scripted(
        values, min_inner=4, window=2, shrink=1.0, max_inner=50, max_outer=1, tol=0.1
    )
    assert len(found.path) == 6  # -1.25 against -1.2, two steps before: 4 %
    np.testing.assert_array_equal(found.path.column("dissimilar"), values[:6])


@pytest.mark.parametrize("n_threads", [1, 3])
def test_the_closure_takes_the_threads_that_the_descent_has(monkeypatch, n_threads):
    threads = []

    def closure(matrix, n):
        threads.append(n)
        return metric_closure(matrix, n)

    metric_closure = _space.closure
    monkeypatch.setattr(_space, "closure", closure)
    X, omega, M = digits(3, 8)
    # Similar pairs alone: every step shortens the metric, which is scaled back then.
    criterion = Criterion(X, np.maximum(omega, 0.0), 3, 3)
    descend(criterion, M, Settings(max_outer=1, max_inner=3), n_threads=n_threads)
    assert set(threads) == {n_threads}
