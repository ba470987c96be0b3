"""SinkhornMetricLearning from a prior: weights, a map and offsets."""

import math
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
import reference
from contract import check_contract
from groundmetric import (
    Checkpoint,
    EMDClassifier,
    EMDNeighbors,
    Margin,
    MetricLearningCV,
    SinkhornMetricLearning,
    Softmax,
)
from groundmetric.smoothed import _learner
from test_prior_learning import documents

N = 160  # to learn from


def learner_of(known, /, **options):
    defaults = {
        "smoothing": math.inf,
        "points": known,
        "criterion": "softmax",
        "bin_weights": "learn",
        "max_steps": 40,
        "power": 1.0,
        "random_state": 0,
    }
    return SinkhornMetricLearning(**{**defaults, **options})


@pytest.fixture(scope="module")
def task():
    return documents()


@pytest.fixture(scope="module", params=[math.inf, 1.0], ids=["means", "plans"])
def fitted(request, task):
    rows, y, points = task
    options = {"smoothing": request.param}
    if request.param == 1.0:
        options |= {"max_steps": 8, "batch_size": 60}
    return learner_of(points, **options).fit(rows[:N], y[:N])


class NeverDense(csr_array):
    """Rows that are too many to be made dense."""

    def toarray(self, *_, **__):
        """Refuse."""
        raise AssertionError("made dense")

    todense = toarray


@parametrize_with_checks(
    [
        SinkhornMetricLearning(
            smoothing=math.inf, criterion="softmax", bin_weights="idf", max_steps=2
        )
    ]
)
@pytest.mark.filterwarnings("ignore:Class")
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


@pytest.mark.parametrize(
    "options",
    [
        {"bin_weights": "learn"},
        {"bin_weights": "idf"},
        {"bin_weights": None},
        {"criterion": Softmax(temperature=0.4, step_size=0.02), "pull": 0.1},
        {"criterion": "margin", "pull": 1.0},
        {"criterion": Margin(n_targets=3), "batch_size": 64},
        {"points": None, "n_components": 4},
    ],
)
def test_learns(task, options):
    rows, y, points = task
    learner = learner_of(points, **options).fit(rows[:N], y[:N])
    values = learner.path_.column("criterion")
    assert len(values) == learner.n_iter_ == 40
    assert values[-5:].mean() < values[:5].mean()
    r = options.get("n_components", 5)
    assert learner.embedding_.shape == (60, r)
    logs = np.log(learner.bin_weights_)
    if options.get("bin_weights", "learn") is None:
        np.testing.assert_array_equal(logs, 0.0)
        return
    assert logs.std() > 0.1
    if "batch_size" not in options:  # uninformative words lost weight
        assert logs[30:].mean() < logs[:30].mean() - 0.1


def test_learns_more_than_it_knew(task):
    rows, y, points = task
    X, X_test = rows[:N], rows[N:]
    learned = EMDClassifier(5, learner=learner_of(points, batch_size=100)).fit(X, y[:N])
    first = learner_of(points, pull=1e6, criterion=Softmax(step_size=1e-9))
    known = EMDClassifier(5, learner=first).fit(X, y[:N])
    scores = [model.score(X_test, y[N:]) for model in (known, learned)]
    assert scores[1] > scores[0] + 0.03


def test_results(task, fitted):
    rows, _, _ = task
    between = fitted.pairwise(rows[N : N + 9], rows[:N])
    np.testing.assert_allclose(
        fitted.transform(rows[N : N + 9]), between, rtol=1e-6, atol=1e-9
    )
    own = fitted.pairwise(rows[:100])
    np.testing.assert_array_equal(np.diag(own), 0.0)
    assert not fitted.converged_
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert fitted.get_feature_names_out().shape == (N,)
    f = fitted.get_metric()
    r, c = rows[[N]].toarray()[0], rows[[0]].toarray()[0]
    assert f(r, c) == pytest.approx(between[0, 0], rel=1e-4)
    # Distances are in units of the median one of a hundred histograms.
    some = _learner.some_of(rows[:N])
    median = np.median(fitted.pairwise(some)[np.triu_indices(100, 1)])
    assert median == pytest.approx(1.0, rel=1e-3)
    # They are those of weighted histograms between the positions.
    expected = reference.prior_distance(
        r, c, np.log(fitted.bin_weights_), fitted.embedding_, fitted._eps
    )
    assert between[0, 0] == pytest.approx(expected, rel=1e-3)
    np.testing.assert_allclose(fitted.embedding_.mean(axis=0), 0.0, atol=1e-12)
    squares = cdist(fitted.embedding_, fitted.embedding_, "sqeuclidean")
    np.testing.assert_allclose(fitted.metric_, squares, atol=1e-9)
    assert fitted.initial_metric_.shape == (60, 60)
    assert "metric_" not in vars(fitted)


