"""A small problem, and methods that log each call: what tests of the runner share."""

from functools import partial
from pathlib import Path

import numpy as np

from groundmetric.experiments import Method
from paper import METHODS, binary_tasks, read_results

TIMES = ("fit_seconds", "seconds")


def problem(seed=0, n_classes=2):
    """Histograms on 6 bins, 14 a class; N x N tasks of 6 + 6 to learn from and test."""
    rng = np.random.default_rng(5)
    centers = 10 * rng.dirichlet(np.ones(6), size=2 * n_classes) + 1
    y = np.repeat([f"class {k}" for k in range(2 * n_classes)], 14)
    X = np.concatenate([rng.dirichlet(center, size=14) for center in centers])
    tasks = binary_tasks(y, seed=seed, n_train=6, n_test=6)
    return {"X": X.tolist(), "y": y.tolist(), "tasks": tasks, "n_neighbors": 5,
            "experiment": "toy"}  # fmt: skip


def logged(name, log):
    """Make a method that writes a line when it is called."""
    return Method(name, name, METHODS[name].settings, partial(_learn, name, str(log)))


def _learn(name, log, X, y, n_jobs):
    with Path(log).open("a") as file:  # a short line is written at once
        file.write(f"{y[0]} | {y[-1]},{name}\n")
    return METHODS[name].learn(X, y, n_jobs)


def rows_of(path, without=TIMES):
    """All rows by task and method; each must be there once."""
    frame = read_results(path)
    keys = list(zip(frame["task"], frame["method"], strict=True))
    assert len(set(keys)) == len(keys)
    rows = frame.drop(columns=list(without)).fillna({"svm_error": -1.0})
    return dict(zip(keys, rows.to_dict("records"), strict=True))
