"""Which splits are drawn, and whether their intervals hold."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist

from groundmetric.experiments import Method, cross_validate, draw
from groundmetric.experiments.design import Design
from groundmetric.experiments.splits import given


def test_training_sets_are_disjoint_where_there_is_room():
    y = np.repeat(list("abc"), [90, 60, 30])
    design = draw(y, n_train=12, seed=1)
    assert (design.kind, design.n_splits) == ("disjoint", 6)  # 80 / 12
    trains = [train for train, _ in design.splits]
    test = design.splits[0][1]
    assert all(np.array_equal(test, other) for _, other in design.splits)
    rows = np.concatenate([*trains, test])
    assert len(set(rows)) == len(rows)
    for train in trains:
        assert [np.sum(y[train] == label) for label in "abc"] == [6, 4, 2]
    assert {*y[test]} == {*"abc"}
    again = draw(y, n_train=12, seed=2)
    assert not np.array_equal(again.splits[0][0], trains[0])
    assert "6 training sets of 12 histograms each, with no hist" in design.words


@pytest.mark.parametrize("n_train", [None, 17])
def test_folds_where_there_is_not(n_train):
    y = np.repeat([0, 1], 90)
    # Five sets of 17 would leave 95 histograms to test, and 100 are needed.
    design = draw(y, n_train=n_train)
    assert (design.kind, design.n_splits) == ("folds", 10)
    for repeat in (design.splits[:5], design.splits[5:]):
        tested = np.sort(np.concatenate([test for _, test in repeat]))
        assert np.array_equal(tested, np.arange(180))
    assert draw(y, n_train=16).kind == "disjoint"
    assert "180 histograms were divided at random into 5 folds, 2 times" in design.words


def test_interval_of_a_test_set_by_hand():
    # Of 98, learning corrects 24 errors and makes 4 new ones: p = 25/100, q = 5/100,
    # p - q = 0.2, variance (0.3 - 0.04) / 100.
    gains = np.repeat([1.0, -1.0, 0.0], [24, 4, 70])
    found = given([0, 1], 49 * [0, 1]).estimate([gains], -1, 1)
    half = 1.959963985 * 0.0026**0.5
    assert found.mean == pytest.approx(20 / 98)
    assert (found.low, found.high) == pytest.approx((0.2 - half, 0.2 + half))
    assert found.sure == pytest.approx(stats.norm.cdf(0.2 / 0.0026**0.5))
    # An interval ends where differences do.
    assert given([0, 1], [0, 1]).estimate([[1.0, 1.0]], -1, 1).high == 1.0


def test_interval_of_folds_by_hand():
    # Means 0.5, 0, 0.25: s = 0.25, Nadeau and Bengio's factor 1/3 + 4/8, t = 4.302653.
    design = draw([0, 1] * 6, n_folds=3, n_repeats=1)
    found = design.estimate([[1, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]], -1, 1)
    assert found.mean == pytest.approx(0.25)
    half = 4.302653 * 0.25 * (1 / 3 + 1 / 2) ** 0.5
    assert (found.low, found.high) == pytest.approx((0.25 - half, min(1, 0.25 + half)))


def test_interval_of_disjoint_sets_by_hand():
    # Rows have means 1/2 and 0, columns 1/2, 1/2, 0, 0: what is left is +-1/4.
    values = np.array([[1.0, 1, 0, 0], [0, 0, 0, 0]])
    splits = [([k], np.arange(2, 6)) for k in range(2)]
    found = Design("disjoint", np.array([0, 1] * 3), splits).estimate(values, -1, 1)
    between = 0.125 / 2
    columns = np.array([0.5, 0.5, 0, 0, 0.5, -0.5])
    within = columns.var() / 6
    noise = 8 / 16 / 3 / 8
    variance = between - noise + within - noise + noise
    freedom = max(1, variance**2 / (between**2 + within**2 / 3))
    half = stats.t.ppf(0.975, freedom) * variance**0.5
    assert (found.mean, found.high) == pytest.approx((0.25, min(1, 0.25 + half)))
    assert found.sure == pytest.approx(stats.t.cdf(0.25 / variance**0.5, freedom))


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_no_interval_is_empty_where_all_splits_agree(value):
    y = [0, 1] * 100
    designs = [draw(y), draw(y, n_train=10), given(y[:100], y[100:])]
    assert [one.kind for one in designs] == ["folds", "disjoint", "given"]
    for design in designs:
        rows = [np.full(len(test), value) for _, test in design.splits]
        found = design.estimate(rows, -1, 1)
        assert found.low < value < found.high
        assert found.high - found.low < 0.1


def test_errors_of_guessing_and_of_classes():
    design = given([0] * 9 + [1], [0] * 19 + [1])
    assert design.is_unequal
    assert not draw([0, 1] * 10).is_unequal
    assert design.guessing == pytest.approx(0.05)
    assert design.guessing_balanced == 0.5
    always_first = np.repeat([False, True], [19, 1])
    assert design.balanced([always_first]) == 0.5


# Coverage. A larger simulation is in benchmarks/coverage.py.


def crossed(rng, n_sets, n_test, shares):
    """Simulate the gains of two methods that are equally good on average.

    Their errors depend on the training set, on the test histogram, and on both.
    """
    of_set, of_test, of_both = shares
    common = rng.normal(size=n_test) + 0.3 * rng.normal(size=(n_sets, 1))
    wrong = [
        common
        + of_set * rng.normal(size=(n_sets, 1))
        + of_test * rng.normal(size=n_test)
        + of_both * rng.normal(size=(n_sets, n_test))
        > 1.3
        for _ in range(2)
    ]
    return wrong[0].astype(float) - wrong[1]


@pytest.mark.parametrize(
    ("n_sets", "n_test", "shares"),
    [
        (20, 240, (0.1, 0.3, 0.5)),  # the demo's
        (5, 100, (0.3, 0.3, 0.5)),
        (10, 250, (0.3, 0.0, 0.3)),  # training sets alone decide
        (10, 250, (0.0, 0.5, 0.2)),  # test histograms alone decide
    ],
)
def test_intervals_of_disjoint_sets_cover_the_truth(n_sets, n_test, shares):
    rng = np.random.default_rng(0)
    y, n = np.arange(n_sets + n_test) % 2, 1000
    tests = np.arange(n_sets, n_sets + n_test)
    design = Design("disjoint", y, [([k], tests) for k in range(n_sets)])
    covered = found = 0
    for _ in range(n):
        gains = crossed(rng, n_sets, n_test, shares)
        interval = design.estimate(gains, -1, 1)
        covered += interval.low <= 0 <= interval.high
        better = design.estimate(np.clip(gains + 0.25, -1, 1), -1, 1)
        found += better.low > 0
    assert covered >= 0.935 * n  # 95 %, less two standard errors
    assert found >= 0.3 * n  # a large gain is seen


def by_weights(X, y, _n_jobs):
    """Weight bins by the variance between classes; fast, and overfits."""
    classes = [X[y == label] for label in np.unique(y)]
    within = np.mean([rows.var(axis=0) for rows in classes], axis=0) + 1e-6
    weights = (X.var(axis=0) + 1e-6) / within**1.5
    return lambda left, right: cdist(left * weights, right * weights, "cityblock")


def unweighted(_X, _y, _n_jobs):
    return lambda left, right: cdist(left, right, "cityblock")


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ([20, 20], {}),
        ([90, 90, 90], {"n_train": 15}),
        ([60, 50, 40, 30, 20, 15], {"n_train": 18}),
    ],
)
def test_noise_is_rarely_taken_for_a_gain(sizes, options):
    methods = [Method("plain", "", {}, unweighted), Method("own", "", {}, by_weights)]
    n, wrong = 60, 0
    y = np.repeat(np.arange(len(sizes)), sizes)
    for seed in range(n):
        rng = np.random.default_rng(seed)
        X, labels = rng.dirichlet(np.full(8, 0.5), len(y)), rng.permutation(y)
        plain, own = cross_validate(
            X, labels, methods=methods, seed=seed, n_jobs=1, **options
        )
        kind = "disjoint" if options else "folds"
        assert plain.design.kind == kind
        saved = plain.saved_by(own)
        wrong += not saved.low <= 0 <= saved.high
    assert wrong <= 6  # 3 are expected; 7 or more have a chance of 3 %