def test_histograms_are_weighted(task, fitted):
    rows, y, points = task
    w = fitted.bin_weights_
    expected = rows[:5].toarray() * w
    expected /= expected.sum(axis=1, keepdims=True)
    seen = fitted.histograms(rows[:5])
    np.testing.assert_allclose(seen.toarray(), expected, atol=1e-12)
    # A power comes before the weights.
    roots = learner_of(points, power=0.5, max_steps=3).fit(rows[:N], y[:N])
    expected = np.sqrt(rows[:5].toarray()) * roots.bin_weights_
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(
        roots.histograms(rows[:5]).toarray(), expected, atol=1e-12
    )


def test_embed(task):
    rows, y, points = task
    learner = learner_of(points).fit(rows[:N], y[:N])
    vectors = learner.embed(rows)
    assert vectors.shape == (300, 5)
    np.testing.assert_allclose(
        cdist(vectors[N:], vectors[:N], "sqeuclidean"),
        learner.transform(rows[N:]),
        atol=1e-10,
    )
    plain = SinkhornMetricLearning(smoothing=math.inf, max_steps=2)
    plain.fit(rows[:40].toarray(), y[:40])
    a = plain.embed(rows[:40])
    np.testing.assert_allclose(
        cdist(a, a, "sqeuclidean"), plain.pairwise(rows[:40]), atol=1e-10
    )


def test_neighbors(task, fitted, tmp_path):
    rows, _, _ = task
    search = EMDNeighbors(fitted, n_neighbors=4).fit(rows[:N])
    distances, indices = search.kneighbors(rows[N : N + 20])
    between = fitted.pairwise(rows[N : N + 20], rows[:N])
    expected = np.sort(between, axis=1)[:, :4]
    np.testing.assert_allclose(distances, expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        np.take_along_axis(between, indices, axis=1), expected, rtol=1e-4, atol=1e-6
    )
    own = search.kneighbors()[1]
    assert (own != np.arange(N)[:, None]).all()
    assert "metric_" not in vars(search)
    search.save(tmp_path / "search.npz")
    for again in (
        EMDNeighbors.load(tmp_path / "search.npz"),
        pickle.loads(pickle.dumps(search)),  # noqa: S301 - made here
    ):
        np.testing.assert_array_equal(again.kneighbors(rows[N : N + 20])[1], indices)
    with pytest.raises(ValueError, match="are smoothed, not EMDs"):
        gm.pairwise_emd(rows[:3], metric=fitted)


def test_kernels(task, fitted):
    rows, y, _ = task
    kernel = gm.EMDKernel(distance=fitted).fit(rows[:40], y[:40])
    D = fitted.pairwise(rows[40:50], rows[:40])
    found = kernel.transform(rows[40:50])
    np.testing.assert_allclose(found, np.exp(-D / kernel.bandwidth_), rtol=1e-3)


def test_files(task, fitted, tmp_path):
    rows, y, _ = task
    path = tmp_path / "learner.npz"
    fitted.save(path)
    again = SinkhornMetricLearning.load(path)
    for name in ("embedding_", "bin_weights_", "metric_", "initial_metric_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(fitted, name))
    np.testing.assert_array_equal(again.transform(rows[N:]), fitted.transform(rows[N:]))
    classifier = EMDClassifier(3, learner=clone(fitted).set_params(max_steps=3))
    classifier.fit(rows[:N], y[:N])
    classifier.save(path)
    loaded = EMDClassifier.load(path)
    expected = classifier.predict_proba(rows[N:])
    np.testing.assert_array_equal(loaded.predict_proba(rows[N:]), expected)


@pytest.mark.parametrize("name", ["bin_weights_", "initial_embedding_", "_starts"])
def test_broken_files(task, tmp_path, name):
    rows, y, points = task
    path = tmp_path / "learner.npz"
    learner_of(points, max_steps=1).fit(rows[:N], y[:N]).save(path)
    with np.load(path) as file:
        arrays = dict(file)
    arrays[name] = arrays[name][:-1]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="not a model that this groundmetric can read"):
        SinkhornMetricLearning.load(path)


def test_sparse_equals_dense(task):
    rows, y, points = task
    one, two = (
        learner_of(points, max_steps=5).fit(X, y[:N])
        for X in (rows[:N], rows[:N].toarray())
    )
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(
        one.pairwise(rows[N:]), two.pairwise(rows[N:].toarray())
    )


