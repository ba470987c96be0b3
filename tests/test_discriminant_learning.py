"""DiscriminantMetricLearning, wherever a learner can stand."""

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
    DiscriminantMetricLearning,
    EMDClassifier,
    EMDNeighbors,
    MetricLearningCV,
)
from groundmetric.experiments import Method, compare, stability
from groundmetric.plotting import FeatureMapDisplay
from groundmetric.report import _lesson, write_report
from test_prior_estimator import NeverDense
from test_prior_learning import documents

N = 160  # to learn from


@pytest.fixture(scope="module")
def task():
    return documents()


OTHER = np.random.default_rng(1).normal(size=(60, 3))
OPTIONS = {
    "plain": {"points": None},
    "points": {},
    "linear": {"kernel": "linear"},
    "map": {"trust": math.inf},
    "ignored": {"trust": 0},
    "idf": {"bin_weights": "idf", "power": 1.0},
    "weights": {"bin_weights": np.linspace(0.5, 2, 60)},
    "log": {"power": "log1p"},
    "means": {"shrinkage": 1},
    "sets": {"points": "both"},
    "alike": {"points": [OTHER, OTHER[::-1].copy()]},
}


def learner_of(points, /, **options):
    if options.get("points") == "both":
        options["points"] = [points, OTHER.tolist()]
    return DiscriminantMetricLearning(**{"points": points, **options})


@pytest.fixture(scope="module", params=OPTIONS)
def fitted(request, task):
    rows, y, points = task
    return learner_of(points, **OPTIONS[request.param]).fit(rows[:N], y[:N])


@parametrize_with_checks(
    [
        DiscriminantMetricLearning(),
        DiscriminantMetricLearning(bin_weights="idf", shrinkage=0.5),
    ]
)
@pytest.mark.filterwarnings("ignore:Class")
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


def test_results(task, fitted):
    rows, y, _ = task
    X, X_test = rows[:N], rows[N:]
    between = fitted.transform(X_test)
    np.testing.assert_allclose(fitted.pairwise(X_test, X), between, atol=1e-9)
    own = fitted.pairwise(X)
    np.testing.assert_array_equal(np.diag(own), 0.0)
    np.testing.assert_array_equal(own, own.T)
    np.testing.assert_array_equal(own, clone(fitted).fit_transform(X, y[:N]))
    vectors = fitted.embed(rows)
    assert vectors.shape == (300, 2)
    np.testing.assert_allclose(
        cdist(vectors[N:], vectors[:N], "sqeuclidean"), between, atol=1e-9
    )
    np.testing.assert_allclose(fitted.embedding_.mean(axis=0), 0.0, atol=1e-12)
    squares = cdist(fitted.embedding_, fitted.embedding_, "sqeuclidean")
    np.testing.assert_allclose(fitted.metric_, squares, atol=1e-9)
    assert fitted.initial_metric_.shape == (60, 60)
    assert (fitted.n_iter_, fitted.converged_, len(fitted.path_)) == (1, True, 1)
    assert 0 < fitted.path_[0].criterion <= 1
    f = fitted.get_metric()
    r, c = rows[[N]].toarray()[0], rows[[0]].toarray()[0]
    assert f(r, c) == pytest.approx(between[0, 0], rel=1e-9)
    assert fitted.get_feature_names_out().shape == (N,)


def test_positions_are_those_of_the_twin(task):
    rows, y, points = task
    X, y = rows[:N].toarray(), y[:N]
    learner = learner_of(points, power=1.0, trust=math.inf, kernel="linear").fit(X, y)
    points = points - points.mean(axis=0)
    expected = reference.discriminants(X, y, points)[0]
    squares = cdist(expected, expected, "sqeuclidean")
    np.testing.assert_allclose(
        learner.metric_ / learner.metric_.max(), squares / squares.max(), atol=1e-9
    )


def test_distances_are_in_units_of_their_median(task):
    rows, y, points = task
    learner = learner_of(points).fit(rows[:100], y[:100])
    median = np.median(learner.pairwise(rows[:100])[np.triu_indices(100, 1)])
    assert median == pytest.approx(1.0)


