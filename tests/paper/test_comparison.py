"""All methods on one task."""

import json
import math

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from groundmetric import (
    EMDKernel,
    EMDNeighbors,
    GroundMetricLearning,
    MetricLearningCV,
    Neighborhood,
    SinkhornMetricLearning,
    distances,
    experiments,
    initial_metric,
    pairwise_emd,
    validation,
)
from groundmetric.experiments import measures
from groundmetric.experiments.estimators import of_learner
from paper import METHODS, Comparison, compare_split, comparison, methods

# The settings of section 7.3.
PAPER = {
    "criterion": Neighborhood(3, n_similar=3, inner_steps=200),
    "init": "typical",
    "power": 1.0,
    "step_size": 0.1,
    "max_steps": 8 * 200,
}
ONE = Neighborhood(1, n_similar=1, inner_steps=200)
FEW = [name for name in METHODS if not name.startswith("gml-")]


@pytest.fixture(scope="module")
def task():
    """Fours and nines, on 16 blocks of pixels: 8 + 8 to learn from, 15 + 15 to test."""
    images, y = load_digits(return_X_y=True)
    X = images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(-1, 16)
    rows = [np.flatnonzero(y == digit) for digit in (4, 9)]
    train = np.concatenate([r[:8] for r in rows])
    test = np.concatenate([r[8:23] for r in rows])
    return X[train], y[train], X[test], y[test]


def test_methods_run_without_a_warning(task, monkeypatch):
    monkeypatch.setattr(measures, "SIGMA_GRID", (0.2, 1.0))  # to be quick
    monkeypatch.setattr(measures, "N_REPEATS", 1)
    X, y, X_test, y_test = task
    rows = compare_split(
        *task, methods=FEW, n_neighbors=5, svm=True
    )  # warnings are errors
    assert [row.method for row in rows] == FEW
    for row in rows:
        assert len(row.knn_errors) == len(row.recall) == 5
        assert all(0 <= row.knn_errors[k] < 0.5 for k in (0, 2, 4))
        assert all(0.5 < share <= 1 for share in row.recall)
        assert 0 <= row.svm_error < 0.5
        assert 0 <= row.fit_seconds <= row.seconds
    # They are what they are called.
    found = {row.method: row for row in rows}
    learned = GroundMetricLearning().fit(X, y)
    for name, train, test in (
        ("l1", distances.l1(X), distances.l1(X_test, X)),
        ("chi2", distances.chi2(X), distances.chi2(X_test, X)),
        ("gml", learned.transform(X), learned.transform(X_test)),
    ):
        for k in (1, 5):
            knn = KNeighborsClassifier(k, metric="precomputed").fit(train, y)
            expected = 1 - knn.score(test, y_test)
            assert found[name].knn_errors[k - 1] == pytest.approx(expected)
    # Half of l1 has the same neighbors and, with the median as unit, the same kernel.
    assert found["emd-uniform"].svm_error == found["l1"].svm_error
    # A metric of the angle alone, as Hellinger's is.
    assert found["fisher"].knn_errors == found["hellinger"].knn_errors
    assert found["fisher"].recall == found["hellinger"].recall


