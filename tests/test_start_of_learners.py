"""Distances before the first step, of learners that start from what is known."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from groundmetric import MappedMetricLearning, SinkhornMetricLearning, pairwise_emd
from groundmetric.experiments.estimators import of_start
from groundmetric.smoothed import sinkhorn_divergence


def problem():
    """Histograms with empty bins, labels, and points of the bins."""
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(7), 16)
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 0] += 0.1
    return X / X.sum(axis=1, keepdims=True), np.arange(16) % 2, rng.normal(size=(7, 3))


def by_idf(X, like):
    """Histograms weighted by the inverse document frequency of other ones."""
    n = len(like)
    idf = np.log((1 + n) / (1 + (like > 0).sum(axis=0))) + 1
    return X * idf / (X * idf).sum(axis=1, keepdims=True)


def proportional(found, expected):
    """Compare distances up to their unit."""
    np.testing.assert_allclose(
        found / found.mean(), expected / expected.mean(), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("points", [None, [[1.0]]])
@pytest.mark.parametrize("learner", [MappedMetricLearning, SinkhornMetricLearning])
def test_one_bin_is_too_few(learner, points):
    with pytest.raises(ValueError, match=r"X has 1 feature\(s\), but a metric needs"):
        learner(points=points, bin_weights="learn").fit(np.ones((6, 1)), [0, 1] * 3)


@pytest.mark.parametrize("fitted", [False, True])
@pytest.mark.parametrize("smoothing", [1.0, math.inf])
def test_smoothed_distances_start_at_points_and_frequencies(smoothing, fitted):
    X, y, points = problem()
    learner = SinkhornMetricLearning(
        smoothing=smoothing,
        power=1.0,
        points=points,
        bin_weights="idf",
        criterion="softmax",
        max_steps=15,
        dtype="float64",
        random_state=0,
    )
    if fitted:
        learner.fit(X, y)
    found = of_start(learner, fitted=fitted).learn(X, y, None)(X, None)
    seen = by_idf(X, X)
    if math.isinf(smoothing):
        expected = cdist(seen @ points, seen @ points, "sqeuclidean")
    else:
        cost = cdist(points, points, "sqeuclidean")
        expected = sinkhorn_divergence(seen, metric=cost, smoothing=smoothing)
    proportional(found, expected)
    if fitted:
        learned = learner.pairwise(X)
        assert np.abs(learned / learned.mean() - found / found.mean()).max() > 0.01


def test_exact_distances_start_at_points_and_frequencies():
    X, y, points = problem()
    learner = MappedMetricLearning(
        points=points, bin_weights="idf", power=1.0, max_steps=3
    ).fit(X, y)
    found = of_start(learner, fitted=True).learn(X, y, None)(X, None)
    proportional(found, pairwise_emd(by_idf(X, X), metric=cdist(points, points)))


def test_the_start_of_a_smoothed_learner_survives_a_file(tmp_path):
    X, y, points = problem()
    learner = SinkhornMetricLearning(
        points=points, bin_weights="idf", criterion="softmax", max_steps=4
    ).fit(X, y)
    learner.save(tmp_path / "model.npz")
    again = SinkhornMetricLearning.load(tmp_path / "model.npz")
    starts = [
        of_start(each, fitted=True).learn(X, y, None)(X, None)
        for each in (learner, again)
    ]
    np.testing.assert_array_equal(*starts)
