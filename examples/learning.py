"""Measure what the settings of the learner do, on one half of the classes.

The defaults were chosen on tasks like these: binary, between classes of one half, with
30 + 30 training histograms and up to 40 + 40 test histograms, which are classified by
their nearest neighbors. The other half is reserved for reporting. Run it with

    python examples/learning.py file.npz --tasks 24

where the file contains the arrays X (histograms in rows) and y (labels). If the script
is interrupted, run it again to resume.
"""

import argparse
from functools import partial
from pathlib import Path

import numpy as np

import groundmetric as gm
from groundmetric.experiments import (
    Method,
    binary_tasks,
    read_results,
    run,
    summary_table,
)

# The paper's criterion.
PAPER = {"criterion": "neighborhood", "power": 1.0, "result": "best"}
SETTINGS = {
    "defaults": {},
    "margin 1, floor 0.05": {"margin": 1.0, "floor": 0.05},
    "margin 2": {"margin": 2.0},
    "30 targets": {"n_targets": 30},
    "no square roots": {"power": 1.0},
    "floor 0.02": {"floor": 0.02},
    "always 20 steps": {"floor": 0.0},
    "mean of all steps": {"result": "average"},
    "C_k, all similar": {**PAPER},
    "C_k, all similar, square roots": {**PAPER, "power": 0.5},
    "C_k, 3 similar": {**PAPER, "n_similar": 3},
    "C_k, 3 similar, 8 x 20 steps of 0.2": {
        **PAPER,
        "n_similar": 3,
        "step_size": 0.2,
        "max_outer": 8,
        "max_inner": 20,
    },
}


def learn(settings: dict, X: np.ndarray, y: np.ndarray, n_jobs: int | None) -> object:
    """Learn with these settings, and return the distances."""
    return gm.GroundMetricLearning(**settings, n_jobs=n_jobs).fit(X, y).pairwise


def choosing_half(y: np.ndarray) -> list:
    """Draw the half of the classes on which settings are chosen."""
    classes = np.unique(y)
    return np.random.default_rng(0).permutation(classes)[: len(classes) // 2].tolist()


def main() -> None:
    """Run all settings on some of the tasks and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", type=int, default=24)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with np.load(options.data, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    tasks = binary_tasks(y, classes=choosing_half(y), seed=1)
    # Take every n-th task to cover all classes: tasks of one class are consecutive.
    chosen = tasks[:: max(1, len(tasks) // options.tasks)][: options.tasks]
    gml = [
        Method(name, f"GML-EMD, {name}", settings, partial(learn, settings))
        for name, settings in SETTINGS.items()
    ]
    path = Path(f"{options.data.stem}-settings.sqlite")
    run(
        X,
        y,
        tasks=chosen,
        path=path,
        experiment="settings",
        methods=["l1", "itml-hellinger", "lmnn-hellinger", *gml],
        n_jobs=options.jobs,
        verbose=1,
    )
    print(summary_table(read_results(path)))


if __name__ == "__main__":
    main()
