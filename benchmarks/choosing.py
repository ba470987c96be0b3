"""What cross-validation chooses, beside fixed settings, and at what price.

``heavy``: histograms with heavy tails (``X``, ``y``), such as taxa of microbiomes; 28
of each class to learn from, against what learners of vectors make of them. ``prior``: a
metric is known, such as that of ``points_oliynyk_sc`` (metal), and must not become
worse. ``tasks``: pairs of classes, 30 + 30, with ``centroids`` as points if there are
any; the default grid against steps alone.

Seeds are draws: even ones were used to choose settings, odd ones are reported. Errors
go to a file as they are found, one line a draw and method; what is there is not done
again.
"""

import argparse
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.neighbors import NeighborhoodComponentsAnalysis

import groundmetric as gm
from groundmetric.base._powers import raised
from groundmetric.base._votes import vote_errors
from groundmetric.baselines import LMNN, NCA

N_NEIGHBORS = 20
POWERS = (1.0, 0.5, 0.25, "log1p")
Rows = np.ndarray[Any, Any]
Distances = Callable[[Rows, Rows], Rows]  # of test and training histograms


class Task:
    """Histograms to learn from and to test on, and what is known of the bins."""

    def __init__(self, file: dict[str, Rows], seed: int, n: int, n_test: int) -> None:
        X, y = file["X"].astype(float), np.unique(file["y"], return_inverse=True)[1]
        X /= X.sum(axis=1, keepdims=True)
        rng = np.random.default_rng(seed)
        pair = rng.choice(y.max() + 1, 2, replace=False) if y.max() > 1 else (0, 1)
        members = [rng.permutation(np.flatnonzero(y == label)) for label in pair]
        train = np.concatenate([each[:n] for each in members])
        test = np.concatenate([each[n : n + n_test] for each in members])
        self.X, self.y = X[train], (y[train] == pair[1]).astype(int)
        self.X_test, self.y_test = X[test], (y[test] == pair[1]).astype(int)
        names = [name for name in ("points_oliynyk_sc", "centroids") if name in file]
        self.points = file[names[0]].astype(float) if names else None

    @property
    def prior(self) -> Rows:
        """Distances between the points."""
        return cdist(self.points, self.points)

    def error(self, between: Rows) -> float:
        """Mean error of 1, 2, ... neighbors, in percent."""
        nearest = np.argsort(between, axis=1, kind="stable")[:, :N_NEIGHBORS]
        return 100 * float(vote_errors(nearest, self.y, self.y_test).mean())


def learned(learner: Any) -> Callable[[Task], Rows]:
    """Make a method of a learner."""
    return lambda task: learner.fit(task.X, task.y).transform(task.X_test)


def of_vectors(phi: Callable[[Rows], Rows]) -> Callable[[Task], Rows]:
    """Make a method of NCA on vectors of the histograms, of median distance 1."""

    def method(task: Task) -> Rows:
        left, right = phi(task.X_test), phi(task.X)
        unit = np.median(cdist(right, right)[np.triu_indices(len(right), 1)])
        nca = NeighborhoodComponentsAnalysis(init="identity", max_iter=500)
        nca.fit(right / unit, task.y)
        return cdist(nca.transform(left / unit), nca.transform(right / unit))

    return method


def smoothed(**options: Any) -> gm.SinkhornMetricLearning:
    """Make the learner of mean positions: a softmax, as NCA has, and no prior."""
    fixed = {"smoothing": math.inf, "criterion": "softmax", "max_steps": 200}
    return gm.SinkhornMetricLearning(**fixed, **options)


def heavy(*, exact: bool) -> dict[str, Callable[[Task], Rows]]:
    """Return the methods for heavy tails."""
    methods: dict[str, Callable[[Task], Rows]] = {
        f"l1, power {p}": lambda task, p=p: cdist(
            raised(task.X_test, p), raised(task.X, p), "cityblock"
        )
        for p in POWERS
    }
    methods["Hellinger"] = lambda task: cdist(np.sqrt(task.X_test), np.sqrt(task.X))
    methods["LMNN"] = lambda task: (
        LMNN().fit(task.X, task.y).pairwise(task.X_test, task.X)
    )
    methods["NCA"] = lambda task: (
        NCA().fit(task.X, task.y).pairwise(task.X_test, task.X)
    )
    methods["NCA on log(x + 0.01/d)"] = of_vectors(
        lambda X: np.log(X + 0.01 / X.shape[1])
    )
    for p in POWERS:
        methods[f"smoothed, margins, power {p}"] = learned(
            gm.SinkhornMetricLearning(smoothing=math.inf, power=p)
        )
        methods[f"smoothed, softmax, power {p}"] = learned(smoothed(power=p))
    methods["smoothed, margins, by CV"] = learned(
        gm.MetricLearningCV(gm.SinkhornMetricLearning(smoothing=math.inf))
    )
    methods["smoothed, softmax, by CV"] = learned(gm.MetricLearningCV(smoothed()))
    if exact:
        for p in POWERS:
            methods[f"exact, power {p}"] = learned(gm.GroundMetricLearning(power=p))
        methods["exact, by CV"] = learned(gm.MetricLearningCV())
    return methods


