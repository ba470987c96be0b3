"""Margins of smoothed distances: a literal twin, finite differences, limits, memory."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import groundmetric as gm
import reference
from groundmetric import Margin, SinkhornMetricLearning
from groundmetric.learning._margin import MarginCriterion
from groundmetric.similarity._makers import weights_of
from groundmetric.smoothed import _distances, _scalings, _supports
from groundmetric.smoothed._positions import (
    Positions,
    position_gradient,
    squared_distances,
    starting_positions,
)
from groundmetric.smoothed._search import SmoothedPairs
from test_points import bags

NUMPY = {"n_jobs": None, "device": None, "dtype": "float64"}


def example(seed=0, n=12, d=6, classes=3):
    """Histograms of some classes, labels, and positions of bins."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.gamma(rng.gamma(1.0, size=(classes, d))[y] + 0.3)
    return X / X.sum(axis=1, keepdims=True), y, rng.normal(size=(d, 3)), rng


def criterion_of(X, y, rho, k=3, share=0.4, **options):
    weights = weights_of(len(y), y, None)
    pairs = SmoothedPairs(X, weights, rho, options=NUMPY, **options)
    return MarginCriterion(X, weights, k, share, searches=pairs.searches)


@pytest.mark.parametrize("rho", [0.6, 1.0, 5.0, math.inf])
def test_a_step_literally(rho, monkeypatch):
    monkeypatch.setattr(_distances, "TOL", 1e-12)
    X, y, A, _ = example(n=8, d=5, classes=2)
    learner = SinkhornMetricLearning(
        criterion=Margin(n_targets=3, margin=0.4),
        smoothing=rho,
        points=A,
        power=1.0,
        max_steps=1,
    ).fit(X, y)
    start = A - A.mean(axis=0)
    start /= math.sqrt(squared_distances(start).mean())
    value, after = reference.smoothed_step(
        X,
        gm.label_similarity(y),
        start,
        rho,
        n_targets=3,
        share=0.4,
        step=0.15,
    )
    assert learner.path_[0].criterion == pytest.approx(value, rel=1e-9)
    M = cdist(after, after, "sqeuclidean")
    found = learner.metric_
    np.testing.assert_allclose(found / found.mean(), M / M.mean(), atol=1e-9)
    first = learner.initial_metric_
    np.testing.assert_allclose(
        first / first.mean(), squared_distances(start), atol=1e-12
    )


@pytest.mark.parametrize("rho", [0.5, 1.0, 3.0, math.inf])
@pytest.mark.parametrize("seed", range(2))
def test_gradient_by_finite_differences(rho, seed, monkeypatch):
    # Targets and triplets are stable near A; the margin is held fixed, as in the
    # gradient.
    monkeypatch.setattr(_distances, "TOL", 1e-11)
    X, y, A, rng = example(seed, n=15)
    at = criterion_of(X, y, rho).evaluate(squared_distances(A))
    g = position_gradient(at.gradient, A)
    np.testing.assert_array_equal(at.gradient, at.gradient.T)

    def distances(B):
        return gm.sinkhorn_divergence(
            X, metric=squared_distances(B), smoothing=rho, tol=1e-12
        )

    _, W, _, found = reference.margin_loss(distances(A), gm.label_similarity(y), 3, 0.4)
    assert at.n_triplets == len(found)
    for _ in range(3):
        E, h = rng.normal(size=A.shape), 1e-5
        slope = (W * (distances(A + h * E) - distances(A - h * E))).sum() / (2 * h)
        assert (g * E).sum() == pytest.approx(slope, rel=1e-5, abs=1e-10)


def found_distances(X, y, rho, M):
    return criterion_of(X, y, rho)._similar.find(M, 50).distances


