"""A whole fit, against the solves that a plain loop with POT would take."""

import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import ot
from descent import two_classes
from measure import Row, seconds
from sklearn.datasets import load_digits

import groundmetric as gm
from groundmetric import _core

N_TASKS = 8
N_POT_PAIRS = 10
SIZES = (125, 250, 500, 1000)
N_STEPS = 50
# What native time is spent on; the rest is Python, numpy's bounds included.
NATIVE = {
    "transport": [
        (_core.PrunedSearch, "find"),
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


def measure(X: np.ndarray, y: np.ndarray, n_similar: int | None) -> dict[str, float]:
    """One fit with POT beside it."""
    with native_time() as (spent, metrics):
        start = time.perf_counter()
        learner = gm.GroundMetricLearning(n_similar=n_similar, n_jobs=1).fit(X, y)
        ours = time.perf_counter() - start
    pair = pot_time(X, y, [learner.initial_metric_, *metrics[9::10]])
    path = learner.path_
    # Similar pairs at every outer step, dissimilar ones at every step.
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


def fit_row(X: np.ndarray, y: np.ndarray, n_similar: int | None) -> Row:
    """Fits on binary tasks drawn with seed 0, k = 3, one thread."""
    rng = np.random.default_rng(0)
    fits = [measure(*two_classes(X, y, rng), n_similar) for _ in range(N_TASKS)]
    mid = {name: statistics.median(fit[name] for fit in fits) for name in fits[0]}
    python = 1 - mid["transport"] - mid["projection"]
    similar = "all" if n_similar is None else n_similar
    return Row(
        f"fit, 30 + 30 histograms, {similar} similar count, {mid['steps']:.0f} steps",
        f"{mid['seconds']:.1f} s",
        f"{mid['pot']:.0f} s (pairs of all steps x emd2)",
        mid["ratio"],
        20.0,
        f"least {min(fit['ratio'] for fit in fits):.0f}x of {N_TASKS} tasks; "
        f"{mid['pivots']:,.0f} pivots a step; simplex on {mid['looked at']:.0%} of the "
        f"pairs, to the optimum on {mid['looked at'] - mid['stopped']:.0%}; time: "
        f"transport {mid['transport']:.0%}, projection {mid['projection']:.0%}, Python "
        f"{python:.0%}",
    )


def rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Fits with the defaults, and of the paper's criterion."""
    yield fit_row(X, y, None)
    yield fit_row(X, y, 3)


def scaling(n: int) -> str:
    """Make a row of the table: n digits, at most 50 steps, two threads."""
    X, y = load_digits(return_X_y=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    learner = gm.GroundMetricLearning(
        n_similar=3, max_outer=N_STEPS // 10, max_inner=10, tol=0.0, n_jobs=2
    ).fit(X[:n], y[:n])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    path = learner.path_
    first, last = path[0], path[-1]
    later = path[1:]
    n_pairs = int((y[:n, None] != y[None, :n]).sum()) // 2
    return (
        f"| {n} | {n_pairs:,} | {first.n_solves:,} | {first.seconds:.2f} s "
        f"| {later.column('n_solves').mean():,.0f} "
        f"| {later.column('n_solves').mean() / n:.1f} "
        f"| {1e3 * (last.seconds - first.seconds) / len(later):,.0f} ms "
        f"| {1e3 * (last.seconds - first.seconds) / len(later) / n:.2f} ms "
        f"| {len(path)} | {last.seconds:.1f} s "
        f"| {peak / 1024:.0f} MB, {before / 1024:.0f} before |"
    )


def growth_table() -> str:
    """Make the table: each size in a process of its own, for its memory."""
    columns = (
        "n | dissimilar pairs | solves of the first step | its time | solves a step | "
        "over n | time a step | over n | steps | in all | peak memory"
    )
    lines = [f"| {columns} |", "|" + "---:|" * 11]
    for n in SIZES:
        command = [sys.executable, Path(__file__), str(n)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
        lines.append(done.stdout.strip())
    return "\n".join(lines)


if __name__ == "__main__":
    print(scaling(int(sys.argv[1])))