@pytest.mark.parametrize("criterion", ["softmax", "margin"])
@pytest.mark.parametrize("rho", [math.inf, 1.0])
def test_goes_on_from_a_checkpoint(task, tmp_path, criterion, rho):
    rows, y, points = task
    X, y = rows[:60], y[:60]
    options = {"criterion": criterion, "max_steps": 6, "batch_size": 20}
    options["smoothing"] = rho
    path = tmp_path / "run"
    whole = learner_of(points, **options).fit(X, y)

    def crash(step):
        if step.outer == 3:
            raise KeyboardInterrupt

    callbacks = [crash, Checkpoint(path, seconds=0)]
    with pytest.raises(KeyboardInterrupt):
        learner_of(points, callbacks=callbacks, **options).fit(X, y)
    seen = []
    callbacks = [seen.append, Checkpoint(path)]
    other = learner_of(points, callbacks=callbacks, pull=2.0, **options)
    with pytest.raises(ValueError, match="other data, parameters"):
        other.fit(X, y)
    rest = learner_of(points, callbacks=callbacks, **options).fit(X, y)
    np.testing.assert_array_equal(rest.embedding_, whole.embedding_)
    np.testing.assert_array_equal(rest.bin_weights_, whole.bin_weights_)
    assert len(seen) == 3
    assert not path.exists()


def test_clones_and_second_fits(task):
    rows, y, points = task
    X, y = rows[:60], y[:60]
    weights = np.linspace(0.5, 2.0, 60)
    learner = learner_of(points, bin_weights=weights, max_steps=3)
    first = clone(learner).set_params(criterion__temperature=0.5).fit(X, y)
    assert first.criterion.temperature == 0.5
    # Without a prior, nothing of the first fit is left; and back.
    plain = {"criterion": "margin", "bin_weights": None, "max_steps": 2}
    again = clone(first).set_params(**plain).fit(X, y)
    first.set_params(**plain).fit(X, y)
    np.testing.assert_array_equal(first.metric_, again.metric_)
    np.testing.assert_array_equal(first.bin_weights_, 1.0)
    assert not {"_eps", "_values"} & set(vars(first))
    first.set_params(bin_weights="learn").fit(X, y)
    assert "metric_" not in vars(first)
    assert first.metric_.shape == (60, 60)


@pytest.mark.parametrize("criterion", ["softmax", "margin"])
def test_cross_validation(task, tmp_path, criterion):
    rows, y, points = task
    X, y = rows[:90], y[:90]
    grid = {"pull": [1.0, 10.0], "bin_weights": [None, "idf"]}
    model = MetricLearningCV(
        learner_of(points, criterion=criterion, max_steps=4), grid, random_state=0
    ).fit(X, y)
    # As many steps of as many as were asked for.
    chosen = learner_of(points, criterion=criterion, max_steps=4, **model.best_params_)
    if model.best_step_:
        stop = [lambda step: step.outer + 1 == model.best_step_]
        chosen.set_params(callbacks=stop).fit(X, y)
        np.testing.assert_array_equal(model.embedding_, chosen.embedding_)
    indices = EMDNeighbors(model, n_neighbors=3).fit(X).kneighbors(rows[90:])[1]
    expected = np.argsort(model.transform(rows[90:]), axis=1, kind="stable")[:, :3]
    assert (indices == expected).mean() > 0.99
    np.testing.assert_array_equal(
        model.embed(rows[:3]), model.best_estimator_.embed(rows[:3])
    )
    assert model.bin_weights_.shape == (60,)
    assert not hasattr(MetricLearningCV(gm.GroundMetricLearning()), "embed")
    model.save(tmp_path / "model.npz")
    again = MetricLearningCV.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_candidates_with_and_without_a_prior(task):
    rows, y, points = task
    grid = {"criterion": ["margin", "softmax"]}
    for base in ("margin", "softmax"):
        learner = learner_of(points, bin_weights=None, max_steps=3, criterion=base)
        model = MetricLearningCV(learner, grid, cv=2, random_state=0)
        model.fit(rows[:60], y[:60])
        assert len(model.cv_results_["step"]) == 8
        assert model.transform(rows[:4]).shape == (4, 60)
        found = EMDNeighbors(model, n_neighbors=2).fit(rows[:60]).kneighbors()[1]
        assert found.shape == (60, 2)


