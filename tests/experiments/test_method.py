"""Methods made of estimators."""

import json

import numpy as np

from groundmetric import (
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
)
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


def test_settings_are_json():
    points = np.arange(8.0).reshape(4, 2)
    grid = {"init": [np.eye(2), None], "power": (np.float64(1.0), "log1p")}
    search = MetricLearningCV([MappedMetricLearning(points)], grid, n_jobs=2)
    settings = Method.of(search, "search").settings
    assert json.loads(json.dumps(settings)) == settings
    assert settings["param_grid"] == {
        "init": [[[1.0, 0.0], [0.0, 1.0]], None],
        "power": [1.0, "log1p"],
    }
    settings = Method.of(MappedMetricLearning(points), "map").settings
    assert settings["points"] == points.tolist()
