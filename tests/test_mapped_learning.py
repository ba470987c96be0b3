"""Learning a linear map of the bins' coordinates, on sparse histograms."""

import copy
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, issparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
import reference
from contract import check_contract
from groundmetric import GroundMetricLearning, MappedMetricLearning, Margin, _core
from groundmetric.learning import _mapped_pairs, _maps
from groundmetric.learning._axes import centered, starting_map
from groundmetric.learning._mapped_pairs import MappedHistograms, MappedSearch
from groundmetric.learning._maps import LinearMaps
from groundmetric.learning._margin import MarginCriterion
from groundmetric.similarity._makers import weights_of
from groundmetric.similarity._weights import LabelWeights
from test_points import NeverDense


@pytest.mark.filterwarnings("ignore:Class")
@parametrize_with_checks([MappedMetricLearning(n_components=1, max_steps=2)])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


def task(rng, *, n=40, d=60, n_words=12, s=4, strength=1.0):
    """Words at random places; classes use those far out along the first coordinate.

    The other coordinates are noise of twice the size.
    """
    points = rng.normal(size=(d, s)) * [1.0, *[2.0] * (s - 1)]
    y = np.arange(n) % 2
    logits = strength * np.outer(2 * y - 1, points[:, 0])
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    X = np.stack([rng.multinomial(n_words, share) for share in shares]).astype(float)
    return csr_array(X), y, points


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def data(rng):
    return task(rng)


def parameters_of(points, r=3):
    """Say what vectors of maps to r dimensions mean; no weights are learned."""
    return LinearMaps(points, np.eye(points.shape[1])[:r]).parameters


def vector_of(A):
    return A.T.ravel()


def map_of(theta, s=4):
    return theta.reshape(s, -1).T


def criterion(X, y, points, *, n_targets=3, r=3):
    """Make the criterion on maps, and on matrices."""
    weights = weights_of(len(y), y, None)
    make = MappedHistograms(X, parameters_of(points, r))
    searches = make(np.arange(len(y)), weights)
    on_maps = MarginCriterion(None, weights, n_targets, 0.3, searches=searches)
    return on_maps, MarginCriterion(X.toarray(), weights, n_targets, 0.3)


@pytest.fixture
def example(rng):
    X, y, points = task(rng, n=14, d=20, n_words=5)
    X = csr_array(X.toarray() / 5)
    return X, y, centered(points, 20), rng.normal(size=(3, 4))


def test_criterion_is_that_of_the_dense_metric(example):
    X, y, points, A = example
    on_maps, on_matrices = criterion(X, y, points)
    M = cdist(points @ A.T, points @ A.T)
    found, expected = on_maps.evaluate(vector_of(A)), on_matrices.evaluate(M)
    assert found.value == pytest.approx(expected.value, rel=1e-12)
    assert found.n_triplets == expected.n_triplets
    chained = reference.map_gradient(A, points, expected.gradient)
    np.testing.assert_allclose(map_of(found.gradient), chained, rtol=0, atol=1e-12)


def test_gradients_are_summed_in_parts(example, monkeypatch):
    X, y, points, A = example
    whole = criterion(X, y, points)[0].evaluate(vector_of(A)).gradient
    monkeypatch.setattr(_mapped_pairs, "PAIRS", 3)
    monkeypatch.setattr(_mapped_pairs, "ARCS", 7)
    parts = criterion(X, y, points)[0].evaluate(vector_of(A)).gradient
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-14)


def test_gradient_by_finite_differences(example, rng):
    """The margin, a share of a median distance, counts as a constant; so hold it."""
    X, y, points, A = example
    weights = weights_of(len(y), y, None)
    search = MappedSearch(X, parameters_of(points), weights, similar=False)
    theta = vector_of(A)
    first = search.find(theta)
    w = rng.normal(size=len(first.j))
    gradient = first.plan_sum(w)
    assert gradient.shape == theta.shape
    w_sorted = w[np.lexsort((first.j, first.i))]

    def value(theta):
        pairs = search.find(theta)
        return w_sorted @ pairs.distances[np.lexsort((pairs.j, pairs.i))]

    for place in range(len(theta)):
        step = np.zeros_like(theta)
        step[place] = 1e-6
        slope = (value(theta + step) - value(theta - step)) / 2e-6
        assert gradient[place] == pytest.approx(slope, abs=1e-7)


