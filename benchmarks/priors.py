"""Learners that start from a prior, beside the prior itself, on sixty histograms.

Compositions of materials, metal or not, thirty of each class to learn from. The prior
are published properties of the elements; learners have to beat the EMD with distances
between these. Settings were chosen on draws with even seeds, and draws with odd seeds
are reported; two training sets share less than one histogram on average.
LMNN, ITML and NCA learn from square roots of the histograms, without a prior.

The file has histograms ``X``, labels ``y`` and coordinates ``points_oliynyk_sc``. With
``--kept FILE``, each draw is written there when it is done, and not repeated.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measure import Row
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.base._votes import vote_errors
from groundmetric.baselines import ITML, LMNN, NCA

N_OF_CLASS, N_TEST, N_NEIGHBORS = 30, 1000, 20
PRIOR = "prior"
SMOOTHED = {
    "smoothing": math.inf,
    "bin_weights": "learn",
    "power": 1.0,
    "max_steps": 60,
    "random_state": 0,
}
WARM = gm.Softmax(temperature=2.0)


class Task(NamedTuple):
    """Histograms to learn from and to test on, and coordinates of the bins."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    points: np.ndarray

    @property
    def prior(self) -> np.ndarray:
        """Distances between the points."""
        return cdist(self.points, self.points)

    def error(self, nearest: np.ndarray) -> float:
        """Mean error of 1, 2, ... neighbors."""
        return float(vote_errors(nearest, self.y, self.y_test).mean())

    def emd_error(self, metric: Any) -> float:
        """Error of the EMD with a metric, or of a learner's distances."""
        between = gm.pairwise_emd(
            csr_array(self.X_test), csr_array(self.X), metric=metric
        )
        return self.error_of(between)

    def error_of(self, between: np.ndarray) -> float:
        """Error of distances between the test and the training histograms."""
        return self.error(np.argsort(between, axis=1, kind="stable")[:, :N_NEIGHBORS])


def draw(file: dict[str, np.ndarray], seed: int) -> Task:
    """Draw a task."""
    rng = np.random.default_rng(seed)
    X, y = file["X"].astype(float), np.unique(file["y"], return_inverse=True)[1]
    order = rng.permutation(len(y))
    chosen = [order[y[order] == label][:N_OF_CLASS] for label in (0, 1)]
    train = np.concatenate(chosen)
    test = rng.permutation(np.setdiff1d(order, train))[:N_TEST]
    points = file["points_oliynyk_sc"].astype(float)
    return Task(X[train], y[train], X[test], y[test], points)


def raised(task: Task) -> Task:
    """Take square roots of the histograms, and scale them to mass 1 again."""
    roots = np.sqrt(task.X), np.sqrt(task.X_test)
    X, X_test = (rows / rows.sum(axis=1, keepdims=True) for rows in roots)
    return task._replace(X=X, X_test=X_test)


def combined(task: Task, power: float) -> float:
    """Learn the weight of each coordinate, and of the distance by all of them."""
    learner = gm.CombinedMetricLearning([task.prior], task.points, power=power)
    learner.fit(task.X, task.y)
    return task.emd_error(learner)


def pulled(task: Task, pull: float) -> float:
    """Learn all entries of the metric, pulled back to the prior.

    With any pull, the result is the mean of the metrics after each step.
    """
    learner = gm.GroundMetricLearning(
        gm.Margin(floor=0.0), init=task.prior, pull=pull, power=1.0, tol=0.0
    )
    return task.emd_error(learner.fit(task.X, task.y))


def smoothed(task: Task, **options: Any) -> float:
    """Learn weights, a map and offsets, at infinite smoothing by default."""
    options = {**SMOOTHED, **options}
    learner = gm.SinkhornMetricLearning(points=task.points, **options)
    learner.fit(task.X, task.y)
    return task.error_of(learner.pairwise(task.X_test, task.X))


def baseline(task: Task, learner: Any) -> float:
    """Learn a Mahalanobis distance, as metric-learn and scikit-learn do."""
    return task.error_of(learner.fit(task.X, task.y).pairwise(task.X_test, task.X))


LEARNERS: dict[str, Callable[[Task], float]] = {
    PRIOR: lambda task: task.emd_error(task.prior),
    "prior, power 0.5": lambda task: raised(task).emd_error(task.prior),
    "combined metrics": lambda task: combined(task, 1.0),
    "combined metrics, power 0.5": lambda task: combined(task, 0.5),
    "smoothed, softmax": lambda task: smoothed(task, criterion="softmax"),
    "smoothed, softmax, pull 10": lambda task: smoothed(
        task, criterion="softmax", pull=10.0
    ),
    "smoothed, softmax, temperature 2": lambda task: smoothed(task, criterion=WARM),
    "smoothed, margins, pull 10": lambda task: smoothed(task, pull=10.0),
    "smoothed, margins, pull 30": lambda task: smoothed(task, pull=30.0),
    "all entries, no pull": lambda task: pulled(task, 0.0),
    "all entries, mean of steps": lambda task: pulled(task, 1e-9),
    "all entries, pull 1": lambda task: pulled(task, 1.0),
    "all entries, pull 3": lambda task: pulled(task, 3.0),
    "LMNN": lambda task: baseline(task, LMNN()),
    "ITML": lambda task: baseline(task, ITML(random_state=0)),
    "NCA": lambda task: baseline(task, NCA()),
}


def errors_of(path: Path, seeds: range, kept: Path | None) -> dict[str, np.ndarray]:
    """Errors of all learners on some draws, in percent."""
    with np.load(path, allow_pickle=False) as found:
        file = dict(found)
    done: dict[int, dict[str, float]] = {}
    if kept is not None and kept.exists():
        for line in kept.read_text().splitlines():
            one = json.loads(line)
            done[one["seed"]] = one["errors"]
    for seed in seeds:
        if done.get(seed, {}).keys() >= LEARNERS.keys():
            continue
        task = draw(file, seed)
        done[seed] = {name: 100 * learn(task) for name, learn in LEARNERS.items()}
        if kept is not None:
            with kept.open("a") as lines:
                lines.write(json.dumps({"seed": seed, "errors": done[seed]}) + "\n")
    return {name: np.array([done[seed][name] for seed in seeds]) for name in LEARNERS}


def rows(
    path: Path, n_draws: int = 100, first: int = 1, kept: Path | None = None
) -> Iterator[Row]:
    """Compare each learner with the prior, on every second draw."""
    errors = errors_of(path, range(first, first + 2 * n_draws, 2), kept)
    known = errors.pop(PRIOR)
    for name, own in errors.items():
        gain = own - known
        half = 1.96 * gain.std(ddof=1) / math.sqrt(n_draws)
        yield Row(
            f"{path.stem}, {N_OF_CLASS} + {N_OF_CLASS}: {name}",
            f"{own.mean():.1f} %",
            f"{known.mean():.1f} % (EMD with the prior)",
            known.mean() / own.mean(),
            1.0,
            f"{gain.mean():+.2f} ± {half:.2f} points, {n_draws} draws",
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--choosing", action="store_true", help="even seeds")
    parser.add_argument("--kept", type=Path, help="draws that are done")
    options = parser.parse_args()
    first = 0 if options.choosing else 1
    for row in rows(options.path, options.draws, first, options.kept):
        print(row.what, row.ours, row.peer, row.note, sep=" | ")
