"""See what learning is worth, and what each setting does.

Binary tasks on labeled histograms: 30 + 30 to learn from, up to 40 + 40 to classify by
their nearest neighbors, under the EMD with the learned metric and under l1, l2 and
Hellinger for comparison. Run it with

    python examples/learning.py file.npz --tasks 40 [--settings]

where the file has arrays X (histograms in rows) and y (labels).
"""

import argparse
import sys
import warnings

import numpy as np
from initial_metrics import KAPPAS, draw, errors, plain_errors
from tqdm import tqdm

import groundmetric as gm

LEARNERS = {
    "GML": {},
    "GML from typical tables": {"init": "typical"},
    "GML from independence tables": {"init": "independence"},
    "GML, first step 0.1": {"step_size": 0.1},
    "GML, first step 0.4": {"step_size": 0.4},
    "GML, 160 x 1 steps": {"max_outer": 160, "max_inner": 1},
    "GML, 16 x 10 steps": {"max_outer": 16, "max_inner": 10},
    "GML, 4 x 40 steps": {"max_outer": 4, "max_inner": 40},
    "GML, 2 x 20 steps": {"max_outer": 2},
    "GML, 4 x 20 steps": {"max_outer": 4},
    "GML, k = 1": {"n_neighbors": 1},
    "GML, k = 10": {"n_neighbors": 10},
    "GML, k = all": {"n_neighbors": None},
    "GML, the paper's settings": {
        "init": "typical",
        "step_size": 0.1,
        "max_outer": 8,
        "max_inner": 200,
    },
}


def criterion(D: np.ndarray, y: np.ndarray, k: int | None) -> float:
    """C_k up to its scale, from all distances: two classes of a size."""
    same = y[:, None] == y
    np.fill_diagonal(same, val=False)
    other = y[:, None] != y
    near, far = (
        np.sort(np.where(kind, D, np.inf), axis=1)[:, : min(k or len(y), most)]
        for kind, most in ((same, same.sum(1).min()), (other, other.sum(1).min()))
    )
    return near.mean() - far.mean()


def task(
    X: np.ndarray, y: np.ndarray, rng: np.random.Generator, names: list[str]
) -> tuple[dict[str, list], int]:
    """Return errors of every distance, and how often the criterion did not fall."""
    train, test = draw(y, rng)
    out, n_worse = plain_errors(X, y, train, test), 0
    for name in names:
        learner = gm.GroundMetricLearning(n_jobs=-1, **LEARNERS[name])
        learner.fit(X[train], y[train])
        out[name] = errors(
            learner.pairwise(X[train]),
            learner.pairwise(X[test], X[train]),
            y[train],
            y[test],
        )
        k, y_train = learner.n_neighbors, y[train]
        before, after = (
            criterion(gm.pairwise_emd(X[train], metric=M, n_jobs=-1), y_train, k)
            for M in (learner.initial_metric_, learner.metric_)
        )
        n_worse += after > before
    return out, n_worse


def print_table(results: list[dict[str, list]], baseline: str = "l1") -> None:
    """Print mean errors in Markdown, with the ratio to the baseline."""
    print("| distance | " + " | ".join(f"{k}-NN" for k in KAPPAS), end="")
    print(f" | mean | of {baseline} | tasks won, lost |")
    print("|---|" + "---:|" * (len(KAPPAS) + 3))

    def mean(name: str) -> np.ndarray:
        return np.array([np.mean(result[name]) for result in results])

    for name in results[0]:
        curve = np.mean([result[name] for result in results], axis=0)
        difference = mean(name) - mean(baseline)
        cells = [
            *(f"{x:.1%}" for x in curve),
            f"{curve.mean():.1%}",
            f"{curve.mean() / mean(baseline).mean():.3f}",
            f"{(difference < 0).sum()}, {(difference > 0).sum()}",
        ]
        print(f"| {name} | " + " | ".join(cells) + " |")


def main() -> None:
    """Draw the tasks, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--tasks", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", action="store_true", help="all settings")
    options = parser.parse_args()
    with np.load(options.data, allow_pickle=False) as file:
        X, y = file["X"].astype(float), file["y"]
    X /= X.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(options.seed)
    names = list(LEARNERS) if options.settings else ["GML"]
    warnings.filterwarnings("ignore", message="By the .* tables, no metric")
    results, n_worse = [], 0
    for _ in tqdm(range(options.tasks), unit="task", disable=not sys.stderr.isatty()):
        result, worse = task(X, y, rng, names)
        results.append(result)
        n_worse += worse
    print_table(results)
    print(
        f"\n{options.tasks} tasks of seed {options.seed}; the criterion ended above "
        f"its start {n_worse} times."
    )


if __name__ == "__main__":
    main()
