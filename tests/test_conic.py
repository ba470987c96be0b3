"""Combinations of candidate metrics, and the pull to a known one."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import groundmetric as gm
import reference
from groundmetric.learning._conic import (
    Candidates,
    CombinedCriterion,
    ConicCombinations,
    line_metrics,
)
from groundmetric.learning._descent import Descent, Settings
from groundmetric.learning._margin import MarginCriterion
from groundmetric.learning._neighborhood import NeighborhoodCriterion
from groundmetric.learning._pull import MetricPull
from groundmetric.learning._space import MetricCone
from groundmetric.similarity._makers import weights_of


def example(seed=0, n=16, d=8, s=3):
    """Histograms whose mass lies along the first coordinate of their bins."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(d, s))
    y = np.arange(n) % 2
    center = np.where(y == 0, -0.8, 0.8)[:, None]
    X = np.exp(-np.square(points[:, 0] - center)) * rng.gamma(1.0, size=(n, d))
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 0] += 0.01
    return X / X.sum(axis=1, keepdims=True), y, points, rng


def margins(X, y, k=3):
    return MarginCriterion(X, weights_of(len(y), y, None), k, 0.4)


def test_line_metrics():
    points = np.array([[0.0, 7.0, 1.0], [2.0, 7.0, 1.5], [-1.0, 7.0, 1.0]])
    lines = line_metrics(points)
    assert len(lines) == 2  # the second coordinate is constant
    np.testing.assert_array_equal(lines[0], [[0, 2, 1], [2, 0, 3], [1, 3, 0]])
    total = sum(line_metrics(points))
    np.testing.assert_allclose(total, cdist(points, points, "cityblock"))


def test_candidates_are_validated_and_scaled():
    _, _, points, _ = example()
    M = cdist(points, points)
    candidates = Candidates.of([M, 3 * M], points, 8)
    assert len(candidates) == 5
    np.testing.assert_allclose(candidates.metrics.mean(axis=(1, 2)), 1.0)
    assert candidates.units[1] == pytest.approx(3 * M.mean())
    with pytest.raises(ValueError, match=r"metrics\[1\] is zero"):
        Candidates.of([M, 0 * M], None, 8)
    broken = M.copy()
    broken[1, 2] = broken[2, 1] = 100.0
    with pytest.raises(ValueError, match=r"metrics\[0\]"):
        Candidates.of([broken], None, 8)
    with pytest.raises(ValueError, match="neither metrics nor points"):
        Candidates.of([], None, 8)


def test_gradient_by_finite_differences():
    X, y, points, rng = example()
    candidates = Candidates.of([cdist(points, points)], points, 8)
    criterion = CombinedCriterion(margins(X, y), candidates)
    w, h = rng.gamma(2.0, size=4), 1e-6
    at = criterion.evaluate(w)

    def distances(weights):
        return gm.pairwise_emd(X, metric=candidates.combined(weights))

    value, W, _, found = reference.margin_loss(
        distances(w), gm.label_similarity(y), 3, 0.4
    )
    assert at.value == pytest.approx(value)
    assert at.n_triplets == len(found) > 0
    for k in range(4):
        e = h * np.eye(4)[k]
        slope = (W * (distances(w + e) - distances(w - e))).sum() / (2 * h)
        assert at.gradient[k] == pytest.approx(slope, rel=1e-5, abs=1e-9)


def test_steps_literally():
    X, y, points, _ = example()
    candidates = Candidates.of([cdist(points, points)], points, 8)
    criterion = CombinedCriterion(margins(X, y), candidates)
    space = ConicCombinations(candidates)
    settings = Settings(step_size=0.5, max_outer=3, max_inner=1, tol=0, result="last")
    descent = Descent(criterion, space, settings)
    descent.run()
    w = np.ones(4)
    for t in range(1, 4):
        M = sum(w_k * M_k for w_k, M_k in zip(w, candidates.metrics, strict=True))
        w = w / np.linalg.norm(M)
        G = margins(X, y).evaluate(M / np.linalg.norm(M)).gradient
        g = np.array([(M_k * G).sum() for M_k in candidates.metrics])
        away = g - (w @ g) / w.sum()
        w = w * np.exp(-0.5 / np.sqrt(t) * away / np.abs(away).max())
    M = sum(w_k * M_k for w_k, M_k in zip(w, candidates.metrics, strict=True))
    np.testing.assert_allclose(descent.result, w / np.linalg.norm(M), rtol=1e-10)
    values = descent.path.column("criterion")
    assert values[-1] < values[0]


