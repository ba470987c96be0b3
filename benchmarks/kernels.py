"""Support vector machines with and without learning, and from priors: their errors.

Of each draw, thirty histograms a class are to learn from, or fewer if classes are many;
files of more than ten classes give tasks of two. Errors are compared with those of the
plain kernel that errs least on the same draws, with C and bandwidth by the
cross-validation of the paper. Settings were chosen on draws with seeds below 1000, and
draws from there on are reported. ``python benchmarks/kernels.py FOLDER``; with ``--kept
FILE``, each draw is written there when it is done, and not repeated.
"""

import argparse
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.svm import SVC
from where_data import LARGE, MANY_CLASSES, DataSet, data_sets

import groundmetric as gm
from groundmetric.distances import DISTANCES, pairwise
from groundmetric.experiments import C_GRID, svm_error

OF_CLASS, MOST, N_TEST = 30, 100, 500
PLAIN = ("l1", "l2", "chi2", "hellinger", "jensen_shannon")
FIRST = 1000  # seed that is reported
CONSTANT = 1e-9  # spread of a coordinate


class Task(NamedTuple):
    """Histograms to learn from and to test on, and what is known of the bins."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    points: dict[str, np.ndarray]

    @property
    def metrics(self) -> list[np.ndarray]:
        """Distances between the bins, of each prior."""
        return [cdist(x, x) for x in self.points.values()]


def draw(data: DataSet, seed: int) -> Task:
    """Draw a task."""
    rng = np.random.default_rng(seed)
    classes = np.unique(data.y)
    if len(classes) > MANY_CLASSES:
        classes = rng.choice(classes, 2, replace=False)
    n = min(OF_CLASS, MOST // len(classes))
    rows = [rng.permutation(np.flatnonzero(data.y == label)) for label in classes]
    train = np.concatenate([each[:n] for each in rows])
    test = rng.permutation(np.concatenate([each[n:] for each in rows]))[:N_TEST]
    X = data.X / data.X.sum(axis=1, keepdims=True)
    return Task(X[train], data.y[train], X[test], data.y[test], data.points)


def by_the_paper(task: Task, within: np.ndarray, to_test: np.ndarray) -> float:
    """Choose C and the bandwidth as in the paper."""
    return svm_error(within, task.y, to_test, task.y_test)


def plain(task: Task, name: str, exponent: int = 1) -> float:
    """Use a distance between bins and themselves."""
    both = (task.X, None), (task.X_test, task.X)
    return by_the_paper(task, *(pairwise(*x, distance=name) ** exponent for x in both))


def error_of(task: Task, machine: Any) -> float:
    """Fit a machine, and return its error."""
    return 1.0 - float(machine.fit(task.X, task.y).score(task.X_test, task.y_test))


def fixed(task: Task, exponent: float = 1.0, **options: Any) -> float:
    """Use one kernel, the median as its bandwidth, and C = 10."""
    kernel = gm.EMDKernel(exponent=exponent, **options)
    return error_of(task, gm.EMDSVC([kernel]))


def learner() -> Any:
    """Make the learner whose machines err least, and which is fast."""
    return gm.SinkhornMetricLearning(smoothing=math.inf, criterion=gm.Margin())


def learned(task: Task, learner: Any) -> float:
    """Use a learned distance alone."""
    learner.fit(task.X, task.y)
    return by_the_paper(
        task, learner.pairwise(task.X), learner.pairwise(task.X_test, task.X)
    )


def embedded(task: Task) -> float:
    """Use learned positions as vectors; a Gaussian kernel of them is ``learned``."""
    found = learner().fit(task.X, task.y)
    vectors, to_test = found.embed(task.X), found.embed(task.X_test)
    center, scale = vectors.mean(axis=0), np.linalg.norm(vectors.std(axis=0))
    return linear(task, *((x - center) / scale for x in (vectors, to_test)))


def linear(task: Task, X: np.ndarray, X_test: np.ndarray) -> float:
    """Use a linear machine on vectors, and choose C on the folds of the paper."""
    folds = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0)
    grid = {"C": [0.01, 0.1, *C_GRID]}
    search = GridSearchCV(SVC(kernel="linear"), grid, cv=folds).fit(X, task.y)
    return 1.0 - float(search.score(X_test, task.y_test))


def mean_vectors(task: Task) -> dict[str, float]:
    """Use a linear machine on the mean coordinates of bins, of each prior."""
    found = {}
    for name, points in task.points.items():
        if points.shape[1] == 1:
            continue
        spread = points.std(axis=0)
        units = points / np.where(spread > CONSTANT, spread, 1.0)
        vectors = task.X @ units, task.X_test @ units
        found[f"linear SVM, mean vectors, {name}"] = linear(task, *vectors)
    return found


def kernels_of(task: Task, *, learns: bool) -> list[gm.EMDKernel]:
    """List what the machine chooses among: plain ones, and means with more."""
    found = [
        gm.EMDKernel(distance="l1"),
        gm.EMDKernel(distance="hellinger"),
        gm.EMDKernel(distance="l2", exponent=2.0),
        gm.EMDKernel(distance="chi2", exponent=2.0),
    ]
    for name in ("hellinger", "l1"):
        if task.points:
            found.append(mean_with(name, task.metrics))
        if learns:
            found.append(mean_with(name, [learner()]))
    return found


def mean_with(name: str, others: list[Any]) -> gm.EMDKernel:
    """Half a plain distance, and half the mean of others."""
    return gm.EMDKernel(
        distance=[name, *others], weights=[len(others)] + [1] * len(others)
    )


def errors(task: Task) -> dict[str, float]:
    """Errors of all machines."""
    found = {name: plain(task, name) for name in PLAIN}
    for name in ("l2", "chi2"):
        found[f"{name}, squared"] = plain(task, name, 2)
    for name in PLAIN:
        found[f"{name}, fixed"] = fixed(task, distance=name)
    for name in ("l2", "chi2"):
        found[f"{name}, squared, fixed"] = fixed(task, 2.0, distance=name)
    small = task.X.shape[1] <= LARGE // 2
    machines: dict[str, Callable[[], float]] = {
        "EMDSVC()": lambda: error_of(task, gm.EMDSVC()),
        "EMDSVC, with a learner": lambda: error_of(
            task, gm.EMDSVC(kernels_of(task._replace(points={}), learns=True))
        ),
        "learned, smoothed": lambda: learned(task, learner()),
        "learned, and Hellinger, fixed": lambda: fixed(
            task, distance=["hellinger", learner()]
        ),
        "learned, and l1, fixed": lambda: fixed(task, distance=["l1", learner()]),
        "embed(X), linear": lambda: embedded(task),
    }
    if small:
        machines["learned, exact"] = lambda: learned(task, gm.GroundMetricLearning())
    if task.points:
        machines |= of_priors(task)
    found |= {name: machine() for name, machine in machines.items()}
    return found | mean_vectors(task)


def of_priors(task: Task) -> dict[str, Callable[[], float]]:
    """List machines that know something of the bins."""
    emds = {
        f"EMD, {name}, fixed": lambda metric=metric: fixed(task, distance=metric)
        for name, metric in zip(task.points, task.metrics, strict=True)
    }
    several = {
        "best EMD on held-out": lambda: error_of(
            task, gm.EMDSVC([gm.EMDKernel(distance=each) for each in task.metrics])
        ),
        "mean of EMDs, fixed": lambda: fixed(task, distance=task.metrics),
    }
    chosen = kernels_of(task, learns=False)
    return {
        **emds,
        **(several if len(task.metrics) > 1 else {}),
        "mean with Hellinger, fixed": lambda: error_of(
            task, gm.EMDSVC([mean_with("hellinger", task.metrics)])
        ),
        "EMDSVC, with the prior": lambda: error_of(task, gm.EMDSVC(chosen)),
    }


def measured(data: DataSet, seeds: range, kept: Path | None) -> dict[str, np.ndarray]:
    """Errors of all machines on some draws, in percent."""
    done: dict[int, dict[str, float]] = {}
    if kept is not None and kept.exists():
        for line in kept.read_text().splitlines():
            one = json.loads(line)
            if one["data"] == data.name:
                done[one["seed"]] = one["errors"]
    for seed in seeds:
        if seed in done:
            continue
        done[seed] = errors(draw(data, seed))
        if kept is not None:
            one = {"data": data.name, "seed": seed, "errors": done[seed]}
            with kept.open("a") as lines:
                lines.write(json.dumps(one) + "\n")
    return {x: np.array([100 * done[s][x] for s in seeds]) for x in done[seeds[0]]}


def table(data: DataSet, found: dict[str, np.ndarray]) -> str:
    """Compare all machines with the best plain one."""
    plain_ones = [*DISTANCES, "l2, squared", "chi2, squared"]
    best = min((x for x in plain_ones if x in found), key=lambda x: found[x].mean())
    lines = [f"{data.name}, {len(found[best])} draws; best plain kernel: {best}"]
    for name, each in sorted(found.items(), key=lambda x: x[1].mean()):
        gain = each - found[best]
        half = 1.96 * gain.std(ddof=1) / math.sqrt(len(gain))
        lines.append(f"{name:40} {each.mean():5.1f} %  {gain.mean():+.2f} ± {half:.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a folder of .npz files")
    parser.add_argument("--only", nargs="*", help="parts of the names of data sets")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--first", type=int, default=FIRST, help="seed")
    parser.add_argument("--kept", type=Path, help="draws that are done")
    options = parser.parse_args()
    for each in data_sets(options.data):
        wanted = any(part in each.name for part in options.only or [""])
        if wanted and not each.are_words and "10 classes" not in each.name:
            seeds = range(options.first, options.first + options.draws)
            print(table(each, measured(each, seeds, options.kept)), flush=True)
