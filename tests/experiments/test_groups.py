"""Groups, such as patients: never divided, and what varies is the group."""

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut

from groundmetric import GroundMetricLearning, MetricLearningCV
from groundmetric.experiments import (
    Method,
    Predictor,
    compare,
    cross_validate,
    draw,
    predictors,
    stability,
)
from groundmetric.experiments.design import Design
from groundmetric.experiments.halves import estimate_over_draws, pairs_of_groups
from groundmetric.experiments.splits import given, split_data
from groundmetric.experiments.units import of_groups

RNG = np.random.default_rng(0)
GROUPS = np.repeat([f"p{k}" for k in range(20)], 3)
Y = np.repeat(["a", "b"], 30)
X = RNG.dirichlet(np.ones(5), 60)


def assert_whole(splits, groups):
    for train, test in splits:
        assert len(train)
        assert len(test)
        assert set(groups[train]).isdisjoint(groups[test])


def test_folds_do_not_divide_groups():
    design = draw(Y, groups=GROUPS, n_folds=5, n_repeats=2)
    assert (design.kind, design.n_splits, design.n_groups) == ("folds", 10, 20)
    assert_whole(design.splits, GROUPS)
    for repeat in (design.splits[:5], design.splits[5:]):
        tested = np.sort(np.concatenate([test for _, test in repeat]))
        assert np.array_equal(tested, np.arange(60))
        assert all({*Y[train]} == {*Y[test]} == {*"ab"} for train, test in repeat)
    firsts = [set(design.splits[k][1].tolist()) for k in (0, 5)]
    assert firsts[0] != firsts[1]
    assert design.words.endswith("None of the 20 groups was divided.")
    assert design.inference.endswith("the histograms to test is the group.")


def test_training_sets_of_groups_are_disjoint_where_there_is_room():
    groups = np.arange(400) // 4
    y = groups % 2
    design = draw(y, groups=groups, n_train=20)
    assert (design.kind, design.n_splits) == ("disjoint", 10)
    assert_whole(design.splits, groups)
    trains = [train for train, _ in design.splits]
    every = [*trains, design.splits[0][1]]
    assert len(np.unique(np.concatenate(every))) == sum(map(len, every))
    for k, train in enumerate(trains):
        assert all(set(groups[train]).isdisjoint(groups[each]) for each in trains[:k])
        assert {*y[train]} == {0, 1}
    assert "10 training sets of about 20 histograms each" in design.words
    # Too few groups for as many parts.
    assert draw(y, groups=np.arange(400) // 40, n_train=20).kind == "folds"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"groups": GROUPS[:-1]}, "groups has 59 entries for 60 histograms"),
        (
            {"groups": np.repeat([0, 1, 2, 3], [30, 10, 10, 10])},
            "n_folds is 5, but class a is in a single group only: each fold needs a gr",
        ),
        (
            {"groups": np.arange(60) % 4},
            "n_folds is 5, but class a is in 4 groups only",
        ),
        ({"groups": [None] * 60}, r"groups\[0\] is None"),
        ({"groups_test": [1]}, "groups_test needs X_test and y_test"),
        (
            {"groups": np.r_[np.repeat(0, 56), 1, 2, 3, 4], "n_folds": 2},
            "class a is in a single group only",
        ),
        (
            {"groups": np.r_[np.repeat(0, 58), 1, 2], "y": [*"ab" * 29, *"ab"],
             "n_folds": 2},
            "groups is so uneven that a fold would have nothing of class",
        ),
    ],
)  # fmt: skip
def test_groups_that_cannot_be_kept(options, message):
    labels = options.pop("y", Y)
    with pytest.raises(ValueError, match=message):
        cross_validate(X, labels, methods=["l1"], **options)


def test_groups_of_a_test_set_are_others():
    with pytest.raises(ValueError, match="groups and groups_test must be given togeth"):
        split_data(X, Y, X, Y, groups=GROUPS)
    with pytest.raises(ValueError, match="groups and groups_test both have 'p0'"):
        split_data(X, Y, X, Y, groups=GROUPS, groups_test=GROUPS)
    with pytest.raises(ValueError, match="groups_test has a single group"):
        split_data(X, Y, X, Y, groups=GROUPS, groups_test=["q"] * 60)
    others = [f"q{group}" for group in GROUPS]
    design = split_data(X, Y, X, Y, groups=GROUPS, groups_test=others).design
    assert design.n_groups == 40