def test_limits_of_smoothing():
    X, y, A, _ = example(n=9)
    M = squared_distances(A)
    same = (y[:, None] == y) & ~np.eye(9, dtype=bool)
    for rho, other, slack in (
        (0.01, gm.pairwise_emd(X, metric=M), 0.02),
        (1e5, gm.sinkhorn_divergence(X, metric=M, smoothing=math.inf), 1e-4),
        (math.inf, gm.sinkhorn_divergence(X, metric=M, smoothing=math.inf), 1e-12),
    ):
        expected = np.concatenate(
            [np.sort(row[m]) for row, m in zip(other, same, strict=True)]
        )
        np.testing.assert_allclose(
            found_distances(X, y, rho, M), expected, rtol=slack, atol=slack * M.mean()
        )


def test_energy_gradient_is_the_limit(monkeypatch):
    monkeypatch.setattr(_distances, "TOL", 1e-10)
    X, y, A, _ = example(n=15)
    M = squared_distances(A)
    large, infinite = (
        criterion_of(X, y, rho).evaluate(M).gradient for rho in (1e5, math.inf)
    )
    g, limit = position_gradient(large, A), position_gradient(infinite, A)
    np.testing.assert_allclose(g, limit, atol=1e-4 * np.abs(limit).max())


def sparse_example(seed=0, n=14, d=90):
    """Bags of 4 to 8 words, two of them equal, and positions of words."""
    rng = np.random.default_rng(seed)
    X = bags(rng, n, d, 8).toarray()
    X[5] = X[2]
    return X, np.arange(n) % 3, rng.normal(size=(d, 3)), rng


@pytest.mark.parametrize("largest", [300.0, 0.0])  # plain numbers, logarithms
@pytest.mark.parametrize("rho", [1.0, 5.0, 1e9])
def test_supports_give_what_all_bins_do(rho, largest, monkeypatch):
    monkeypatch.setattr(_distances, "TOL", 1e-12)
    monkeypatch.setitem(_scalings.LARGEST_EXPONENT, np.dtype(float), largest)
    X, _, A, rng = sparse_example()
    M = 3.0 * squared_distances(A)
    whole = _distances.DenseDivergences(X, rho, NUMPY)
    found = _distances.distances_of(X, rho, NUMPY | {"n_jobs": 2})
    assert isinstance(found, _distances.SparseDivergences)
    i, j = np.nonzero(rng.random((14, 14)) * (1 - np.eye(14)) > 0.6)
    weights = rng.normal(size=len(i))
    for one in (whole, found):
        one.solve(M)
    np.testing.assert_allclose(found.distances, whole.distances, atol=1e-10)
    G, expected = (one.gradient(i, j, weights) for one in (found, whole))
    np.testing.assert_allclose(G, expected, atol=1e-10)
    assert found.n_inexact == whole.n_inexact == 0


def test_sparse_classes_that_are_apart_from_the_start():
    """No triplet is left, so that no pair has a weight."""
    X = np.zeros((4, 16))
    X[:2, :2] = X[2:, 2:4] = 1.0
    learner = SinkhornMetricLearning().fit(X, [0, 0, 1, 1])
    assert learner.converged_
    assert isinstance(
        _distances.distances_of(X / 2, 3.0, NUMPY), _distances.SparseDivergences
    )
    assert np.isfinite(learner.metric_).all()


def test_only_supports_of_sparse_histograms_are_solved(monkeypatch):
    """A fit is the same, with kernels as large as the supports instead of all bins."""
    X, y, A, _ = sparse_example(n=24)
    sizes = []
    real = _supports.pair_scalings

    def counted(costs, *rest):
        sizes.append(costs.shape[1:])
        return real(costs, *rest)

    monkeypatch.setattr(_supports, "pair_scalings", counted)
    options = {"points": A, "max_steps": 4, "smoothing": 1.0}
    options["criterion"] = gm.Margin(n_targets=3)
    found = SinkhornMetricLearning(**options).fit(X, y)
    assert sizes
    assert max(max(size) for size in sizes) <= 8
    sizes.clear()
    monkeypatch.setattr(_distances, "SPARSE", 10**6)
    expected = SinkhornMetricLearning(**options).fit(X, y)
    assert not sizes
    np.testing.assert_allclose(found.metric_, expected.metric_, rtol=1e-7, atol=1e-9)


