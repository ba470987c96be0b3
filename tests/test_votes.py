"""How much neighbors and classes count in the votes of a classifier."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm
from groundmetric import EMDClassifier, GroundMetricLearning

QUICK = {"max_steps": 3}
BASE = [[9, 1, 0], [8, 2, 0], [0, 2, 8], [0, 1, 9]]
CLASSES = ["a", "a", "b", "b"]


def data(n=18, seed=0):
    """Histograms of two classes, the second twice as frequent."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 1], n // 3)
    alpha = np.array([[3, 2, 1, 1, 1], [1, 1, 1, 2, 3]])[y]
    return rng.gamma(alpha), y


def test_votes_by_distance():
    learner = GroundMetricLearning(gm.Margin(n_targets=1), max_steps=1)
    classifier = EMDClassifier(3, learner=learner, weights="distance").fit(
        BASE, CLASSES
    )
    query = [[6, 2, 2]]
    distances, found = classifier.neighbors_.kneighbors(query)
    inverse, is_a = 1 / distances[0], found[0] < 2
    expected = inverse[is_a].sum() / inverse.sum()
    shares = classifier.predict_proba(query)
    np.testing.assert_allclose(shares, [[expected, 1 - expected]])
    assert 2 / 3 < expected < 1
    # Whoever is there already, votes alone.
    assert classifier.predict_proba(BASE[:1]).tolist() == [[1.0, 0.0]]


def test_votes_are_those_of_scikit_learn():
    X, y = data(36)
    for weights in ("uniform", "distance", lambda d: np.exp(-(d**2))):
        classifier = EMDClassifier(5, weights=weights).fit(X[::2], y[::2])
        knn = KNeighborsClassifier(5, metric="precomputed", weights=weights)
        knn.fit(classifier.learner_.pairwise(X[::2]), y[::2])
        expected = knn.predict_proba(classifier.learner_.transform(X))
        np.testing.assert_allclose(classifier.predict_proba(X), expected, atol=1e-12)


def test_votes_of_classes():
    learner = GroundMetricLearning(**QUICK)
    X, y = data()
    plain = EMDClassifier(5, learner=learner).fit(X, y)
    counts = 5 * plain.predict_proba(X)
    balanced = EMDClassifier(5, learner=learner, class_weight="balanced")
    balanced.fit(X, y)
    own = learner.fit(X, y, class_weight="balanced")
    assert np.array_equal(balanced.metric_, own.metric_)
    np.testing.assert_allclose(balanced.class_prior_, [0.5, 0.5])
    np.testing.assert_allclose(plain.class_prior_, [1 / 3, 2 / 3])
    # With the same neighbors, votes weigh 1.5 and 0.75.
    balanced.neighbors_ = plain.neighbors_
    votes = counts * [1.5, 0.75]
    expected = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(balanced.predict_proba(X), expected)


class Uniform(BaseEstimator):
    """A learner of someone else, whose histograms all count the same."""

    def fit(self, X, y):  # noqa: D102
        assert len(X) == len(y)
        self.metric_ = 1.0 - np.eye(X.shape[1])
        return self


def test_classifiers_pass_weights_to_their_learner():
    X, y = data()
    learner = GroundMetricLearning(**QUICK)
    weights = np.linspace(0.5, 2.0, len(y))
    found = EMDClassifier(learner=learner).fit(X, y, sample_weight=weights)
    own = learner.fit(X, y, sample_weight=weights)
    assert np.array_equal(found.metric_, own.metric_)
    scores = cross_val_score(found, X, y, cv=3, params={"sample_weight": weights})
    assert np.isfinite(scores).all()
    unaware = EMDClassifier(learner=Uniform(), class_weight="balanced")
    with pytest.raises(ValueError, match="knows no sample_weight"):
        unaware.fit(X, y, sample_weight=weights)
    assert np.isfinite(unaware.fit(X, y).predict_proba(X)).all()


@pytest.mark.parametrize(
    ("message", "weights"),
    [
        ("weights is 'near'", "near"),
        (r"weights returned shape \(3,\) for distances", lambda d: d[0]),
        ("weights returned -", lambda d: -1 - d),
        (r"weights returned 0 for all neighbors of X\[0\]", lambda d: 0 * d),
    ],
)
def test_wrong_votes(message, weights):
    learner = GroundMetricLearning(max_steps=1)
    with pytest.raises(ValueError, match=message):
        EMDClassifier(3, learner=learner, weights=weights).fit(BASE, CLASSES).predict(
            BASE
        )
