"""Methods made of estimators."""

import numpy as np

from groundmetric import GroundMetricLearning
from groundmetric.baselines import NCA
from groundmetric.experiments import METHODS, Method, cross_validate

X = np.random.default_rng(3).dirichlet(np.ones(4), 12)
Y = np.arange(12) % 2


def test_any_estimator_is_a_method():
    mine = Method.of(GroundMetricLearning(), "mine")
    assert (mine.name, mine.label) == ("mine", "mine")
    assert mine.settings["power"] == METHODS["gml"].settings["power"]
    learned = GroundMetricLearning().fit(X, Y)
    np.testing.assert_array_equal(
        mine.learn(X, Y, 1)(X[:3], X), learned.pairwise(X[:3], X)
    )
    # It needs no n_jobs.
    plain = Method.of(NCA(hellinger=False), "nca", "NCA of histograms")
    assert plain.settings["hellinger"] is False
    found = cross_validate(X, Y, methods=[mine, plain], n_folds=2)
    assert [one.method for one in found] == ["mine", "nca"]