def test_pairs_beyond_the_memory_are_solved_again(monkeypatch):
    X, y, A, _ = example(3, n=20)
    M = squared_distances(A)
    whole = criterion_of(X, y, 1.0).evaluate(M)
    bytes_a_pair = 8 * 6
    monkeypatch.setattr(_distances, "KEPT_BYTES", {"processor": 17 * bytes_a_pair})
    parts = criterion_of(X, y, 1.0)
    found = parts.evaluate(M)
    solution = parts._similar._pairs._solver._solution
    assert solution.potentials.pairs.shape == (17, 6)
    assert solution.values.shape == (190,)
    assert found.value == pytest.approx(whole.value, rel=1e-12)
    np.testing.assert_allclose(found.gradient, whole.gradient, atol=1e-14)
    assert found.n_solves == 190


def test_an_evaluation_depends_on_the_metric_alone():
    X, y, A, rng = example(4, n=20)
    M = squared_distances(A)
    used = criterion_of(X, y, 1.0)
    used.evaluate(squared_distances(rng.normal(size=A.shape)))
    a, b = used.evaluate(M), criterion_of(X, y, 1.0).evaluate(M)
    assert a.value == b.value
    np.testing.assert_array_equal(a.gradient, b.gradient)


def test_positions_to_start_from():
    X, _, A, _ = example(n=30)
    np.testing.assert_array_equal(starting_positions(None, None, X), np.eye(6))
    np.testing.assert_array_equal(starting_positions(A, 3, X), A)
    # Principal axes of the points; or of the histograms, if bins are equally far.
    for points, rows in ((A, A), (None, X)):
        start = starting_positions(points, 2, X)
        centered = rows - rows.mean(axis=0)
        u, s, axes = np.linalg.svd(centered, full_matrices=False)
        expected = (A if points is not None else np.eye(6)) @ axes[:2].T
        np.testing.assert_allclose(np.abs(start), np.abs(expected), atol=1e-10)
    # Energy distances of the best rank are squared distances of principal components.
    M = squared_distances(starting_positions(None, 2, X))
    D = gm.sinkhorn_divergence(X, metric=M, smoothing=math.inf)
    np.testing.assert_allclose(
        D, cdist(u[:, :2] * s[:2], u[:, :2] * s[:2]) ** 2, atol=1e-12
    )


def test_a_step_where_nothing_moves_ends_the_run():
    A = np.array([[0.0], [1.0], [3.0]])
    space = Positions(A)
    before = space.positions
    assert space.move(np.zeros((3, 3)), 0.1).is_stuck
    np.testing.assert_array_equal(space.positions, before)
    # All into one place: against a gradient that pulls with the full length of A.
    G = 1 - np.eye(3)
    assert space.move(G, 1.0).is_stuck
    np.testing.assert_array_equal(space.positions, before)
    assert not space.move(G, 0.5).is_stuck


def test_batches():
    rows, y, _, _ = example(n=48, d=64, classes=4)
    weights = weights_of(len(y), y, None)
    pairs = SmoothedPairs(rows, weights, 1.0, batch_size=16, seed=1, options=NUMPY)
    similar, dissimilar = pairs.searches
    drawn = []
    for _ in range(6):
        M = squared_distances(np.eye(64))
        found = similar.find(M, 6)
        members = pairs._members
        drawn.append(members)
        # Two of the six nearest, as a third of the histograms are in a batch.
        same = y[members][:, None] == y[members]
        counts = np.minimum(same.sum(axis=1) - 1, 2)
        np.testing.assert_array_equal(np.diff(found.starts), counts)
        assert (y[found.i] == y[found.j]).all()
        assert (found.i != found.j).all()
        D = gm.sinkhorn_divergence(rows, metric=M)
        np.testing.assert_allclose(found.distances, D[found.i, found.j], rtol=1e-3)
        others = dissimilar.find(M)
        assert pairs._members is members  # of the same batch
        assert (y[others.i] != y[others.j]).all()
        assert len(others.i) == (~same).sum()
    for epoch in (drawn[:3], drawn[3:]):
        np.testing.assert_array_equal(np.sort(np.concatenate(epoch)), np.arange(48))
    assert not np.array_equal(drawn[0], drawn[3])
