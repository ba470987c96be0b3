"""Margins by batches: the same criterion on samples, and no more memory than theirs."""

import numpy as np
import pytest

import groundmetric as gm
from groundmetric.learning import _margin
from groundmetric.learning._batches import BatchedMargins
from groundmetric.learning._margin import MarginCriterion
from groundmetric.similarity._weights import LabelWeights, MatrixWeights


@pytest.fixture
def data():
    """Make 61 histograms of three classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 61)
    X = rng.gamma(np.eye(3, 8)[y] + 0.5)
    return X / X.sum(axis=1, keepdims=True), y


@pytest.mark.parametrize("kind", ["labels", "matrix"])
def test_a_batch_is_the_criterion_of_its_members(data, kind):
    X, y = data
    weights = LabelWeights.from_classes(y)
    if kind == "matrix":
        weights = MatrixWeights(weights.matrix())
    rng = np.random.default_rng(1)
    points = rng.normal(size=(8, 2))
    metric = np.linalg.norm(points[:, None] - points[None], axis=2)
    batches = BatchedMargins(X, weights, 10, 0.3, batch_size=20, seed=5)
    order = np.random.default_rng([5, 0]).permutation(61)
    for k in range(3):
        members = np.sort(order[20 * k : 20 * (k + 1)])
        # A third of the histograms, and half of the ten targets.
        alone = MarginCriterion(X[members], weights.part(members), 5, 0.3)
        found, expected = batches.evaluate(metric), alone.evaluate(metric)
        assert found.value == expected.value
        np.testing.assert_array_equal(found.gradient, expected.gradient)
    whole = BatchedMargins(X, weights, 10, 0.3, batch_size=99, seed=5)
    everyone = MarginCriterion(X, weights, 10, 0.3).evaluate(metric)
    np.testing.assert_array_equal(whole.evaluate(metric).gradient, everyone.gradient)


def test_nothing_larger_than_a_batch_is_searched(data, monkeypatch):
    sizes = []
    search = _margin.PairSearch

    def recording(X, *args, **options):
        sizes.append(len(X))
        return search(X, *args, **options)

    monkeypatch.setattr(_margin, "PairSearch", recording)
    learner = gm.GroundMetricLearning(batch_size=15, random_state=0, max_steps=9)
    learner.fit(*data)
    assert sizes == [15] * 2 * 9  # similar and dissimilar pairs, all steps
    assert learner.n_iter_ == 9


def test_batches_are_drawn_by_random_state(data):
    fits = [
        gm.GroundMetricLearning(batch_size=20, random_state=seed).fit(*data).metric_
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])


def test_an_interrupted_fit_goes_on_with_the_same_batches(data, tmp_path):
    options = {"batch_size": 20, "random_state": 3, "max_steps": 8}
    expected = gm.GroundMetricLearning(**options).fit(*data).metric_

    def stop(step):
        if step.outer == 4:
            raise KeyboardInterrupt

    saved = gm.Checkpoint(tmp_path / "state.npz", seconds=0.0)
    with pytest.raises(KeyboardInterrupt):
        gm.GroundMetricLearning(callbacks=[stop, saved], **options).fit(*data)
    assert (tmp_path / "state.npz").exists()
    seen = []
    again = gm.GroundMetricLearning(callbacks=[seen.append, saved], **options)
    np.testing.assert_array_equal(again.fit(*data).metric_, expected)
    assert len(seen) < 8


def synonyms(seed):
    """Make noisy classes that differ in pairs of bins, not within them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 600)
    groups = rng.gamma(rng.gamma(0.5, size=(3, 6))[y])
    bins = groups[:, :, None] * rng.dirichlet([0.3] * 2, groups.shape)
    X = bins.reshape(600, -1)
    return X / X.sum(axis=1, keepdims=True) + rng.dirichlet([0.1] * 12, 600), y


def test_learning_by_batches_helps():
    errors = {"uniform": [], "learned": []}
    for seed in range(3):
        X, y = synonyms(seed)
        learner = gm.GroundMetricLearning(batch_size=60, random_state=0).fit(
            X[:300], y[:300]
        )
        rows = learner.histograms(X)
        for name, M in (("uniform", 1.0 - np.eye(12)), ("learned", learner.metric_)):
            search = gm.EMDNeighbors(M, n_neighbors=5).fit(rows[:300])
            votes = y[:300][search.kneighbors(rows[300:], return_distance=False)]
            found = [np.bincount(vote).argmax() for vote in votes]
            errors[name].append(np.mean(found != y[300:]))
    assert np.mean(errors["learned"]) < 0.95 * np.mean(errors["uniform"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 1}, "batch_size is 1; it must be at least 2"),
        ({"batch_size": 0.5}, "batch_size is 0.5; a whole number is needed"),
        (
            {"batch_size": 9, "criterion": "neighborhood"},
            "batch_size is 9, but criterion is 'neighborhood'; batches are for margins",
        ),
    ],
)
def test_bad_input_in_a_sentence(data, options, message):
    with pytest.raises(ValueError, match=message):
        gm.GroundMetricLearning(**options).fit(*data)
