"""Barycenters: bounds that prove them, twins, POT, symmetries, devices."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import reference
from groundmetric import (
    GroundMetricLearning,
    MappedMetricLearning,
    SinkhornMetricLearning,
    barycenter,
    emd,
    pairwise_emd,
    sinkhorn_divergence,
)
from groundmetric.barycenters import _smoothed
from groundmetric.barycenters._exact import exact_barycenter
from groundmetric.barycenters._smoothed import smoothed_barycenters
from groundmetric.smoothed._batch import prepare
from groundmetric.smoothed._problems import DenseProblems
from groundmetric.smoothed._sinkhorn import bursts
from strategies import histogram_pairs, metrics

SMOOTHINGS = [0.03, 0.1, 1.0, 30.0]
NO_TORCH = "PyTorch is not installed: pip install 'groundmetric[gpu]'"
LINE = cdist(np.arange(5.0)[:, None], np.arange(5.0)[:, None])


def example(seed=0, n=6, d=10, kind="euclidean"):
    """Histograms of mass 1, some with empty bins; costs; weights."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.7, size=(n, d))
    X[: n // 2] *= rng.random((n // 2, d)) < 0.5
    X[X.sum(axis=1) == 0, 0] = 1.0
    points = rng.normal(size=(d, 3))
    w = rng.random(n)
    return X / X.sum(axis=1, keepdims=True), cdist(points, points, kind), w / w.sum()


def objective(b, X, M, w, smoothing):
    return (
        w
        @ sinkhorn_divergence(
            X, b[None], metric=M, smoothing=smoothing, tol=1e-9, max_iter=100_000
        ).ravel()
    )


def solved(X, M, w, smoothing, **limits):
    """Return the result with its certificate, in units of mean(M)."""
    options = {"tol": 1e-7, "max_iter": 10_000, "n_jobs": None, **limits}
    problems = DenseProblems(X, None, device=None, dtype="float64", **options)
    return smoothed_barycenters(problems, prepare(problems, M, smoothing), w[None])


def test_two_peaks_by_hand():
    # The mean of squares of distances to both ends is smallest in the middle. With
    # plain distances all bins of the line between them are as good, 4 in sum.
    X = np.eye(5)[[0, 4]]
    np.testing.assert_array_equal(barycenter(X, LINE**2, smoothing=0), [0, 0, 1, 0, 0])
    b = barycenter(X, LINE, smoothing=0)
    assert pairwise_emd(X, [b], metric=LINE).sum() == pytest.approx(4.0)
    assert barycenter(X, LINE**2, smoothing=0.01).argmax() == 2


@settings(max_examples=40, deadline=None)
@given(st.data(), histogram_pairs(max_bins=6), st.sampled_from([1.0, 2.0, 7.0]))
def test_two_histograms_meet_at_the_heavier(data, pair, weight):
    # w d(x, b) + d(b, y) >= min(w, 1) d(x, y) by the triangle inequality, and the
    # heavier histogram itself attains it.
    r, c = pair
    M = data.draw(metrics(len(r)))
    b = barycenter([r, c], M, weights=[weight, 1.0], smoothing=0)
    assert b.sum() == pytest.approx(r.sum())
    found = weight * emd(r, b / b.sum() * r.sum(), M) + emd(b / b.sum() * c.sum(), c, M)
    least = min(weight, 1.0) * emd(r, c, M)
    assert found == pytest.approx(least, abs=1e-7 * r.sum() * (M.max() or 1.0))


def test_on_a_line_cumulative_sums_are_medians():
    X, _, w = example(seed=3, n=5, d=9)
    places = np.arange(9.0)[:, None]
    M = cdist(places, places)
    b = barycenter(X, M, weights=w, smoothing=0)
    sums = np.cumsum(X, axis=1)[:, :-1]
    least = 0.0
    for at in sums.T:
        order = np.argsort(at)
        half = np.searchsorted(np.cumsum(w[order]), 0.5)
        least += w @ np.abs(at - at[order[half]])
    assert w @ pairwise_emd(X, [b], metric=M).ravel() == pytest.approx(least)


@pytest.mark.parametrize("kind", ["euclidean", "sqeuclidean", "random"])
@pytest.mark.parametrize("seed", range(4))
def test_exact_is_the_minimum_of_the_whole_program(kind, seed):
    X, M, w = example(seed, n=4, d=6, kind="euclidean" if kind == "random" else kind)
    if kind == "random":  # not a metric
        M = np.triu(np.random.default_rng(seed).random((6, 6)), 1)
        M += M.T
    b = barycenter(X, M, weights=w, smoothing=0)
    least, _ = reference.barycenter_lp(X, w, M)
    assert w @ pairwise_emd(X, [b], metric=M).ravel() == pytest.approx(least, rel=1e-7)


def test_exact_barycenters_carry_a_bound():
    X, M, w = example(n=8, d=14)
    M /= M.mean()
    limits = {"tol": 1e-9, "n_jobs": None}
    first = w @ X
    found = exact_barycenter(X, w, M, first, max_iter=50, **limits)
    least, _ = reference.barycenter_lp(X, w, M)
    assert found.gaps[0] <= 1e-9
    assert 1 < found.n_iter[0] < 50
    # Stopped early, the gap still covers how far it is above the minimum.
    for n_iter in (1, 2):
        early = exact_barycenter(X, w, M, first, max_iter=n_iter, **limits)
        value = w @ pairwise_emd(X, early.histograms, metric=M).ravel()
        assert value - least <= early.gaps[0] + 1e-12
        assert early.n_iter[0] == n_iter
    assert early.gaps[0] > 1e-9


@pytest.mark.parametrize("smoothing", [0.1, 0.5, 2.0])
def test_smoothed_is_that_of_the_literal_twin(smoothing):
    X, M, w = example(d=6)
    X = 0.8 * X + 0.2 / 6  # so that the twin converges fast
    b = barycenter(X, M, w, smoothing, tol=1e-9, max_iter=100_000)
    eps = smoothing * M.mean()
    expected = reference.debiased_barycenter(X, w, M, eps, 20_000)
    values = [objective(each, X, M, w, smoothing) for each in (b, expected)]
    assert values[0] == pytest.approx(values[1], abs=1e-8)
    np.testing.assert_allclose(b, expected, atol=1e-3)


@pytest.mark.parametrize("smoothing", [0.5, 0.7, 1.0, 1.5, 2.0, 3.0])
def test_few_bins_far_apart(smoothing):
    # Steps that are too long for few bins alternate between two histograms. A
    # warning is an error.
    b = barycenter([[0.4, 0.6], [0.2, 0.8]], [[0, 1], [1, 0]], smoothing=smoothing)
    assert 0.2 < b[0] < 0.4
    rng = np.random.default_rng(3)
    for t in range(40):
        d = 2 + t // 2 % 3
        X, w = rng.dirichlet(np.full(d, 0.7), int(rng.integers(2, 5))), rng.random(4)
        w = w[: len(X)] / w[: len(X)].sum()
        points = rng.normal(size=(d, 2))
        M = cdist(points, points)
        b = barycenter(X, M, w, smoothing, max_iter=300)
        assert b.sum() == pytest.approx(1.0)
        if t < 6:
            eps = smoothing * M.mean()
            expected = reference.debiased_barycenter(X, w, M, eps, 20_000)
            values = [objective(each, X, M, w, smoothing) for each in (b, expected)]
            assert values[0] == pytest.approx(values[1], abs=2e-5 * M.mean())


@pytest.mark.parametrize("broken", [0, 5, 60])
def test_not_a_number_is_never_the_result(broken, monkeypatch):
    X, M, w = example()
    expected = solved(X, M, w, 0.1)
    look, calls = _smoothed._look, itertools.count()

    def fails_once(problems, k, groups):
        if next(calls) == broken:
            groups.w[:], groups.own[:] = np.nan, np.nan
        return look(problems, k, groups)

    monkeypatch.setattr(_smoothed, "_look", fails_once)
    found = solved(X, M, w, 0.1)
    assert found.inaccuracy[0] <= 1e-7
    np.testing.assert_allclose(found.histograms, expected.histograms, atol=1e-3)


def test_the_best_iterate_is_the_result(monkeypatch):
    X, M, w = example()
    last = next(n for n, _ in bursts(200) if n >= 60)
    best = solved(X, M, w, 0.1, max_iter=last)
    look, calls = _smoothed._look, itertools.count(1)

    def fails(problems, k, groups):
        b, slope, errors = look(problems, k, groups)
        return b, slope * (1.0 if next(calls) <= last else np.nan), errors

    monkeypatch.setattr(_smoothed, "_look", fails)
    found = solved(X, M, w, 0.1, max_iter=200)
    np.testing.assert_array_equal(found.histograms, best.histograms)
    np.testing.assert_array_equal(found.gaps, best.gaps)
    assert 1e-7 < found.inaccuracy[0] < np.inf
    assert found.n_iter[0] == 200


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers overflow at first
@pytest.mark.parametrize("factor", [4.0, 20.0])
def test_steps_that_are_too_long_are_halved(factor, monkeypatch):
    start = _smoothed.Groups.of.__func__
    monkeypatch.setattr(
        _smoothed.Groups,
        "of",
        classmethod(lambda cls, p, k, w, step: start(cls, p, k, w, factor * step)),
    )
    X, M, w = np.array([[0.4, 0.6], [0.2, 0.8]]), 1.0 - np.eye(2), np.full(2, 0.5)
    found = solved(X, M, w, 1.0, tol=1e-5)
    assert found.inaccuracy[0] <= 1e-5
    assert found.n_iter[0] > 1000
    np.testing.assert_allclose(found.histograms, [[0.3, 0.7]], atol=0.05)


@pytest.mark.filterwarnings("ignore:Sinkhorn did not converge")
@pytest.mark.parametrize(("smoothing", "atol"), [(0.05, 2e-3), (0.2, 2e-2)])
def test_agrees_with_pot(smoothing, atol):
    ot = pytest.importorskip("ot")
    places = np.linspace(0, 1, 30)[:, None]
    M = cdist(places, places, "sqeuclidean")
    X = np.exp(-np.square(places.ravel() - np.array([[0.2], [0.5], [0.6]])) / 0.01)
    X /= X.sum(axis=1, keepdims=True)
    w = np.array([0.5, 0.2, 0.3])
    theirs = ot.bregman.barycenter_debiased(
        X.T, M, smoothing * M.mean(), weights=w, stopThr=1e-12, numItermax=100_000
    )
    ours = barycenter(X, M, w, smoothing, tol=1e-6)
    np.testing.assert_allclose(ours, theirs, atol=atol)
    assert (
        objective(ours, X, M, w, smoothing)
        <= objective(theirs / theirs.sum(), X, M, w, smoothing) + 1e-6 * M.mean()
    )


@pytest.mark.parametrize("kind", ["euclidean", "sqeuclidean", "cityblock"])
@pytest.mark.parametrize("smoothing", [0.15, 0.5, 1.0, 10.0, 1e4])
def test_nothing_near_is_better_than_the_gap_allows(kind, smoothing):
    X, M, w = example(seed=2, kind=kind)
    found = solved(X, M, w, smoothing, tol=3e-5)
    b = found.histograms[0]
    assert found.inaccuracy[0] <= 3e-5
    assert b.sum() == pytest.approx(1.0)
    assert (b >= 0).all()
    value = objective(b, X, M, w, smoothing)
    rng = np.random.default_rng(0)
    others = [*X, w @ X, *rng.dirichlet(np.full(10, 0.3), 10)]
    for other in others:
        for share in (1.0, 0.1, 0.01):
            moved = (1 - share) * b + share * other
            least = objective(moved, X, M, w, smoothing)
            assert value <= least + 4e-5 * M.mean()


def test_infinite_smoothing_is_the_mean():
    X, M, w = example()
    found = barycenter(X, M, weights=w, smoothing=math.inf)
    np.testing.assert_allclose(found, w @ X, rtol=1e-12)
    near = objective(barycenter(X, M, w, 1e4, tol=1e-6), X, M, w, 1e4)
    assert near == pytest.approx(objective(w @ X, X, M, w, 1e4), abs=1e-5 * M.mean())


@settings(max_examples=30, deadline=None)
@given(st.data(), histogram_pairs(max_bins=6), st.sampled_from([0, 0.05, 1, math.inf]))
def test_a_histogram_is_its_own_barycenter(data, pair, smoothing):
    r, c = pair
    M = data.draw(metrics(len(r)))
    b = barycenter([c, r], M, weights=[0, 2], smoothing=smoothing)
    np.testing.assert_allclose(b, r / r.sum() * c.sum(), rtol=1e-12)


@pytest.mark.parametrize("smoothing", [0, *SMOOTHINGS])
def test_equal_histograms_are_their_barycenter(smoothing):
    # Where the entropy would blur it, the divergence is debiased.
    X, M, _ = example(d=6)
    x = 0.5 * X[0] + 0.5 / 6
    b = barycenter([x] * 3, M, smoothing=smoothing, tol=1e-8)
    tolerance = 1e-7 if smoothing == 0 else 1e-3
    np.testing.assert_allclose(b, x, atol=tolerance)
    entropic = sinkhorn_divergence([x], [b], metric=M, smoothing=smoothing)
    assert abs(entropic[0, 0]) <= 1e-7


@pytest.mark.parametrize("smoothing", [0, *SMOOTHINGS])
def test_only_ratios_of_weights_count(smoothing):
    X, M, w = example()
    b = barycenter(X, M, w, smoothing)
    for factor in (1e-300, 7.0, 1e300):
        again = barycenter(X, M, factor * w, smoothing)
        np.testing.assert_allclose(again, b, rtol=1e-6, atol=1e-12)
    twice = barycenter(X, M, smoothing=smoothing)
    same = barycenter(X, M, np.full(len(X), 3.0), smoothing)
    np.testing.assert_allclose(twice, same, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("smoothing", [0.05, 0.5, 5.0])
def test_units_do_not_matter(smoothing):
    X, M, w = example()
    b = barycenter(X, M, w, smoothing)
    np.testing.assert_allclose(barycenter(X, 1e6 * M, w, smoothing), b, rtol=1e-6)
    np.testing.assert_allclose(barycenter(40 * X, M, w, smoothing), 40 * b, rtol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 100), st.sampled_from([0.05, 0.5, 5.0]), st.randoms())
def test_order_does_not_matter(seed, smoothing, random):
    X, M, w = example(seed, n=4, d=7)
    bins, rows = list(range(7)), list(range(4))
    random.shuffle(bins)
    random.shuffle(rows)
    b = barycenter(X, M, w, smoothing)
    moved = barycenter(X[rows][:, bins], M[np.ix_(bins, bins)], w[rows], smoothing)
    np.testing.assert_allclose(moved, b[bins], rtol=1e-5, atol=1e-9)


def test_a_mirror_image_has_the_mirrored_barycenter():
    x = np.array([0.5, 0.3, 0.2, 0.0, 0.0])
    for smoothing in (0.05, 0.5, 5.0):
        b = barycenter([x, x[::-1]], LINE**2, smoothing=smoothing)
        np.testing.assert_allclose(b, b[::-1], rtol=1e-9)


@pytest.mark.parametrize("smoothing", [0, 0.1, 3.0])
def test_several_at_once_are_those_one_by_one(smoothing):
    X, M, w = example(kind="sqeuclidean")
    W = np.array([w, w[::-1], [0, 0, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]])
    together = barycenter(X, M, W, smoothing)
    assert together.shape == (4, 10)
    for each, found in zip(W, together, strict=True):
        alone = barycenter(X, M, each, smoothing)
        assert alone.shape == (10,)
        np.testing.assert_allclose(found, alone, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(together[2], X[2] / X[2].sum())


@pytest.mark.parametrize("smoothing", [0, 0.1])
def test_threads_do_not_matter(smoothing):
    X, M, _ = example(n=50, d=30)
    W = np.arange(50) % 3 == np.arange(3)[:, None]
    one, two = (barycenter(X, M, W, smoothing, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_logarithms_and_plain_numbers_agree(monkeypatch):
    X, M, w = example()
    plain = solved(X, M, w, 0.1)
    monkeypatch.setattr(
        "groundmetric.smoothed._scalings.LARGEST_EXPONENT",
        {np.dtype(np.float64): 0.0, np.dtype(np.float32): 0.0},
    )
    logs = solved(X, M, w, 0.1)
    np.testing.assert_allclose(logs.histograms, plain.histograms, rtol=1e-8)
    np.testing.assert_array_equal(logs.n_iter, plain.n_iter)


def test_forms_of_arrays():
    X, M, w = example()
    b = barycenter(X, M, w)
    np.testing.assert_array_equal(barycenter(X.tolist(), M.tolist(), w.tolist()), b)
    np.testing.assert_array_equal(barycenter(csr_array(X), M, w), b)
    single = barycenter(X, M, w, dtype="float32")
    assert single.dtype == np.float64
    assert objective(single / single.sum(), X, M, w, 0.1) == pytest.approx(
        objective(b, X, M, w, 0.1), abs=1e-3 * M.mean()
    )


@pytest.mark.parametrize("smoothing", [0, 0.1, math.inf])
def test_tensors(smoothing):
    pytest.importorskip("array_api_compat", reason=NO_TORCH)
    torch = pytest.importorskip("torch", reason=NO_TORCH)
    X, M, w = example()
    W = np.array([w, w[::-1] ** 2])
    b = barycenter(X, M, W, smoothing)
    found = barycenter(torch.asarray(X), M, W, smoothing)
    np.testing.assert_allclose(found, b, rtol=1e-6, atol=1e-9)
    there = barycenter(X, M, W, smoothing, device="cpu")
    np.testing.assert_allclose(there, b, rtol=1e-6, atol=1e-9)


def test_not_converged_is_a_warning():
    X, M, w = example()
    with pytest.warns(ConvergenceWarning, match=r"1 of 2 barycenters .*max_iter=3 "):
        found = barycenter(X, M, [w, [1, 0, 0, 0, 0, 0]], max_iter=3)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        barycenter(*example(n=30, d=20), 0, max_iter=1)


def test_costs_of_zero():
    X, M, w = example()
    for smoothing in (0, 0.1):
        b = barycenter(X, np.zeros_like(M), w, smoothing)
        np.testing.assert_allclose(b, w @ X, rtol=1e-9)
    assert barycenter([[2.0], [2.0]], [[0.0]]).tolist() == [2.0]


@pytest.mark.parametrize(
    "learner",
    [
        GroundMetricLearning(max_steps=2),
        MappedMetricLearning(np.arange(10.0)[:, None] ** 1.5, max_steps=2),
        SinkhornMetricLearning(max_steps=2),
        SinkhornMetricLearning(
            points=np.arange(10.0)[:, None], criterion="softmax", max_steps=2
        ),
    ],
)
def test_a_learner_sees_histograms_in_its_own_way(learner):
    X, _, w = example(n=8)
    y = np.arange(8) % 2
    learner.fit(X, y)
    found = barycenter(5 * X, learner, w)
    seen = learner.histograms(X)
    seen = seen.toarray() if hasattr(seen, "toarray") else seen
    expected = barycenter(seen, learner.metric_, w)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"X": [[1, -1], [1, 1]]}, r"X\[0, 1\] is -1.0"),
        ({"X": [[1, 1], [1, np.nan]]}, r"X\[1, 1\] is nan"),
        ({"X": [[1, 1], [0, 0]]}, r"X\[1\] has zero mass"),
        ({"X": [[1, 1], [2, 1]]}, "equal masses"),
        ({"X": [1, 1]}, "2 dimensions are needed"),
        ({"metric": [[0, 1]]}, "metric"),
        ({"metric": [[0, 1], [2, 0]]}, "metric"),
        ({"metric": [[0, -1], [-1, 0]]}, "metric"),
        ({"metric": [[0, np.inf], [np.inf, 0]]}, "metric"),
        ({"metric": [[1, 1], [1, 0]]}, "metric"),
        ({"weights": [1]}, r"weights have shape \(1,\) for 2 histograms"),
        ({"weights": [[1, 1, 1]]}, r"weights have shape \(1, 3\) for 2 histograms"),
        ({"weights": np.zeros((0, 2))}, r"weights have shape \(0, 2\)"),
        ({"weights": 1.0}, "weights has shape"),
        ({"weights": [1, -1]}, r"weights\[1\] is -1.0: weights must not be negative"),
        ({"weights": [1, np.inf]}, r"weights\[1\] is inf"),
        ({"weights": [0, 0]}, "weights are all zero: one histogram must count"),
        ({"weights": [[1, 0], [0, 0]]}, r"weights\[1\] are all zero"),
        ({"smoothing": -1}, "smoothing"),
        ({"smoothing": np.nan}, "smoothing"),
        ({"tol": -1}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"dtype": "float16"}, "dtype"),
        ({"device": "tpu"}, "device"),
    ],
)
def test_bad_input(options, message):
    given = {"X": [[1, 1], [2, 0]], "metric": [[0, 1], [1, 0]], **options}
    with pytest.raises(ValueError, match=message):
        barycenter(**given)


def test_a_learner_must_be_fitted():
    with pytest.raises(NotFittedError):
        barycenter([[1, 1], [2, 0]], GroundMetricLearning())