def test_learns(task):
    rows, y, points = task
    # Half of the words say nothing of the topic.
    known = learner_of(points).fit(rows[:N], y[:N])
    sizes = np.linalg.norm(known.embedding_, axis=1)
    assert sizes[:30].mean() > 2 * sizes[30:].mean()
    scores = {
        name: EMDClassifier(5, learner=learner_of(points, **options))
        .fit(rows[:N], y[:N])
        .score(rows[N:], y[N:])
        for name, options in OPTIONS.items()
    }
    assert min(scores.values()) > 0.75
    vectors = rows @ points
    far = cdist(vectors[N:], vectors[:N]).argmin(axis=1)
    assert scores["points"] > (y[:N][far] == y[N:]).mean()


def test_initial_distances(task):
    rows, y, points = task
    plain = DiscriminantMetricLearning().fit(rows[:N], y[:N])
    off = plain.initial_metric_[np.triu_indices(60, 1)]
    np.testing.assert_allclose(off, off[0])
    learner = learner_of(points).fit(rows[:N], y[:N])
    squares = cdist(points, points, "sqeuclidean")
    np.testing.assert_allclose(
        learner.initial_metric_ / learner.initial_metric_.max(),
        squares / squares.max(),
        atol=1e-9,
    )


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_sparse_equals_dense_whatever_the_threads(task, options):
    rows, y, points = task
    one, two = (
        learner_of(points, n_jobs=n_jobs, **options).fit(X, y[:N])
        for n_jobs, X in ((1, rows[:N]), (3, rows[:N].toarray()))
    )
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(
        one.pairwise(rows[N:]), two.pairwise(rows[N:].toarray())
    )


@pytest.mark.filterwarnings("ignore:Class")
def test_nothing_to_learn(task):
    rows, _, points = task
    X = rows[[0, 1, 1, 0]]
    for known in (None, points):
        learner = DiscriminantMetricLearning(known).fit(X, [0, 0, 1, 1])
        np.testing.assert_allclose(learner.metric_, learner.initial_metric_, atol=1e-9)
        assert learner.path_[0].criterion == pytest.approx(1.0)
    same = learner_of(points).fit(rows[[0, 0, 0]], [0, 1, 1])
    assert not same.pairwise(rows[[0, 0]]).any()


@pytest.mark.filterwarnings("ignore:Class")
def test_two_bins_one_member_each():
    X = [[3, 1], [1, 3]]
    learner = DiscriminantMetricLearning([[0.0], [1.0]]).fit(X, ["a", "b"])
    assert learner.embedding_.shape == (2, 1)
    np.testing.assert_allclose(learner.transform([[3, 1]]), [[0.0, 1.0]], atol=1e-12)
    assert EMDClassifier(1, learner=learner).fit(X, [0, 1]).predict([[2, 1]]) == [0]


def test_empty_bins_follow_their_points():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (30, 6)) + 1.0, np.arange(30) % 2
    X[:, 0] += 4 * y
    X[:, 5] = 0
    points = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [0.0]])
    plain = DiscriminantMetricLearning().fit(X, y)
    with_points = DiscriminantMetricLearning(points, trust=3.0).fit(X, y)
    # Without points it stays at 0 of its features; with them, it is near bin 0.
    assert np.isfinite(plain.embedding_).all()
    a = with_points.embedding_[:, 0]
    assert abs(a[5] - a[0]) < np.abs(a[5] - a[1:5]).min()


@pytest.mark.parametrize("factor", [1e-300, 1e-5, 1e5, 1e300])
def test_points_have_no_scale(task, factor):
    rows, y, points = task
    found, expected = (
        learner_of(each).fit(rows[:N], y[:N]) for each in (factor * points, points)
    )
    np.testing.assert_allclose(found.metric_, expected.metric_, rtol=1e-6, atol=1e-9)


def test_files(task, fitted, tmp_path):
    rows, y, _ = task
    path = tmp_path / "learner.npz"
    fitted.save(path)
    again = DiscriminantMetricLearning.load(path)
    pickled = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - made here
    for other in (again, pickled):
        for name in ("embedding_", "bin_weights_", "metric_", "initial_metric_"):
            np.testing.assert_array_equal(getattr(other, name), getattr(fitted, name))
        between = fitted.transform(rows[N:])
        np.testing.assert_array_equal(other.transform(rows[N:]), between)
        second = clone(other).fit(rows[:N], y[:N])  # parameters were kept
        np.testing.assert_array_equal(second.embedding_, fitted.embedding_)