def families(task: Task) -> list[Any]:
    """Return learners from a prior: all entries, a combination, and positions."""
    return [
        gm.GroundMetricLearning(init=task.prior, power=1),
        gm.CombinedMetricLearning([task.prior], task.points),
        gm.SinkhornMetricLearning(
            smoothing=math.inf,
            criterion=gm.Softmax(temperature=2.0),
            points=task.points,
            bin_weights="learn",
            max_steps=60,
        ),
    ]


def prior() -> dict[str, Callable[[Task], Rows]]:
    """Return the methods where a metric is known."""

    def chosen(pick: Callable[[Task], Any], grid: Any = None) -> Callable[[Task], Rows]:
        return lambda task: learned(gm.MetricLearningCV(pick(task), grid))(task)

    return {
        "prior": lambda task: gm.pairwise_emd(task.X_test, task.X, metric=task.prior),
        "all entries, steps by CV": chosen(lambda task: families(task)[0], {}),
        "all entries, by CV": chosen(lambda task: families(task)[0]),
        "combination, by CV": chosen(lambda task: families(task)[1]),
        "positions, by CV": chosen(lambda task: families(task)[2]),
        "three families, by CV": chosen(families),
    }


def tasks() -> dict[str, Callable[[Task], Rows]]:
    """Return the methods on pairs of classes."""

    def of(task: Task) -> gm.GroundMetricLearning:
        return gm.GroundMetricLearning(points=task.points)

    return {
        "steps by CV": lambda task: learned(gm.MetricLearningCV(of(task), {}))(task),
        "by CV": lambda task: learned(gm.MetricLearningCV(of(task)))(task),
        "without learning": lambda task: learned(
            gm.MetricLearningCV(of(task), {"power": [1.0]}, scoring=lambda *_: 0.0)
        )(task),
    }


def show(lines: list[dict[str, Any]], reference: str) -> None:
    """Print mean errors, and differences to one method with 95 % intervals."""
    errors = {(line["method"], line["seed"]): line["error"] for line in lines}
    methods = dict.fromkeys(line["method"] for line in lines)
    for method in methods:
        own = [line for line in lines if line["method"] == method]
        gain = np.array(
            [
                line["error"] - errors[reference, line["seed"]]
                for line in own
                if (reference, line["seed"]) in errors
            ]
        )
        half = 1.96 * gain.std(ddof=1) / math.sqrt(len(gain)) if len(gain) > 1 else 0.0
        mean, seconds = (np.mean([x[key] for x in own]) for key in ("error", "seconds"))
        print(
            f"{method:40s} {mean:6.2f} %  {gain.mean():+.2f} ± {half:.2f}  "
            f"{seconds:.2f} s  {len(own)} draws"
        )


def main() -> None:
    """Take the draws, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["heavy", "prior", "tasks"])
    parser.add_argument("path", type=Path)
    parser.add_argument("--out", type=Path, default=Path("choosing.jsonl"))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--exact", action="store_true", help="heavy: exact EMDs, too")
    parser.add_argument("--method", action="append", help="only these")
    parser.add_argument("--against", help="show differences to this method")
    options = parser.parse_args()
    with np.load(options.path, allow_pickle=False) as found:
        file = dict(found)
    methods, n, against = {
        "heavy": (heavy(exact=options.exact), 28, "NCA on log(x + 0.01/d)"),
        "prior": (prior(), 30, "prior"),
        "tasks": (tasks(), 30, "steps by CV"),
    }[options.what]
    n_test = 500 if options.what == "prior" else 100
    seeds = range(options.first, options.first + 2 * options.draws, 2)
    lines = []
    if options.out.exists():
        lines = [json.loads(line) for line in options.out.read_text().splitlines()]
    key = {"what": options.what, "data": options.path.stem}
    done = {(x["what"], x["data"], x["method"], x["seed"]) for x in lines}
    for seed in seeds:
        task = Task(file, seed, n, n_test)
        for name in options.method or methods:
            if (*key.values(), name, seed) in done:
                continue
            start = time.process_time()
            between = methods[name](task)
            seconds = time.process_time() - start
            error = task.error(between)
            line = {**key, "method": name, "seed": seed, "error": error}
            lines.append({**line, "seconds": seconds})
            with options.out.open("a") as out:
                out.write(json.dumps(lines[-1]) + "\n")
    show(
        [
            line
            for line in lines
            if (line["what"], line["data"]) == tuple(key.values())
            and line["seed"] in seeds
        ],
        options.against or against,
    )


if __name__ == "__main__":
    main()
