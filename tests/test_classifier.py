"""The classifier: a learner and a search, put together."""

import pickle
import tracemalloc
from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract import check_contract
from groundmetric import (
    EMDClassifier,
    GroundMetricLearning,
    MappedMetricLearning,
    SinkhornMetricLearning,
    is_metric,
    pairwise_emd,
)
from problems import fours_and_nines

QUICK = GroundMetricLearning(max_steps=3)


@pytest.mark.filterwarnings("ignore:By the typical tables", "ignore:Class")
@parametrize_with_checks([EMDClassifier(learner=QUICK)])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


@pytest.fixture(scope="module")
def digits():
    return fours_and_nines()


def test_is_the_pipeline(digits):
    X, y, X_test, y_test = digits
    classifier = EMDClassifier(n_jobs=2).fit(X, y)
    knn = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
    pipeline = make_pipeline(GroundMetricLearning(), knn).fit(X, y)
    np.testing.assert_array_equal(classifier.metric_, pipeline[0].metric_)
    np.testing.assert_array_equal(classifier.predict(X_test), pipeline.predict(X_test))
    np.testing.assert_allclose(
        classifier.predict_proba(X_test), pipeline.predict_proba(X_test)
    )
    assert classifier.score(X_test, y_test) == pipeline.score(X_test, y_test)
    n_pairs = len(X) * len(X_test)
    assert classifier.neighbors_.n_solves_ < n_pairs / 2


def test_labels_and_votes_by_hand():
    # Of three neighbors two are "b"; all three of the first query's are near "a".
    X = [[9, 1, 0], [8, 2, 0], [7, 3, 0], [0, 1, 9], [0, 2, 8]]
    y = ["a", "a", "a", "b", "b"]
    classifier = EMDClassifier(learner=QUICK).fit(X, y)
    assert classifier.classes_.tolist() == ["a", "b"]
    shares = classifier.predict_proba([[6, 4, 0], [0, 3, 7]])
    np.testing.assert_allclose(shares, [[1, 0], [1 / 3, 2 / 3]])
    assert classifier.predict([[6, 4, 0], [0, 3, 7]]).tolist() == ["a", "b"]


def test_the_learner_is_a_parameter(digits):
    X, y, X_test, _ = digits
    search = GridSearchCV(
        EMDClassifier(learner=QUICK),
        {"n_neighbors": [1, 3], "learner__max_steps": [1, 2]},
        cv=2,
    ).fit(X, y)
    best = search.best_estimator_
    assert best.learner_.max_steps == search.best_params_["learner__max_steps"]
    assert not hasattr(QUICK, "metric_")  # a clone was fitted
    again = pickle.loads(pickle.dumps(best))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.predict(X_test), best.predict(X_test))
    assert clone(best).get_params().keys() == best.get_params().keys()


def test_bad_input():
    X = [[1, 2], [2, 1], [3, 1]]
    with pytest.raises(ValueError, match="n_neighbors is 0; it must be at least 1"):
        EMDClassifier(0).fit(X, [0, 0, 1])
    with pytest.raises(ValueError, match="y has one class only"):
        EMDClassifier().fit(X, [1, 1, 1])
    with pytest.raises(ValueError, match=r"X\[1\] has zero mass"):
        EMDClassifier().fit([[1, 2], [0, 0]], [0, 1])


class Foreign(BaseEstimator):
    """A learner of another package; notes that it was fitted."""

    fitted: ClassVar[list[int]] = []

    def __init__(self, metric=None):
        self.metric = metric

    def fit(self, X, _):
        """Learn what was given."""
        self.fitted.append(len(X))
        if self.metric is not None:
            self.metric_ = np.asarray(self.metric)
        return self


def test_learners_of_other_packages():
    X, y = [[1, 2], [2, 1], [3, 1], [1, 3]], [0, 0, 1, 1]
    learner = Foreign([[0.0, 1.0], [1.0, 0.0]])
    classifier = EMDClassifier(n_neighbors=1, learner=learner).fit(X, y)
    assert classifier.score(X, y) == 1.0
    with pytest.raises(ValueError, match="has no metric_ after fit"):
        EMDClassifier(learner=Foreign()).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 5}, "n_neighbors is 5; it must be at most 4"),
        ({"n_neighbors": 0}, "n_neighbors is 0; it must be at least 1"),
        ({"n_jobs": 0}, "n_jobs is 0"),
        ({"learner": GaussianNB()}, r"learner is GaussianNB\(\), which learns classes"),
        ({"learner": EMDClassifier()}, "which learns classes"),
        ({"learner": GroundMetricLearning}, "with a method fit is needed"),
        ({"learner": "margin"}, "learner is 'margin'; an estimator"),
    ],
)
def test_what_cannot_work_is_rejected_before_the_fit(options, message):
    Foreign.fitted.clear()
    classifier = EMDClassifier(3, learner=Foreign(np.zeros((2, 2))))
    classifier.set_params(**options)
    with pytest.raises(ValueError, match=message):
        classifier.fit([[1, 2], [2, 1], [3, 1], [1, 3]], [0, 0, 1, 1])
    assert Foreign.fitted == []
    assert not hasattr(classifier, "classes_")


