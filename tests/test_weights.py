"""How much histograms, classes and votes count."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import groundmetric as gm
from groundmetric import GroundMetricLearning, Neighborhood
from groundmetric.learning._margin import MarginCriterion
from groundmetric.learning._neighborhood import NeighborhoodCriterion
from groundmetric.similarity._makers import weights_of
from groundmetric.similarity._weights import MatrixWeights
from groundmetric.smoothed import _fisher
from groundmetric.smoothed._classes import Classes
from groundmetric.smoothed._features import Features
from groundmetric.smoothed._softmax import softmax
from problems import cost

POINTS = [[0.0], [1.0], [3.0], [4.0], [6.0]]
QUICK = {"max_steps": 3}
LEARNERS = [
    GroundMetricLearning(**QUICK),
    GroundMetricLearning(**QUICK, batch_size=8, random_state=0),
    GroundMetricLearning(Neighborhood(k=2), **QUICK),
    gm.MappedMetricLearning(**QUICK),
    gm.CombinedMetricLearning([cost(np.random.default_rng(0), "euclidean", 5)]),
    gm.SinkhornMetricLearning(**QUICK),
    gm.SinkhornMetricLearning(criterion="softmax", points=POINTS, **QUICK),
    gm.DiscriminantMetricLearning(POINTS),
    gm.MetricLearningCV(GroundMetricLearning(**QUICK), {}, cv=2),
]


def named(learner):
    return type(learner).__name__


def data(n=18, seed=0):
    """Histograms of two classes, the second twice as frequent."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 1], n // 3)
    alpha = np.array([[3, 2, 1, 1, 1], [1, 1, 1, 2, 3]])[y]
    return rng.gamma(alpha), y


def of_mass_1(X):
    return X / X.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("learner", LEARNERS, ids=named)
def test_equal_weights_change_nothing(learner):
    X, y = data()
    own = learner.fit(X, y).pairwise(X)
    for options in (
        {"sample_weight": np.full(len(y), 0.7)},
        {"class_weight": {0: 2.0, 1: 2.0}},
        {"class_weight": {}},
    ):
        assert np.array_equal(learner.fit(X, y, **options).pairwise(X), own)


@pytest.mark.parametrize("learner", LEARNERS, ids=named)
def test_weights_change_what_is_learned(learner):
    X, y = data()
    own = learner.fit(X, y).pairwise(X)
    weights = np.random.default_rng(1).uniform(0.1, 3.0, len(y))
    found = learner.fit(X, y, sample_weight=weights).pairwise(X)
    assert np.isfinite(found).all()
    same = np.array_equal(found, own)
    # A single candidate has nothing to weigh, and a search may choose the start.
    single = isinstance(learner, gm.CombinedMetricLearning)
    assert same == (single or getattr(learner, "best_step_", 1) == 0)
    scaled = learner.fit(X, y, sample_weight=4 * weights).pairwise(X)
    np.testing.assert_allclose(scaled, found, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=named)
def test_histograms_of_weight_zero_are_left_out(learner):
    X, y = data()
    kept = np.flatnonzero(np.arange(len(y)) % 5 != 1)
    own = learner.fit(X[kept], y[kept]).pairwise(X)
    learner.fit(X, y, sample_weight=np.isin(np.arange(len(y)), kept))
    np.testing.assert_allclose(learner.pairwise(X), own, rtol=1e-12, atol=1e-13)
    assert learner.transform(X).shape == (len(y), len(kept))
    fitted = getattr(learner, "best_estimator_", learner)
    assert fitted.sample_indices_.tolist() == kept.tolist()


@pytest.mark.parametrize("learner", LEARNERS, ids=named)
def test_class_weights_are_those_of_their_histograms(learner):
    X, y = data()
    by_hand = learner.fit(X, y, sample_weight=np.where(y == 0, 1.5, 0.75)).pairwise(X)
    found = learner.fit(X, y, class_weight="balanced").pairwise(X)
    assert np.array_equal(found, by_hand)
    both = learner.fit(
        X, y, sample_weight=np.where(y == 0, 3, 1), class_weight={1: 1.5}
    )
    assert np.array_equal(both.pairwise(X), by_hand)


def test_a_histogram_of_c_k_that_counts_twice_is_two():
    X, y = data()
    X, M = of_mass_1(X), cost(np.random.default_rng(2), "euclidean", 5)
    omega = weights_of(len(y), y, None).matrix()
    twice = np.r_[np.arange(len(y)), 0, 3]
    points = np.bincount(twice).astype(float)
    weighted = NeighborhoodCriterion(X, MatrixWeights(omega, points), None, None)
    omega = omega[np.ix_(twice, twice)]
    repeated = NeighborhoodCriterion(X[twice], omega, None, None)
    for side in ("linearize", "evaluate"):
        found, expected = (getattr(each, side)(M) for each in (weighted, repeated))
        assert found.value == pytest.approx(expected.value, rel=1e-12)
        np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-15)


def test_weighted_labels_stay_balanced():
    y, points = np.array([0, 0, 1, 1, 1, 2]), np.array([1.0, 2, 0.5, 3, 1, 1])
    with pytest.warns(UserWarning, match="single member"):
        weights = weights_of(6, y, None).weighted(points).balanced(None, None)
    i, j = np.triu_indices(6, 1)
    omega = weights.of(i, j) * points[i] * points[j]
    assert omega[omega > 0].sum() == pytest.approx(1.0)
    assert omega[omega < 0].sum() == pytest.approx(-1.0)


