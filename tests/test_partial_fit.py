"""One step for each batch that comes, from the metric of the last one."""

import numpy as np
import pytest

import groundmetric as gm
from test_batches import synonyms

TEXT = np.array(["a", "b"] * 300)


@pytest.fixture
def data():
    return synonyms(0)


def test_first_batch_is_the_first_step_of_a_fit(data):
    X, y = (part[:80] for part in data)
    learner = gm.GroundMetricLearning().partial_fit(X, y)
    expected = gm.GroundMetricLearning(max_steps=1).fit(X, y)
    np.testing.assert_array_equal(learner.metric_, expected.metric_)
    np.testing.assert_array_equal(learner.initial_metric_, expected.initial_metric_)
    assert learner.transform(X).shape == (80, 80)
    # The same batch again: the second step of a descent without limits.
    learner.partial_fit(X, y)
    # A descent remembers triangles from one projection to the next.
    expected = gm.GroundMetricLearning(gm.Margin(floor=0.0), tol=0.0, max_steps=2).fit(
        X, y
    )
    np.testing.assert_allclose(learner.metric_, expected.metric_, atol=1e-6)
    assert learner.n_iter_ == 2
    for column in ("outer", "step_size", "criterion"):
        a, b = (one.path_.column(column) for one in (learner, expected))
        np.testing.assert_array_equal(a, b)


def test_the_metric_is_that_of_the_last_step(data):
    X, y = data
    last = gm.GroundMetricLearning(gm.Margin(n_targets=3))
    for k in range(4):
        batch = slice(60 * k, 60 * (k + 1))
        M = last.partial_fit(X[batch], y[batch])._last_metric
        np.testing.assert_allclose(last.metric_ / last.metric_.max(), M / M.max())
    assert gm.is_metric(last.metric_)


def test_batches_after_a_fit_or_a_file(data, tmp_path):
    X, y = data
    learner = gm.GroundMetricLearning(max_steps=5).fit(X[:90], y[:90])
    learner.save(tmp_path / "model.npz")
    again = gm.GroundMetricLearning.load(tmp_path / "model.npz")
    for one in (learner, again):
        one.partial_fit(X[90:180], y[90:180])
    np.testing.assert_array_equal(again.metric_, learner.metric_)
    assert learner.n_iter_ == 6
    assert learner.path_[5].step_size == pytest.approx(0.5 / np.sqrt(6))
    # A new fit forgets the batches.
    fitted = learner.fit(X[:90], y[:90]).metric_
    fresh = gm.GroundMetricLearning(max_steps=5).fit(X[:90], y[:90])
    np.testing.assert_array_equal(fitted, fresh.metric_)


def test_a_file_goes_on_from_the_last_metric(data, tmp_path):
    X, y = data
    learner = gm.GroundMetricLearning()
    for k in range(3):
        learner.partial_fit(X[60 * k : 60 * (k + 1)], y[60 * k : 60 * (k + 1)])
    learner.save(tmp_path / "model.npz")
    loaded = gm.GroundMetricLearning.load(tmp_path / "model.npz")
    for one in (learner, loaded):
        one.partial_fit(X[180:240], y[180:240])
    np.testing.assert_array_equal(loaded.metric_, learner.metric_)
    # A new fit forgets the batches before it, and so does its file.
    learner.fit(X[:60], y[:60]).save(tmp_path / "model.npz")
    loaded = gm.GroundMetricLearning.load(tmp_path / "model.npz")
    for one in (learner, loaded):
        one.partial_fit(X[60:120], y[60:120])
    np.testing.assert_array_equal(loaded.metric_, learner.metric_)


def test_a_batch_is_no_sample_of_the_fit_before(data):
    X, y = data
    learner = gm.GroundMetricLearning(max_samples=30, max_steps=2).fit(X, y)
    assert len(learner.sample_indices_) == 30
    assert not hasattr(learner.partial_fit(X[:60], y[:60]), "sample_indices_")


def test_classes(data):
    X, y = data
    learner = gm.GroundMetricLearning()
    some = np.flatnonzero(y < 2)[:50]
    np.testing.assert_array_equal(
        learner.partial_fit(X[some], y[some]).classes_, [0, 1]
    )
    np.testing.assert_array_equal(learner.partial_fit(X, y).classes_, [0, 1, 2])
    learner.partial_fit(X, y, classes=[3, 2, 1, 0])
    np.testing.assert_array_equal(learner.classes_, [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("options", "batch", "message"),
    [
        ({}, {"classes": [0, 1]}, r"y\[\d+\] is .*2.*, which is not among classes"),
        ({}, {"y": TEXT}, "is 'a', but earlier batches have labels such as 0: labels"),
        (
            {},
            {"classes": ["0", "1", "2"]},
            "but classes have labels such as '0': label",
        ),
        ({}, {"y": TEXT, "classes": ["a", "b"]}, "is 'a', but earlier batches have"),
        ({}, {"classes": [0, None]}, r"classes\[1\] is None: labels must not be"),
        ({"criterion": "neighborhood"}, {}, r"criterion is Neighborhood\(\); only Ma"),
        ({"criterion": gm.Margin(n_targets=0)}, {}, "n_targets is 0"),
        ({}, {"y": np.zeros(600)}, "y has one class only"),
        ({}, {"X": np.ones((600, 5))}, "X has 5 features"),
    ],
)
def test_a_bad_batch_changes_nothing(data, options, batch, message):
    X, y = data
    learner = gm.GroundMetricLearning().partial_fit(X[:60], y[:60])
    learner.set_params(**options)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match=message):
        learner.partial_fit(**{"X": X, "y": y, **batch})
    assert vars(learner).keys() == before.keys()
    assert all(vars(learner)[name] is value for name, value in before.items())


def test_cross_validation_has_no_batches():
    assert not hasattr(gm.MetricLearningCV(), "partial_fit")
