"""Compare all distances, with nearest neighbors and support vector machines.

Binary tasks on labeled histograms: 30 + 30 to learn from, up to 40 + 40 to classify.
Run it with

    python examples/distances.py file.npz

where the file has arrays X (histograms in rows) and y (labels).
"""

import argparse

import numpy as np
from initial_metrics import draw

from groundmetric.experiments import METHODS, Comparison, compare

KAPPAS = (1, 3, 5, 11, 19)
# All but ground metric learning with other settings than its defaults.
DEFAULT = [name for name in METHODS if not name.startswith("gml-")]


def print_table(tasks: list[list[Comparison]]) -> None:
    """Print mean errors as a Markdown table."""
    heads = [*(f"{k}-NN" for k in KAPPAS), "mean", "SVM"]
    print("| distance | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * len(heads))
    for rows in zip(*tasks, strict=True):
        knn = np.mean([[row.knn_errors[k - 1] for k in KAPPAS] for row in rows], axis=0)
        errors = [*knn, knn.mean(), np.mean([row.svm_error for row in rows])]
        cells = " | ".join(f"{error:.1%}" for error in errors)
        print(f"| {rows[0].method} | {cells} |")


def main() -> None:
    """Draw tasks, and run all methods on each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--tasks", type=int, default=10)
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=DEFAULT)
    options = parser.parse_args()
    with np.load(options.data, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    rng = np.random.default_rng(0)
    tasks = []
    for _ in range(options.tasks):
        train, test = draw(y, rng)
        split = X[train], y[train], X[test], y[test]
        tasks.append(compare(*split, methods=options.methods, svm=True))
    print_table(tasks)


if __name__ == "__main__":
    main()