def test_pairs_found_are_the_nearest(example):
    X, y, points, A = example
    known = parameters_of(points)
    D = gm.pairwise_emd(X, points=points @ A.T)
    search = MappedSearch(X, known, weights_of(len(y), y, None), similar=True)
    pairs = search.find(vector_of(A), 2)
    for i in range(len(y)):
        same = np.flatnonzero((y == y[i]) & (np.arange(len(y)) != i))
        part = slice(*pairs.starts[i : i + 2])
        np.testing.assert_array_equal(pairs.distances[part], np.sort(D[i, same])[:2])
    other = MappedSearch(X, known, weights_of(len(y), y, None), similar=False)
    radii = np.linspace(0.5, 2.0, len(y)) * np.median(D)
    pairs = other.find(vector_of(A), radii=radii)
    within = (radii[:, None] >= D) & (y[:, None] != y)
    np.testing.assert_array_equal(np.diff(pairs.starts), within.sum(axis=1))
    assert sum(pairs.work().values()) > 0


def test_bins_in_the_same_place_move_together():
    """Mass between them costs nothing, and adds nothing to the gradient."""
    points = centered([[0.0, 1.0], [0.0, 1.0], [3.0, 1.0]], 3)
    X = csr_array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    weights = LabelWeights.from_classes(np.arange(3))
    search = MappedSearch(X, parameters_of(points, 2), weights, similar=False)
    pairs = search.find(vector_of(np.eye(2)))
    gradient = map_of(pairs.plan_sum(np.ones(len(pairs.j))), 2)
    assert sorted(pairs.distances) == [0, 0, 3, 3, 3, 3]
    # d|A (3, 0)| / dA is 3 at A_00, for each of the four ordered pairs.
    np.testing.assert_allclose(gradient, [[12.0, 0.0], [0.0, 0.0]], atol=1e-14)


def test_one_step_is_the_literal_one(example):
    X, y, points, _ = example
    learner = MappedMetricLearning(
        points, criterion=Margin(n_targets=3), n_components=2, power=1.0, max_steps=1
    ).fit(X, y)
    start = map_of(LinearMaps(points, starting_map(points, 2, points)).metric)
    G = criterion(X, y, points)[1].evaluate(cdist(points @ start.T, points @ start.T))
    gradient = reference.map_gradient(start, points, G.gradient)
    expected = reference.map_step(start, points, gradient, 0.5)
    found = learner.components_ / np.linalg.norm(learner.components_)
    np.testing.assert_allclose(found, expected / np.linalg.norm(expected), atol=1e-10)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-158, 1e200, 1e308])