def test_tf_idf_weights_rare_words_more():
    train = np.array([[0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [1.0, 0.0, 0.0]])
    pairwise = METHODS["tfidf-l1"].learn(train, np.array([0, 1, 0]), 1)
    # Smoothed as in scikit-learn: ln(4 / 4) + 1 and ln(4 / 2) + 1.
    idf = np.array([1.0, 1 + np.log(2), 1 + np.log(2)])
    np.testing.assert_allclose(
        pairwise(train, None), distances.l1(train * idf), atol=1e-15
    )
    # The word that all have in common counts for less than in l1.
    assert pairwise(train, train)[0, 1] > distances.l1(train)[0, 1]
    words = TfidfTransformer(norm="l1", smooth_idf=True).fit(train)
    np.testing.assert_allclose(
        pairwise(train[:1], train),
        distances.l1(words.transform(train[:1]), words.transform(train)),
        atol=1e-15,
    )


def test_neighborhoods_and_starts_are_what_they_are_called(task):
    X, y, X_test, _ = task
    for name, options in (
        ("gml-k1-uniform", {"criterion": Neighborhood(1, n_similar=1), "power": 1.0}),
        (
            "gml-kall-typical",
            {"criterion": Neighborhood(None), "power": 1.0, "init": "typical"},
        ),
        ("gml-neighborhood", {"criterion": "neighborhood", "power": 1.0}),
        ("gml", {}),
        ("gml-paper", PAPER),
        ("gml-paper-k1-uniform", PAPER | {"criterion": ONE, "init": "uniform"}),
    ):
        pairwise = METHODS[name].learn(X, y, 1)
        expected = GroundMetricLearning(**options).fit(X, y).pairwise(X_test, X)
        np.testing.assert_array_equal(pairwise(X_test, X), expected)


def test_smoothed_methods(task):
    X, y, X_test, _ = task
    pairwise = METHODS["gml-smoothed"].learn(X, y, 1)
    expected = SinkhornMetricLearning().fit(X, y).pairwise(X_test, X)
    np.testing.assert_array_equal(pairwise(X_test, X), expected)
    settings = METHODS["gml-smoothed-cv"].settings
    assert json.loads(json.dumps(settings)) == settings
    assert settings["estimator"] == "SinkhornMetricLearning"
    assert settings["estimator__criterion__n_targets"] == 10
    assert settings["patience"] is None
    assert settings["param_grid"] == {"smoothing": [1.0, 3.0, math.inf]}


def test_steps_by_cross_validation(task):
    X, y, X_test, _ = task
    pairwise = METHODS["gml-cv"].learn(X, y, 1)
    expected = MetricLearningCV(param_grid={}).fit(X, y).pairwise(X_test, X)
    np.testing.assert_array_equal(pairwise(X_test, X), expected)
    assert METHODS["gml-cv"].settings["cv"] == 3


@pytest.mark.parametrize("init", ["typical", "independence"])
def test_a_start_is_what_learning_starts_from(task, init, monkeypatch):
    used = []

    def keep(X, Y=None, *, metric, n_jobs):
        used.append(metric)
        return pairwise_emd(X, Y, metric=metric, n_jobs=n_jobs)

    monkeypatch.setattr(methods.gm, "pairwise_emd", keep)
    X, y, X_test, _ = task
    pairwise = METHODS[f"start-{init}"].learn(X / X.sum(axis=1, keepdims=True), y, 1)
    learner = GroundMetricLearning(init=init, power=1.0, max_steps=1).fit(X, y)
    distances_of_start = pairwise(X_test[:2] / X_test[:2].sum(axis=1)[:, None], None)
    first = learner.initial_metric_
    np.testing.assert_allclose(used[0] / used[0].max(), first / first.max(), rtol=1e-12)
    assert distances_of_start[0, 1] > 0
    # And not the tables' own metric, which is the other end of the blend.
    plain = initial_metric(X, y, **METHODS[f"emd-{init}"].settings)
    assert np.abs(used[0] - plain).max() > 1e-3


def test_kernel_of_distances_is_the_kernel_of_histograms(task):
    X, y, X_test, y_test = task
    by_hand = make_pipeline(EMDKernel(distance="l2"), SVC(kernel="precomputed"))
    by_distances = make_pipeline(
        EMDKernel(distance="precomputed"), SVC(kernel="precomputed")
    )
    by_distances.fit(distances.l2(X), y)
    assert by_hand.fit(X, y).score(X_test, y_test) == by_distances.score(
        distances.l2(X_test, X), y_test
    )


def test_choice_of_methods_and_no_svm(task):
    rows = compare_split(*task, methods=("gml", "l2"), n_neighbors=3, n_jobs=2)
    assert [row.method for row in rows] == ["gml", "l2"]
    assert all(isinstance(row, Comparison) for row in rows)
    assert all(row.svm_error is None for row in rows)
    assert rows == compare_split(*task, methods=["gml", METHODS["l2"]], n_neighbors=3)


def test_folds_fit_small_classes():
    X = [[4, 1], [3, 1], [5, 1], [1, 4], [1, 3]]
    (row,) = compare_split(X, [0, 0, 0, 1, 1], X, [0, 0, 0, 1, 1], methods=["l1"],
                     n_neighbors=1, svm=True)  # fmt: skip
    assert row == Comparison("l1", [0.0], [1.0], 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ["l3"]}, "methods has 'l3'; it must be one of l1, l2"),
        ({"methods": "l1"}, "methods is 'l1'; a list of methods is needed"),
        ({"methods": []}, "methods is empty"),
        ({"methods": ["l1", "l2", "l1"]}, "methods has 'l1' twice"),
        (
            {"n_neighbors": 5},
            "n_neighbors is 5; it must be at most 1, since there are 4 ",
        ),
        (
            {"n_neighbors": 2},
            "n_neighbors is 2; it must be at most 1, since there are 4 ",
        ),
        ({"n_neighbors": 0}, "n_neighbors is 0; it must be at least 1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"X_test": [[1, 2, 3]]}, "X_train has 2 bins, but X_test has 3"),
        ({"X_test": [[0, 0], [1, 1]]}, r"X_test\[0\] has zero mass"),
        ({"y_train": [0, 1]}, "y_train has 2 labels for 4 histograms"),
        ({"y_test": [0]}, "y_test has 1 labels for 2 histograms"),
        ({"y_test": ["0", "1"]}, "y_test has labels such as '0', but y_train such as"),
        ({"y_train": [0, 0, 0, 1]}, "y_train has a class with a single member"),
        ({"y_train": [0, 0, 0, 0]}, "y_train has one class only"),
    ],
)
def test_bad_input(options, message):
    good = {"X_train": [[1, 2], [1, 3], [2, 1], [3, 1]], "y_train": [0, 0, 1, 1],
            "X_test": [[1, 2], [1, 1]], "y_test": [0, 0], "n_neighbors": 1,
            "svm": True}  # fmt: skip
    with pytest.raises(ValueError, match=message):
        compare_split(**(good | options))


