"""The nearest metric: our projection and plain triangle fixing, both to 1e-6."""

import ctypes
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from descent import record, two_classes
from measure import Row, seconds, side_by_side
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric import _core

LIBRARY = Path(__file__).parents[1] / "build" / "libfixing.so"
TOL = 1e-6
SHARE_OF_PUSHED = 0.05


def symmetric(A: np.ndarray) -> np.ndarray:
    upper = np.triu(A, 1)
    return upper + upper.T


def inputs_of(kind: str, rng: np.random.Generator, d: int) -> np.ndarray:
    noise = rng.normal(size=(d, d))
    points = rng.normal(size=(d, 8))
    return symmetric(
        {
            "Euclidean + 30 % noise": cdist(points, points) * (1 + 0.3 * noise),
            "uniform + 10 % noise": 1 + 0.1 * noise,
            "uniform + 50 % noise": 1 + 0.5 * noise,
            "Gaussian": noise,
        }[kind]
    )


def joined(X: np.ndarray, y: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Join n histograms of a class at a time, for n times the bins."""
    rows, labels = [], []
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        members = members[: len(members) // n * n].reshape(-1, n)
        rows.append(X[members].reshape(len(members), -1) / n)
        labels.append(np.full(len(members), label))
    return np.concatenate(rows), np.concatenate(labels)


def fix_triangles(A: np.ndarray, truth: np.ndarray) -> int:
    fixing = ctypes.CDLL(str(LIBRARY)).triangle_fixing
    matrix, d = A.copy(), len(A)
    pointer = ctypes.POINTER(ctypes.c_double)
    sweeps = fixing(
        matrix.ctypes.data_as(pointer),
        d,
        truth.ctypes.data_as(pointer),
        ctypes.c_double(TOL),
        100_000,
    )
    assert sweeps > 0, "triangle fixing did not converge"  # noqa: S101
    return int(sweeps)


def row(what: str, inputs: list[np.ndarray], bar: float, rounds: int) -> Row:
    """Measure both on all inputs, ours one after another with one projector."""
    d = len(inputs[0])
    truths = [gm.project_metric(A, tol=1e-9).metric for A in inputs]
    n_rounds: list[int] = []

    def ours() -> float:
        projector = gm.MetricProjector(d, tol=TOL)
        n_rounds.clear()

        def task() -> None:
            n_rounds.extend(projector.project(A).n_iter for A in inputs)

        return seconds(task) / len(inputs)

    def peer() -> float:
        def task() -> None:
            for A, truth in zip(inputs, truths, strict=True):
                fix_triangles(A, truth)

        return seconds(task) / len(inputs)

    mine, theirs, ratio = side_by_side(ours, peer, rounds)
    return Row(
        f"project, {what}",
        f"{mine * 1e3:,.2f} ms",
        f"{theirs * 1e3:,.0f} ms (fixing)",
        ratio,
        bar,
        f"{np.mean(n_rounds):.1f} rounds",
    )


def oracle_row(A: np.ndarray) -> Row:
    """Measure a projection in units of one min-plus pass."""
    oracle, total, ratio = side_by_side(
        lambda: seconds(lambda: _core.detours(A, 1)),
        lambda: seconds(lambda: gm.project_metric(A, tol=TOL)),
    )
    return Row(
        f"project, a step at d = {len(A)}: 120 oracle passes over its time",
        f"{total * 1e3:,.0f} ms",
        f"{oracle * 1e3:,.1f} ms (a pass)",
        120 / ratio,
        1,
        f"{ratio:.0f} passes",
    )


def thread_row(A: np.ndarray) -> Row:
    two, one, ratio = side_by_side(
        lambda: seconds(lambda: gm.project_metric(A, tol=TOL, n_jobs=2)),
        lambda: seconds(lambda: gm.project_metric(A, tol=TOL)),
    )
    return Row(
        f"project, a step at d = {len(A)}, two threads",
        f"{two * 1e3:,.0f} ms",
        f"{one * 1e3:,.0f} ms (one)",
        ratio,
        1.4,
    )


def memory_line(d: int = 1000) -> str:
    """Peak memory of a process that projects one matrix, over an idle one's."""
    script = f"import cone; cone.report_peak({d})"
    run = subprocess.run(  # noqa: S603 - ourselves
        [sys.executable, "-c", script],
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return run.stdout.strip()


def report_peak(d: int) -> None:
    """Project a metric that was pushed along sparse plans, by a tenth of its norm."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(d, 8))
    metric = cdist(points, points)
    push = symmetric(rng.normal(size=(d, d)) * (rng.random((d, d)) < SHARE_OF_PUSHED))
    A = metric - 0.1 * np.linalg.norm(metric) / np.linalg.norm(push) * push
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gm.project_metric(A, tol=TOL)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"Projecting a pushed metric, d = {d}: peak memory {after / 1e3:.0f} MB, "
        f"{before / 1e3:.0f} MB of it before the call."
    )


def rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """All rows; X and y are labeled histograms for the descent."""
    rng = np.random.default_rng(0)
    inputs = record(*two_classes(X, y, rng))
    yield row("50 steps of a descent", inputs, 60, rounds=1)
    for kind, bar in (
        ("Euclidean + 30 % noise", 60),
        ("uniform + 10 % noise", 100),  # a metric already: see README.md
        ("uniform + 50 % noise", 100),
        ("Gaussian", 4),
    ):
        yield row(kind, [inputs_of(kind, rng, 128)], bar, rounds=3)
    wide, labels = two_classes(*joined(X, y, 4), rng, n=8)
    step = record(wide, labels, n_steps=5)[-1]
    yield oracle_row(step)
    yield thread_row(step)
