"""What repeats on many draws: shares, shuffled bins, and their intervals."""

import numpy as np
import pytest
from scipy import stats

import reference
from groundmetric import (
    CombinedMetricLearning,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
    SinkhornMetricLearning,
    pairwise_emd,
)
from groundmetric.experiments import stability
from groundmetric.experiments.halves import (
    estimate_of_means,
    estimate_over_draws,
    pairs_of_sets,
    sizes_of_sets,
)
from groundmetric.experiments.measured import Split
from groundmetric.experiments.movements import extremes, ratios_of
from groundmetric.experiments.shuffling import rises, with_share
from groundmetric.experiments.stable import rules_of

LEARNER = GroundMetricLearning(max_steps=5)


def two_classes(n=20, d=10, *, more=8.0, seed=0):
    """Bin 0 has more mass in one class, bin 1 in the other."""
    rng = np.random.default_rng(seed)
    masses = np.ones((2, d))
    masses[[0, 1], [0, 1]] = more
    y = np.repeat(["a", "b"], n)
    X = np.array([rng.dirichlet(2 * masses[int(label == "b")]) for label in y])
    return X, y


@pytest.fixture(scope="module")
def found():
    return stability(LEARNER, *two_classes(), n_draws=20, random_state=0)


def test_known_bins_are_named(found):
    assert found.moved_apart[0][:2] == (0, 1)
    assert found.moved_apart[0].share == 1.0
    assert set(found.important) == {0, 1}
    assert found.rise(0).low > 0.0
    pairs, bins = found.sentences(list("ABCDEFGHIJ"))
    assert "moved farthest apart: A \N{LEFT RIGHT ARROW} B (100 %)" in pairs
    assert "Percentages are shares of 20 draws of 20 histograms" in pairs
    assert "in percentage points: " in bins
    assert "bin 0" in found.sentences()[1]


def test_nothing_is_named_if_nothing_can_be_learned():
    X, y = two_classes(more=1.0)
    found = stability(LEARNER, X, y, n_draws=20, random_state=0)
    assert not found.repeats
    (sentence,) = found.sentences(what="feature")
    assert sentence.startswith("What was learned does not repeat: in 20 draws of 20")
    assert "shuffling none of 10 features" in sentence


def test_shares_are_those_of_the_literal_twin():
    X, y = two_classes(8, 6)
    found = stability(LEARNER, X, y, n_draws=6, max_false=2.0, random_state=3)
    # The same random numbers in the same order.
    rng = np.random.RandomState(3)
    [rng.permutation(8) for _ in range(2)]  # to choose who is tested: all
    ratios, errors = [], []
    risen = np.zeros(6)
    for _ in range(3):
        mixed = [rng.permutation(8) + 8 * code for code in range(2)]
        for half in range(2):
            train = np.sort(
                [r for rows in mixed for r in rows[4 * half : 4 * half + 4]]
            )
            test = [i for i in range(16) if i not in train]
            rng.randint(2**31)
            fit = GroundMetricLearning(max_steps=5).fit(X[train], y[train])
            M, M0 = fit.metric_, fit.initial_metric_
            ratios.append(
                [M[p, q] / M0[p, q] for p in range(6) for q in range(p + 1, 6)]
            )
            split = Split.of(X, y, train, test)
            before = shuffled_errors(fit, split)
            errors.append(np.mean(before))
            for p in range(6):
                order = rng.permutation(8)
                after = shuffled_errors(fit, split, p, order)
                risen[p] += np.mean(after) > np.mean(before) + 1e-12
    q = found.n_listed
    assert q == 4  # 4^2 / (0.6 * 15) = 1.8, and 5^2 would be 2.8
    assert found.apart == pytest.approx(reference.shares_listed(ratios, q))
    negative = [[-ratio for ratio in row] for row in ratios]
    assert found.together == pytest.approx(reference.shares_listed(negative, q))
    assert found.error.mean == pytest.approx(np.mean(errors))
    assert found.risen == pytest.approx(risen / 6)


def shuffled_errors(fit, split, p=None, order=None):
    """Share of wrong neighbors of each histogram left out, with bin p shuffled."""
    rows = split.test
    if p is not None:
        rows = [
            reference.with_share(row, p, rows[i][p])
            for row, i in zip(rows, order, strict=True)
        ]
    distances = pairwise_emd(rows, split.train, metric=fit)
    return [
        reference.wrong_share(row, split.y, label, 3)
        for row, label in zip(distances, split.z, strict=True)
    ]


