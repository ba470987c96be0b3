"""Measure what the settings of the learner do, on one half of the classes.

The defaults were chosen on tasks like these: two or ten classes of one half, with 30
training histograms of each class and up to 40 test histograms, which are classified by
their nearest neighbors. The other half is reserved for reporting. Run it with

    python reproduction/learning.py file.npz --seeds 3
    python reproduction/learning.py file.npz --classes 10 --tasks 8

where the file contains the arrays X (histograms in rows) and y (labels). If the script
is interrupted, run it again to resume.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import groundmetric as gm
from groundmetric.experiments import Method
from paper import (
    Task,
    binary_tasks,
    multiclass_tasks,
    read_results,
    run,
    summary_table,
)

Rows = NDArray[Any]
Learned = Callable[..., Rows]

BINARY = 2
# The paper's criterion.
PAPER = {"criterion": "neighborhood", "power": 1.0, "result": "best"}
SETTINGS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "floor 0.03": {"floor": 0.03},
    "20 targets": {"n_targets": 20},
    "no square roots": {"power": 1.0},
    "mean of all steps": {"result": "average"},
    "C_k, all similar": {**PAPER},
    "C_k, all similar, square roots": {**PAPER, "power": 0.5},
    "cross-validated": {"patience": 4},
    "cross-validated, all steps": {"patience": None},
}


def learn(settings: dict[str, Any], X: Rows, y: Rows, n_jobs: int | None) -> Learned:
    """Learn with these settings, and return the distances."""
    cv = "patience" in settings
    learner = gm.GroundMetricLearningCV if cv else gm.GroundMetricLearning
    return learner(**settings, n_jobs=n_jobs).fit(X, y).pairwise


def choosing_half(y: Rows) -> list[Any]:
    """Draw the half of the classes on which settings are chosen."""
    classes = np.unique(y)
    mixed = np.random.default_rng(0).permutation(classes)
    return list(mixed[: len(classes) // 2].tolist())


def draw(y: Rows, n_classes: int, n_tasks: int, seed: int) -> list[Task]:
    """Draw tasks between classes of that half."""
    half = choosing_half(y)
    if n_classes != BINARY:
        return multiclass_tasks(
            y, n_classes=n_classes, n_tasks=n_tasks, classes=half, seed=seed
        )
    tasks = binary_tasks(y, classes=half, seed=seed)
    # Take every n-th task to cover all classes: tasks of one class are consecutive.
    return tasks[:: max(1, len(tasks) // n_tasks)][:n_tasks]


def main() -> None:
    """Run all settings on some of the tasks and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--classes", type=int, default=2)
    parser.add_argument("--tasks", type=int, default=1000, help="at most, of a seed")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument(
        "--setting",
        action="append",
        choices=list(SETTINGS),
        help="by default, all that are not cross-validated",
    )
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    with np.load(options.data, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    usual = [name for name in SETTINGS if "cross-validated" not in name]
    methods = [
        Method(name, f"GML-EMD, {name}", settings, partial(learn, settings))
        for name, settings in SETTINGS.items()
        if name in (options.setting or usual)
    ]
    drawn_as = f"{options.classes}-{options.tasks}-{options.seeds}"
    path = Path(f"{options.data.stem}-settings-{drawn_as}.sqlite")
    drawn = [
        task
        for seed in range(1, options.seeds + 1)
        for task in draw(y, options.classes, options.tasks, seed)
    ]
    run(
        X,
        y,
        tasks=[replace(task, index=i) for i, task in enumerate(drawn)],
        path=path,
        experiment="settings",
        methods=["l1", "itml-hellinger", "lmnn-hellinger", *methods],
        n_jobs=options.jobs,
        verbose=1,
    )
    print(summary_table(read_results(path)))


if __name__ == "__main__":
    main()
