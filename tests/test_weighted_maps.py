"""Exact maps with weights of bins, a pull and batches."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import groundmetric as gm
import reference
from groundmetric import MappedMetricLearning, Margin
from groundmetric.learning._mapped_pairs import MappedHistograms, MappedSearch
from groundmetric.learning._maps import LinearMaps
from groundmetric.learning._margin import MarginCriterion
from groundmetric.learning._pull import MetricPull
from groundmetric.similarity._makers import weights_of
from groundmetric.similarity._weights import LabelWeights
from test_mapped_learning import task

PAIRS = [(i, j) for i in range(9) for j in range(i)]


@pytest.fixture
def rng():
    return np.random.default_rng(1)


@pytest.fixture
def data(rng):
    return task(rng)


@pytest.fixture
def example(rng):
    """Histograms without ties, labels, parameters and a vector."""
    X = rng.gamma(1.0, size=(9, 12)) * (rng.random((9, 12)) < 0.5)
    X[:, 0] += 0.1
    points = rng.normal(size=(12, 3))
    points -= points.mean(axis=0)
    space = LinearMaps(points, np.eye(3)[:2], rng.normal(size=12))
    theta = space.metric + 0.2 * rng.normal(size=space.metric.shape)
    return csr_array(X / X.sum(axis=1, keepdims=True)), space.parameters, theta


def state_of(parameters, theta):
    """Return the logarithms of the weights, and positions."""
    return theta[:12], parameters.points @ theta[12:].reshape(3, 2)


def literal_distances(X, parameters, theta):
    logs, positions = state_of(parameters, theta)
    D = np.zeros((len(X), len(X)))
    for i, j in PAIRS:
        D[i, j] = D[j, i] = reference.mapped_distance(X[i], X[j], logs, positions)
    return D


def test_criterion_is_the_literal_one(example):
    X, parameters, theta = example
    y = np.arange(9) % 2
    omega = weights_of(9, y, None)
    searches = MappedHistograms(X, parameters)(np.arange(9), omega)
    found = MarginCriterion(None, omega, 3, 0.3, searches=searches).evaluate(theta)
    D = literal_distances(X.toarray(), parameters, theta)
    similarity = gm.label_similarity(y)
    value, *_, triplets = reference.margin_loss(D, similarity, 3, 0.3)
    assert found.value == pytest.approx(value, rel=1e-9)
    assert found.n_triplets == len(triplets)


def test_gradient_by_finite_differences(example, rng):
    """In weights and map, of exact distances; the margin counts as a constant."""
    X, parameters, theta = example
    weights = LabelWeights.from_classes(np.arange(9))
    search = MappedSearch(X, parameters, weights, similar=False)
    pairs = search.find(theta)
    w = rng.normal(size=len(pairs.j))
    gradient = pairs.plan_sum(w)
    W = np.zeros((9, 9))
    W[pairs.i, pairs.j] = w

    def value(theta):
        return (W * literal_distances(X.toarray(), parameters, theta)).sum()

    for _ in range(6):
        for part in parameters.slices.values():
            step = np.zeros_like(theta)
            step[part] = 1e-6 * rng.normal(size=step[part].shape)
            slope = (value(theta + step) - value(theta - step)) / 2
            assert gradient @ step == pytest.approx(slope, abs=3e-12)


def test_potentials_reach_bins_whose_mass_stays():
    """R = (1, 1, 0) / 2 and c = (1, 0, 1) / 2 at 0, 1 and 3: f falls along the line.

    Half of the mass goes from 1 to 3. f is 1-Lipschitz with f(1) - f(3) = 2, and
    f(0) = min_q (M_0q - v_q) = 3 + f(3) is one of the optimal values there. With
    r ~ (w_0, w_1) and equal weights, dd/dl_1 for row r is
    1/2 (f(1) - (f(0) + f(1)) / 2) = 1/4 (f(1) - f(0)) = -1/4.
    """
    points = np.array([[0.0], [1.0], [3.0]])
    space = LinearMaps(points - points.mean(), np.eye(1), np.zeros(3))
    X = csr_array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5]])
    weights = LabelWeights.from_classes(np.arange(2))
    search = MappedSearch(X, space.parameters, weights, similar=False)
    pairs = search.find(space.metric)
    unit = pairs.distances[0]  # the map scales 1 to this
    assert unit == pytest.approx(0.5 * 2 * space.metric[3])
    in_logs = pairs.plan_sum(np.array([1.0, 0.0]))[:3]
    # From c: -1/2 (f(3) - (f(0) + f(3)) / 2) = 1/4 (f(0) - f(3)) = 3/4 at bin 2.
    np.testing.assert_allclose(
        in_logs / unit, [0.25 - 0.75, -0.25, 0.75], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("bin_weights", ["learn", "idf", "array"])
def test_weights_are_learned_and_apply_everywhere(data, rng, bin_weights, tmp_path):
    X, y, points = data
    given = rng.gamma(2.0, size=60) + 0.1 if bin_weights == "array" else bin_weights
    learner = MappedMetricLearning(points, 2, bin_weights=given, max_steps=3)
    learner.fit(X, y)
    w = learner.bin_weights_
    assert np.log(w / learner.initial_bin_weights_).std() > 0.05
    first = {"array": given, "learn": np.ones(60)}.get(bin_weights)
    if bin_weights == "idf":
        first = np.log(41 / ((X.toarray() > 0).sum(axis=0) + 1)) + 1
    ratios = learner.initial_bin_weights_ / first
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-12)
    rows = np.sqrt(X.toarray()) * w
    rows /= rows.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(learner.histograms(X).toarray(), rows, atol=1e-14)
    expected = gm.pairwise_emd(rows, metric=learner.metric_)
    for found in (
        learner.transform(X),
        learner.pairwise(X),
        gm.pairwise_emd(X, metric=learner),
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.median(expected[np.triu_indices(40, 1)]) == pytest.approx(1.0)
    r, c = X.toarray()[:2]
    assert learner.get_metric()(r, c) == pytest.approx(expected[0, 1], abs=1e-12)
    distances = gm.EMDNeighbors(learner, n_neighbors=3).fit(X).kneighbors(X)[0]
    np.testing.assert_allclose(distances, np.sort(expected, axis=1)[:, :3], atol=1e-12)
    learner.save(tmp_path / "model.npz")
    again = MappedMetricLearning.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.bin_weights_, w)
    np.testing.assert_array_equal(again.transform(X), learner.transform(X))


def test_bins_of_hardly_any_weight_do_no_harm(data):
    """Their masses are rounded to zero, so that they take part in no problem."""
    X, y, points = data
    tiny = np.where(np.arange(60) < 20, 1e-300, 1.0)
    learner = MappedMetricLearning(points, 2, bin_weights=tiny, max_steps=3)
    learner.fit(X, y)
    assert np.isfinite(learner.components_).all()
    assert (learner.bin_weights_ > 0).all()
    rows = np.sqrt(X.toarray()) * learner.bin_weights_ * (np.arange(60) >= 20)
    rows /= rows.sum(axis=1, keepdims=True)
    expected = gm.pairwise_emd(rows, metric=learner.metric_)
    np.testing.assert_allclose(learner.pairwise(X), expected, atol=1e-9)


def test_without_weights_they_are_ones(data):
    X, y, points = data
    learner = MappedMetricLearning(points, 2, max_steps=1).fit(X, y)
    np.testing.assert_array_equal(learner.bin_weights_, 1.0)
    np.testing.assert_array_equal(learner.initial_bin_weights_, 1.0)


def test_words_without_meaning_lose_weight(rng):
    """Half of each document is words that all classes use alike."""
    X, y, points = task(rng, n=60, d=40, strength=1.0)
    noise = rng.multinomial(12, np.full(40, 1 / 40), size=60)
    both = csr_array(np.hstack([X.toarray(), noise]))
    points = np.vstack([points, 2 * rng.normal(size=points.shape)])
    learner = MappedMetricLearning(points, bin_weights="learn").fit(both, y)
    logs = np.log(learner.bin_weights_)
    assert logs[:40].mean() > logs[40:].mean() + 0.1
    # As for each class: words far out are those that tell classes apart.
    far = np.abs(points[:40, 0]) > 1
    assert logs[:40][far].mean() > logs[:40][~far].mean()


@pytest.mark.parametrize("batch_size", [None, 20])
def test_stronger_pull_stays_nearer(data, batch_size):
    X, y, points = data
    away = []
    for pull in (0.0, 1.0, 1e6):
        learner = MappedMetricLearning(
            points,
            criterion=Margin(n_targets=3, floor=0.0),
            bin_weights="learn",
            pull=pull,
            batch_size=batch_size,
            random_state=0,
        ).fit(X, y)
        A = learner.components_ / np.linalg.norm(learner.components_)
        from_start = np.linalg.norm(A - np.eye(4) * np.trace(A) / 4)
        away.append((from_start, np.log(learner.bin_weights_).std()))
    assert away[0][0] > 1.5 * away[1][0]
    assert away[0][1] > 1.3 * away[1][1]
    assert max(away[2]) < 0.1


def test_pull_is_as_strong_as_the_criterion_at_half_a_norm(example):
    X, parameters, theta = example
    y = np.arange(9) % 2
    omega = weights_of(9, y, None)
    searches = MappedHistograms(X, parameters)(np.arange(9), omega)
    criterion = MarginCriterion(None, omega, 3, 0.3, searches=searches)
    start = parameters.start
    sizes = {"weights": np.sqrt(12), "map": np.linalg.norm(start[12:])}
    parts = [(parameters.slices[name], sizes[name]) for name in ("weights", "map")]
    pulled = MetricPull(criterion, start, 1.0, parts)
    first = pulled.evaluate(start)
    np.testing.assert_array_equal(first.gradient, criterion.evaluate(start).gradient)
    found, plain = pulled.evaluate(theta), criterion.evaluate(theta)
    expected = 0.0
    for part, size in parts:
        strength = np.linalg.norm(first.gradient[part]) / size
        away = theta[part] - start[part]
        expected += strength * (away @ away)
        extra = (found.gradient - plain.gradient)[part]
        np.testing.assert_allclose(extra, 2 * strength * away, rtol=1e-9)
        half = np.linalg.norm(extra) * size / 2 / np.linalg.norm(away)
        assert half == pytest.approx(np.linalg.norm(first.gradient[part]))
    assert found.value == pytest.approx(plain.value + expected)


def test_batches_start_by_themselves(rng):
    X, y, points = task(rng, n=260, d=30, n_words=6, s=2)
    learner = MappedMetricLearning(points, max_steps=2, random_state=0)
    learner.fit(X[:256], y[:256])
    assert candidates(learner) > 256 * 128 / 2  # the dissimilar pairs
    learner.fit(X, y)
    assert candidates(learner) < 128 * 128
    assert learner.n_iter_ == 2
    given = clone(learner).set_params(batch_size=128).fit(X, y)
    np.testing.assert_array_equal(given.components_, learner.components_)
    whole = clone(learner).set_params(batch_size=None).fit(X, y)
    assert candidates(whole) > 260 * 130 / 2


def candidates(learner):
    """Count the pairs that the first step considered."""
    step = learner.path_[0]
    return step.n_solves + step.n_bounded


def test_threads_and_dense_input_change_nothing(data):
    X, y, points = data
    options = {"bin_weights": "learn", "batch_size": 16, "random_state": 0}
    found = [
        MappedMetricLearning(
            points, 2, max_steps=4, pull=0.5, n_jobs=n_jobs, **options
        ).fit(given, y)
        for given, n_jobs in ((X, None), (X.toarray(), None), (X, 2))
    ]
    for learner in found[1:]:
        np.testing.assert_array_equal(learner.components_, found[0].components_)
        np.testing.assert_array_equal(learner.bin_weights_, found[0].bin_weights_)


@pytest.mark.parametrize(("batch_size", "seed"), [(None, None), (None, 0), (16, 0)])
def test_checkpoints_continue_to_the_same_result(data, tmp_path, batch_size, seed):
    X, y, points = data
    options = {
        "points": points,
        "n_components": 2,
        "max_steps": 6,
        "pull": 0.3,
        "bin_weights": "idf",
        "batch_size": batch_size,
        "random_state": seed,
    }
    expected = MappedMetricLearning(**options).fit(X, y)

    def stop(step):
        if step.outer == 3:
            raise KeyboardInterrupt

    saved = gm.Checkpoint(tmp_path / "state.npz", seconds=0)
    with pytest.raises(KeyboardInterrupt):
        MappedMetricLearning(callbacks=[stop, saved], **options).fit(X, y)
    seen = []
    learner = MappedMetricLearning(callbacks=[seen.append, saved], **options)
    learner.fit(X, y)
    assert 0 < len(seen) < expected.n_iter_
    np.testing.assert_array_equal(learner.components_, expected.components_)
    np.testing.assert_array_equal(learner.bin_weights_, expected.bin_weights_)


def test_checkpoints_of_other_weights_are_rejected(data, tmp_path):
    X, y, points = data
    saved = gm.Checkpoint(tmp_path / "state.npz", seconds=0)

    def stop(step):
        if step.outer == 1:
            raise KeyboardInterrupt

    learner = MappedMetricLearning(
        points, 2, batch_size=16, random_state=0, callbacks=[stop, saved]
    )
    with pytest.raises(KeyboardInterrupt):
        learner.fit(X, y)
    for other in ({"points": 2 * points[::-1]}, {"bin_weights": "learn"}, {"pull": 1}):
        with pytest.raises(ValueError, match="other data, parameters"):
            clone(learner).set_params(**other).fit(X, y)


def test_cross_validation_chooses_weights_and_pulls(data, tmp_path):
    X, y, points = data
    learner = MappedMetricLearning(points, 2, max_steps=2)
    grid = {"bin_weights": [None, "learn"], "pull": [0.0, 1.0]}
    search = gm.MetricLearningCV(learner, grid, cv=2, random_state=0).fit(X, y)
    n_steps, params = search.best_step_, search.best_params_
    assert set(params) == {"bin_weights", "pull"}
    assert search.transform(X).shape == (40, 40)
    assert search.bin_weights_.shape == (60,)
    rows = search.histograms(X)
    expected = gm.pairwise_emd(rows.toarray(), metric=search.metric_)
    np.testing.assert_allclose(search.pairwise(X), expected, atol=1e-12)
    if n_steps == 2:
        fresh = clone(learner).set_params(criterion=Margin(floor=0.0), **params)
        np.testing.assert_allclose(search.metric_, fresh.fit(X, y).metric_, atol=1e-12)
    search.save(tmp_path / "model.npz")
    again = gm.MetricLearningCV.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.bin_weights_, search.bin_weights_)


def test_folds_score_weighted_histograms(data):
    """Where weights remove all noise, the first step is as good as any."""
    X, y, points = data
    noisy = csr_array(np.hstack([X.toarray(), 100.0 * np.eye(40)]))
    points = np.vstack([points, 50 + np.zeros((40, 4))])
    points[60:, 1] += np.arange(40) ** 2
    given = np.repeat([1.0, 1e-12], [60, 40])
    options = {"cv": 2, "random_state": 0}
    learner = MappedMetricLearning(points, power=1.0, max_steps=1)
    plain = gm.MetricLearningCV(learner, **options).fit(noisy, y)
    learner = clone(learner).set_params(bin_weights=given)
    weighted = gm.MetricLearningCV(learner, **options).fit(noisy, y)
    first = [
        search.cv_results_["mean_test_score"][search.cv_results_["step"] == 0][0]
        for search in (plain, weighted)
    ]
    assert first[1] > first[0] + 0.1


def test_reports_notice_documents_seen_before(data):
    """Weights change histograms: those seen are compared as the learner sees them."""
    X, y, points = data
    learner = MappedMetricLearning(points, 2, bin_weights="idf", max_steps=1)
    learner.fit(X, y)
    seen = learner._seen(csr_array(X / X.sum(axis=1)[:, None]))
    assert gm.base._rows.n_among(seen, learner._histograms) == 40
    first = learner._seen_before(csr_array(X / X.sum(axis=1)[:, None])).toarray()
    rows = np.sqrt(X.toarray()) * learner.initial_bin_weights_
    np.testing.assert_allclose(first, rows / rows.sum(axis=1)[:, None], atol=1e-14)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bin_weights": "tfidf"}, "bin_weights"),
        ({"bin_weights": np.ones(7)}, "bin_weights has 7 entries for 60 bins"),
        ({"bin_weights": -np.ones(60)}, r"bin_weights\[0\] is -1.0: weights of bins"),
        ({"bin_weights": np.full(60, np.nan)}, r"bin_weights\[0\] is nan"),
        ({"pull": -1.0}, "pull"),
        ({"pull": np.nan}, "pull"),
        ({"batch_size": 1}, "batch_size is 1"),
        ({"batch_size": 2.5}, "batch_size"),
        ({"batch_size": "all"}, "batch_size is 'all'"),
    ],
)
def test_wrong_uses(data, options, message):
    X, y, points = data
    learner = MappedMetricLearning(points, 2, **options)
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)
    assert not hasattr(learner, "path_")


def test_broken_weights_in_files_are_rejected(data, tmp_path):
    X, y, points = data
    learner = MappedMetricLearning(points, 2, max_steps=1).fit(X, y)
    for bad in (-np.ones(60), np.ones(59), np.full(60, np.inf)):
        learner.bin_weights_ = bad
        learner.save(tmp_path / "model.npz")
        with pytest.raises(ValueError, match="bin_weights_"):
            MappedMetricLearning.load(tmp_path / "model.npz")