@pytest.mark.parametrize("n_components", [1, 2])
def test_scales_of_points_do_not_matter(rng, scale, n_components):
    X, points = rng.random((8, 5)), rng.random((5, 2)) * 2 - 1
    learner = MappedMetricLearning(n_components=n_components, max_steps=3)
    learner.set_params(points=points)
    expected = learner.fit(X, [0, 1] * 4).embedding_
    components = learner.components_
    learner.set_params(points=points * scale).fit(X, [0, 1] * 4)
    np.testing.assert_allclose(learner.embedding_, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(learner.components_ * scale, components, rtol=1e-7)


def test_rejects_points_whose_map_is_out_of_range(rng):
    learner = MappedMetricLearning(n_components=1, max_steps=3)
    learner.set_params(points=rng.normal(size=(5, 2)) * 1e-318)
    with pytest.raises(ValueError, match="points are less than 2"):
        learner.fit(rng.random((8, 5)), [0, 1] * 4)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_core_rejects_positions_that_are_not_finite(bad):
    with pytest.raises(ValueError, match="not finite"):
        _core.Points(np.array([[0.0], [bad]]))


def test_starts_at_the_principal_axes(data):
    _, _, points = data
    P = centered(points, 60)
    start = starting_map(P, 2, P)
    np.testing.assert_allclose(start @ start.T, np.eye(2), atol=1e-12)
    kept = np.square(P @ start.T).sum()
    assert kept == pytest.approx((np.linalg.svd(P)[1][:2] ** 2).sum())
    assert (
        starting_map(P, 4, P) == np.eye(4)
    ).all()  # all of them: the points as given


def test_learns(rng):
    X, y, points = task(rng, n=160, strength=0.5)
    learner = MappedMetricLearning(points, n_components=2)
    learner.fit(X[:80], y[:80])
    values = learner.path_.column("criterion")
    assert values[-1] < 0.5 * values[0]
    before = gm.pairwise_emd(
        learner.histograms(X[80:]), learner.histograms(X[:80]), points=points
    )
    errors = [
        reference.knn_error(D, y[:80], y[80:], 5)
        for D in (before, learner.transform(X[80:]))
    ]
    assert errors[1] < errors[0] - 0.05


def test_attributes_agree(data):
    X, y, points = data
    learner = MappedMetricLearning(points, n_components=3, max_steps=3)
    learner.fit(NeverDense(X), y)
    assert learner.components_.shape == (3, 4)
    np.testing.assert_allclose(
        learner.embedding_,
        (points - points.mean(axis=0)) @ learner.components_.T,
        atol=1e-12,
    )
    M = learner.metric_
    np.testing.assert_array_equal(M, cdist(learner.embedding_, learner.embedding_))
    between = learner.pairwise(X)[np.triu_indices(40, 1)]
    assert np.median(between) == pytest.approx(1.0)
    assert gm.is_metric(M, tol=1e-12)
    rows = learner.histograms(X)
    assert issparse(rows)
    expected = gm.pairwise_emd(rows.toarray(), metric=M)
    np.testing.assert_allclose(learner.pairwise(X), expected, atol=1e-12)
    np.testing.assert_allclose(learner.transform(X), expected, atol=1e-12)
    np.testing.assert_allclose(
        learner.pairwise(X[:2], X[5:9]), expected[:2, 5:9], atol=1e-12
    )
    r, c = X.toarray()[:2]
    assert learner.get_metric()(r, c) == pytest.approx(expected[0, 1], abs=1e-12)
    assert learner.get_feature_names_out().shape == (40,)
    for name in ("metric_", "initial_metric_"):
        assert not hasattr(GroundMetricLearning(), name)


def test_a_map_knows_where_it_started(data, tmp_path):
    X, y, points = data
    learner = MappedMetricLearning(points, n_components=2, max_steps=3)
    learner.fit(X, y)
    around = points - points.mean(axis=0)
    axes = np.linalg.svd(around)[2][:2]  # the principal ones
    expected = cdist(points @ axes.T, points @ axes.T)
    first = learner.initial_metric_
    np.testing.assert_allclose(
        first / first.mean(), expected / expected.mean(), atol=1e-12
    )
    positions = learner.initial_embedding_
    learner.save(tmp_path / "map.npz")
    again = MappedMetricLearning.load(tmp_path / "map.npz")
    np.testing.assert_array_equal(again.initial_embedding_, positions)
    # It may start where the last fit ended.
    last = learner.embedding_
    learner.set_params(init=learner.components_).fit(X, y)
    np.testing.assert_allclose(learner.initial_embedding_, last, atol=1e-12)


def test_without_points_every_bin_has_a_position(data):
    X, y, _ = data
    learner = MappedMetricLearning(n_components=3, max_steps=8).fit(X, y)
    assert learner.components_.shape == (3, 60)
    # Each bin has a coordinate of its own: the map has its position in a column.
    positions = learner.components_.T
    np.testing.assert_allclose(
        learner.embedding_, positions - positions.mean(axis=0), atol=1e-12
    )
    values = learner.path_.column("criterion")
    assert values[-1] < 0.5 * values[0]


def test_sparse_powers_are_the_dense_ones(data):
    X, y, points = data
    dense = GroundMetricLearning(power=0.3, max_steps=1).fit(X, y)
    learner = MappedMetricLearning(points, n_components=1, power=0.3, max_steps=1).fit(
        X, y
    )
    np.testing.assert_allclose(
        learner.histograms(X).toarray(), dense.histograms(X), rtol=1e-14
    )


def test_dense_input_and_threads_change_nothing(data):
    X, y, points = data
    found = [
        MappedMetricLearning(points, n_components=2, n_jobs=n_jobs, max_steps=3).fit(
            given, y
        )
        for given, n_jobs in ((X, None), (X.toarray(), None), (X, 2))
    ]
    for learner in found[1:]:
        np.testing.assert_array_equal(learner.components_, found[0].components_)


def test_models_survive_files_and_pickles(data, tmp_path):
    X, y, points = data
    learner = MappedMetricLearning(points, n_components=2, max_steps=2)
    learner.fit(X, y).save(tmp_path / "model.npz")
    for other in (
        MappedMetricLearning.load(tmp_path / "model.npz"),
        pickle.loads(pickle.dumps(learner)),  # noqa: S301 - our own
    ):
        np.testing.assert_array_equal(other.embedding_, learner.embedding_)
        np.testing.assert_array_equal(other.transform(X), learner.transform(X))
        assert other.n_features_in_ == 60
        assert other.n_iter_ == 2
    assert not hasattr(clone(learner), "components_")


def test_files_with_missing_parts_are_rejected(data, tmp_path):
    X, y, points = data
    learner = MappedMetricLearning(points, n_components=2, max_steps=1).fit(X, y)
    for name in ("_bins", "embedding_"):
        broken = copy.copy(learner)
        del broken.__dict__[name]
        broken.save(tmp_path / "model.npz")
        with pytest.raises(ValueError, match=f"'{name}' is missing"):
            MappedMetricLearning.load(tmp_path / "model.npz")
    dense = GroundMetricLearning(max_steps=1).fit(X, y)
    del dense.__dict__["metric_"]
    dense.save(tmp_path / "model.npz")
    with pytest.raises(ValueError, match="'metric_' is missing"):
        GroundMetricLearning.load(tmp_path / "model.npz")


def test_a_fit_that_fails_changes_nothing(data):
    X, y, points = data
    learner = MappedMetricLearning(points, 2, criterion=Margin(), max_steps=1)
    learner.fit(X, y)
    assert "metric_" not in vars(learner)
    before = dict(vars(learner))
    with pytest.raises(ValueError, match="n_targets"):
        learner.set_params(criterion__n_targets=0).fit(X, y)
    learner.set_params(criterion__n_targets=10)
    assert vars(learner) == before


def test_default_is_a_map_to_as_many_dimensions(data):
    X, y, points = data
    learner = MappedMetricLearning(points, max_steps=1).fit(X, y)
    assert learner.components_.shape == (4, 4)
    with pytest.raises(AttributeError, match="not fitted"):
        MappedMetricLearning().metric_  # noqa: B018 - computed when asked for


def test_checkpoints_continue_to_the_same_map(data, tmp_path):
    X, y, points = data
    options = {"points": points, "n_components": 2, "max_steps": 6}
    expected = MappedMetricLearning(**options).fit(X, y)

    def stop(step):
        if step.outer == 2:
            raise KeyboardInterrupt

    path = tmp_path / "state.npz"
    saved = gm.Checkpoint(path, seconds=0)
    with pytest.raises(KeyboardInterrupt):
        MappedMetricLearning(callbacks=[stop, saved], **options).fit(X, y)
    assert path.exists()
    seen = []
    learner = MappedMetricLearning(callbacks=[seen.append, saved], **options)
    learner.fit(X, y)
    assert len(seen) < expected.n_iter_
    np.testing.assert_array_equal(learner.components_, expected.components_)


def test_starts_samples_and_similarities(data):
    X, y, points = data
    options = {"points": points, "n_components": 2}
    learner = MappedMetricLearning(max_steps=4, **options).fit(X, y)
    last = learner.path_[-1].criterion
    again = learner.set_params(init=learner.components_).fit(X, y)
    assert again.path_[0].criterion <= last + 1e-12
    sample = MappedMetricLearning(max_samples=20, random_state=0, **options).fit(X, y)
    kept = sample.sample_indices_
    assert sample.transform(X).shape == (40, 20)
    alone = MappedMetricLearning(**options).fit(X[kept], y[kept])
    np.testing.assert_array_equal(sample.components_, alone.components_)
    similarity = np.where(y[:, None] == y, 1.0, -1.0) * (1 - np.eye(40))
    by_pairs = MappedMetricLearning(**options).fit(X, similarity=similarity)
    by_labels = MappedMetricLearning(**options).fit(X, y)
    np.testing.assert_allclose(by_pairs.components_, by_labels.components_, atol=1e-9)


def test_classifier_takes_it(rng):
    X, y, points = task(rng, n=120)
    learner = MappedMetricLearning(points, n_components=2)
    model = gm.EMDClassifier(learner=learner).fit(X[:80], y[:80])
    assert model.score(X[80:], y[80:]) > 0.7


def test_metric_of_too_many_bins_is_refused(data, monkeypatch):
    X, y, points = data
    learner = MappedMetricLearning(points, n_components=2, max_steps=1).fit(X, y)
    monkeypatch.setattr(_maps, "LARGEST", 59)
    with pytest.raises(ValueError, match="metric_ would have 60 x 60 entries"):
        learner.metric_  # noqa: B018 - computed when asked for
    assert learner.transform(X).shape == (40, 40)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": None, "n_components": 61}, "n_components is 61"),
        ({"n_components": 5}, "n_components is 5"),
        ({"n_components": 0}, "n_components is 0"),
        ({"criterion": "neighborhood"}, r"criterion is Neighb.*; only Margin\(...\)"),
        ({"init": "typical"}, "init"),
        ({"init": np.eye(60)}, r"init has shape \(60, 60\); a map of shape \(2, 4\)"),
        ({"init": np.zeros((2, 4))}, "that is not zero is needed"),
        ({"points": np.ones((60, 4))}, "points are all the same"),
        ({"points": np.ones((7, 4))}, r"points has shape \(7, 4\)"),
        ({"points": np.full((60, 4), np.nan)}, "points"),
    ],
)
def test_wrong_uses(data, options, message):
    X, y, points = data
    learner = MappedMetricLearning(**{"points": points, "n_components": 2} | options)
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)
    assert not hasattr(learner, "path_")