def test_splits_of_your_own_must_not_divide_groups():
    for cv in (GroupKFold(4), LeaveOneGroupOut()):
        design = split_data(X, Y, groups=GROUPS, cv=cv).design
        assert design.kind == "custom"
        assert_whole(design.splits, GROUPS)
    with pytest.raises(ValueError, match=r"cv\[0\] has group 'p0' both to learn from"):
        split_data(X, Y, groups=GROUPS, cv=[(np.arange(1, 60), [0])])


def test_interval_of_groups_by_hand():
    # Groups of 2, 1 and 1 with sums 2, 0 and -1; the mean is 1/4. Their values are
    # 1/4 + (S_g - n_g / 4) 3/4 = 1.375, 0.0625 and -0.6875; +-1.375 are added.
    gains = [1.0, 1.0, 0.0, -1.0]
    found = given([0, 1], [0, 1, 0, 1], [7, 8], [1, 1, 2, 3]).estimate([gains], -1, 1)
    values = np.array([1.375, 0.0625, -0.6875, 1.375, -1.375])
    half = stats.t.ppf(0.975, 2) * np.sqrt(values.var() / 5)
    assert found.mean == 0.25
    assert found.low == pytest.approx(max(-1.0, 0.15 - half))
    assert found.high == pytest.approx(min(1.0, 0.15 + half))


def test_groups_of_one_are_no_groups():
    rng = np.random.default_rng(1)
    splits = [(np.array([k]), np.arange(5, 105)) for k in range(5)]
    gains = rng.integers(-1, 2, (5, 100)).astype(float)
    plain = Design("disjoint", np.arange(105) % 2, splits)
    alone = Design("disjoint", np.arange(105) % 2, splits, np.arange(105)[::-1])
    ends = [
        (one.low, one.high)
        for one in (each.estimate(gains, -1, 1) for each in (plain, alone))
    ]
    assert ends[1] == pytest.approx(ends[0])
    # If all histograms of a group are the same, they count once.
    twice = Design(
        "disjoint", np.arange(205) % 2,
        [(train, np.arange(5, 205)) for train, _ in splits],
        np.r_[:5, np.repeat(np.arange(5, 105), 2)],
    )  # fmt: skip
    again = twice.estimate(np.repeat(gains, 2, axis=1), -1, 1)
    assert (again.low, again.high) == pytest.approx(ends[0])


def test_values_of_groups_have_the_same_mean():
    rng = np.random.default_rng(2)
    values, groups = rng.normal(size=(3, 40)), rng.integers(0, 9, 40)
    units = of_groups(values, groups)
    assert units.shape == (3, len(np.unique(groups)))
    np.testing.assert_allclose(units.mean(axis=1), values.mean(axis=1))


# Coverage. A larger simulation is in benchmarks/coverage.py --groups.


def in_groups(rng, n_sets, sizes, shares):
    """Simulate wrong votes under two distances, which depend on the group."""
    of_set, of_group, of_test = shares
    groups = np.repeat(np.arange(len(sizes)), sizes)
    n = len(groups)
    common = of_group * rng.normal(size=len(sizes))[groups] + rng.normal(size=n)
    return [
        common
        + of_set * rng.normal(size=(n_sets, 1))
        + of_group * rng.normal(size=len(sizes))[groups]
        + of_test * rng.normal(size=n)
        + 0.3 * rng.normal(size=(n_sets, n))
        > 1.0
        for _ in range(2)
    ]


@pytest.mark.parametrize(
    ("n_sets", "sizes", "shares"),
    [
        (10, [12] * 20, (0.2, 1.0, 0.3)),
        (1, [3, 5, 7, 9, 11] * 6, (0.0, 1.0, 0.3)),
        (5, [2, 4, 30, 4] * 10, (0.1, 0.7, 0.3)),
    ],
)
def test_intervals_over_groups_cover_the_truth(n_sets, sizes, shares):
    rng = np.random.default_rng(0)
    n, n_test = 500, sum(sizes)
    splits = [([k], np.arange(n_sets, n_sets + n_test)) for k in range(n_sets)]
    kind = "disjoint" if n_sets > 1 else "given"
    y = np.arange(n_sets + n_test) % 2
    groups = np.r_[:n_sets, np.repeat(np.arange(len(sizes)), sizes) + n_sets]
    known, unknown = Design(kind, y, splits, groups), Design(kind, y, splits)
    covered, missed = 0, 0
    for _ in range(n):
        one, other = in_groups(rng, n_sets, sizes, shares)
        gains = one.astype(float) - other
        interval = known.estimate(gains, -1, 1)
        covered += interval.low <= 0 <= interval.high
        narrow = unknown.estimate(gains, -1, 1)
        missed += not narrow.low <= 0 <= narrow.high
    assert covered >= 0.935 * n  # 95 %, less one and a half standard errors
    assert missed >= 0.15 * n  # by those who do not know the groups


