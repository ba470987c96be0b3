"""Measure how good initial metrics are on their own, without a descent.

The tasks are binary, with 30 + 30 training histograms and up to 40 + 40 test
histograms, which are classified by their nearest neighbors: under the EMD with each
initial metric, and under l1, l2 and Hellinger for comparison. Run it with

    python examples/initial_metrics.py file.npz

where the file contains the arrays X (histograms in rows) and y (labels).
"""

import argparse
import math
import warnings

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm

KAPPAS = (1, 3, 5, 11, 19)
N_TRAIN, N_TEST = 30, 40
METRICS = {
    "EMD, uniform": {"table": "uniform"},
    "EMD, independence": {"table": "independence"},
    "EMD, typical, total 1": {"total": 1.0},
    "EMD, typical, total 1e2": {"total": 1e2},
    "EMD, typical, total 1e4": {"total": 1e4},
    "EMD, typical, total inf": {"total": math.inf},
}


def errors(train: np.ndarray, test: np.ndarray, y: np.ndarray, z: np.ndarray) -> list:
    """Compute nearest-neighbor errors for all kappas from distance matrices."""
    out = []
    for kappa in KAPPAS:
        classifier = KNeighborsClassifier(kappa, metric="precomputed").fit(train, y)
        out.append(1 - classifier.score(test, z))
    return out


def draw(y: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Draw two classes, and split them into training and test histograms."""
    classes = rng.choice(np.unique(y), 2, replace=False)
    rows = [rng.permutation(np.flatnonzero(y == c)) for c in classes]
    train = np.concatenate([r[:N_TRAIN] for r in rows])
    test = np.concatenate([r[N_TRAIN : N_TRAIN + N_TEST] for r in rows])
    return train, test


def plain_errors(
    X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> dict[str, list]:
    """Return the errors of bin-to-bin distances."""
    out = {}
    for name, metric, f in (
        ("l1", "cityblock", np.abs),
        ("l2", "euclidean", np.abs),
        ("Hellinger", "euclidean", np.sqrt),
    ):
        a, b = f(X[train]), f(X[test])
        out[name] = errors(cdist(a, a, metric), cdist(b, a, metric), y[train], y[test])
    return out


def task(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> dict[str, list]:
    """Draw a task and return the errors of all distances."""
    train, test = draw(y, rng)
    out = plain_errors(X, y, train, test)
    for name, options in METRICS.items():
        M = gm.initial_metric(X[train], y[train], n_jobs=-1, **options)
        out[name] = errors(
            gm.pairwise_emd(X[train], metric=M, n_jobs=-1),
            gm.pairwise_emd(X[test], X[train], metric=M, n_jobs=-1),
            y[train],
            y[test],
        )
    return out


def main() -> None:
    """Print mean errors as a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--tasks", type=int, default=20)
    options = parser.parse_args()
    with np.load(options.data, allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"]
    X /= X.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        results = [task(X, y, rng) for _ in range(options.tasks)]
    print("| distance | " + " | ".join(f"{k}-NN" for k in KAPPAS) + " | mean |")
    print("|---|" + "---:|" * (len(KAPPAS) + 1))
    for name in results[0]:
        mean = np.mean([result[name] for result in results], axis=0)
        cells = [*(f"{x:.1%}" for x in mean), f"{mean.mean():.1%}"]
        print(f"| {name} | " + " | ".join(cells) + " |")
    fallbacks = sum("no metric brings" in str(w.message) for w in caught)
    print(f"\n{options.tasks} tasks; {fallbacks} fell back on the uniform metric.")


if __name__ == "__main__":
    main()
