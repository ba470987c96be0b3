"""Learning the weights of metrics that are given, as an estimator."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import check_contract
from groundmetric import CombinedMetricLearning, Margin, Neighborhood
from groundmetric.learning._conic import Candidates
from test_conic import example, margins

QUICK = {"max_steps": 5, "power": 1.0}


class OfAnyBins(CombinedMetricLearning):
    """Coordinates for any number of bins: scikit-learn's checks try several."""

    def _given(self, d, n_threads):
        if d > 1:
            self.points = np.column_stack([np.arange(d), np.arange(d) % 2])
        try:
            return super()._given(d, n_threads)
        finally:
            self.points = None


@pytest.mark.filterwarnings("ignore:Class")
@parametrize_with_checks([OfAnyBins(max_steps=2)])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


@pytest.fixture
def data():
    X, y, points, _ = example(n=30)
    return X, y, points


def test_weights_are_of_the_candidates_as_given(data):
    """In their units: first the metrics, then the coordinates; 0 if constant."""
    X, y, points = data
    known = [40 * cdist(points, points), 1 - np.eye(8)]
    columns = np.column_stack([points[:, :1], np.full(8, 7.0), 0.01 * points[:, 1:]])
    learner = CombinedMetricLearning(known, columns, **QUICK).fit(X, y)
    w = learner.weights_
    assert w.shape == (6,)
    assert w[3] == 0
    assert (w[[0, 1, 2, 4, 5]] > 0).all()
    lines = [np.abs(np.subtract.outer(column, column)) for column in columns.T]
    M = sum(w_k * M_k for w_k, M_k in zip(w, [*known, *lines], strict=True))
    np.testing.assert_allclose(learner.metric_, M, rtol=1e-12, atol=1e-14)
    assert gm.is_metric(learner.metric_)
    between = learner.pairwise(X)[np.triu_indices(30, 1)]
    assert np.median(between) == pytest.approx(1.0)
    # Units and constant coordinates make no difference to the metric.
    plain = CombinedMetricLearning([known[0] / 40, known[1]], points, **QUICK)
    plain.fit(X, y)
    np.testing.assert_allclose(plain.metric_, learner.metric_, rtol=1e-9)
    scales = [40, 1, 1, 0.01, 0.01]
    np.testing.assert_allclose(plain.weights_, w[[0, 1, 2, 4, 5]] * scales, rtol=1e-9)


def test_all_candidates_start_alike(data):
    X, y, points = data
    learner = CombinedMetricLearning([1 - np.eye(8)], points, **QUICK).fit(X, y)
    mean = Candidates.of([1 - np.eye(8)], points, 8).metrics.mean(axis=0)
    first = learner.initial_metric_
    np.testing.assert_allclose(first / first.mean(), mean / mean.mean(), rtol=1e-12)


@pytest.mark.parametrize("criterion", ["margin", Neighborhood(k=3, n_similar=3)])
def test_learns_which_coordinate_matters(data, criterion):
    X, y, points = data
    learner = CombinedMetricLearning(points=points, criterion=criterion, power=1.0)
    w = learner.fit(X, y).weights_ * np.ptp(points, axis=0)
    assert w[0] > 2 * w[1:].max()
    values = learner.path_.column("criterion")
    assert values.min() < values[0]
    assert (learner.path_.column("n_sweeps") == 0).all()  # nothing is projected


def test_margins_return_the_mean_of_all_steps(data):
    X, y, points = data
    known = Candidates.of([], points, 8)
    learner = CombinedMetricLearning(
        points=points,
        criterion=Margin(n_targets=3, margin=0.4, floor=0.0),
        power=1.0,
        tol=0,
        max_steps=3,
    ).fit(X, y)
    w, total = np.ones(3), np.zeros(3)
    for t in range(1, 4):
        w = w / np.linalg.norm(np.tensordot(w, known.metrics, axes=1))
        g = known.slopes(margins(X, y).evaluate(known.combined(w)).gradient)
        away = g - (w @ g) / w.sum()
        w = w * np.exp(-0.5 / np.sqrt(t) * away / np.abs(away).max())
        total += w / np.linalg.norm(np.tensordot(w, known.metrics, axes=1))
    found, expected = learner.weights_, total / known.units
    np.testing.assert_allclose(found / found.sum(), expected / expected.sum())


def test_similarities_samples_sparse_rows_and_threads(data):
    X, y, points = data
    learner = CombinedMetricLearning(points=points, **QUICK).fit(X, y)
    by_pairs = clone(learner).fit(X, similarity=gm.label_similarity(y))
    np.testing.assert_allclose(by_pairs.metric_, learner.metric_, atol=1e-9)
    for given, n_jobs in ((csr_array(X), None), (X, 2)):
        other = clone(learner).set_params(n_jobs=n_jobs).fit(given, y)
        np.testing.assert_allclose(other.weights_, learner.weights_, rtol=1e-12)
    sample = clone(learner).set_params(max_samples=20, random_state=0).fit(X, y)
    kept = sample.sample_indices_
    alone = clone(learner).fit(X[kept], y[kept])
    np.testing.assert_array_equal(sample.weights_, alone.weights_)
    assert sample.transform(X).shape == (30, 20)


