"""Record the matrices that a descent projects: Algorithm 2 in its plainest form."""

import numpy as np

import groundmetric as gm


def two_classes(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, n: int = 30
) -> tuple[np.ndarray, np.ndarray]:
    """Draw n histograms of each of two classes."""
    classes = rng.choice(np.unique(y), 2, replace=False)
    rows = [rng.choice(np.flatnonzero(y == c), n, replace=False) for c in classes]
    chosen = np.concatenate(rows)
    return X[chosen], y[chosen]


def nearest_weights(D: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Weights of Algorithm 1: the k nearest of either kind, signed and normalized."""
    same = y[:, None] == y[None]
    weights = np.zeros_like(D)
    np.fill_diagonal(D, np.inf)
    for candidates, sign in ((same, 1.0), (~same, -1.0)):
        ranked = np.where(candidates, D, np.inf)
        order = np.argsort(ranked, axis=1, kind="stable")[:, :k]
        rows = np.arange(len(D))[:, None]
        weights[rows, order] += 2 * sign / candidates.sum()
    return weights + weights.T


def record(X: np.ndarray, y: np.ndarray, n_steps: int = 50) -> list[np.ndarray]:
    """Return the matrices of this many steps from the uniform metric, unprojected."""
    n, d = X.shape
    metric = (1.0 - np.eye(d)) / np.sqrt(d * (d - 1))
    i, j = np.triu_indices(n, 1)
    batch = gm.TransportBatch(X, np.stack([i, j], axis=1), n_jobs=-1)
    projector = gm.MetricProjector(d, tol=1e-8)
    inputs = []
    for t in range(1, n_steps + 1):
        solution = batch.solve(metric)
        D = np.zeros((n, n))
        D[i, j] = D[j, i] = solution.values
        G = solution.plan_sum(nearest_weights(D, y, 3)[i, j])
        G += G.T
        np.fill_diagonal(G, 0.0)
        step = 0.1 / np.sqrt(t) * np.linalg.norm(metric) / np.linalg.norm(G)
        inputs.append(metric - step * G)
        metric = projector.project(inputs[-1], radius=1.0).metric
    return inputs