def test_rises_are_those_of_the_literal_twin():
    X, y = two_classes(6, 5)
    X[:3, 2] = 0.0  # shuffled among others, it may stay as it is
    X /= X.sum(axis=1, keepdims=True)
    train, test = np.arange(0, 12, 2), np.arange(1, 12, 2)
    fit = LEARNER.fit(X[train], y[train])
    rng, again = (np.random.RandomState(1) for _ in range(2))
    split = Split.of(X, y, train, test)
    wrong, more = rises(fit, split, np.arange(5), rng, n_neighbors=3, n_jobs=1)
    before = shuffled_errors(fit, split)
    assert wrong == pytest.approx(before)
    for p in range(5):
        order = again.permutation(6)
        after = shuffled_errors(fit, split, p, order)
        assert more[p] == pytest.approx(np.subtract(after, before))


def test_a_histogram_in_one_bin_stays_as_it_is():
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 0.25, 0.75]])
    changed = with_share(rows, 0, np.array([0.0, 1.0]))
    assert changed.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    again = with_share(rows, 1, rows[:, 1])
    assert np.array_equal(again, rows)


def test_variances_are_those_of_the_literal_twin():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(10, 1)) + rng.normal(size=(1, 12))
    values += 0.3 * rng.normal(size=values.shape)
    values[rng.random(values.shape) < 0.4] = np.nan
    found = estimate_over_draws(values, 0.4)
    variance = reference.variance_over_draws(values.tolist(), 0.4)
    half = stats.t.ppf(0.975, 10 / 4) * np.sqrt(variance)
    assert found.mean == pytest.approx(np.nanmean(values))
    assert (found.low, found.high) == pytest.approx(
        (found.mean - half, found.mean + half)
    )


def test_intervals_of_draws_by_hand():
    # Two sets of half the histograms: variance 2 (1/2 + 1), t = 12.706.
    found = estimate_of_means(np.array([1.0, 3.0]), 0.5)
    assert found.high - found.mean == pytest.approx(12.7062047 * 3**0.5)
    flat = estimate_over_draws(np.array([[0.0, np.nan], [np.nan, 0.0]]), 0.5)
    assert (flat.mean, flat.sure) == (0.0, 0.5)
    assert flat.low < 0.0 < flat.high  # never of length zero


def test_intervals_hold_for_sums_of_members():
    # A set's effect is the sum of its members', a left-out histogram has its own.
    covered = []
    for seed in range(600):
        rng = np.random.default_rng(seed)
        members, own = 0.2 * rng.normal(size=20), rng.normal(size=20)
        values = np.full((20, 20), np.nan)
        y = np.repeat([0, 1], 10)
        state = np.random.RandomState(seed)
        for j, pair in enumerate(pairs_of_sets(y, np.array([5, 5]), 10, state)):
            for k, train in enumerate(pair):
                rest = np.setdiff1d(np.arange(20), train)
                noise = rng.normal(size=10)
                values[2 * j + k, rest] = members[train].sum() + own[rest] + noise
        found = estimate_over_draws(values, 0.5)
        covered.append(found.low <= 0.0 <= found.high)
    assert 0.93 < np.mean(covered) < 0.99


def test_draws_come_in_disjoint_pairs_of_all_classes():
    y = np.array(list("aaaaabbbb"))
    each = sizes_of_sets(y, None)
    assert each.tolist() == [2, 2]
    assert sizes_of_sets(np.repeat([0, 1], [8, 4]), 3).tolist() == [2, 1]
    for one, other in pairs_of_sets(y, each, 5, np.random.RandomState(0)):
        assert len({*one, *other}) == 8
        assert sorted(y[one]) == sorted(y[other]) == list("aabb")


def test_ties_are_not_listed():
    assert extremes(np.ones(5), 2).sum() == 0
    assert extremes(np.array([1.0, 2.0]), 2).sum() == 0  # no list of all
    assert rules_of(0.75, 1.0).n_listed(8) == 2
    assert rules_of(0.8, 0.5).n_listed(3) == 0


def test_a_metric_that_did_not_move_names_no_pair():
    X, y = two_classes(8, 6)
    cannot_move = CombinedMetricLearning([1.0 - np.eye(6)])
    found = stability(cannot_move, X, y, n_draws=4, random_state=0)
    assert not found.apart.any()
    assert not found.together.any()