def test_cross_validation_chooses_steps(data, tmp_path):
    X, y, points = data
    learner = MappedMetricLearning(points, 2, max_steps=2)
    grid = {"n_components": [1, 2, None]}
    alone = gm.MetricLearningCV(learner, {}, cv=2).fit(NeverDense(X), y)
    among = gm.MetricLearningCV(learner, grid, cv=2).fit(X, y)
    for model in (alone, among):
        n_steps, r = model.best_step_, model.best_params_.get("n_components", 2)
        fresh = MappedMetricLearning(
            points,
            criterion=Margin(floor=0.0),
            n_components=r,
            max_steps=max(n_steps, 1),
        ).fit(X, y)
        if n_steps:
            np.testing.assert_allclose(model.metric_, fresh.metric_, atol=1e-12)
        assert model.transform(X).shape == (40, 40)
        model.save(tmp_path / "model.npz")
        again = gm.MetricLearningCV.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(again.metric_, model.metric_)


def test_nothing_of_the_size_of_all_pairs_of_bins_is_made(rng):
    """A matrix of 20,000 bins would take 3.2 GB, and the histograms 6 MB."""
    X, y, points = task(rng, n=40, d=20_000, n_words=20)
    tracemalloc.start()
    learner = MappedMetricLearning(points, n_components=2, max_steps=2)
    learner.fit(NeverDense(X), y)
    learner.transform(NeverDense(X[:2]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
