"""The margin criterion: exact, though most pairs are not solved."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric.learning._margin import MarginCriterion
from groundmetric.similarity._makers import weights_of
from groundmetric.similarity._weights import MatrixWeights
from problems import cost
from reference import margin_loss

pytestmark = pytest.mark.core


def data(seed=0, n=24, d=14, classes=3):
    """Histograms of some classes, with equal ones among them, and a metric."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.gamma(rng.gamma(1.0, size=(classes, d))[y] + 0.3)
    X[classes] = X[0]
    X /= X.sum(axis=1, keepdims=True)
    return X, y, cost(rng, "euclidean", d), rng


def plans(X, W, M):
    """Sum of optimal plans with weights W, made symmetric, without diagonal."""
    i, j = np.triu_indices(len(X), 1)
    solution = gm.TransportBatch(X, np.stack([i, j], axis=1)).solve(M)
    total = solution.plan_sum((W + W.T)[i, j])
    G = (total + total.T) / 2
    np.fill_diagonal(G, 0.0)
    return G


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n_targets", "share"), [(1, 0.3), (4, 0.1), (50, 2.0)])
def test_literally(seed, n_targets, share):
    X, y, M, rng = data(seed)
    labels = weights_of(len(y), y, None)
    upper = np.triu(rng.uniform(0.5, 1.0, (len(y), len(y))), 1)
    matrix = MatrixWeights(labels.matrix() * (upper + upper.T))
    D = gm.pairwise_emd(X, metric=M)
    for weights in (labels, matrix):
        value, W, _, found = margin_loss(D, weights.matrix(), n_targets, share)
        at = MarginCriterion(X, weights, n_targets, share).evaluate(M)
        assert at.value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(at.gradient, plans(X, W, M), atol=1e-14)
        assert at.n_triplets == len(found)
        assert at.n_clear == len(X) - len({i for i, _, _ in found})


@pytest.mark.parametrize("seed", range(3))
def test_gradient_by_finite_differences(seed):
    # Points in general position: plans, targets and triplets are stable near M; the
    # margin is held fixed, as in the gradient.
    rng = np.random.default_rng(seed)
    y = np.arange(18) % 2
    X = rng.dirichlet(np.ones(10), 18)
    M = cost(rng, "euclidean", 10)
    omega = gm.label_similarity(y)
    weights = weights_of(18, y, None)
    G = MarginCriterion(X, weights, 3, 0.4).evaluate(M).gradient
    np.testing.assert_array_equal(G, G.T)
    _, W, _, _ = margin_loss(gm.pairwise_emd(X, metric=M), omega, 3, 0.4)
    for _ in range(5):
        E = rng.normal(size=M.shape)
        E, h = np.triu(E, 1) + np.triu(E, 1).T, 1e-7
        up, down = (gm.pairwise_emd(X, metric=M + s * h * E) for s in (1, -1))
        assert (W * (up - down)).sum() / (2 * h) == pytest.approx(
            (G * E).sum(), rel=1e-5
        )


def test_an_evaluation_depends_on_the_metric_alone():
    X, y, M, rng = data(5, n=40)
    weights = weights_of(len(y), y, None)
    used = MarginCriterion(X, weights, 5, 0.3, n_threads=3)
    for _ in range(3):
        used.evaluate(cost(rng, "euclidean", 14))
    a, b = used.evaluate(M), MarginCriterion(X, weights, 5, 0.3).evaluate(M)
    assert a.value == b.value
    np.testing.assert_array_equal(a.gradient, b.gradient)


def test_hand_computed():
    # Four histograms on a line of two bins: d(i, j) = |x_i - x_j|, x the first mass.
    x = np.array([0.0, 0.2, 0.5, 1.0])
    X, M = np.stack([x, 1 - x], axis=1), 1 - np.eye(2)
    y = np.array([0, 0, 1, 1])
    # Targets: 0-1 (0.2, twice) and 2-3 (0.5, twice); median 0.35, margin 0.35 with
    # share 1. Active: (0, 1, 2): 0.35 + 0.2 - 0.5; (1, 0, 2): 0.35 + 0.2 - 0.3;
    # (2, 3, 0): 0.35 + 0.5 - 0.5; (2, 3, 1): 0.35 + 0.5 - 0.3; (3, 2, 1): 0.35 + 0.5
    # - 0.8; not (1, 0, 3), (0, 1, 3), (3, 2, 0).
    at = MarginCriterion(X, weights_of(4, y, None), 1, 1.0).evaluate(M)
    assert at.n_triplets == 5
    assert at.n_clear == 0
    assert at.value == pytest.approx((0.05 + 0.25 + 0.35 + 0.55 + 0.05) / 4)


