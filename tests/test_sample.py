"""Learning from a sample of the histograms, drawn class by class."""

import numpy as np
import pytest

import groundmetric as gm
from groundmetric.base._sample import drawn_by_class


@pytest.fixture
def data():
    """Make 60, 30 and 10 histograms of three classes, in any order."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat([0, 1, 2], [60, 30, 10]))
    return rng.gamma(np.eye(3, 8)[y] + 0.5), y


def test_classes_are_used_up_at_the_same_pace():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    for n, expected in ((100, [60, 30, 10]), (50, [30, 15, 5]), (3, [1, 1, 1])):
        kept = drawn_by_class(y, n, np.random.default_rng(0))
        assert (np.diff(kept) > 0).all()
        np.testing.assert_array_equal(np.bincount(y[kept]), expected)
    # All members of a class have the same chance.
    draws = [drawn_by_class(y, 10, np.random.default_rng(k)) for k in range(2000)]
    counts = np.bincount(np.concatenate(draws), minlength=100)
    assert counts[:60].min() > 120 * 2000 / 1200 * 0.7


def test_a_fit_on_a_sample_is_the_fit_of_the_sample(data):
    X, y = data
    learner = gm.GroundMetricLearning(max_samples=40, random_state=1).fit(X, y)
    kept = learner.sample_indices_
    np.testing.assert_array_equal(np.bincount(y[kept]), [24, 12, 4])
    alone = gm.GroundMetricLearning().fit(X[kept], y[kept])
    np.testing.assert_array_equal(learner.metric_, alone.metric_)
    assert learner.transform(X[:2]).shape == (2, 40)
    again = gm.GroundMetricLearning(max_samples=40, random_state=1).fit(X, y)
    np.testing.assert_array_equal(again.sample_indices_, kept)
    other = gm.GroundMetricLearning(max_samples=40, random_state=2).fit(X, y)
    assert not np.array_equal(other.sample_indices_, kept)


def test_all_histograms_are_no_sample(data, tmp_path):
    X, y = data
    learner = gm.GroundMetricLearning(max_samples=40, max_steps=1).fit(X, y)
    learner.save(tmp_path / "model.npz")
    loaded = gm.GroundMetricLearning.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.sample_indices_, learner.sample_indices_)
    learner.set_params(max_samples=100).fit(X, y)
    assert not hasattr(learner, "sample_indices_")
    assert learner.transform(X[:1]).shape == (1, 100)


def test_similarities_of_the_sample(data):
    X, y = data
    similarity = gm.label_similarity(y)
    learner = gm.GroundMetricLearning(max_samples=40, random_state=3, max_steps=2)
    found = learner.fit(X, similarity=similarity)
    kept = found.sample_indices_
    alone = gm.GroundMetricLearning(max_steps=2).fit(
        X[kept], similarity=similarity[np.ix_(kept, kept)]
    )
    np.testing.assert_array_equal(found.metric_, alone.metric_)


def test_cross_validation_on_a_sample(data):
    X, y = data
    learner = gm.MetricLearningCV(
        gm.GroundMetricLearning(max_samples=60, max_steps=2), {}, cv=2
    ).fit(X, y)
    assert learner.transform(X[:1]).shape == (1, 60)


@pytest.mark.parametrize(
    ("max_samples", "message"),
    [
        (2, "max_samples is 2, but there are 3 classes"),
        (1, "max_samples is 1; it must be at least 2"),
        (0.5, "max_samples is 0.5; a whole number is needed"),
    ],
)
def test_bad_input_in_a_sentence(data, max_samples, message):
    with pytest.raises(ValueError, match=message):
        gm.GroundMetricLearning(max_samples=max_samples).fit(*data)
