"""What is the same in every fit, and in cross-validation as in the fit that follows."""

import math

import numpy as np
import pytest
from sklearn.base import clone

from groundmetric import (
    GroundMetricLearning,
    MappedMetricLearning,
    Margin,
    MetricLearningCV,
    SinkhornMetricLearning,
)
from test_mapped_learning import task

N = 260  # more than are taken at once


@pytest.fixture(scope="module")
def data():
    X, y, points = task(np.random.default_rng(0), n=N, d=20, n_words=6, s=2)
    return X, y, points


def test_automatic_batches_are_the_same_in_every_fit(data):
    X, y, points = data
    learner = MappedMetricLearning(points, max_steps=2)
    first, second = (clone(learner).fit(X, y).components_ for _ in range(2))
    np.testing.assert_array_equal(first, second)
    drawn = clone(learner).set_params(random_state=1).fit(X, y).components_
    assert not np.array_equal(first, drawn)
    # Batches that were asked for are random, as elsewhere.
    learner.set_params(batch_size=128)
    first, second = (clone(learner).fit(X, y).components_ for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    "options",
    [{"criterion": "softmax"}, {"pull": 1.0, "criterion": Margin(n_targets=2)}],
)
def test_smoothed_learners_without_batches_are_not_random(data, options):
    X, y, points = data
    learner = SinkhornMetricLearning(
        smoothing=math.inf, points=points, max_steps=2, **options
    )
    first, second = (clone(learner).fit(X, y).embedding_ for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "options",
    [{"batch_size": 12, "max_steps": 2}, {"max_samples": 20, "max_steps": 1}],
)
@pytest.mark.parametrize("make", [int, np.random.RandomState])
def test_cross_validation_seeds_what_learners_draw(data, options, make):
    X, y, _ = data
    X, y = X[:40].toarray(), y[:40]
    learner = GroundMetricLearning(**options)
    first, second = (
        MetricLearningCV(learner, {}, cv=2, random_state=make(seed)).fit(X, y)
        for seed in (3, 3)
    )
    for name, scores in first.cv_results_.items():
        if "score" in name:
            np.testing.assert_array_equal(scores, second.cv_results_[name])
    np.testing.assert_array_equal(first.metric_, second.metric_)
    assert learner.random_state is None
    own = clone(learner).set_params(random_state=1)
    search = MetricLearningCV(own, {}, cv=2, random_state=make(3)).fit(X, y)
    assert search.best_estimator_.random_state == 1


def test_a_seed_does_not_change_the_folds(data):
    X, y, _ = data
    X, y = X[:40].toarray(), y[:40]
    searches = [
        MetricLearningCV(GroundMetricLearning(max_steps=1), {}, cv=2, random_state=seed)
        for seed in (0, np.random.RandomState(0))
    ]
    scores = [search.fit(X, y).cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)


def test_folds_are_learned_as_everything_is(data):
    """Automatic batches depend on all histograms, not on those of a fold."""
    X, y, points = data
    folds = [(np.arange(0, 200), np.arange(200, N)), (np.arange(60, N), np.arange(60))]
    learner = MappedMetricLearning(points, max_steps=2)
    automatic, given, whole = (
        MetricLearningCV(clone(learner).set_params(**options), {}, cv=folds).fit(X, y)
        for options in ({}, {"batch_size": 128}, {"batch_size": None})
    )
    scores, expected, others = (
        search.cv_results_["mean_test_score"] for search in (automatic, given, whole)
    )
    np.testing.assert_array_equal(scores, expected)
    assert not np.array_equal(scores, others)
    assert automatic.best_estimator_.batch_size == "auto"
    # In the grid, too.
    grid = {"batch_size": ["auto", 128, None]}
    search = MetricLearningCV(learner, grid, cv=folds).fit(X, y)
    found = search.cv_results_["mean_test_score"].reshape(3, -1)
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
