"""Estimated and measured times of ten kinds of fits; estimates decide on warnings.

``python benchmarks/effort.py`` prints a table. ``tests/test_effort.py`` compares the
counts of the same fits.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric.learning import _effort

if TYPE_CHECKING:
    from groundmetric.learning._effort import Effort

Task = tuple[np.ndarray, np.ndarray]

ALL_STEPS = {"criterion": gm.Margin(floor=0.0), "tol": 0.0}
C_K = {"criterion": gm.Neighborhood(), "tol": 0.0}
FEW = {"criterion": gm.Neighborhood(n_similar=3), "tol": 0.0}
TWO_LOOPS = gm.Neighborhood(n_similar=3, inner_steps=20)


def digits(n: int, n_classes: int = 10) -> Task:
    """Draw images of digits: 64 bins, half of them empty."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    drawn = np.random.default_rng(0).permutation(len(X))[:n]
    return X[drawn], y[drawn]


def noisy(n: int) -> Task:
    """Draw digits with noise: 64 bins, none empty."""
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    drawn = rng.integers(0, len(X), n)
    return rng.poisson(X[drawn]) + 0.01, y[drawn]


def dense(n: int, d: int, n_classes: int) -> Task:
    """Draw histograms without empty bins, whose classes overlap."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    spread = np.full((n_classes, d), 0.5)
    for row in spread:
        row[rng.permutation(d)[: d // 4]] *= 1.5
    return np.array([rng.dirichlet(spread[label]) for label in y]), y


def documents(n: int, d: int, n_classes: int) -> Task:
    """Draw bags of 40 words: most bins are empty."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    topics = rng.dirichlet(np.full(d, 0.05), n_classes)
    common = rng.dirichlet(np.full(d, 0.1))
    rows = [rng.multinomial(40, 0.1 * topics[label] + 0.9 * common) for label in y]
    return np.array(rows), y


FITS: dict[str, tuple[Task, dict[str, Any]]] = {
    "digits": (digits(200), ALL_STEPS),
    "digits of five classes": (digits(150, 5), ALL_STEPS),
    "noisy digits": (noisy(300), {**ALL_STEPS, "max_steps": 5}),
    "batches of noisy digits": (noisy(1000), {"batch_size": 100}),
    "128 dense bins": (dense(60, 128, 2), {**ALL_STEPS, "max_steps": 8}),
    "128 dense bins, five classes": (dense(120, 128, 5), {**ALL_STEPS, "max_steps": 4}),
    "16 dense bins": (dense(300, 16, 3), ALL_STEPS),
    "documents": (documents(300, 100, 3), {**ALL_STEPS, "max_steps": 8}),
    "few documents": (documents(40, 200, 2), {**ALL_STEPS, "max_steps": 2}),
    "C_k, all similar": (dense(60, 64, 2), {**C_K, "max_steps": 10}),
    "C_k, three similar": (digits(100, 3), {**FEW, "max_steps": 10}),
    "C_k, two loops": (
        digits(100, 3),
        {**FEW, "criterion": TWO_LOOPS, "max_steps": 40},
    ),
}


def measure(name: str) -> tuple[Effort, gm.GroundMetricLearning, float]:
    """Fit, and return the estimate, the learner and the seconds."""
    (X, y), options = FITS[name]
    estimates = []
    whole = _effort.effort_of

    def watched(*args: Any) -> Effort:
        estimates.append(whole(*args))
        return estimates[-1]

    with mock.patch.object(_effort, "effort_of", watched), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.process_time()
        learner = gm.GroundMetricLearning(**options, n_jobs=1).fit(X, y)
        seconds = time.process_time() - start
    return estimates[0], learner, seconds


def main() -> None:
    """Print the table."""
    print("| fit | steps | solves | estimated | pivots | estimated | s | estimated |")
    print("|:---|---:|---:|---:|---:|---:|---:|---:|")
    for name in FITS:
        effort, learner, seconds = measure(name)
        path, share = learner.path_, learner.n_iter_ / effort.n_steps
        print(
            f"| {name} | {learner.n_iter_} of {effort.n_steps} "
            f"| {path.column('n_solves').sum():,.0f} | {share * effort.n_solves:,.0f} "
            f"| {path.column('n_pivots').sum():,.0f} | {share * effort.n_pivots:,.0f} "
            f"| {seconds:.2f} | {share * effort.seconds:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