def test_neighbors_and_kernels(task, fitted):
    rows, y, _ = task
    search = EMDNeighbors(fitted, n_neighbors=4).fit(rows[:N])
    distances, _ = search.kneighbors(rows[N : N + 20])
    between = fitted.pairwise(rows[N : N + 20], rows[:N])
    np.testing.assert_allclose(
        distances, np.sort(between, axis=1)[:, :4], rtol=1e-6, atol=1e-9
    )
    kernel = gm.EMDKernel(distance=fitted).fit(rows[:40], y[:40])
    D = fitted.pairwise(rows[40:50], rows[:40])
    found = kernel.transform(rows[40:50])
    np.testing.assert_allclose(found, np.exp(-D / kernel.bandwidth_), rtol=1e-6)
    with pytest.raises(ValueError, match="are smoothed, not EMDs"):
        gm.pairwise_emd(rows[:3], metric=fitted)


def test_samples(task):
    rows, y, points = task
    learner = learner_of(points, max_samples=60, random_state=0).fit(rows, y)
    kept = learner.sample_indices_
    same = learner_of(points).fit(rows[kept], y[kept])
    np.testing.assert_array_equal(learner.embedding_, same.embedding_)
    assert learner.transform(rows[:2]).shape == (2, 60)


def test_cross_validation(task, tmp_path):
    rows, y, points = task
    X, y = rows[:90], y[:90]
    model = MetricLearningCV(learner_of(points), random_state=0, cv=2).fit(X, y)
    params = model.cv_results_["params"]
    first = model.cv_results_["step"] == 0
    tried = [each for each in params[first] if each]
    assert len(tried) == 4 * 2 * 3  # powers, shrinkages, trusts
    # All of them take their only step, and what was given takes none.
    scored = ~np.isnan(model.cv_results_["mean_test_score"])
    assert scored.sum() == 2 * len(tried) + 1
    assert model.cv_results_["step"].max() == 1
    assert model.best_step_ == 1
    chosen = learner_of(points, **model.best_params_).fit(X, y)
    np.testing.assert_array_equal(model.embedding_, chosen.embedding_)
    model.save(tmp_path / "model.npz")
    again = MetricLearningCV.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    found = EMDNeighbors(model, n_neighbors=3).fit(X).kneighbors(rows[90:])[1]
    expected = np.argsort(model.transform(rows[90:]), axis=1, kind="stable")[:, :3]
    assert (found == expected).mean() > 0.99


def test_cross_validation_with_other_learners(task):
    rows, y, points = task
    X, y = rows[:90].toarray(), y[:90]
    learners = [
        learner_of(points, points="both"),
        DiscriminantMetricLearning(),
        gm.SinkhornMetricLearning(smoothing=math.inf, max_steps=2),
    ]
    model = MetricLearningCV(learners, random_state=0, cv=2).fit(X, y)
    names = model.cv_results_["estimator"][model.cv_results_["step"] == 0]
    # The EMD with each of the two sets of points is tried, too.
    assert (names == "MappedMetricLearning").sum() == 2
    assert (names == "DiscriminantMetricLearning").sum() == 24 + 8
    assert np.isfinite(model.transform(X)).all()


def test_comparisons(task):
    rows, y, points = task
    X = rows[:90].toarray()
    learner = learner_of(points, points="both")
    method = Method.of(learner, "discriminant", "discriminants")
    assert method.settings["trust"] == 1.0
    found = compare(X, y[:90], methods=[method, "l1"], n_folds=3, n_repeats=1)
    assert found.loc["discriminant", "error"] < found.loc["l1", "error"]


def test_stability(task):
    rows, y, points = task
    X = rows[:90].toarray()
    found = stability(learner_of(points), X, y[:90], n_draws=4, random_state=0)
    assert found.apart.max() > 0.0
    assert found.weights is None


def test_map_of_bins(task):
    pytest.importorskip("matplotlib")
    rows, y, points = task
    learner = learner_of(points).fit(rows[:N], y[:N])
    # What is drawn are distances between positions, here in the plane.
    shown = FeatureMapDisplay.from_estimator(learner)
    assert shown.map.stress == pytest.approx(0.0, abs=1e-3)