def test_intervals_of_draws_count_groups():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(10), 6)
    covered = {True: 0, False: 0}
    for _ in range(200):
        values = np.where(
            rng.random((20, 10))[:, groups] < 0.5, rng.normal(size=10)[groups], np.nan
        )
        for known in covered:
            found = estimate_over_draws(values, 0.1, groups if known else None)
            covered[known] += found.low <= 0 <= found.high
    assert covered[True] >= 0.92 * 200
    assert covered[False] < 0.8 * 200


def test_draws_do_not_divide_groups(monkeypatch):
    labels = (np.arange(60) // 3) % 2
    rng = np.random.RandomState(0)
    for n_train, size in ((None, 30), (15, 15)):
        for pair in pairs_of_groups(labels, GROUPS, n_train, 3, rng):
            one, other = (set(GROUPS[rows]) for rows in pair)
            assert one.isdisjoint(other)
            assert all(abs(len(rows) - size) <= 3 for rows in pair)
            assert all({*labels[rows]} == {0, 1} for rows in pair)
    seen = []

    def fit(self, X, y, groups=None, _fit=MetricLearningCV.fit):
        seen.append(groups)
        return _fit(self, X, y, groups=groups)

    monkeypatch.setattr(MetricLearningCV, "fit", fit)
    learner = MetricLearningCV(GroundMetricLearning(max_steps=1), {}, cv=2)
    found = stability(
        learner, X, labels, groups=GROUPS, n_draws=4, n_neighbors=1, random_state=0
    )
    assert found.n_train == 30
    assert len(seen) == 4
    assert all(len(np.unique(groups)) == 10 for groups in seen)
    with pytest.raises(ValueError, match="groups has class 0 in a single group; both"):
        stability(learner, X, labels, groups=labels, n_draws=4)


def test_whoever_draws_folds_is_told_of_groups():
    seen = []

    class Watched(MetricLearningCV):
        def fit(self, X, y, *, groups=None, client=None):
            seen.append(groups)
            return super().fit(X, y, groups=groups, client=client)

    labels = (np.arange(60) // 3) % 2
    learner = Watched(GroundMetricLearning(max_steps=1), {}, cv=2)
    mine = Method.of(learner, "mine")
    assert mine.takes_groups
    assert clone(learner).cv == 2

    def learn(_rows, _labels, groups):
        seen.append(groups)
        return lambda tests: np.zeros(len(tests), dtype=int)

    guess = Predictor("guess", "guessing", {}, learn)
    frame = compare(
        X, labels, groups=GROUPS, methods=["l1", mine, guess], n_folds=2, n_repeats=1
    )
    assert len(seen) == 4
    assert all(len(groups) == 30 for groups in seen)
    assert frame.loc["guess", "error"] == 0.5
    assert frame.attrs["design"].endswith("None of the 20 groups was divided.")


def test_predictors_choose_by_folds_of_groups():
    labels = (np.arange(60) // 3) % 2
    folds = predictors._folds(labels, GROUPS)
    assert len(folds) == 3
    assert_whole(folds, GROUPS)
    assert predictors._folds(labels, labels) == []  # a group for each class
    # Labels of groups are random, and histograms of a group the same: whoever divides
    # groups seems to make no errors.
    own = np.random.default_rng(0).dirichlet(np.ones(8), 20)[np.arange(60) // 3]
    shuffled = np.random.default_rng(1).permutation(np.arange(20) % 2)[
        np.arange(60) // 3
    ]
    divided, whole = (
        cross_validate(own, shuffled, groups=groups, methods=["l1"], n_neighbors=1)
        for groups in (None, GROUPS)
    )
    assert divided[0].error().mean < 0.05
    assert whole[0].error().mean > 0.3