def test_results_depend_on_the_seed_alone(found):
    X, y = two_classes()
    again = stability(LEARNER, X, y, n_draws=20, random_state=0, n_jobs=2)
    other = stability(LEARNER, X, y, n_draws=20, random_state=1)
    assert np.array_equal(again.apart, found.apart)
    assert again.rises == found.rises
    assert again.error == found.error
    assert other.rises != found.rises


def test_bins_can_be_chosen():
    X, y = two_classes()
    few = stability(LEARNER, X, y, bins=[4, 1, 0], n_draws=4, random_state=0)
    assert few.bins.tolist() == [0, 1, 4]
    assert few.pairs.tolist() == [[0, 1], [0, 4], [1, 4]]
    with pytest.raises(ValueError, match="p is 2, but this bin was not looked at"):
        few.rise(2)
    X[:, 9] = 1e-9  # too little mass to look at
    rest = stability(LEARNER, X, y, n_draws=4, random_state=0)
    assert rest.bins.tolist() == list(range(9))


def test_draws_end_in_time():
    X, y = two_classes(6, 5)
    found = stability(LEARNER, X, y, n_draws=40, max_seconds=1e-9, random_state=0)
    assert found.n_draws == 10


POINTS = np.random.default_rng(0).normal(size=(10, 3))
LEARNERS = {
    "mapped": MappedMetricLearning(POINTS, max_steps=3),
    "weights": MappedMetricLearning(POINTS, bin_weights="learn", max_steps=3),
    "smoothed": SinkhornMetricLearning(n_components=3, max_steps=3),
    "prior": SinkhornMetricLearning(
        points=POINTS, criterion="softmax", bin_weights="learn", max_steps=3
    ),
    "combined": CombinedMetricLearning(points=POINTS, max_steps=3),
    "chosen": MetricLearningCV(LEARNER, {"pull": [0.0, 1.0]}, cv=2),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_can_be_looked_at(name):
    X, y = two_classes(10, more=3.0)
    found = stability(LEARNERS[name], X, y, n_draws=4, random_state=0, n_jobs=1)
    assert found.apart.shape == (45,)
    assert found.apart.max() > 0.0
    assert 0.0 <= found.error.mean <= 1.0
    if name in {"weights", "prior"}:
        assert all(one.low < one.mean < one.high for one in found.weights)
        logs = np.log([one.mean for one in found.weights])
        assert logs.sum() == pytest.approx(0.0, abs=1e-9)
    else:
        assert found.weights is None


def test_ratios_of_positions_are_those_of_their_metric():
    X, y = two_classes(10)
    fit = LEARNERS["mapped"].fit(X, y)
    bins = np.array([1, 4, 7])
    inside = fit.metric_ / np.where(np.eye(10), 1.0, fit.initial_metric_)
    expected = [inside[1, 4], inside[1, 7], inside[4, 7]]
    assert ratios_of(fit, bins) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_draws": 5}, "n_draws is 5; it must be even: draws come in pairs"),
        ({"n_draws": 2}, "n_draws is 2; it must be at least 4"),
        ({"n_train": 1}, "n_train is 1; it must be at least 2"),
        ({"n_train": 9}, "n_train is 9; it must be at most 8"),
        ({"n_neighbors": 9}, "n_neighbors is 9, but a draw has 8 histograms"),
        ({"threshold": 0.5}, "threshold is 0.5; it must be more than that"),
        ({"threshold": 2}, "threshold is 2; a number from 0.5 to 1.0 is needed"),
        ({"max_false": 0}, "max_false is 0; a number above 0 is needed"),
        ({"max_tested": 1}, "max_tested is 1; it must be at least 2"),
        ({"max_seconds": 0}, "max_seconds is 0; it must be positive"),
        ({"bins": [0]}, "bins has int64 of shape"),
        ({"bins": [0, 7, 1]}, r"bins\[1\] is 7, but X has 6 bins"),
        ({"bins": [1, 1]}, "bins lists a bin twice"),
        ({"learner": 3}, "learner is 3; a learner of a metric is needed"),
        ({"y": list("aaaaaaaaaaaaaaab")}, "y has a single histogram of class b"),
        ({"y": 16 * ["a"]}, "y has one class only"),
        ({"X": -np.ones((16, 6))}, "X"),
    ],
)
def test_bad_input_is_named(options, words):
    X, y = two_classes(8, 6)
    given = {"learner": LEARNER, "X": X, "y": y, **options}
    with pytest.raises(ValueError, match=words):
        stability(given.pop("learner"), given.pop("X"), given.pop("y"), **given)
