"""What cross-validation chooses among, and how."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np
from scipy.spatial.distance import cdist
from sklearn.base import clone

import groundmetric as gm
import reference
from groundmetric import (
    CombinedMetricLearning,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
    SinkhornMetricLearning,
)
from groundmetric.learning._selection import best_with_fewest_steps, nearest_to_given

POWERS = [1.0, 0.5, 0.25, "log1p"]
QUICK = {"max_steps": 1}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(8, 2))
    y = np.arange(24) % 2
    likes = np.exp(-np.square(points[:, 0] - (y - 0.5)[:, None]))
    return likes * rng.gamma(0.5, size=(24, 8)), y, points


@given(
    st_np.arrays(
        float,
        st.tuples(st.integers(1, 4), st.integers(2, 5), st.integers(1, 5)),
        elements=st.integers(0, 8).map(lambda share: share / 8),
    ),
    st.data(),
)
def test_choice_equals_its_literal_twin(scores, draw):
    n_candidates, _, n_steps = scores.shape
    pulls = draw.draw(
        st.lists(
            st.sampled_from([0.0, 1.0, 10.0, math.inf]),
            min_size=n_candidates,
            max_size=n_candidates,
        )
    )
    for c in range(n_candidates):  # not all take as many steps
        scores[c, :, draw.draw(st.integers(1, n_steps)) :] = np.nan
    assert nearest_to_given(scores, pulls) == reference.chosen_by_scores(scores, pulls)
    assert best_with_fewest_steps(scores) == reference.chosen_by_scores(scores, None)


def test_choice_by_hand():
    # Folds by candidates by steps: the second candidate is best after one step, and the
    # first as good within one standard error, but for its start.
    first = [[0.1, 0.7], [0.2, 0.8], [0.1, 0.9]]
    second = [[0.1, 0.8], [0.1, 0.8], [0.1, 0.8]]
    scores = np.array([first, second, second])
    assert nearest_to_given(scores, [0.0, 0.0, 0.0]) == (0, 1)
    assert nearest_to_given(scores, [0.0, 1.0, 1.0]) == (1, 1)
    scores[0, :, 0] = 0.8  # no step is as good
    assert nearest_to_given(scores, [0.0, 1.0, 1.0]) == (0, 0)


def test_choice_by_hand_where_nothing_is_given():
    # The first candidate is within one standard error without a step, but the second
    # is best, after two steps, and nearly as good after one.
    first = [[0.6, 0.6, 0.6], [0.8, 0.8, 0.8], [0.9, 0.9, 0.9]]
    second = [[0.2, 0.9, 0.8], [0.2, 0.7, 0.8], [0.2, 0.7, 0.8]]
    scores = np.array([first, second])
    assert nearest_to_given(scores, [0.0, 0.0]) == (0, 0)
    assert best_with_fewest_steps(scores) == (1, 1)


def choices(search):
    """Candidates of a fitted search, in order."""
    found = search.cv_results_
    first = found["step"] == 0
    return list(zip(found["estimator"][first], found["params"][first], strict=True))


def test_powers_by_default(data):
    X, y, _ = data
    search = MetricLearningCV(GroundMetricLearning(**QUICK), cv=2).fit(X, y)
    assert choices(search) == [
        ("GroundMetricLearning", {"power": power}) for power in POWERS
    ]
    assert search.power_ == search.best_params_["power"]
    only_steps = MetricLearningCV(GroundMetricLearning(**QUICK), {}, cv=2).fit(X, y)
    assert choices(only_steps) == [("GroundMetricLearning", {})]


@pytest.mark.parametrize("given", ["init", "points", "init by name"])
def test_pulls_where_a_metric_is_given(data, given):
    X, y, points = data
    known = {
        "init": {"init": cdist(points, points)},
        "points": {"points": points},
        "init by name": {"points": points, "init": "points"},
    }[given]
    learner = GroundMetricLearning(**known, **QUICK)
    search = MetricLearningCV(learner, cv=2).fit(X, y)
    assert [params for _, params in choices(search)] == [
        {"power": power, "pull": pull} for power in POWERS for pull in (10.0, 1.0)
    ]
    uniform = GroundMetricLearning(points=points, init="uniform", **QUICK)
    search = MetricLearningCV(uniform, cv=2).fit(X, y)
    assert [params for _, params in choices(search)] == [{"power": p} for p in POWERS]


def test_a_start_is_scored_once_for_all_pulls(data):
    X, y, points = data
    n_calls = []

    def scoring(*_):
        n_calls.append(1)
        return 0.5

    learner = GroundMetricLearning(points=points, max_steps=1, tol=0.0)
    grid = {"pull": [10.0, 1.0, 0.0], "power": [1.0, 0.5]}
    search = MetricLearningCV(learner, grid, cv=2, scoring=scoring).fit(X, y)
    # On 2 folds, drawn twice: 2 starts, and one step from each for 3 pulls.
    assert len(n_calls) == 4 * (2 + 2 * 3)
    assert search.best_step_ == 0
    assert search.best_params_ == {"pull": 10.0, "power": 1.0}


def test_only_the_two_best_powers_of_the_default_grid_take_steps(data):
    X, y, _ = data
    starts = {1.0: 0.2, 0.5: 0.6, 0.25: 0.1, "log1p": 0.5}
    scores = iter(np.repeat([*starts.values(), *[0.7] * 2], 4))
    learner = GroundMetricLearning(max_steps=1, tol=0.0)
    search = MetricLearningCV(learner, cv=2, scoring=lambda *_: next(scores)).fit(X, y)
    means = search.cv_results_["mean_test_score"].reshape(4, 2)
    np.testing.assert_allclose(means[:, 0], list(starts.values()))
    np.testing.assert_array_equal(means[:, 1], [np.nan, 0.7, np.nan, 0.7])
    assert (search.best_step_, search.best_params_) == (1, {"power": 0.5})
    assert next(scores, None) is None


FAMILIES = [
    lambda points: GroundMetricLearning(init=cdist(points, points), **QUICK),
    lambda points: GroundMetricLearning(points=points, power=0.5, **QUICK),
    lambda points: CombinedMetricLearning([cdist(points, points)], points, **QUICK),
    lambda points: CombinedMetricLearning(points=points, **QUICK),
    lambda points: MappedMetricLearning(points, 1, **QUICK),
    lambda points: SinkhornMetricLearning(
        points=points, smoothing=math.inf, criterion="softmax", **QUICK
    ),
]


@pytest.mark.parametrize("make", FAMILIES)
def test_what_was_given_is_chosen_unless_learning_is_better(data, make):
    X, y, points = data
    constant = MetricLearningCV(make(points), cv=2, scoring=lambda *_: 0.5).fit(X, y)
    assert constant.best_step_ == 0
    assert constant.power_ == 1.0
    given = gm.pairwise_emd(
        X / X.sum(axis=1, keepdims=True), metric=cdist(points, points)
    )
    found = constant.pairwise(X)
    np.testing.assert_allclose(
        found / found.mean(), given / given.mean(), rtol=1e-6, atol=1e-9
    )


def families(points):
    return [
        GroundMetricLearning(points=points, power=1.0, **QUICK),
        CombinedMetricLearning([cdist(points, points)], points, **QUICK),
        MappedMetricLearning(points, 1, **QUICK),
        SinkhornMetricLearning(
            points=points, smoothing=math.inf, criterion="softmax", **QUICK
        ),
    ]


@pytest.mark.parametrize("wanted", range(4))
def test_chooses_among_families(data, tmp_path, wanted):
    X, y, points = data
    learners = families(points)
    calls = []

    def scoring(*_):  # of each learner, the start and a step on 2 folds, drawn twice
        calls.append(1)
        return float((len(calls) - 1) // 4 == 2 * wanted + 1)

    search = MetricLearningCV(learners, {}, cv=2, scoring=scoring).fit(X, y)
    best = search.best_estimator_
    assert type(best) is type(learners[wanted])
    assert (search.best_step_, search.best_params_) == (1, {})
    np.testing.assert_array_equal(best.transform(X), search.transform(X))
    alone = clone(learners[wanted]).set_params(max_steps=1).fit(X, y)
    np.testing.assert_allclose(search.pairwise(X), alone.pairwise(X), rtol=1e-9)
    indices = gm.EMDNeighbors(search, n_neighbors=1).fit(X).kneighbors(X)[1]
    np.testing.assert_array_equal(indices[:, 0], np.arange(len(X)))
    search.set_params(scoring=None).save(tmp_path / "model.npz")
    again = MetricLearningCV.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.pairwise(X), search.pairwise(X))
    assert [type(each) for each in again.estimator] == [type(each) for each in learners]
    np.testing.assert_array_equal(again.estimator[0].points, points)
    assert again.estimator[0].power == 1.0


def test_a_classifier_votes_by_the_family_chosen(data):
    X, y, points = data
    for best in range(4):
        calls = []

        def scoring(*_, best=best, calls=calls):
            calls.append(1)
            return float((len(calls) - 1) // 4 == 2 * best + 1)

        search = MetricLearningCV(families(points), {}, cv=2, scoring=scoring)
        classifier = gm.EMDClassifier(1, learner=search).fit(X, y)
        np.testing.assert_array_equal(classifier.predict(X), y)
        assert type(classifier.learner_.best_estimator_) is type(families(points)[best])


def test_each_learner_takes_the_parameters_it_has(data):
    X, y, points = data
    learners = families(points)[:2]
    grid = {"pull": [1.0, 0.0], "power": [1.0]}
    search = MetricLearningCV(learners, grid, cv=2).fit(X, y)
    assert choices(search) == [
        ("GroundMetricLearning", {"power": 1.0, "pull": 1.0}),
        ("GroundMetricLearning", {"power": 1.0, "pull": 0.0}),
        ("CombinedMetricLearning", {"power": 1.0}),
    ]


def test_noise_leaves_what_was_given(data):
    X, _, points = data
    rng = np.random.default_rng(1)
    n_kept = 0
    for _ in range(5):
        y = rng.permutation(np.arange(len(X)) % 2)  # labels say nothing
        learner = GroundMetricLearning(points=points, max_steps=3)
        n_kept += MetricLearningCV(learner, cv=2).fit(X, y).best_step_ == 0
    assert n_kept >= 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"estimator": []}, "estimator is .*; a GroundMetricLearning"),
        ({"estimator": [GroundMetricLearning(), 3]}, "or a list of these"),
        (
            {
                "estimator": [GroundMetricLearning(), MappedMetricLearning()],
                "param_grid": {"pulls": [1.0]},
            },
            "GroundMetricLearning and MappedMetricLearning have no such parameter",
        ),
        (
            {
                "estimator": [
                    GroundMetricLearning(max_samples=8),
                    MappedMetricLearning(),
                ]
            },
            "learners with max_samples=8 and =None, but histograms are drawn once",
        ),
        (
            {"estimator": [GroundMetricLearning(), MappedMetricLearning(max_steps=0)]},
            "max_steps is 0",
        ),
        ({"param_grid": {"pull": ["strong"]}}, "pull is 'strong'; a number"),
        ({"estimator": GroundMetricLearning(pull=-1.0)}, "pull is -1.0; a number"),
        (
            {"estimator": CombinedMetricLearning(metrics=[np.ones((8, 8))])},
            r"metrics\[0\]",
        ),
    ],
)
def test_bad_families(data, options, message):
    X, y, _ = data
    search = MetricLearningCV(**options, cv=2)
    with pytest.raises(ValueError, match=message):
        search.fit(X, y)
    assert not hasattr(search, "best_estimator_")


def test_a_sample_is_drawn_once_for_all_families(data):
    X, y, points = data
    options = {"max_samples": 16, "random_state": 0, **QUICK}
    learners = [
        GroundMetricLearning(points=points, **options),
        MappedMetricLearning(points, **options),
    ]
    search = MetricLearningCV(learners, {}, cv=2).fit(X, y)
    assert search.transform(X[:1]).shape == (1, 16)
    assert len(set(search.sample_indices_)) == 16