def test_separated_classes_have_no_impostors():
    X = np.array([[9, 1, 0, 0], [8, 2, 0, 0], [0, 0, 2, 8], [0, 0, 1, 9]]) / 10
    at = MarginCriterion(X, weights_of(4, [0, 0, 1, 1], None), 1, 0.3).evaluate(
        1 - np.eye(4)
    )
    assert (at.value, at.n_triplets, at.n_clear) == (0.0, 0, 4)
    np.testing.assert_array_equal(at.gradient, np.zeros((4, 4)))


@pytest.mark.filterwarnings("ignore:Class .* has a single member")
def test_a_class_of_one_counts_as_impostor_only():
    X, _, M, _ = data(1, n=9)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])
    D = gm.pairwise_emd(X, metric=M)
    weights = weights_of(9, y, None)
    value, _, _, found = margin_loss(D, weights.matrix(), 3, 1.0)
    at = MarginCriterion(X, weights, 3, 1.0).evaluate(M)
    assert at.value == pytest.approx(value, rel=1e-12)
    assert {i for i, _, _ in found} <= set(range(8))
    assert any(other == 8 for _, _, other in found)


def test_few_pairs_are_solved():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / X[:300].sum(axis=1, keepdims=True), y[:300]
    learner = gm.GroundMetricLearning(max_steps=3).fit(X, y)
    n_pairs = 300 * 299 // 2
    step = learner.path_[-1]
    assert step.n_bounded > 0.6 * n_pairs
    assert step.n_solves - step.n_stopped < 0.3 * n_pairs


def test_stops_at_a_share_of_the_first_value():
    X, y = load_digits(return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == c)[:15] for c in (3, 8, 9)])
    X, y = X[chosen], y[chosen]
    whole = gm.GroundMetricLearning(gm.Margin(floor=0.0), tol=0.0, max_steps=8).fit(
        X, y
    )
    values = whole.path_.column("criterion")
    share = float(values[2] / values[0])
    assert (values[:2] > values[2]).all()
    stopped = gm.GroundMetricLearning(gm.Margin(floor=share), tol=0.0, max_steps=8).fit(
        X, y
    )
    # Evaluated three times, moved twice: the metric is the one with this value.
    assert stopped.converged_
    np.testing.assert_allclose(stopped.path_.column("criterion"), values[:3])
    two = gm.GroundMetricLearning(gm.Margin(floor=0.0), tol=0.0, max_steps=2).fit(X, y)
    np.testing.assert_array_equal(stopped.metric_, two.metric_)


@pytest.mark.parametrize("power", [1.0, 0.5])
def test_the_criterion_falls(power):
    X, y = load_digits(return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == c)[:15] for c in (3, 8, 9)])
    for result in ("average", "best", "last"):
        learner = gm.GroundMetricLearning(power=power, tol=0.0)
        learner.fit(X[chosen], y[chosen])
        rows = learner.histograms(X[chosen])
        criterion = MarginCriterion(rows, weights_of(45, y[chosen], None), 10, 0.3)
        before, after = (
            criterion.evaluate(M / np.linalg.norm(M)).value
            for M in (learner.initial_metric_, learner.metric_)
        )
        assert after < 0.8 * before
        triplets = learner.path_.column("n_triplets")
        assert triplets[-1] < triplets[0]
        if result == "best":
            lowest = learner.path_.column("criterion").min()
            assert after == pytest.approx(lowest, rel=0.02)


def test_margins_scale_with_the_metric():
    X, y, M, _ = data(2)
    criterion = MarginCriterion(X, weights_of(len(y), y, None), 3, 0.3)
    a, b = criterion.evaluate(M), criterion.evaluate(4 * M)
    assert b.value == pytest.approx(4 * a.value, rel=1e-12)
    assert a.n_triplets == b.n_triplets