def test_models_survive_files_and_pickles(data, tmp_path):
    X, y, points = data
    learner = CombinedMetricLearning([cdist(points, points)], points, **QUICK)
    learner.fit(X, y).save(tmp_path / "model.npz")
    for other in (
        CombinedMetricLearning.load(tmp_path / "model.npz"),
        pickle.loads(pickle.dumps(learner)),  # noqa: S301 - our own
    ):
        np.testing.assert_array_equal(other.weights_, learner.weights_)
        np.testing.assert_array_equal(other.transform(X), learner.transform(X))
        assert len(other.metrics) == 1
        assert other.fit(X, y).n_features_in_ == 8
    learner.weights_ = -learner.weights_
    learner.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="weights_ has a negative entry"):
        CombinedMetricLearning.load(tmp_path / "model.npz")


def test_checkpoints_continue_to_the_same_weights(data, tmp_path):
    X, y, points = data
    learner = CombinedMetricLearning(
        points=points, criterion=Margin(floor=0.0), tol=0, max_steps=6
    )
    expected = clone(learner).fit(X, y)

    def stop(step):
        if step.outer == 2:
            raise KeyboardInterrupt

    saved = gm.Checkpoint(tmp_path / "state.npz", seconds=0)
    with pytest.raises(KeyboardInterrupt):
        clone(learner).set_params(callbacks=[stop, saved]).fit(X, y)
    seen = []
    again = clone(learner).set_params(callbacks=[seen.append, saved]).fit(X, y)
    assert [step.outer for step in seen] == [2, 3, 4, 5]
    np.testing.assert_array_equal(again.weights_, expected.weights_)


def test_cross_validation_chooses_steps(data, tmp_path):
    X, y, points = data
    learner = CombinedMetricLearning(points=points, max_steps=4)
    grid = {"power": [0.5, 1.0], "criterion__margin": [0.3, 1.0]}
    search = gm.MetricLearningCV(learner, grid, cv=2).fit(X, y)
    assert 0 <= search.best_step_ <= 4
    assert search.weights_.shape == (3,)
    search.save(tmp_path / "model.npz")
    again = gm.MetricLearningCV.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.weights_, search.weights_)
    np.testing.assert_array_equal(again.transform(X), search.transform(X))
    fresh = clone(learner).set_params(**search.best_params_, criterion__floor=0.0)
    fresh.set_params(tol=0, max_steps=max(search.best_step_, 1)).fit(X, y)
    expected = fresh.metric_ if search.best_step_ else fresh.initial_metric_
    np.testing.assert_allclose(search.metric_, expected, rtol=1e-12, atol=1e-15)


METRIC = 1.0 - np.eye(3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "There are neither metrics nor points to combine"),
        ({"metrics": 3}, "metrics is 3; a list of metrics is needed"),
        ({"metrics": "l1"}, "metrics is 'l1'; a list of metrics is needed"),
        ({"metrics": METRIC}, r"metrics\[0\]"),
        ({"metrics": [METRIC, np.eye(3)]}, r"metrics\[1\]\[0, 0\] is 1\.0: the diag"),
        ({"metrics": [METRIC[:2, :2]]}, r"metrics\[0\] has shape \(2, 2\), but the hi"),
        ({"metrics": [0 * METRIC]}, r"metrics\[0\] is zero everywhere"),
        ({"metrics": [[[0, 1, 5], [1, 0, 2], [5, 2, 0]]]},
         r"metrics\[0\]\[0, 2\] exceeds .* by 2\.0"),
        ({"points": np.ones((3, 2))}, "points are all the same"),
        ({"points": np.ones((4, 2))}, r"points has shape \(4, 2\), but the hist"),
        ({"points": [[1], [np.nan], [2]]}, "points.*nan"),
        ({"points": [[1], [2], [3]], "criterion": "hinge"}, "criterion is 'hinge'"),
        ({"points": [[1], [2], [3]], "power": 0}, r"power is 0\.0"),
    ],
)  # fmt: skip
def test_bad_input(options, message):
    X = [[1, 2, 3], [2, 1, 3], [3, 2, 1], [3, 1, 2]]
    learner = CombinedMetricLearning(**options)
    with pytest.raises(ValueError, match=message):
        learner.fit(X, [0, 0, 1, 1])
    assert not hasattr(learner, "path_")


def test_a_fit_that_fails_changes_nothing(data):
    X, y, points = data
    learner = CombinedMetricLearning(points=points, **QUICK).fit(X, y)
    assert "_candidates" not in vars(learner)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match="points"):
        learner.set_params(points=points[:3]).fit(X, y)
    learner.set_params(points=points)
    assert vars(learner) == before