def test_triplets_of_a_histogram_that_counts_twice_count_twice():
    X, y = data()
    X, M = of_mass_1(X), cost(np.random.default_rng(2), "euclidean", 5)
    weights = weights_of(len(y), y, None)
    points = np.ones(len(y))
    points[4] = 2.0
    share = 0.5
    plain = MarginCriterion(X, weights, 3, share)
    margin = share * np.median(plain.target_distances(M))
    found = MarginCriterion(X, weights.weighted(points), 3, share).evaluate(M)
    ((total, size),) = plain.sums(M, margin)
    own, one = MarginCriterion(X, weights, 3, share, within=(4, 5)).sum_of_part(
        M, margin
    )
    assert own.value > 0
    assert found.value == pytest.approx((total.value + own.value) / (size + one))
    expected = (total.gradient + own.gradient) / (size + one)
    np.testing.assert_allclose(found.gradient, expected, atol=1e-15)


def test_softmax_literally():
    rng = np.random.default_rng(0)
    D, y = rng.uniform(0.5, 2.0, (7, 7)), np.array([0, 0, 0, 1, 1, 2, 1])
    D, points = D + D.T, rng.uniform(0.2, 3.0, 7)
    sign, tau = np.where(y[:, None] == y, 1.0, -1.0), 0.7

    def value(D):
        total = counted = 0.0
        for i in range(7):
            others = [j for j in range(7) if j != i]
            near = sum(
                points[j] * np.exp(-D[i, j] / tau) for j in others if y[j] == y[i]
            )
            every = sum(points[j] * np.exp(-D[i, j] / tau) for j in others)
            if near > 0:
                total -= points[i] * np.log(near / every)
                counted += points[i]
        return total / counted

    found = softmax(D, lambda rows: sign[rows] * points, tau, points=points)
    assert found.value == pytest.approx(value(D))
    for i, j in ((0, 1), (3, 5), (5, 0), (6, 3)):
        step = np.zeros_like(D)
        step[i, j] = 1e-6
        slope = (value(D + step) - value(D - step)) / 2e-6
        assert found.weights[i, j] == pytest.approx(slope, abs=1e-9)


@pytest.mark.parametrize("trust", [0.0, 1.0])
@pytest.mark.parametrize("by_histograms", [False, True])
def test_a_histogram_of_discriminants_that_counts_twice_is_two(
    monkeypatch, trust, by_histograms
):
    X, y = data(30)
    X, twice = of_mass_1(X), np.r_[np.arange(30), 0, 7, 7, 25]
    if by_histograms:  # all means of five bins are in as many dimensions
        monkeypatch.setattr(Features, "n_features", property(lambda _: 10**6))
        monkeypatch.setattr(Features, "n_dimensions", 5)
    points = np.bincount(twice) * len(y) / len(twice)
    found = []
    for rows, classes in (
        (X, Classes(y, points)),
        (X[twice], Classes(y[twice])),
    ):
        features = Features.of(csr_array(rows), classes, np.array(POINTS), trust)
        found.append(_fisher.positions(features, classes, 0.3))
    a, b = (each @ each.T for each in found)
    np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10 * np.abs(b).max())


def test_both_branches_estimate_the_same_shrinkage_with_weights():
    X, y = data(30)
    classes = Classes(y, np.linspace(0.5, 1.5, 30))
    features = Features.of(csr_array(of_mass_1(X)), classes, None, 0.0)
    sides = [
        make(features, classes)
        for make in (_fisher._in_features, _fisher._in_histograms)
    ]
    a, b = (_fisher.shrunk(each, 5, None) for each in sides)
    np.testing.assert_allclose(a, b, rtol=1e-10)


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("sample_weight has 3 entries for 18 histograms", {"sample_weight": [1, 2, 3]}),
        (
            r"sample_weight\[1\] is -1.0: weights must not",
            {"sample_weight": [1, -1] * 9},
        ),
        (r"sample_weight\[1\] is nan", {"sample_weight": [1, np.nan] * 9}),
        ("sample_weight is zero for all", {"sample_weight": [0] * 18}),
        ("class_weight is 'even'; 'balanced' or a dict", {"class_weight": "even"}),
        ("class_weight has 'a', which is not a label", {"class_weight": {"a": 1}}),
        (r"class_weight\[1\] is 0; a number above 0", {"class_weight": {1: 0}}),
        ("18 histograms, but 1 of positive mass", {"sample_weight": [1] + [0] * 17}),
    ],
)
def test_wrong_weights(message, options):
    X, y = data()
    with pytest.raises(ValueError, match=message):
        GroundMetricLearning().fit(X, y, **options)


def test_class_weights_need_classes():
    X, y = data()
    similarity = gm.label_similarity(y)
    learner = GroundMetricLearning(**QUICK)
    with pytest.raises(ValueError, match="class_weight needs labels"):
        learner.fit(X, similarity=similarity, class_weight="balanced")
    learner.fit(X, similarity=similarity, sample_weight=[0] + [1] * 17)
    assert len(learner.sample_indices_) == 17


@pytest.mark.parametrize("changed", ["labels", "weights"])
def test_checkpoints_of_a_softmax_know_labels_and_weights(changed, tmp_path):
    X, y = data()

    def interrupt(step):
        if step.outer == 1:
            raise KeyboardInterrupt

    learner = gm.SinkhornMetricLearning(criterion="softmax", points=POINTS, **QUICK)
    saved = gm.Checkpoint(tmp_path / "state.npz", seconds=0)
    with pytest.raises(KeyboardInterrupt):
        learner.set_params(callbacks=[saved, interrupt]).fit(X, y)
    learner.set_params(callbacks=[saved])
    options = {"sample_weight": np.arange(1, 19)} if changed == "weights" else {}
    with pytest.raises(ValueError, match="checkpoint of a fit with other data"):
        learner.fit(X, y if options else y[::-1], **options)
    assert learner.fit(X, y).n_iter_ == 3