@pytest.mark.parametrize("kind", ["margin", "neighborhood"])
def test_learns_which_coordinate_matters(kind):
    X, y, points, _ = example(n=30)
    candidates = Candidates.of([], points, 8)
    weights = weights_of(len(y), y, None)
    inner = margins(X, y)
    if kind == "neighborhood":
        inner = NeighborhoodCriterion(X, weights.balanced(3, 3), 3, 3)
    criterion = CombinedCriterion(inner, candidates)
    settings = Settings(step_size=0.5, max_outer=20, max_inner=1, tol=0)
    descent = Descent(criterion, ConicCombinations(candidates), settings)
    descent.run()
    w = descent.result
    assert w[0] > 3 * w[1:].max()
    M = candidates.combined(w)
    assert gm.is_metric(M)
    assert np.linalg.norm(M) == pytest.approx(1.0)


def test_weights_stay_positive_under_long_steps():
    _, _, points, rng = example()
    candidates = Candidates.of([cdist(points, points)], points, 8)
    space = ConicCombinations(candidates)
    for _ in range(50):
        moved = space.move(rng.normal(size=4), 40.0)
        assert not moved.is_stuck
        assert (space.metric > 0).all()
        assert gm.is_metric(candidates.combined(space.metric))
    before = space.metric.copy()
    assert space.move(np.full(4, 2.0), 1.0).is_stuck
    np.testing.assert_array_equal(space.metric, before)


def test_state_of_combinations():
    X, y, points, _ = example()
    candidates = Candidates.of([], points, 8)

    def fresh():
        settings = Settings(step_size=0.5, max_outer=6, max_inner=1, tol=0)
        criterion = CombinedCriterion(margins(X, y), candidates)
        return Descent(criterion, ConicCombinations(candidates), settings)

    whole, first, second = fresh(), fresh(), fresh()
    whole.run()
    first.run([lambda descent: len(descent.path) == 2])
    second.set_state(first.state())
    second.run()
    np.testing.assert_array_equal(second.result, whole.result)
    for wrong in (np.ones(2), -np.ones(3), np.full(3, np.nan)):
        with pytest.raises(ValueError, match="weights"):
            fresh().space.set_state({"weights": wrong})


def start_of(points):
    M = cdist(points, points)
    return M / np.linalg.norm(M)


def test_pull_literally():
    X, y, points, rng = example()
    start = start_of(points)
    pulled = MetricPull(margins(X, y), start, 0.8)
    pulled.linearize(start)
    first = pulled.evaluate(start)
    plain = margins(X, y).evaluate(start)
    assert first.value == plain.value
    np.testing.assert_array_equal(first.gradient, plain.gradient)
    size = 0.8 * np.linalg.norm(plain.gradient)
    noise = rng.random(start.shape)
    other = gm.metric_closure(start * (1 + 0.3 * (noise + noise.T)))
    at, without = pulled.evaluate(other), margins(X, y).evaluate(other)
    away = other - start
    assert at.value == pytest.approx(without.value + size * (away**2).sum())
    np.testing.assert_allclose(at.gradient, without.gradient + 2 * size * away)


def test_stronger_pull_stays_nearer():
    X, y, points, _ = example(n=24)
    start = start_of(points)
    settings = Settings(step_size=0.3, max_outer=20, max_inner=1, tol=0)
    away = []
    for pull in (0.0, 1.0, 30.0):
        criterion = MetricPull(margins(X, y), start, pull)
        descent = Descent(criterion, MetricCone(start), settings)
        descent.run()
        assert gm.is_metric(descent.metric)
        away.append(np.linalg.norm(descent.metric - start))
    assert away[0] > away[1] > away[2] > 0


def test_state_of_the_pull():
    X, y, points, _ = example()
    start = start_of(points)

    def fresh():
        settings = Settings(step_size=0.3, max_outer=6, max_inner=1, tol=0)
        criterion = MetricPull(margins(X, y), start, 2.0)
        return Descent(criterion, MetricCone(start), settings)

    whole, first, second = fresh(), fresh(), fresh()
    whole.run()
    first.run([lambda descent: len(descent.path) == 3])
    second.set_state(first.state())
    second.run()
    np.testing.assert_array_equal(second.metric, whole.metric)
