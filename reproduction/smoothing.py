"""Measure how much smoothing helps with ten classes, on classes nothing was chosen on.

Each draw has ten classes with 30 histograms each to learn from. The learner is run with
the exact EMD (margins, and the paper's C_k), with distances of increasing smoothing, up
to the energy distance, and with smoothing and steps chosen by cross-validation; l1 and
LMNN are there for comparison. Run it with

    python reproduction/smoothing.py file.npz --tasks 8 --export smoothing.parquet

where the file contains the arrays X (histograms in rows) and y (labels).
If the script is interrupted, run it again to resume. The guide's page on smoothing has
the figure; docs/figures/smoothing.py draws it.
"""

import argparse
import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from learning import Learned, Rows, choosing_half

import groundmetric as gm
from groundmetric.experiments import Method
from paper import (
    METHODS,
    export_results,
    multiclass_tasks,
    read_results,
    run,
    summary_table,
)

SMOOTHINGS = (0.5, 1.0, 3.0, 10.0, math.inf)


def learn(
    settings: dict[str, Any], device: str | None, X: Rows, y: Rows, n_jobs: int | None
) -> Learned:
    """Learn with these settings on a device, and return the distances."""
    options: dict[str, Any] = {"device": device, "n_jobs": n_jobs}
    if "param_grid" in settings:
        inner = gm.SinkhornMetricLearning(**options)
        learner = gm.MetricLearningCV(inner, **settings, patience=None)
    else:
        learner = gm.SinkhornMetricLearning(**settings, **options)
    return learner.fit(X, y).pairwise


def smoothed(device: str | None) -> list[Method]:
    """Make the methods with each smoothing, and the one that chooses among some."""
    methods: dict[str, dict[str, Any]] = {
        f"smoothed-{rho:g}": {"smoothing": rho} for rho in SMOOTHINGS
    }
    methods["smoothed-cv"] = {"param_grid": {"smoothing": [1.0, 3.0, math.inf]}}
    return [
        Method(name, f"GML, {name}", settings, partial(learn, settings, device))
        for name, settings in methods.items()
    ]


def main() -> None:
    """Run all methods on some draws, print a table and export the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--device", help="cuda, mps or cpu; by default numpy")
    parser.add_argument("--method", action="append", choices=list(METHODS), default=[])
    parser.add_argument("--export", type=Path, help="a .parquet for the results")
    options = parser.parse_args()
    with np.load(options.data, allow_pickle=False) as file:
        X, y = file["X"], file["y"]
    reporting = sorted(set(y.tolist()) - set(choosing_half(y)))
    path = Path(f"{options.data.stem}-smoothing.sqlite")
    run(
        X,
        y,
        tasks=multiclass_tasks(
            y, n_classes=10, n_tasks=options.tasks, classes=reporting, seed=1
        ),
        path=path,
        experiment="smoothing",
        methods=[
            *("l1", "lmnn", "lmnn-hellinger", "gml", "gml-neighborhood"),
            *smoothed(options.device),
            *options.method,
        ],
        n_jobs=options.jobs,
        verbose=1,
    )
    print(summary_table(read_results(path)))
    if options.export is not None:
        export_results(path, options.export)


if __name__ == "__main__":
    main()
