"""A small problem, and methods that log each call: what tests of the runner share."""

from functools import partial
from pathlib import Path

import numpy as np

from groundmetric.experiments import METHODS, Method, binary_tasks, read_results

TIMES = ("fit_seconds", "seconds")


def problem(seed=0):
    """Histograms on 6 bins, 4 classes of 14 that overlap; 2 x 2 tasks of 12 + 12."""
    rng = np.random.default_rng(5)
    centers = np.kron(np.eye(4), [2.0, 1.0])[:, :6] + 1.0
    y = np.repeat(list("abcd"), 14)
    X = np.concatenate([rng.dirichlet(2 * center, size=14) for center in centers])
    tasks = binary_tasks(y, seed=seed, n_train=6, n_test=6)
    return {"X": X.tolist(), "y": y.tolist(), "tasks": tasks, "n_neighbors": 5,
            "experiment": "toy"}  # fmt: skip


def logged(name, log):
    """Make a method that writes a line when it is called."""
    return Method(name, name, METHODS[name].settings, partial(_learn, name, str(log)))


def _learn(name, log, X, y, n_jobs):
    with Path(log).open("a") as file:  # a short line is written at once
        file.write(f"{'-'.join(sorted(set(y)))} {name}\n")
    return METHODS[name].learn(X, y, n_jobs)


def rows_of(path):
    """All rows by task and method, without times; each must be there once."""
    frame = read_results(path)
    keys = list(zip(frame["task"], frame["method"], strict=True))
    assert len(set(keys)) == len(keys)
    rows = frame.drop(columns=list(TIMES)).fillna({"svm_error": -1.0})
    return dict(zip(keys, rows.to_dict("records"), strict=True))