def test_names_are_public_and_sorted():
    key = lambda name: (not name.isupper(), name)  # noqa: E731
    assert experiments.__all__ == sorted(experiments.__all__, key=key)
    assert set(distances.DISTANCES) < set(experiments.METHODS) < set(METHODS)
    for figure in (1, 2, 3, 4):
        assert set(getattr(methods, f"FIGURE_{figure}")) < set(METHODS)
    assert all(name == method.name for name, method in METHODS.items())
    assert len({method.label for method in METHODS.values()}) == len(METHODS)


@pytest.mark.parametrize("search", [False, True])
def test_splits_do_not_share_callbacks(task, search):
    X, y, *_ = task
    seen = []
    learner = GroundMetricLearning(max_steps=1, callbacks=[seen.append])
    if search:
        scores = iter([0.0] * 4 + [1.0] * 4)  # of two folds, drawn twice
        learner = MetricLearningCV(learner, {}, cv=2, scoring=lambda *_: next(scores))
    learned = of_learner(learner).learn(X, y, None)
    assert learned.learner.n_iter_ == 1
    assert seen == []


@pytest.mark.parametrize(
    "name", ["gml", "gml-k3-uniform", "emd-typical", "gml-cv", "gml-smoothed", "l1"]
)
def test_neighbors_are_those_of_all_distances(task, name, monkeypatch):
    X, y, X_test, y_test = task
    # Each test histogram three times: the nearest others are tied.
    X_test, y_test = np.tile(X_test, (3, 1)), np.tile(y_test, 3)
    if name == "gml-cv":  # few steps
        one = MetricLearningCV(GroundMetricLearning(max_steps=1), {}, cv=2)
        method = experiments.Method.of(one, name)
    else:
        method = METHODS[name]
    pairwise, solved = method.learn(X, y, 1), []
    if isinstance(getattr(pairwise, "__self__", None), MetricLearningCV):
        pairwise = pairwise.__self__.pairwise
    rows = validation.as_distributions(X_test, "X_test")
    for k in (4, 20):
        between = pairwise(rows, None)
        find = EMDNeighbors.kneighbors

        def counted(search, find=find, **options):
            found = find(search, **options)
            solved.append(search.n_solves_)
            return found

        with monkeypatch.context() as watched:
            watched.setattr(EMDNeighbors, "kneighbors", counted)
            found = comparison._ranked(pairwise, rows, k, 1)
        np.testing.assert_array_equal(
            *(measures.nearest_others(each, k) for each in (found, between))
        )
        shares = experiments.recall(found, y_test, n_neighbors=k)
        assert shares == experiments.recall(between, y_test, n_neighbors=k)
    # Only exact EMDs are searched, with fewer solves than pairs.
    n = len(rows)
    assert len(solved) == (0 if name in ("gml-smoothed", "l1") else 2)
    assert all(n_solves < n * (n - 1) / 2 for n_solves in solved)
