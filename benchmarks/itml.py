"""ITML beside metric-learn's, on the same pairs.

``python benchmarks/itml.py file.npz`` takes histograms ``X`` and labels ``y``. CPU time
for each pair and round, on one thread, and how far the matrices are apart.
"""

import sys
import time

import numpy as np
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits

from groundmetric._metric_learn import _package
from groundmetric.baselines import ITML
from groundmetric.baselines._itml import project

OF_CLASS, N_ROUNDS = 30, 40


def compare(X: np.ndarray, y: np.ndarray, n_classes: int) -> str:
    """Project on the pairs that ITML draws, by both."""
    rows = np.concatenate([np.flatnonzero(y == c)[:OF_CLASS] for c in range(n_classes)])
    X, y = np.sqrt(X[rows]), y[rows]
    X /= np.median(cdist(X, X))
    squared = cdist(X, X, "sqeuclidean")
    learner = ITML()
    learner.classes_ = np.unique(y)
    pairs, same = learner._draw(y, squared)
    bounds = np.percentile(squared[np.triu_indices_from(squared, 1)], (5, 95))
    peer = _package().ITML(max_iter=N_ROUNDS)
    start = time.process_time()
    peer._fit(X[pairs], np.where(same, 1, -1), bounds=bounds.copy())
    middle = time.process_time()
    ours = project(
        X[pairs[:, 0]] - X[pairs[:, 1]],
        same,
        np.where(same, *bounds),
        gamma=1.0,
        max_iter=N_ROUNDS,
    )
    end = time.process_time()
    expected = peer.components_.T @ peer.components_
    apart = np.abs(ours.matrix - expected).max() / np.abs(expected).max()
    count = len(pairs) * ours.n_rounds
    mine, theirs = ((t / count) * 1e6 for t in (end - middle, middle - start))
    return (
        f"{n_classes} classes, {X.shape[1]} bins, {len(pairs):,} pairs: {mine:.1f} us, "
        f"metric-learn {theirs:.1f} us ({theirs / mine:.1f}x); apart {apart:.0e}"
    )


if __name__ == "__main__":
    with np.load(sys.argv[1], allow_pickle=False) as file, threadpool_limits(1):
        given, labels = file["X"].astype(float), file["y"]
        codes = np.unique(labels, return_inverse=True)[1]
        for n in sorted({2, min(10, codes.max() + 1)}):
            print(compare(given, codes, n))
