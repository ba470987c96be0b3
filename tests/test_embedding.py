"""Histograms as points: what they are, and their nearest neighbors."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import reference
from groundmetric.smoothed import _embedding
from groundmetric.smoothed._embedding import embed, nearest


def test_embedding_has_the_distances():
    rng = np.random.default_rng(0)
    X = rng.gamma(0.5, size=(8, 6)) * (rng.random((8, 6)) < 0.6)
    X[:, 0] += 0.1
    logs, positions = rng.normal(size=6), rng.normal(size=(6, 3))
    points = embed(csr_array(X), logs, positions)
    D = [
        [reference.prior_distance(r, c, logs, positions, math.inf) for c in X]
        for r in X
    ]
    np.testing.assert_allclose(cdist(points, points, "sqeuclidean"), D, atol=1e-12)


@pytest.mark.parametrize("shift", [0.0, 1e4])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_nearest(shift, k, monkeypatch):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, size=(40, 4)) + shift  # many ties
    queries = rng.integers(0, 3, size=(30, 4)) + shift
    monkeypatch.setattr(_embedding, "BLOCK", 8 * 40 * 7)
    distances, indices = nearest(base, queries, k)
    D = cdist(queries, base, "sqeuclidean")
    expected = np.argsort(D, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, np.take_along_axis(D, expected, axis=1))


def test_nearest_of_points_that_nearly_coincide():
    # Multiplied out, all of these distances are lost in rounding.
    base = 1 + 1e-9 * np.arange(12.0)[:, None] * np.ones(3)
    base[0] = 100.0
    _, indices = nearest(base, base[5:6], 3)
    assert indices.tolist() == [[5, 4, 6]]


def test_fewer_points_than_neighbors():
    _, indices = nearest(np.eye(2), np.zeros((3, 2)), 5)
    assert indices.tolist() == [[0, 1]] * 3
