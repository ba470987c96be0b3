"""AutoMetric on a line, with rare classes, in threads, and after failures."""

import numpy as np
import pytest

from groundmetric import AutoMetric, MappedMetricLearning

RNG = np.random.default_rng(0)
Y = np.arange(24) % 2
X = np.array([RNG.dirichlet([4, 2, 2, 1] if y else [1, 2, 2, 4]) for y in Y])
PLACES = np.arange(4.0)


def scores_of(search):
    return search.cv_results_["mean_test_score"]


@pytest.mark.parametrize(
    "points", [PLACES, PLACES.tolist(), 2.0**600 * PLACES, 2.0**-600 * PLACES]
)
def test_points_on_a_line_of_any_scale(points):
    usual = AutoMetric(PLACES[:, None]).fit(X, Y)
    found = AutoMetric(points).fit(X, Y)
    np.testing.assert_array_equal(scores_of(found), scores_of(usual))
    np.testing.assert_array_equal(found.transform(X), usual.transform(X))


def test_maps_of_points_on_a_line():
    learner = MappedMetricLearning(PLACES, max_steps=2).fit(X, Y)
    column = MappedMetricLearning(PLACES[:, None], max_steps=2).fit(X, Y)
    np.testing.assert_array_equal(learner.metric_, column.metric_)


def test_classes_too_small_for_the_folds_are_learned_from_only():
    def scoring(distances, y_train, y_test):
        seen.append((set(y_train.tolist()), set(y_test.tolist())))
        return -distances.mean()

    seen = []
    labels = np.where(np.arange(24) < 2, 7, Y)
    with pytest.warns(UserWarning, match="single member|contributes") as caught:
        search = AutoMetric(scoring=scoring).fit(X, np.r_[8, labels[1:]])
    assert caught
    assert set(search.classes_.tolist()) == {0, 1, 7, 8}
    assert all(learned == {0, 1, 7, 8} and held == {0, 1} for learned, held in seen)
    with pytest.raises(ValueError, match="class 7 is in a single group only"):
        AutoMetric().fit(X, labels, groups=np.arange(24) // 2)


def test_what_is_chosen_depends_on_no_threads_and_no_names():
    one, two = AutoMetric(PLACES).fit(X, Y), AutoMetric(PLACES, n_jobs=2).fit(X, Y)
    named = AutoMetric(PLACES).fit(X, np.array(["x", "y"])[Y])
    for other in (two, named):
        np.testing.assert_array_equal(scores_of(one), scores_of(other))
        np.testing.assert_array_equal(one.transform(X), other.transform(X))


def test_a_failed_fit_changes_nothing():
    search = AutoMetric().fit(X, Y)
    before = dict(vars(search))
    with pytest.raises(ValueError, match="groups has 23 entries for 24 histograms"):
        search.fit(X, Y, groups=np.arange(23))
    search.set_params(points=PLACES[:3])
    with pytest.raises(ValueError, match="but the histograms have 4 bins"):
        search.fit(X, Y)
    after = {**vars(search), "points": None}
    assert after.keys() == before.keys()
    assert all(after[name] is before[name] for name in before)
