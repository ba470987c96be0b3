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
from sklearn.base import clone

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
SETTINGS = {
    "defaults": gm.GroundMetricLearning(),
    "floor 0.03": gm.GroundMetricLearning(gm.Margin(floor=0.03)),
    "20 targets": gm.GroundMetricLearning(gm.Margin(n_targets=20)),
    "no square roots": gm.GroundMetricLearning(power=1.0),
    "C_k, all similar": gm.GroundMetricLearning("neighborhood", power=1.0),
    "C_k, all similar, square roots": gm.GroundMetricLearning("neighborhood"),
    "cross-validated": gm.MetricLearningCV(param_grid={}),
    "cross-validated, all steps": gm.MetricLearningCV(param_grid={}, patience=None),
}


def learn(
    learner: gm.GroundMetricLearning | gm.MetricLearningCV,
    X: Rows,
    y: Rows,
    n_jobs: int | None,
) -> Learned:
    """Learn with these settings, and return the distances."""
    pairwise: Learned = clone(learner).set_params(n_jobs=n_jobs).fit(X, y).pairwise
    return pairwise


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
        Method(name, f"GML-EMD, {name}", {"is": repr(learner)}, partial(learn, learner))
        for name, learner in SETTINGS.items()
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
