"""Random transportation problems with everything that can be awkward in them."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

HISTOGRAMS = ("dense", "sparse", "counts", "one-hot", "tiny", "steep", "uniform")
METRICS = ("euclidean", "grid", "discrete", "duplicates", "zero")
COSTS = (*METRICS, "squared", "asymmetric", "negative", "integer", "diagonal", "huge")


def histogram(rng, kind, d):
    """One histogram of mass 1 (counts: of mass 64)."""
    if kind == "counts":
        return np.bincount(rng.integers(0, d, 64), minlength=d).astype(float)
    x = rng.gamma(1.0, size=d)
    if kind == "sparse":
        x *= rng.random(d) < 0.2
    elif kind == "one-hot":
        x = np.zeros(d)
    elif kind == "tiny":
        x *= np.where(rng.random(d) < 0.5, 1e-12, 1.0)
    elif kind == "steep":
        x = 10.0 ** rng.uniform(-14, 0, d)
    elif kind == "uniform":
        x = np.ones(d)
    if x.sum() == 0:
        x[rng.integers(d)] = 1.0
    return x / x.sum()


def pair(rng, kind, d):
    """Two histograms of equal mass: unrelated, almost equal or equal."""
    r = histogram(rng, kind, d)
    c = histogram(rng, kind, d)
    relation = rng.integers(8)
    if relation == 0:
        c = r.copy()
    elif relation == 1:
        c = r.copy()
        p, q = rng.integers(0, d, 2)
        moved = c[p] / 2
        c[p] -= moved
        c[q] += moved
    return r, c


def cost(rng, kind, d):
    """Costs between d bins; the kinds in METRICS are metrics."""
    points = rng.normal(size=(d, 3))
    M = cdist(points, points)
    grid = rng.integers(0, 4, (d, 2)).astype(float)
    twice = points[rng.integers(0, d, d)]
    make = {
        "euclidean": lambda: M,
        "grid": lambda: cdist(grid, grid, "cityblock"),
        "discrete": lambda: 1.0 - np.eye(d),
        "duplicates": lambda: cdist(twice, twice),
        "zero": lambda: np.zeros((d, d)),
        "squared": lambda: M**2,
        "asymmetric": lambda: rng.random((d, d)),
        "negative": lambda: rng.normal(size=(d, d)),
        "integer": lambda: rng.integers(-3, 4, (d, d)).astype(float),
        "diagonal": lambda: M + np.diag(rng.random(d)),
        "huge": lambda: M * 1e200,
    }
    return make[kind]()


def problem(seed, d):
    """(r, c, M), all three kinds chosen by the seed."""
    rng = np.random.default_rng([seed, d])
    r, c = pair(rng, HISTOGRAMS[rng.integers(len(HISTOGRAMS))], d)
    return r, c, cost(rng, COSTS[rng.integers(len(COSTS))], d)


def fours_and_nines(end=None):
    """Digits: 15 + 15 to learn from, their labels, the rest to test, their labels."""
    X, y = load_digits(return_X_y=True)
    rows = [np.flatnonzero(y == digit) for digit in (4, 9)]
    train = np.concatenate([r[:15] for r in rows])
    test = np.concatenate([r[15:end] for r in rows])
    return X[train], y[train], X[test], y[test]
