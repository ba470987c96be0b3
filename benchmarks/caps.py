"""Caps: error against speed, for metrics learned under a cap and for metrics cut off.

Section 8.2 of the paper proposes to learn metrics whose structure makes distances fast.
For each of the paper's binary tasks, a metric M is learned without a cap. For T from 25
to 100 % of its largest entry, min(M, T) is compared with a metric learned under a cap:
the cap is the ratio of largest entry and root mean square that min(M, T) has.

    python benchmarks/caps.py gist.npz --tasks 20 --save docs/reproduction/caps.csv
"""

import argparse
import csv
import statistics
import sys
import time
from pathlib import Path

import numpy as np

import groundmetric as gm
from groundmetric.experiments import knn_errors

sys.path.insert(0, str(Path(__file__).parents[1] / "reproduction"))

from paper import Task, binary_tasks

SHARES = (0.25, 0.5, 0.75, 1.0)  # T, of the largest entry
KAPPAS = 20
ROUNDS = 9  # of timings; medians are of ratios within a round
CRITERIA = ("margin", "neighborhood")
FIELDS = ("criterion", "metric", "share", "task", "error", "at_cap", "time")


def relative_largest(metric: np.ndarray) -> float:
    """Divide the largest entry by the root mean square of those off the diagonal."""
    d = len(metric)
    return float(metric.max() * np.sqrt(d * (d - 1)) / np.linalg.norm(metric))


def at_largest(metric: np.ndarray) -> float:
    """Return the share of entries off the diagonal that equal the largest."""
    d = len(metric)
    return float((metric == metric.max()).sum() / (d * (d - 1)))


def times(metrics: list[np.ndarray], X: np.ndarray, Y: np.ndarray) -> list[float]:
    """Time all distances under each metric, relative to the first, in turn."""
    ratios: list[list[float]] = []
    for _ in range(ROUNDS):
        seconds = []
        for metric in metrics:
            start = time.perf_counter()
            gm.pairwise_emd(Y, X, metric=metric, n_jobs=1)
            seconds.append(time.perf_counter() - start)
        ratios.append([one / seconds[0] for one in seconds])
    return [statistics.median(column) for column in zip(*ratios, strict=True)]


def metrics_of(
    X: np.ndarray, y: np.ndarray, criterion: str, n_jobs: int
) -> dict[tuple[str, float], np.ndarray]:
    """Learn without a cap, cut off, and learn with caps."""

    def learned(cap: float | None) -> np.ndarray:
        learner = gm.GroundMetricLearning(criterion, cap=cap, n_jobs=n_jobs)
        return learner.fit(X, y).metric_

    free = learned(None)
    found = {("uncapped", 1.0): free}
    for share in SHARES:
        cut = gm.threshold_metric(free, share * free.max())
        if share < 1:
            found["cut off", share] = cut
        found["learned", share] = learned(relative_largest(cut))
    return found


def rows_of(
    X: np.ndarray, y: np.ndarray, task: Task, criterion: str, n_jobs: int
) -> list[dict[str, object]]:
    """Measure all metrics of a task."""
    metrics = metrics_of(X[task.train], y[task.train], criterion, n_jobs)
    roots = np.sqrt(X)  # the default power of learners
    roots /= roots.sum(axis=1, keepdims=True)
    train, test = roots[task.train], roots[task.test]
    took = times(list(metrics.values()), train, test)
    rows = []
    for ((kind, share), metric), ratio in zip(metrics.items(), took, strict=True):
        D = gm.pairwise_emd(test, train, metric=metric, n_jobs=n_jobs)
        errors = knn_errors(D, y[task.train], y[task.test], n_neighbors=KAPPAS)
        measured = (statistics.fmean(errors), at_largest(metric), ratio)
        rows.append(
            dict(
                zip(
                    FIELDS, (criterion, kind, share, task.index, *measured), strict=True
                )
            )
        )
    return rows


def table(rows: list[dict[str, object]]) -> str:
    """Make a Markdown table of means over tasks."""
    lines = [
        "| criterion | metric | T / largest | error in % | at the cap in % | time |",
        "|:---|:---|---:|---:|---:|---:|",
    ]
    keys = dict.fromkeys(
        (row["criterion"], row["metric"], row["share"]) for row in rows
    )
    for key in sorted(keys, key=lambda key: (key[0], key[1] == "cut off", -key[2])):
        some = [row for row in rows if tuple(row[name] for name in FIELDS[:3]) == key]
        error, held, ratio = (
            statistics.fmean(row[name] for row in some) for name in FIELDS[4:]
        )
        share = "" if key[1] == "uncapped" else f"{key[2]:.0%}"
        lines.append(
            f"| {key[0]} | {key[1]} | {share} | {100 * error:.1f} | {100 * held:.0f} "
            f"| {ratio:.2f} |"
        )
    return "\n".join(lines)


def save(rows: list[dict[str, object]], path: Path) -> None:
    """Write all rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)


def main() -> None:
    """Run some of the tasks, evenly spread, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="an .npz file with X and y")
    parser.add_argument("--tasks", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="a .csv file for all rows")
    options = parser.parse_args()
    arrays = np.load(options.data)
    X, y = arrays["X"], arrays["y"]
    tasks = binary_tasks(y)
    chosen = np.linspace(0, len(tasks), options.tasks, endpoint=False).astype(int)
    rows: list[dict[str, object]] = []
    for index in chosen:
        for criterion in CRITERIA:
            rows += rows_of(X, y, tasks[index], criterion, options.jobs)
        if options.save:  # what there is, should the run end early
            save(rows, options.save)
        print(f"task {index}", file=sys.stderr, flush=True)
    print(table(rows))


if __name__ == "__main__":
    main()