def test_smoothed_learners_of_many_classes():
    # Their costs are squared distances, which break triangle inequalities.
    X, y = load_digits(return_X_y=True)
    train, test = slice(0, 120), slice(120, 180)
    learner = SinkhornMetricLearning(max_steps=4, n_components=3)
    classifier = EMDClassifier(n_neighbors=3, learner=learner).fit(X[train], y[train])
    assert not is_metric(classifier.metric_, tol=1e-6)
    D = classifier.learner_.pairwise(X[test], X[train])
    nearest = np.argsort(D, axis=1, kind="stable")[:, :3]
    shares = (y[train][nearest][:, :, None] == np.arange(10)).mean(axis=1)
    np.testing.assert_allclose(classifier.predict_proba(X[test]), shares)
    # Exact EMDs of these costs vote differently.
    exact = pairwise_emd(
        *(classifier.learner_.histograms(X[part]) for part in (test, train)),
        metric=classifier.metric_,
    )
    others = np.argsort(exact, axis=1, kind="stable")[:, :3]
    assert (y[train][others] != y[train][nearest]).any()


def test_positions_of_thousands_of_bins_need_no_matrix():
    n, d = 40, 10_500  # above the 10,000 of which metric_ can be made
    rng = np.random.default_rng(1)
    y = np.arange(n) % 2
    points = rng.normal(size=(d, 2)) + 4 * (np.arange(d) % 2)[:, None]
    bins = 2 * rng.integers(0, d // 2, (n, 3)) + y[:, None]
    starts = np.arange(0, 3 * n + 1, 3)
    X = csr_array((np.ones(3 * n), bins.ravel(), starts), shape=(n, d))
    learner = MappedMetricLearning(points, 2, max_steps=1)
    tracemalloc.start()
    classifier = EMDClassifier(learner=learner).fit(X[:30], y[:30])
    shares = classifier.predict_proba(X[30:])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * d**2 / 20
    D = classifier.learner_.pairwise(X[30:], X[:30])
    nearest = np.argsort(D, axis=1, kind="stable")[:, :3]
    np.testing.assert_allclose(shares[:, 1], y[nearest].mean(axis=1))
    assert shares.shape == (10, 2)
    assert (shares.argmax(axis=1) == y[30:]).all()


def test_parameters_of_the_default_learner(digits):
    X, y, _, _ = digits
    search = GridSearchCV(
        EMDClassifier(),
        {"learner__criterion__n_targets": [2, 5], "learner__max_steps": [2]},
        cv=2,
    ).fit(X, y)
    best = search.best_estimator_
    chosen = search.best_params_["learner__criterion__n_targets"]
    assert best.learner_.criterion.n_targets == chosen
    assert best.learner_.n_iter_ == 2
    classifier = EMDClassifier(n_jobs=2)
    with pytest.raises(ValueError, match="Invalid parameter 'neighbours'"):
        classifier.set_params(learner__neighbours=3)
    assert classifier.learner is None
    # Threads reach the learner, whether it was made here or there.
    classifier.set_params(learner__max_steps=1).fit(X, y)
    assert classifier.learner_.n_jobs == 2
    assert classifier.learner.n_jobs is None


def test_a_fit_that_fails_changes_nothing(digits):
    X, y, X_test, _ = digits
    classifier = EMDClassifier(learner=QUICK).fit(X, y)
    before = classifier.predict_proba(X_test)
    with pytest.raises(ValueError, match="y has one class only"):
        classifier.fit(X[:, :9] + 1, np.zeros(len(X)))
    np.testing.assert_array_equal(classifier.predict_proba(X_test), before)


def test_votes_are_those_of_histograms_as_the_metric_sees_them():
    X, y = load_digits(n_class=3, return_X_y=True)
    learner = GroundMetricLearning(power=0.5, max_steps=2)
    classifier = EMDClassifier(n_neighbors=1, learner=learner).fit(X[:40], y[:40])
    D = classifier.learner_.pairwise(X[100:120], X[:40])
    np.testing.assert_array_equal(
        classifier.predict(X[100:120]), y[:40][D.argmin(axis=1)]
    )


@pytest.mark.parametrize(
    "learner",
    [
        GroundMetricLearning(max_samples=10, max_steps=3),
        MappedMetricLearning(n_components=2, max_steps=3),
        MappedMetricLearning(n_components=2, max_samples=10, max_steps=3),
    ],
)
def test_a_file_holds_all_that_votes(tmp_path, learner):
    rng = np.random.default_rng(0)
    X, queries, points = rng.random((24, 6)), rng.random((30, 6)), rng.random((6, 3))
    learner = clone(learner).set_params(points=points)
    classifier = EMDClassifier(learner=learner).fit(X, np.arange(24) % 3)
    classifier.save(tmp_path / "model.npz")
    loaded = EMDClassifier.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(
        loaded.predict_proba(queries), classifier.predict_proba(queries)
    )
    found = [model.neighbors_.kneighbors() for model in (loaded, classifier)]
    np.testing.assert_array_equal(*[indices for _, indices in found])
    classifier.set_params(learner=None).fit(X[:6], [0, 1] * 3)
    classifier.save(tmp_path / "model.npz")  # nothing of the first fit is left
    assert EMDClassifier.load(tmp_path / "model.npz").neighbors_.n_samples_fit_ == 6
