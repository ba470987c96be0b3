"""Distances before the first step, of learners that start from what is known."""

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from groundmetric import (
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
    SinkhornMetricLearning,
    pairwise_emd,
)
from groundmetric.experiments.estimators import of_learner
from groundmetric.experiments.measured import Split, measured
from groundmetric.smoothed import sinkhorn_divergence


def problem():
    """Histograms with empty bins, labels, and points of the bins."""
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(7), 16)
    X[rng.random(X.shape) < 0.4] = 0.0
    X[:, 0] += 0.1
    return X / X.sum(axis=1, keepdims=True), np.arange(16) % 2, rng.normal(size=(7, 3))


def start_of(learner, *, fitted=True):
    """Distances before the first step."""
    X, y, _ = problem()
    return of_learner(learner, fitted=fitted, start=True).learn(X, y, None).start


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
    found = start_of(learner, fitted=fitted)(X, None)
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
    found = start_of(learner)(X, None)
    proportional(found, pairwise_emd(by_idf(X, X), metric=cdist(points, points)))


def test_the_start_of_a_smoothed_learner_survives_a_file(tmp_path):
    X, y, points = problem()
    learner = SinkhornMetricLearning(
        points=points, bin_weights="idf", criterion="softmax", max_steps=4
    ).fit(X, y)
    learner.save(tmp_path / "model.npz")
    again = SinkhornMetricLearning.load(tmp_path / "model.npz")
    starts = [start_of(each)(X, None) for each in (learner, again)]
    np.testing.assert_array_equal(*starts)


@pytest.mark.parametrize("fitted", [False, True])
def test_a_search_starts_where_the_chosen_learner_started(fitted):
    X, y, points = problem()
    cost = cdist(points, points)
    learners = [GroundMetricLearning(init=init, max_steps=1) for init in (None, cost)]
    search = MetricLearningCV(learners, {"power": [0.25]}, cv=2)
    if fitted:
        search.fit(X, y)
    learned = of_learner(search, fitted=fitted, start=True).learn(X, y, None)
    best = learned.learner.best_estimator_
    seen = X**0.25 / (X**0.25).sum(axis=1, keepdims=True)
    metric = 1 - np.eye(7) if best.init is None else cost
    proportional(learned.start(X, None), pairwise_emd(seen, metric=metric))


def test_what_a_process_returns_is_errors_alone():
    X, y, points = problem()
    learner = MappedMetricLearning(points, max_steps=1)
    method, split = of_learner(learner, start=True), Split(X, y, X, y)
    one = measured(method, split, n_neighbors=3, svm=False, n_jobs=1)
    assert one.start.method == "initial"
    assert one.start.between.shape == (16, 16)
    again = pickle.loads(pickle.dumps(one.without_distances()))  # noqa: S301 - ours
    np.testing.assert_array_equal(again.start.knn_wrong, one.start.knn_wrong)
    assert again.start.between is again.start.pairwise is again.between is None


def test_callbacks_of_all_learners_of_a_search_are_left_out():
    X, y, _ = problem()
    seen = []
    learner = GroundMetricLearning(max_steps=3, callbacks=[seen.append])
    scores = iter(range(1000))  # the more steps, the better
    search = MetricLearningCV(
        [learner], {}, cv=2, scoring=lambda *_: float(next(scores))
    )
    of_learner(search).learn(X, y, None)
    assert seen == []
    assert search.fit(X, y).best_step_ == len(seen) == 3


def test_a_search_fitted_on_a_frame_measures_rows_without_names():
    X, y, _ = problem()
    search = MetricLearningCV(GroundMetricLearning(max_steps=1), {}, cv=2)
    search.fit(pd.DataFrame(X, columns=list("abcdefg")), y)
    learned = of_learner(search, fitted=True).learn(X, y, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        between = learned(X, None)
    np.testing.assert_array_equal(
        between, search.pairwise(pd.DataFrame(X, columns=list("abcdefg")))
    )
    assert search.best_estimator_.feature_names_in_.tolist() == list("abcdefg")
