"""Sinkhorn divergences of sparse histograms: only supports take part."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from groundmetric import pairwise_emd, sinkhorn_divergence
from groundmetric.smoothed import _costs, _scalings, _supports
from groundmetric.validation import Case, cases
from layers import torch
from test_points import NeverDense, bags

SMOOTHINGS = [0.1, 1.0, 30.0, math.inf]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    """Bags of words of 60: 3 to 15 of them, two bags equal."""
    X = bags(rng, 9, 60, 9).toarray()
    X[0] = bags(rng, 1, 60, 40).toarray()
    X[4] = X[1]
    return csr_array(X)


@pytest.fixture
def points(rng):
    return rng.normal(size=(60, 3))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("kind", ["euclidean", "sqeuclidean", "cosine", "function"])
def test_points_equal_the_dense_path(X, points, kind, smoothing, monkeypatch):
    monkeypatch.setattr(_costs, "BLOCK", 25)  # of the mean
    metric = (lambda a, b: cdist(a, b) ** 1.5) if kind == "function" else kind
    M = metric(points, points) if callable(metric) else cdist(points, points, metric)
    M[np.diag_indices(60)] = 0.0
    expected = sinkhorn_divergence(X.toarray(), metric=M, smoothing=smoothing)
    found = sinkhorn_divergence(
        NeverDense(X), metric=metric, points=points, smoothing=smoothing
    )
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * M.max())
    np.testing.assert_array_equal(found, found.T)
    assert abs(found[1, 4]) < 1e-10 * M.max()  # equal histograms


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-600, 2.0**600, 2.0**1000])
def test_scales_of_points_do_not_matter(X, points, scale):
    expected = sinkhorn_divergence(X, points=points)
    found = sinkhorn_divergence(X, points=points * scale)
    np.testing.assert_array_equal(found, expected * scale)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_matrices_equal_the_dense_path(X, points, smoothing, monkeypatch):
    monkeypatch.setattr(cases, "WIDE", 50)
    M = 7.0 * cdist(points, points)
    Y = NeverDense(X[2:5] * 3.0)
    found = sinkhorn_divergence(NeverDense(X * 3.0), Y, metric=M, smoothing=smoothing)
    dense = 3.0 * X.toarray()
    expected = sinkhorn_divergence(dense, dense[2:5], metric=M, smoothing=smoothing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=3e-10 * M.max())


@pytest.mark.parametrize("smoothing", [0.3, 3.0])
def test_logarithms_give_the_same(X, points, smoothing, monkeypatch):
    expected = sinkhorn_divergence(X, points=points, smoothing=smoothing)
    monkeypatch.setitem(_scalings.LARGEST_EXPONENT, np.dtype(float), 0.0)
    found = sinkhorn_divergence(X, points=points, smoothing=smoothing)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    assert (found != expected).any()


def test_chunks_and_threads_change_nothing(X, points, monkeypatch):
    whole = sinkhorn_divergence(X, points=points)
    two = sinkhorn_divergence(X, points=points, n_jobs=2)
    np.testing.assert_array_equal(two, whole)
    monkeypatch.setattr(_supports, "KERNELS_A_PAIR", 10**5)  # one pair a chunk
    parts = sinkhorn_divergence(X, points=points)
    np.testing.assert_allclose(parts, whole, rtol=0, atol=1e-13)


def test_mean_of_squared_distances_is_known(rng):
    points = 5.0 + rng.normal(size=(300, 4))
    costs = _costs.CostsOfBins.of("sqeuclidean", points, 300)
    expected = cdist(points, points, "sqeuclidean").mean()
    assert costs.mean == pytest.approx(expected, rel=1e-12)


def test_mean_is_that_of_all_bins(rng):
    """Empty bins count, as they do in the mean of a matrix."""
    points = rng.normal(size=(5000, 2))
    X = csr_array((np.ones(3), [0, 1, 2], [0, 1, 3]), shape=(2, 5000))
    X = X.multiply([[2.0], [1.0]]).tocsr()
    M = cdist(points[:3], points[:3])
    scale = cdist(points, points).mean() / M.mean()
    expected = sinkhorn_divergence(
        X.toarray()[:, :3], metric=M, smoothing=2.0 * scale, tol=1e-12
    )
    found = sinkhorn_divergence(NeverDense(X), points=points, smoothing=2.0, tol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


def test_no_smoothing_is_the_emd(X, points):
    expected = pairwise_emd(X, points=points)
    found = sinkhorn_divergence(X, points=points, smoothing=0)
    np.testing.assert_array_equal(found, expected)


def test_few_entries_take_supports_and_many_do_not(X, rng, monkeypatch):
    """Sparse matrices that are nearly full, on few bins, share one kernel."""
    full = csr_array(rng.random((5, 60)))
    full = csr_array(full.toarray() / full.sum(axis=1)[:, None])
    assert _supports.case_for(full, None, None) is Case.DENSE
    assert _supports.case_for(X[1:], None, None) is Case.SPARSE
    assert _supports.case_for(X, np.ones((2, 60)), None) is Case.DENSE
    assert _supports.case_for(X, None, np.ones((60, 1))) is Case.POINTS
    monkeypatch.setattr(cases, "WIDE", 50)
    assert _supports.case_for(full, None, None) is Case.SPARSE


def test_single_precision(X, points):
    expected = sinkhorn_divergence(X, points=points)
    found = sinkhorn_divergence(X, points=points, dtype="float32")
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    assert (found != expected).any()


def test_devices(X, points):
    torch()
    for smoothing in SMOOTHINGS:
        options = {"points": points, "smoothing": smoothing}
        np.testing.assert_allclose(
            sinkhorn_divergence(X, device="cpu", **options),
            sinkhorn_divergence(X, **options),
            rtol=0,
            atol=1e-10,
        )


def test_warns_of_too_few_iterations(X, points):
    with pytest.warns(ConvergenceWarning, match="did not converge") as caught:
        sinkhorn_divergence(X, points=points, smoothing=0.1, max_iter=2)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": np.eye(60)}, "metric is a matrix, but points are given"),
        ({"metric": "seuclidean"}, "seuclidean"),
        ({"metric": lambda a, b: a[:, :1] + 0 * b[:, 0]}, r"metric\[0, 0\]|metric"),
        ({"metric": lambda a, b: -cdist(a, b)}, "negative"),
        ({"points": np.ones((3, 2))}, r"points has shape \(3, 2\)"),
        ({"points": np.full((60, 2), np.inf)}, "points"),
    ],
)
def test_wrong_uses(X, points, options, message):
    with pytest.raises(ValueError, match=message):
        sinkhorn_divergence(X, **({"points": points} | options))


def test_asymmetric_functions_are_rejected_across_blocks(X, points, monkeypatch):
    monkeypatch.setattr(_costs, "BLOCK", 59)  # the last bin has a block of its own

    def metric(a, b):
        last = points[-1]
        return cdist(a, b) * (1.0 + 0.5 * (a == last).all(axis=1)[:, None])

    with pytest.raises(ValueError, match="from point 0 to 59"):
        sinkhorn_divergence(X, points=points, metric=metric)


def test_a_matrix_or_points_are_needed(X):
    with pytest.raises(ValueError, match="metric is None, but there are no points"):
        sinkhorn_divergence(X)
    with pytest.raises(ValueError, match="metric is 'euclidean'"):
        sinkhorn_divergence(X.toarray(), metric="euclidean")


def test_nothing_of_the_size_of_all_bins_is_made(rng):
    """300 histograms on 200,000 bins would take 480 MB, and their costs 320 GB."""
    tracemalloc = pytest.importorskip("tracemalloc")
    d = 200_000
    bins = np.sort(rng.integers(0, d, (300, 5)), axis=1)
    X = csr_array((np.full(1500, 0.2), bins.ravel(), np.arange(0, 1501, 5)), (300, d))
    X.sum_duplicates()
    points = rng.normal(size=(d, 2))
    tracemalloc.start()
    found = sinkhorn_divergence(X, X[:2], points=points, metric="sqeuclidean")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found >= 0).all()
    assert peak < 100e6
