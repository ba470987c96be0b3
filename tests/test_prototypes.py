"""The classifier with a prototype of each class."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from contract import check_contract
from groundmetric import (
    DiscriminantMetricLearning,
    EMDClassifier,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
    SinkhornMetricLearning,
    barycenter,
    pairwise_emd,
)

QUICK = GroundMetricLearning(max_steps=3)
KINDS = ["barycenter", "mean"]


@pytest.mark.filterwarnings("ignore:By the typical tables", "ignore:Class")
@parametrize_with_checks([EMDClassifier(learner=QUICK, prototypes="barycenter")])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:60], y[:60], X[60:120], y[60:120]


def test_the_nearest_class_by_hand():
    # Prototypes are the means (2, 1, 0) / 3 and (0, 1, 2) / 3. The middle one is
    # nearer to the first by a unit of mass; all bins are equally far apart.
    X = [[3, 0, 0], [1, 2, 0], [0, 2, 1], [0, 0, 3]]
    start = GroundMetricLearning(init=1.0 - np.eye(3), max_steps=1, power=1.0)
    classifier = EMDClassifier(learner=start, prototypes="mean").fit(X, [7, 7, 9, 9])
    np.testing.assert_allclose(
        classifier.prototypes_, np.array([[2, 1, 0], [0, 1, 2]]) / 3, rtol=1e-12
    )
    assert classifier.predict([[2, 1, 0], [0, 1, 2], [4, 1, 1]]).tolist() == [7, 9, 7]
    shares = classifier.predict_proba([[2, 1, 0], [0, 1, 2], [4, 1, 1]])
    np.testing.assert_array_equal(shares, [[1, 0], [0, 1], [1, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_is_the_nearest_of_a_full_matrix(kind, digits):
    X, y, X_test, y_test = digits
    classifier = EMDClassifier(learner=QUICK, prototypes=kind).fit(X, y)
    learner = clone(QUICK).fit(X, y)
    seen = learner.histograms(X)
    members = y == np.arange(4)[:, None]
    expected = (
        np.stack([seen[y == label].mean(axis=0) for label in range(4)])
        if kind == "mean"
        else barycenter(seen, learner.metric_, members)
    )
    np.testing.assert_allclose(classifier.prototypes_, expected, rtol=1e-12)
    D = pairwise_emd(learner.histograms(X_test), expected, metric=learner.metric_)
    np.testing.assert_array_equal(classifier.predict(X_test), D.argmin(axis=1))
    assert classifier.score(X_test, y_test) > 0.85
    assert classifier.neighbors_.n_samples_fit_ == 4


def test_all_prototypes_vote_by_their_distances(digits):
    X, y, X_test, _ = digits
    options = {"learner": QUICK, "prototypes": "mean"}
    classifier = EMDClassifier(weights="distance", **options).fit(X, y)
    distances, order = classifier.neighbors_.kneighbors(X_test, n_neighbors=4)
    inverse = np.empty_like(distances)
    np.put_along_axis(inverse, order, 1 / distances, axis=1)
    shares = classifier.predict_proba(X_test)
    np.testing.assert_allclose(shares, inverse / inverse.sum(axis=1, keepdims=True))
    heavy = clone(classifier).set_params(class_weight={2: 1e6}).fit(X, y)
    assert (heavy.predict(X_test) == 2).all()
    by_function = EMDClassifier(weights=lambda d: 1 / d, **options).fit(X, y)
    np.testing.assert_allclose(by_function.predict_proba(X_test), shares)


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("kind", [None, *KINDS])
@pytest.mark.parametrize("missing", [0, 1, 3])
def test_a_class_of_empty_histograms_has_no_votes(
    missing, kind, weights, tmp_path, digits
):
    X, y, X_test, _ = digits
    X = np.where((y == missing)[:, None], 0, X)
    classifier = EMDClassifier(
        learner=QUICK, prototypes=kind, weights=weights, empty="nan"
    ).fit(X, y)
    assert classifier.classes_.tolist() == [0, 1, 2, 3]
    shares = classifier.predict_proba(X_test)
    assert (shares[:, missing] == 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    classifier.save(tmp_path / "model.npz")
    again = EMDClassifier.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.predict_proba(X_test), shares)
    if kind is not None:
        kept = y != missing
        others = EMDClassifier(learner=QUICK, prototypes=kind, weights=weights)
        others.fit(X[kept], y[kept])
        np.testing.assert_array_equal(classifier.prototypes_, others.prototypes_)
        np.testing.assert_array_equal(
            np.delete(shares, missing, axis=1), others.predict_proba(X_test)
        )


@pytest.mark.parametrize("seed", range(5))
def test_few_bins_have_finite_barycenters(seed):
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.ones(2 + seed % 2), 20)
    y = X[:, 0] > np.median(X[:, 0])
    learner = SinkhornMetricLearning(max_steps=1)
    classifier = EMDClassifier(prototypes="barycenter", learner=learner).fit(X, y)
    assert np.isfinite(classifier.prototypes_).all()
    assert classifier.score(X, y) > 0.5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "learner",
    [
        GroundMetricLearning(max_samples=20, max_steps=2),
        MappedMetricLearning(np.indices((8, 8)).reshape(2, -1).T, max_steps=2),
        SinkhornMetricLearning(n_components=3, max_steps=2),
        SinkhornMetricLearning(smoothing=0.5, n_components=3, max_steps=2),
        SinkhornMetricLearning(
            points=np.indices((8, 8)).reshape(2, -1).T, smoothing=1.0,
            criterion="softmax", max_steps=2,
        ),
        DiscriminantMetricLearning(),
        MetricLearningCV(QUICK, {"power": [0.5, 1.0]}, cv=2),
    ],
)  # fmt: skip
def test_every_learner_has_prototypes_and_files(tmp_path, kind, learner, digits):
    X, y, X_test, y_test = digits
    classifier = EMDClassifier(learner=learner, prototypes=kind).fit(X, y)
    assert classifier.prototypes_.shape == (4, 64)
    np.testing.assert_allclose(classifier.prototypes_.sum(axis=1), 1.0)
    assert classifier.score(X_test, y_test) > 0.75
    classifier.save(tmp_path / "model.npz")
    for again in (
        EMDClassifier.load(tmp_path / "model.npz"),
        pickle.loads(pickle.dumps(classifier)),  # noqa: S301 - our own
    ):
        np.testing.assert_array_equal(again.prototypes_, classifier.prototypes_)
        np.testing.assert_array_equal(
            again.predict_proba(X_test), classifier.predict_proba(X_test)
        )


def test_prototypes_are_a_parameter(digits):
    X, y, X_test, _ = digits
    grid = {"prototypes": [None, *KINDS]}
    search = GridSearchCV(EMDClassifier(learner=QUICK), grid, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    classifier = EMDClassifier(learner=QUICK, prototypes="mean").fit(X, y)
    classifier.set_params(prototypes=None).fit(X, y)
    assert not hasattr(classifier, "prototypes_")
    votes = EMDClassifier(learner=QUICK).fit(X, y)
    np.testing.assert_array_equal(
        classifier.predict_proba(X_test), votes.predict_proba(X_test)
    )


def test_few_histograms_need_no_neighbors():
    X, y = [[3, 1, 0], [0, 1, 3]] * 2, [0, 1] * 2
    classifier = EMDClassifier(n_neighbors=50, learner=QUICK, prototypes="barycenter")
    assert classifier.fit(X, y).predict([[2, 1, 0]]).tolist() == [0]


def test_bad_prototypes():
    X, y = [[3, 1, 0], [0, 1, 3]] * 2, [0, 1] * 2
    with pytest.raises(ValueError, match="prototypes is 'median'; it must be one of"):
        EMDClassifier(learner=QUICK, prototypes="median").fit(X, y)
    with pytest.raises(ValueError, match="prototypes is 3"):
        EMDClassifier(learner=QUICK, prototypes=3).fit(X, y)
