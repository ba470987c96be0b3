"""AutoMetric, wherever a learner can stand, and how it chooses."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import check_contract
from groundmetric import AutoMetric, EMDClassifier, EMDNeighbors
from groundmetric.automatic import _families
from groundmetric.experiments import Method, compare, stability
from groundmetric.learning import _cross_validation
from groundmetric.learning._folds import Folds
from groundmetric.report import _lesson, write_report
from test_prior_estimator import NeverDense

D = 6  # bins
POINTS = np.random.default_rng(1).normal(size=(D, 2))
OTHER = np.arange(D)[:, None] ** 2.0


@pytest.fixture(scope="module")
def data():
    """Two classes, of which two bins tell."""
    rng = np.random.default_rng(0)
    y = np.repeat(["left", "right"], 12)
    X = rng.poisson(4.0, (24, D)) + 1
    X[:, 0] += 3 * (y == "left")
    X[:, 1] += 3 * (y == "right")
    return X, y


@pytest.fixture(scope="module")
def fitted(data):
    return AutoMetric(POINTS, cv=2).fit(*data)


@parametrize_with_checks([AutoMetric(cv=2)])
@pytest.mark.filterwarnings("ignore:Class")
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


def scripted(monkeypatch, scores_of):
    """Make scores up: after 0, 1, ... steps, in all folds or in each; list the asked.

    Scores of what is solved in closed form are those after its only step.
    """
    asked = []

    def scores(folds, candidate, _first=None):
        asked.append(candidate)
        found = np.asarray(scores_of(candidate), dtype=float)
        rows = found if found.ndim == 2 else found[:, None]
        return np.tile(rows, (1, len(folds._splits) // rows.shape[1])).tolist()

    monkeypatch.setattr(Folds, "scores", scores)
    return asked


def name_of(candidate):
    return type(candidate.learner).__name__


WINNERS = {
    "DiscriminantMetricLearning": ([0.1, 0.9], 1),
    "SinkhornMetricLearning": ([0.1, 0.2, 0.9, 0.9], 2),
    "GroundMetricLearning": ([0.1, 0.9, 0.3], 1),
    "CombinedMetricLearning": ([0.9, 0.9], 0),
    "MappedMetricLearning": ([0.9], 0),  # the EMD with the distances of the points
}


@pytest.mark.parametrize("winner", WINNERS)
def test_a_clear_winner_is_chosen_with_its_steps(data, monkeypatch, winner):
    won, n_steps = WINNERS[winner]
    lost = {name: [0.2] * len(scores) for name, (scores, _) in WINNERS.items()}
    asked = scripted(
        monkeypatch,
        lambda each: won if name_of(each) == winner else lost[name_of(each)],
    )
    model = AutoMetric(POINTS).fit(*data)
    assert {name_of(each) for each in asked} == {*WINNERS}
    assert type(model.best_estimator_).__name__ == winner
    assert model.best_step_ == model.best_estimator_.n_iter_ == n_steps
    assert model.best_score_ == pytest.approx(0.9)
    own = model.best_estimator_.get_params()
    assert all(own[name] is not None for name in model.best_params_)
    names = model.cv_results_["estimator"]
    assert {*names} == {*WINNERS}
    assert np.nanmax(model.cv_results_["mean_test_score"]) == pytest.approx(0.9)


def test_of_equals_the_simplest_is_chosen(data, monkeypatch):
    asked = scripted(monkeypatch, lambda _: [0.5, 0.5])
    model = AutoMetric(POINTS).fit(*data)
    assert isinstance(model.best_estimator_, gm.DiscriminantMetricLearning)
    assert model.best_params_ == asked[0].params


def test_a_lead_within_one_standard_error_does_not_count(data, monkeypatch):
    for spread, expected in (
        (0.3, gm.DiscriminantMetricLearning),  # in one fold better, in the next worse
        (0.01, gm.GroundMetricLearning),
    ):
        exact = [[0.5, 0.5], [0.6 + spread, 0.6 - spread]]
        even = [[0.5, 0.5]] * 2
        scripted(
            monkeypatch,
            lambda each, exact=exact, even=even: (
                exact if isinstance(each.learner, gm.GroundMetricLearning) else even
            ),
        )
        model = AutoMetric().fit(*data)
        assert isinstance(model.best_estimator_, expected)


def test_the_power_is_chosen_first_and_shared(data, monkeypatch):
    power = _families.POWERS[1]
    seen = []

    def scores_of(each):
        if isinstance(each.learner, gm.DiscriminantMetricLearning):
            return [0.1, 0.8 if each.params["power"] == power else 0.3]
        seen.append(each.params)
        return [0.1, 0.9]

    scripted(monkeypatch, scores_of)
    model = AutoMetric().fit(*data)
    assert seen
    assert all(params == {"power": power} for params in seen)
    assert model.best_params_ == {"power": power}
    assert model.best_estimator_.power == power


def test_what_is_tried(data, monkeypatch):
    X, y = data
    known = np.random.default_rng(2).normal(size=(D, 12))  # such as word vectors
    names = {}
    for case, points in {
        "nothing": None,
        "plane": POINTS,
        "words": known,
        "list": [POINTS, OTHER],
        "rows": POINTS.tolist(),
        "stacked": np.stack([POINTS, POINTS[::-1]]),
    }.items():
        asked = scripted(monkeypatch, lambda _: [0.5, 0.5])
        AutoMetric(points, cv=2).fit(X, y)
        names[case] = [name_of(each) for each in asked]
        given = [each for each in asked if each.is_given]
        assert not any(each.learns for each in given)
        assert len(given) == {"nothing": 0, "list": 2, "stacked": 2}.get(case, 1)
        combined = [each for each in asked if "Combined" in name_of(each)]
        if combined:
            assert len(combined[0].learner.metrics) == 1 + len(given)
    assert "CombinedMetricLearning" not in names["nothing"]
    assert names["plane"] == names["rows"]
    assert names["words"].count("SinkhornMetricLearning") == 2
    assert names["list"] == names["stacked"]


def test_many_bins_stay_sparse():
    rng = np.random.default_rng(0)
    n, d = 24, 5000
    columns = np.sort(rng.integers(0, d, (n, 20)), axis=1)
    columns[:, 0] = np.arange(n) % 3
    parts = np.ones(n * 20), columns.ravel(), np.arange(0, n * 20 + 1, 20)
    rows = NeverDense(parts, shape=(n, d))
    rows.sum_duplicates()
    for points in (None, rng.normal(size=(d, 2))):
        model = AutoMetric(points, cv=2).fit(rows, np.arange(n) % 3)
        kinds = {"DiscriminantMetricLearning"}
        kinds |= set() if points is None else {"MappedMetricLearning"}
        assert {*model.cv_results_["estimator"]} == kinds
        assert model.transform(rows[:2]).shape == (2, n)


def test_sparse_rows_are_dense_rows(data):
    X, y = data
    dense, sparse = (AutoMetric(cv=2).fit(rows, y) for rows in (X, csr_array(X)))
    assert dense.best_params_ == sparse.best_params_
    np.testing.assert_allclose(dense.transform(X), sparse.transform(X), atol=1e-9)


def test_threads_and_repetition_change_nothing(data):
    X, y = data
    one, two, again = (
        AutoMetric([POINTS, OTHER], cv=2, n_jobs=n_jobs).fit(X, y)
        for n_jobs in (1, 3, 3)
    )
    for other in (two, again):
        assert other.best_params_ == one.best_params_
        np.testing.assert_array_equal(
            other.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"]
        )
        np.testing.assert_array_equal(other.transform(X), one.transform(X))


def test_is_a_learner(data, fitted):
    X, y = data
    best = fitted.best_estimator_
    np.testing.assert_array_equal(fitted.transform(X), best.transform(X))
    np.testing.assert_array_equal(fitted.pairwise(X[:3], X), best.pairwise(X[:3], X))
    np.testing.assert_array_equal(fitted.metric_, best.metric_)
    assert fitted.n_features_in_ == D
    assert fitted.classes_.tolist() == ["left", "right"]
    assert fitted.get_feature_names_out().shape == (len(X),)
    nearest = KNeighborsClassifier(3, metric="precomputed")
    assert cross_val_score(make_pipeline(AutoMetric(cv=2), nearest), X, y, cv=2).all()
    search = EMDNeighbors(fitted, n_neighbors=2).fit(X)
    assert search.kneighbors(X[:4])[0].shape == (4, 2)


def test_names_of_features(data):
    pd = pytest.importorskip("pandas")
    X, y = data
    frame = pd.DataFrame(X, columns=[f"bin{k}" for k in range(D)])
    model = AutoMetric(cv=2).fit(frame, y)
    assert model.feature_names_in_.tolist() == [*frame.columns]
    assert model.best_estimator_.feature_names_in_.tolist() == [*frame.columns]
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(frame[frame.columns[::-1]])


def test_parameters_and_clones(fitted):
    assert sorted(AutoMetric().get_params()) == sorted(
        ("points", "cv", "scoring", "n_jobs", "verbose", "random_state")
    )
    copied = clone(fitted)
    assert copied.points is not fitted
    np.testing.assert_array_equal(copied.points, POINTS)
    assert copied.cv == 2
    assert not hasattr(copied, "best_estimator_")
    assert copied.set_params(cv=4, points=None).get_params()["cv"] == 4
    assert repr(AutoMetric(cv=4)) == "AutoMetric(cv=4)"
    with pytest.raises(ValueError, match="Invalid parameter 'estimator'"):
        copied.set_params(estimator=gm.GroundMetricLearning())


@pytest.mark.parametrize("points", [None, POINTS, [POINTS, OTHER]])
def test_files(data, tmp_path, points):
    X, y = data
    model = AutoMetric(points, cv=2).fit(X, y)
    model.save(tmp_path / "model.npz")
    loaded = AutoMetric.load(tmp_path / "model.npz")
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    for other in (loaded, pickled):
        np.testing.assert_array_equal(other.transform(X), model.transform(X))
        assert type(other.best_estimator_) is type(model.best_estimator_)
        assert other.best_step_ == model.best_step_
        assert other.best_params_ == model.best_params_
        assert other.best_score_ == model.best_score_
        second = clone(other).fit(X, y)  # parameters were kept
        np.testing.assert_array_equal(second.transform(X), model.transform(X))
    with pytest.raises(ValueError, match=r"read it with AutoMetric\.load"):
        gm.MetricLearningCV.load(tmp_path / "model.npz")


def test_folds_keep_groups(data, monkeypatch):
    X, y = data
    groups = np.arange(len(y)) // 2
    seen = []
    splits_of = _cross_validation.splits_of

    def watched(*given):
        seen.append(splits_of(*given))
        return seen[-1]

    monkeypatch.setattr(_cross_validation, "splits_of", watched)
    for cv in (2, GroupKFold(2)):
        AutoMetric(cv=cv).fit(X, y, groups=groups)
        for train, test in seen.pop():
            assert set(groups[train]).isdisjoint(groups[test])


def test_folds_and_scores_of_your_own(data):
    X, y = data
    calls = []

    def scoring(distances, train, test):
        calls.append(distances.shape)
        return (train[distances.argmin(axis=1)] == test).mean()

    model = AutoMetric(cv=StratifiedKFold(3), scoring=scoring).fit(X, y)
    assert {*calls} == {(8, 16)}
    assert "split2_test_score" in model.cv_results_
    assert "split3_test_score" not in model.cv_results_
    half = np.arange(len(y)) % 2 == 0
    one = AutoMetric(cv=[(half, ~half)]).fit(X, y)
    assert "split1_test_score" not in one.cv_results_
    assert 0.5 < one.best_score_ <= 1.0


def test_classifiers_and_kernels(data, fitted):
    X, y = data
    classifier = EMDClassifier(3, learner=AutoMetric(POINTS, cv=2)).fit(X, y)
    assert classifier.score(X, y) > 0.8
    assert type(classifier.learner_) is AutoMetric
    shared = EMDClassifier(3, learner=fitted).fit(X, y)
    np.testing.assert_array_equal(classifier.predict(X), shared.predict(X))
    kernel = gm.EMDKernel(distance=fitted).fit(X, y)
    found = kernel.transform(X[:3])
    expected = np.exp(-fitted.pairwise(X[:3], X) / kernel.bandwidth_)
    off = ~np.eye(3, len(X), dtype=bool)
    np.testing.assert_allclose(found[off], expected[off], rtol=1e-6)


def test_comparisons(data):
    X, y = data
    method = Method.of(AutoMetric(POINTS, cv=2), "auto", "the usual")
    assert method.settings["cv"] == 2
    assert method.takes_groups
    groups = np.arange(len(y)) // 2
    found = compare(X, y, methods=[method, "l1"], n_folds=2, n_repeats=1, groups=groups)
    assert 0.0 <= found.loc["auto", "error"] < 0.5


def test_reports_and_stability(data, tmp_path, monkeypatch):
    monkeypatch.setattr(_lesson, "N_DRAWS", 4)
    X, y = data
    learner = AutoMetric(cv=2)
    path = write_report(
        tmp_path / "r.html",
        X=X,
        y=y,
        learner=learner,
        n_folds=2,
        n_repeats=1,
        learners=(),
        random_state=0,
    )
    text = path.read_text(encoding="utf-8")
    assert "AutoMetric(" in text
    assert "</html>" in text
    assert stability(learner, X, y, n_draws=4, random_state=0).apart.max() >= 0.0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"points": POINTS[:5]}, r"points has shape \(5, 2\)"),
        ({"points": POINTS * np.nan}, "points"),
        ({"points": np.ones((D, 2))}, "points are all the same"),
        ({"points": [POINTS, np.ones((D, 2))]}, r"points\[1\] is all the same"),
        ({"points": [POINTS, OTHER[:5]]}, r"points\[1\] has shape \(5, 1\)"),
        ({"points": "words"}, "points"),
        ({"points": []}, "points"),
        ({"cv": 1}, "cv is 1; it must be at least 2"),
        ({"cv": 13}, "cv is 13, but a class has only 12 histograms"),
        ({"cv": []}, "cv has no folds"),
        ({"scoring": "accuracy"}, "scoring is 'accuracy'; a function is needed"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"random_state": "seed"}, "seed"),
    ],
)
def test_what_is_rejected_before_anything_is_computed(
    data, fitted, monkeypatch, options, words
):
    monkeypatch.setattr(Folds, "_scores_of", _never)
    model = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - made here
    best = model.best_estimator_
    with pytest.raises(ValueError, match=words):
        model.set_params(**options).fit(*data)
    assert model.best_estimator_ is best


def _never(*_):
    raise AssertionError("a candidate was scored")


def test_labels_and_rows_that_are_rejected(data, monkeypatch):
    monkeypatch.setattr(Folds, "_scores_of", _never)
    X, y = data
    for rows, labels, words in (
        (X, None, "requires y to be passed"),
        (X, np.zeros(len(y)), "class"),
        (X, y[:3], "y has 3 labels for 24"),
        (-X, y, r"X\[0, 0\]"),
        (X[:, :1], y, "two bins"),
    ):
        with pytest.raises(ValueError, match=words):
            AutoMetric(cv=2).fit(rows, labels)
    with pytest.raises(ValueError, match="learns on one machine"):
        AutoMetric().fit(X, y, client=object())
    with pytest.raises(ValueError, match="groups has 2 entries for"):
        AutoMetric().fit(X, y, groups=[1, 2])
