"""Threads inside one large solve: a team that helps with passes over all costs."""

import multiprocessing
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import groundmetric as gm
from certificates import check_transport
from groundmetric import _core
from polls import every_check

pytestmark = pytest.mark.core


def large_pair(kind, d=800, seed=0):
    """One pair whose matrix is passed over by several threads: 2^19 costs or more."""
    rng = np.random.default_rng(seed)
    r, c = rng.random((2, d))
    points = rng.random((d, 2))
    M = {
        "euclidean": lambda: cdist(points, points),
        "squared": lambda: cdist(points, points, "sqeuclidean"),
        "random": lambda: rng.random((d, d)),
    }[kind]()
    return r / r.sum(), c / c.sum(), M


@pytest.mark.parametrize(
    ("kind", "d"), [("euclidean", 1500), ("squared", 800), ("random", 800)]
)
def test_a_large_solve_does_not_depend_on_threads(kind, d):
    r, c, M = large_pair(kind, d)
    nearby = M * np.random.default_rng(1).uniform(0.99, 1.01, M.shape)
    np.fill_diagonal(nearby, np.diag(M))

    def run(n_jobs):
        batch = gm.TransportBatch([r, c], [(0, 1), (1, 0)], n_jobs=n_jobs)
        out = []
        for metric in (M, nearby, M.T):
            solution = batch.solve(metric, pairs=[0])
            t = solution.transport(0)
            out += [solution.values, solution.n_pivots, t.flow, t.rows, *t.potentials]
        both = batch.solve(M)
        distances = gm.pairwise_emd([r], [c, r], metric=M, n_jobs=n_jobs)
        return [*out, both.values, both.n_pivots, distances]

    one = run(1)
    assert one[1][0] > 0
    t = gm.TransportBatch([r, c], [(0, 1)], n_jobs=2).solve(M).transport(0)
    check_transport(t, r, c, M)
    for n_jobs in (2, 5):
        for a, b in zip(one, run(n_jobs), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads")
def test_threads_share_a_large_solve():
    r, c, M = large_pair("random", 1500)
    batch_of = [gm.TransportBatch([r, c], [(0, 1)], n_jobs=n) for n in (1, 3)]
    tasks = Path("/proc/self/task")
    most, done = [0], threading.Event()

    def watch():
        while not done.is_set():
            most[0] = max(most[0], len(list(tasks.iterdir())))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        before = len(list(tasks.iterdir()))
        batch_of[0].solve(M)
        assert most[0] <= before
        for k in range(100):  # until the watcher saw it
            batch_of[1].solve(M if k % 2 else M[::-1])
            if most[0] > before:
                break
    finally:
        done.set()
        watcher.join()
    assert most[0] > before
    for _ in range(1000):  # the system takes a moment to forget a thread
        if len(list(tasks.iterdir())) < before:
            break
        time.sleep(0.01)
    assert len(list(tasks.iterdir())) < before  # neither a helper nor the watcher


def test_a_failing_callback_ends_a_large_solve_on_threads():
    r, c, M = large_pair("random")
    cost = _core.CostMatrix(M)
    masses = [_core.Masses(x[None], 1.0) for x in (r, c)]
    batch = _core.DenseBatch(*masses, np.zeros((1, 2), np.int64))

    def report(n_done):
        raise ZeroDivisionError(n_done)

    chosen = np.zeros(1, np.int64)
    with every_check(), pytest.raises(ZeroDivisionError):
        batch.solve(cost, chosen, 2, report)
    whole = batch.solve(cost, chosen, 2, None)
    fresh = _core.DenseBatch(*masses, np.zeros((1, 2), np.int64))
    for a, b in zip(whole[2:], fresh.solve(cost, chosen, 1, None)[2:], strict=True):
        np.testing.assert_array_equal(a, b)


def _large_child(queue, r, c, M):
    queue.put(gm.TransportBatch([r, c], [(0, 1)], n_jobs=2).solve(M).values[0])


def test_a_large_solve_after_fork():
    r, c, M = large_pair("random")
    here = gm.TransportBatch([r, c], [(0, 1)], n_jobs=2).solve(M).values[0]
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_large_child, args=(queue, r, c, M))
    process.start()
    assert queue.get(timeout=60) == here
    process.join(timeout=60)
    assert process.exitcode == 0
