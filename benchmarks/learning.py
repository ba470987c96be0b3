"""A whole fit, against the solves that a plain loop with POT would take."""

import resource
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import ot
from descent import two_classes
from measure import Row, seconds
from sklearn.base import clone
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric import _core

N_TASKS = 8
N_POT_PAIRS = 10
SIZES = (250, 500, 1000, 2000, 5000)
N_STEPS = 3
# Kinds of native calls; all other time is Python, including numpy's bounds.
NATIVE = {
    "transport": [
        (_core.DenseSearch, "find"),
        (_core.Found, "plan_sum"),
    ],
    "projection": [(_core.MetricProjector, "project"), (_core, "detours")],
}


@contextmanager
def native_time() -> Iterator[tuple[dict[str, float], list[np.ndarray]]]:
    """Add up the time of native calls, by kind, and keep the metrics met."""
    project = _core.MetricProjector.project
    spent, metrics = dict.fromkeys(NATIVE, 0.0), []

    def timed(kind: str, call: Callable[..., object]) -> Callable[..., object]:
        def call_and_add(*args: object, **options: object) -> object:
            start = time.perf_counter()
            result = call(*args, **options)
            spent[kind] += time.perf_counter() - start
            if call is project:
                metrics.append(result[0])
            return result

        return call_and_add

    places = [(kind, *place) for kind in NATIVE for place in NATIVE[kind]]
    originals = [getattr(owner, name) for _, owner, name in places]
    for (kind, owner, name), original in zip(places, originals, strict=True):
        setattr(owner, name, timed(kind, original))
    yield spent, metrics
    for (_, owner, name), original in zip(places, originals, strict=True):
        setattr(owner, name, original)


def pot_time(X: np.ndarray, y: np.ndarray, metrics: list[np.ndarray]) -> float:
    """POT's time for a dissimilar pair, under metrics met on the way."""
    left, right = (np.flatnonzero(y == c) for c in np.unique(y))
    times = []
    for M in metrics:
        scaled = M / M.max()  # of the size that POT is made for
        for k in range(N_POT_PAIRS):
            r, c = X[left[k % len(left)]], X[right[(7 * k) % len(right)]]
            times.append(
                seconds(lambda: ot.emd2(r, c, scaled, check_marginals=False))  # noqa: B023
            )
    return statistics.mean(times)


def measure(
    X: np.ndarray, y: np.ndarray, learner: gm.GroundMetricLearning
) -> dict[str, float]:
    """One fit with POT beside it."""
    with native_time() as (spent, metrics):
        start = time.perf_counter()
        learner = clone(learner).fit(X, y)
        ours = time.perf_counter() - start
    seen = learner.histograms(X)
    pair = pot_time(seen, y, [learner.initial_metric_, *metrics[1::4]])
    path = learner.path_
    looks = path.column("n_solves") + path.column("n_bounded")
    pot = looks.sum() * pair
    return {
        "ratio": pot / ours,
        "seconds": ours,
        "pot": pot,
        "steps": learner.n_iter_,
        "pivots": path.column("n_pivots").mean(),
        "looked at": path.column("n_solves").sum() / looks.sum(),
        "stopped": path.column("n_stopped").sum() / looks.sum(),
        **{kind: native / ours for kind, native in spent.items()},
    }


def fit_row(
    name: str,
    X: np.ndarray,
    y: np.ndarray,
    learner: gm.GroundMetricLearning,
    bar: float = 20.0,
) -> Row:
    """Fits on binary tasks drawn with seed 0, one thread."""
    rng = np.random.default_rng(0)
    fits = [measure(*two_classes(X, y, rng), learner) for _ in range(N_TASKS)]
    mid = {name: statistics.median(fit[name] for fit in fits) for name in fits[0]}
    python = 1 - mid["transport"] - mid["projection"]
    return Row(
        f"fit, 30 + 30 histograms, {name}, {mid['steps']:.0f} steps",
        f"{mid['seconds']:.2f} s",
        f"{mid['pot']:.0f} s (pairs of all steps x emd2)",
        mid["ratio"],
        bar,
        f"least {min(fit['ratio'] for fit in fits):.0f}x of {N_TASKS} tasks; "
        f"{mid['pivots']:,.0f} pivots a step; simplex on {mid['looked at']:.0%} of the "
        f"pairs, to the optimum on {mid['looked at'] - mid['stopped']:.0%}; time: "
        f"transport {mid['transport']:.0%}, projection {mid['projection']:.0%}, Python "
        f"{python:.0%}",
    )


def rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Fits with the defaults, of the paper's criterion, and by its schedule."""
    learner = gm.GroundMetricLearning
    every = learner("neighborhood", power=1.0, n_jobs=1)
    few = learner(gm.Neighborhood(n_similar=3), power=1.0, n_jobs=1)
    yield fit_row("margins", X, y, learner(n_jobs=1))
    yield fit_row("C_k, all similar count", X, y, every)
    yield fit_row("C_k, 3 similar count", X, y, few)
    yield fit_row("the paper's schedule", X, y, learner.paper(n_jobs=1), bar=40.0)


def noisy_digits(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw n digits, with noise so that none is the same as another."""
    rng = np.random.default_rng(0)
    X, y = load_digits(return_X_y=True)
    drawn = rng.integers(0, len(X), n)
    return rng.poisson(X[drawn]) + 0.01, y[drawn]


def scaling(n: int) -> str:
    """Make a row of the table: n digits, a few steps of the default, two threads."""
    X, y = noisy_digits(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gm.LongFitWarning)
        learner = gm.GroundMetricLearning(
            gm.Margin(floor=0.0), tol=0.0, n_jobs=2, max_steps=N_STEPS
        ).fit(X, y)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = learner.path_
    n_pairs = n * (n - 1) // 2
    shares = (path.column(name).mean() / n_pairs for name in ("n_solves", "n_bounded"))
    solved, bounded = shares
    return (
        f"| {n:,} | {n_pairs:,} | {solved:.1%} | {bounded:.1%} "
        f"| {path[-1].seconds / len(path):.2f} s "
        f"| {1e6 * path[-1].seconds / len(path) / n:.0f} us "
        f"| {peak / 1024:.0f} MB, {before / 1024:.0f} before |"
    )


def growth_table() -> str:
    """Make the table: each size in a process of its own, for its memory."""
    columns = (
        "histograms of 64 bins | pairs | solved a step | bounded | time a step | "
        "time / n | peak memory"
    )
    lines = [f"| {columns} |", "|" + "---:|" * 7]
    for n in SIZES:
        command = [sys.executable, Path(__file__), str(n)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        lines.append(done.stdout.strip())
    return "\n".join(lines)


if __name__ == "__main__":
    print(scaling(int(sys.argv[1])))