def test_reports(task, tmp_path, monkeypatch):
    monkeypatch.setattr(_lesson, "N_DRAWS", 4)
    rows, y, points = task
    X = rows[:90].toarray()
    few = {"n_folds": 3, "n_repeats": 1, "learners": ()}
    search = MetricLearningCV(learner_of(points), {}, cv=2)
    for learner in (learner_of(points, points="both"), search):
        path = write_report(
            tmp_path / "r.html", X=X, y=y[:90], learner=learner, random_state=0, **few
        )
        text = path.read_text(encoding="utf-8")
        assert "solve one system of equations: there are no steps to show." in text
        assert "1, in closed form" in text
        assert '"path":null' in text
        for word in ("Descent<", "descent itself", "subgradient", "criterion</strong>"):
            assert word not in text
        assert '<h2 id="descent-title">Closed form</h2>' in text


SAME = [[0.1, 0.2, 0.3]] * 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shrinkage": 0}, "shrinkage is 0; a number from 1e-08 to 1.0 is needed"),
        ({"shrinkage": 1.5}, "shrinkage is 1.5"),
        ({"shrinkage": math.nan}, "shrinkage is nan"),
        ({"shrinkage": "none"}, "shrinkage is 'none'"),
        ({"trust": -1}, "trust is -1; a number from 0 to inf is needed"),
        ({"trust": "all"}, "trust is 'all'"),
        ({"trust": 1e300}, "trust is 1e"),
        ({"kernel": "cubic"}, "kernel is 'cubic'"),
        ({"bin_weights": "learn"}, "bin_weights is 'learn'"),
        ({"bin_weights": [1.0, -1.0] * 30}, r"bin_weights\[1\] is -1.0"),
        ({"bin_weights": [1.0]}, "bin_weights has 1 entries for 60 bins"),
        ({"power": -1}, "power is -1"),
        ({"max_samples": 0}, "max_samples is 0"),
        ({"points": SAME}, "points are all the same"),
        ({"points": [OTHER, SAME]}, r"points\[1\] is all the same"),
        ({"points": [OTHER, SAME[:5]]}, r"points\[1\] has shape \(5, 3\)"),
        ({"points": [OTHER, OTHER * np.nan]}, r"points\[1\]"),
        ({"points": [[[1.0, 2.0], [3.0]], OTHER]}, r"points\[0\]"),
        ({"points": OTHER[None, None]}, "points"),
        ({"points": np.stack([OTHER, SAME])}, r"points\[1\] is all the same"),
        ({"points": []}, "points"),
        ({"points": OTHER[:5, 0]}, r"points has shape \(5, 1\), but the histograms"),
        ({"points": "words"}, "points"),
    ],
)
def test_what_is_rejected(task, options, words):
    rows, y, points = task
    learner = learner_of(points).fit(rows[:N], y[:N])
    before = learner.embedding_
    with pytest.raises(ValueError, match=words):
        learner.set_params(**options).fit(rows[:N], y[:N])
    assert learner.embedding_ is before


def test_labels_are_needed(task):
    rows, y, _ = task
    with pytest.raises(ValueError, match="requires y to be passed"):
        DiscriminantMetricLearning().fit(rows)
    with pytest.raises(ValueError, match="class"):
        DiscriminantMetricLearning().fit(rows, np.zeros(len(y)))


def test_many_words_stay_sparse():
    rng = np.random.default_rng(0)
    n, d = 60, 22_000
    columns = np.sort(rng.integers(0, d, (n, 20)), axis=1)
    columns[:, 0] = np.arange(n) % 3
    parts = np.ones(n * 20), columns.ravel(), np.arange(0, n * 20 + 1, 20)
    rows = NeverDense(parts, shape=(n, d))
    rows.sum_duplicates()
    for points, limit in ((None, 150), (rng.normal(size=(d, 10)), 60)):
        tracemalloc.start()
        learner = DiscriminantMetricLearning(points).fit(rows, np.arange(n) % 3)
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        assert peak < limit  # megabytes; n x d are 10, and d x d 3,900
        assert learner.embedding_.shape == (d, 2)
        assert learner.initial_embedding_.shape[1] <= 100
        with pytest.raises(ValueError, match="would have 22000 x 22000 entries"):
            _ = learner.metric_


def test_many_histograms_take_little_memory():
    rng = np.random.default_rng(0)
    n, d = 20_000, 128
    counts = rng.poisson(0.3, (n, d))
    counts[:, 0] += 1
    y = np.arange(n) % 4
    X = csr_array(counts.astype(float))
    tracemalloc.start()
    learner = DiscriminantMetricLearning().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert learner.embedding_.shape == (d, 3)
    assert peak < 8 * n * d * 6
