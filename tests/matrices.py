"""Matrices to be projected onto the cone of metrics."""

import numpy as np
from scipy.spatial.distance import cdist

KINDS = (
    "uniform", "gaussian", "euclidean", "integer", "blocks", "descent",
    "negative", "metric", "outlier", "asymmetric",
)  # fmt: skip


def symmetric_noise(rng, d):
    upper = np.triu(rng.normal(size=(d, d)), 1)
    return upper + upper.T


def matrix(rng, kind, d):
    """Make a d x d matrix, zero on the diagonal; only "asymmetric" is not symmetric."""
    points = rng.normal(size=(d, 8))
    E = cdist(points, points)
    noise = symmetric_noise(rng, d)
    away = 1.0 - np.eye(d)
    halves = (np.arange(d) < d // 2).astype(float)
    make = {
        "uniform": lambda: away + 0.5 * noise,
        "gaussian": lambda: noise,
        "euclidean": lambda: E * (1 + 0.3 * noise),
        "integer": lambda: np.round(3 * noise),
        "blocks": lambda: away + 4.0 * np.not_equal.outer(halves, halves) + 0.5 * noise,
        # A metric with many tight triangles, pushed along sparse plans.
        "descent": lambda: E + 0.5 * np.abs(noise) * (np.abs(noise) > 2.0),
        "negative": lambda: -np.abs(noise),
        "metric": lambda: E,
        "outlier": lambda: away + 50.0 * (np.abs(noise) == np.abs(noise).max()),
        "asymmetric": lambda: noise + np.tril(noise) + np.diag(points[:, 0]),
    }
    return make[kind]()