@pytest.mark.parametrize("rho", [math.inf, 1.0])
def test_nothing_of_the_size_of_all_pairs_is_made(rho, tmp_path):
    """Matrices of all pairs of bins or of histograms would take 1.2 GB and 29 MB."""
    rng = np.random.default_rng(0)
    n, d, s, k = 1900, 12_000, 4, 8
    bins = np.sort(rng.integers(0, d // k, size=(n, k)) + d // k * np.arange(k), axis=1)
    starts = np.arange(0, k * n + 1, k)
    X = NeverDense((rng.random(k * n) + 0.1, bins.ravel(), starts), shape=(n, d))
    y, points = np.arange(n) % 3, rng.normal(size=(d, s))
    options = {"max_steps": 2, "bin_weights": "idf", "batch_size": 40}
    learner = learner_of(points, smoothing=rho, **options)
    tracemalloc.start()
    learner.fit(X, y)
    learner.transform(X[:3])
    learner.pairwise(X[:5])
    EMDNeighbors(learner, n_neighbors=2).fit(X).kneighbors(X[:5])
    if math.isinf(rho):
        learner.embed(X[:3])
        EMDNeighbors(learner, n_neighbors=2).fit(X).kneighbors(X)
        EMDClassifier(2, learner=learner).fit(X, y).predict(X[:5])
    learner.save(tmp_path / "learner.npz")
    SinkhornMetricLearning.load(tmp_path / "learner.npz")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 12e6
    with pytest.raises(ValueError, match="metric_ would have 12000 x 12000 entries"):
        _ = learner.metric_


def test_long_fits_are_announced(task, monkeypatch):
    rows, y, points = task
    monkeypatch.setattr("groundmetric.smoothed._effort.A_DIMENSION", 1.0)
    with pytest.warns(gm.LongFitWarning, match="batch_size"):
        learner_of(points, max_steps=1).fit(rows[:N], y[:N])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"bin_weights": np.ones(59)}, "bin_weights has 59 entries for 60 bins"),
        ({"bin_weights": -np.ones(60)}, r"bin_weights\[0\] is -1\.0"),
        ({"bin_weights": np.zeros(60)}, r"bin_weights\[0\] is 0\.0: weights of bins"),
        ({"bin_weights": "tf"}, "bin_weights is 'tf'"),
        ({"criterion": "neighborhood"}, r"only Margin\(...\) and Softmax\(...\) work"),
        ({"criterion": 3}, "criterion is 3; 'margin', 'softmax', Margin"),
        ({"criterion": Softmax(temperature=0.0)}, "temperature is 0.0; it must be"),
        ({"criterion": Softmax(step_size=-1.0)}, "step_size is -1.0"),
        ({"pull": -1.0}, "pull is -1.0"),
        ({"pull": "much"}, "pull is 'much'"),
        ({"points": np.eye(3)}, "points has shape"),
        ({"points": np.ones((60, 2))}, "points are all the same"),
        ({"points": None, "n_components": 61}, "n_components is 61"),
        ({"n_components": "few"}, "n_components is 'few'"),
        ({"batch_size": 1}, "batch_size is 1; it must be at least 2"),
        ({"max_steps": 0}, "max_steps is 0; it must be at least 1"),
        ({"smoothing": 0}, "smoothing is 0; use GroundMetricLearning"),
        ({"device": "tpu"}, "device is 'tpu'"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
    ],
)
def test_bad_parameters(task, changed, sentence):
    rows, y, points = task
    learner = learner_of(points, **changed)
    with pytest.raises(ValueError, match=sentence):
        learner.fit(rows[:N], y[:N])
    assert not any(name.endswith("_") for name in vars(learner))


def test_bad_pairs(task, fitted):
    rows, y, points = task
    learner = learner_of(points)
    with pytest.raises(ValueError, match="pass labels or a similarity"):
        learner.fit(rows[:9])
    with pytest.raises(ValueError, match="y has one class only"):
        learner.fit(rows[:9], np.zeros(9))
    similarity = np.ones((9, 9)) - np.eye(9)
    with pytest.raises(ValueError, match="there are no dissimilar pairs"):
        learner.fit(rows[:9], similarity=similarity)
    with pytest.raises(ValueError, match="there are no similar pairs"):
        learner.fit(rows[:9], similarity=-similarity)
    exact = gm.GroundMetricLearning("softmax")
    with pytest.raises(ValueError, match=r"only Margin\(...\) and Neighborhood"):
        exact.fit(rows[:N], y[:N])
    with pytest.raises(ValueError, match="not fitted"):
        learner.embed(rows[:2])
    if fitted.smoothing_ == 1.0:
        with pytest.raises(ValueError, match=r"smoothing is 1\.0; only distances with"):
            fitted.embed(rows[:2])
