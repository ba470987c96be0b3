"""Threads, interruption, forks, progress: the edges of a long native call."""

import multiprocessing
import sys
import threading
import time
import warnings

import joblib
import numpy as np
import pytest

import groundmetric as gm
from groundmetric import _core
from groundmetric.validation import n_threads
from polls import every_check, polls_of
from problems import cost
from started import finished

pytestmark = pytest.mark.core


def problem(n=30, d=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, size=(n, d))
    return X / X.sum(axis=1, keepdims=True), cost(rng, "euclidean", d)


def all_pairs(n):
    return np.stack(np.triu_indices(n, 1), axis=1)


@pytest.mark.parametrize("kind", ["euclidean", "grid", "squared"])
def test_results_do_not_depend_on_threads(kind):
    X, _ = problem()
    rng = np.random.default_rng(1)
    metrics = [cost(rng, kind, 40) for _ in range(3)]
    weights = rng.normal(size=len(all_pairs(30)))

    def run(n_jobs):
        batch = gm.TransportBatch(X, all_pairs(30), n_jobs=n_jobs)
        for M in metrics:
            solution = batch.solve(M)
        D = gm.pairwise_emd(X, X[:7], metric=metrics[0], n_jobs=n_jobs)
        return solution.values, solution.n_pivots, solution.plan_sum(weights), D

    one = run(1)
    for n_jobs in (2, 3, 8, -1):
        for a, b in zip(one, run(n_jobs), strict=True):
            np.testing.assert_array_equal(a, b)


INTERRUPTED = """
import signal, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background
import numpy as np
from groundmetric import *  # now, not when the clock runs
import groundmetric as gm
from groundmetric import _core
rng = np.random.default_rng(0)
X = rng.gamma(1.0, size=(3000, 128))
X /= X.sum(axis=1, keepdims=True)
M = np.linalg.norm(rng.normal(size=(128, 1, 8)) - rng.normal(size=(1, 128, 8)), axis=2)
M = 1 + (M + M.T) / 10 - np.diag(1 + np.diag(M + M.T) / 10)
sent = []
def interrupt():
    sent.append(_core.n_polls())
    signal.raise_signal(signal.SIGINT)
threading.Timer(0.5, interrupt).start()
try:
    {call}  # minutes of work
except KeyboardInterrupt:
    print(_core.n_polls() - sent[0])
"""

LONG_CALLS = {
    "pairwise": "gm.pairwise_emd(X, metric=M, n_jobs=1)",
    "pairwise, threads": "gm.pairwise_emd(X, metric=M, n_jobs=2)",
    "batch": "gm.TransportBatch(X, rng.integers(0, 3000, (10**6, 2))).solve(M)",
    "points": "gm.pairwise_emd(X, points=rng.normal(size=(128, 9)), n_jobs=2)",
    "neighbors": "gm.EMDNeighbors(np.minimum(M, 2), n_jobs=2).fit(X).kneighbors()",
    "point neighbors": "gm.EMDNeighbors(points=M[:, :9]).fit(X).kneighbors()",
    "initial": "gm.initial_metric(X, rng.integers(0, 2, 3000))",
    "project": "gm.project_metric(rng.normal(size=(1500, 1500)), n_jobs=2)",
}


@pytest.mark.parametrize("name", LONG_CALLS)
def test_interrupt_ends_a_long_call(name):
    code, out, error = finished(INTERRUPTED.replace("{call}", LONG_CALLS[name]))
    assert code == 0, error
    # The next poll ends the call; one may have begun before the signal.
    assert int(out) <= 2


POLLING_CALLS = {
    "pairwise": (lambda X, M: gm.pairwise_emd(X, metric=M), 30 * 30),
    "batch": (lambda X, M: gm.TransportBatch(X, all_pairs(30)).solve(M), 435),
    "points": (lambda X, M: gm.pairwise_emd(X, points=M[:, :9]), 435),
    "neighbors": (lambda X, M: gm.EMDNeighbors(M).fit(X).kneighbors(), 30),
    "point neighbors": (
        lambda X, M: gm.EMDNeighbors(points=M[:, :9]).fit(X).kneighbors(),
        30,
    ),
    "initial": (lambda X, _: gm.initial_metric(X, np.arange(30) % 2), 30),
    "project": (lambda _, M: gm.project_metric(M**3), 40),
}


@pytest.mark.parametrize("name", POLLING_CALLS)
def test_a_call_polls_at_least_once_for_each_item(name):
    X, M = problem()
    call, n_items = POLLING_CALLS[name]
    assert polls_of(lambda: call(X, M)) >= n_items


def test_error_in_a_progress_callback_comes_back():
    X, M = problem()
    masses = _core.Masses(X, 1.0)

    def report(n_done):
        raise ZeroDivisionError(n_done)

    for threads in (1, 2):
        with every_check(), pytest.raises(ZeroDivisionError):
            _core.pairwise_dense(
                masses, masses, _core.CostMatrix(M), False, threads, report
            )


def test_batch_is_whole_after_an_interrupted_solve():
    X, M = problem()
    # As many as keep the calling thread, which polls, busy between others.
    pairs = np.tile(all_pairs(30), (20, 1))
    batch = gm.TransportBatch(X, pairs)

    def report(n_done):
        if n_done > 100:
            raise ZeroDivisionError(n_done)

    everything = np.arange(len(pairs))
    with every_check(), pytest.raises(ZeroDivisionError):
        batch._core.solve(_core.CostMatrix(M), everything, 2, report)
    np.testing.assert_array_equal(
        batch.solve(M).values, gm.TransportBatch(X, pairs).solve(M).values
    )


def test_progress_bar(capsys):
    X, M = problem()
    quiet = gm.pairwise_emd(X, metric=M)
    assert capsys.readouterr().err == ""
    shown = gm.pairwise_emd(X, metric=M, verbose=1)
    err = capsys.readouterr().err
    assert "emd" in err
    assert "100%" in err
    assert "900/900" in err
    np.testing.assert_array_equal(quiet, shown)


def test_progress_without_tqdm(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r"groundmetric\[progress\]"):
        gm.pairwise_emd([[1.0, 0.0]], metric=np.zeros((2, 2)), verbose=1)


def _child(queue, X, M):
    queue.put(gm.pairwise_emd(X, metric=M, n_jobs=2))


def test_works_after_fork():
    X, M = problem()
    here = gm.pairwise_emd(X, metric=M, n_jobs=2)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_child, args=(queue, X, M))
    process.start()
    there = queue.get(timeout=60)
    process.join(timeout=60)
    assert process.exitcode == 0
    np.testing.assert_array_equal(here, there)


def test_works_inside_joblib_workers():
    X, M = problem()
    here = gm.pairwise_emd(X, metric=M)
    jobs = (joblib.delayed(gm.pairwise_emd)(X, metric=M, n_jobs=2) for _ in range(3))
    for there in joblib.Parallel(n_jobs=2)(jobs):
        np.testing.assert_array_equal(here, there)


def test_one_batch_from_several_python_threads():
    # Each thread solves all pairs for its own cost, metric or not, and asks for the
    # sum of plans: the right one, or a refusal if another thread came between.
    X, M = problem(60)
    pairs = all_pairs(60)
    batch = gm.TransportBatch(X, pairs, n_jobs=2)
    costs = (M, -M, M**2, 2 * M)
    weights = np.ones(len(pairs))
    outcomes = []

    def work(cost):
        for _ in range(5):
            solution = batch.solve(cost)
            try:
                G = solution.plan_sum(weights)
            except RuntimeError:
                outcomes.append(None)
            else:
                total = solution.values.sum()
                outcomes.append(abs((G * cost).sum() - total) <= 1e-9 * abs(total))

    threads = [threading.Thread(target=work, args=(cost,)) for cost in costs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 20
    assert False not in outcomes


def test_a_batch_refuses_to_be_entered_twice_by_one_thread():
    X, M = problem()
    batch = gm.TransportBatch(X, all_pairs(30))
    first = batch.solve(M, pairs=[0])
    others = np.arange(1, len(batch))

    def report(_):
        first.plan_sum([1.0])  # as a signal handler might

    inside = pytest.raises(RuntimeError, match="already inside another call")
    with every_check(), inside:
        batch._core.solve(_core.CostMatrix(M), others, 1, report)
    assert first.transport(0).value == pytest.approx(first.values[0])


def test_a_single_long_solve_polls_too():
    # One pair only: all polls but the first come from inside the simplex.
    rng = np.random.default_rng(0)
    d = 300
    X = rng.gamma(1.0, size=(2, d))
    X /= X.sum(axis=1, keepdims=True)
    polls, counts = [], np.zeros(3, np.int64)
    x, y = (_core.Masses(row[None], 1.0) for row in X)
    cost = _core.CostMatrix(rng.random((d, d)))
    with every_check():
        _core.pairwise_dense(x, y, cost, False, 1, polls.append, counts=counts)
    assert set(polls) == {0}
    assert len(polls) >= 1 + counts[0] // 64 > 4


def test_absurd_numbers_of_threads():
    X, M = problem(4, 10)
    expected = gm.pairwise_emd(X, metric=M)
    for n_jobs in (10**4, 2**40, -(10**6)):
        D = gm.pairwise_emd(X, metric=M, n_jobs=n_jobs)
        np.testing.assert_array_equal(D, expected)


def test_threads_from_the_configuration_of_joblib():
    assert n_threads(None) == 1
    with joblib.parallel_config(backend="threading", n_jobs=3):
        assert n_threads(None) == 3
    assert n_threads(-1) == joblib.cpu_count()
    assert n_threads(-joblib.cpu_count() - 5) == 1


def _pool_child(args):
    X, M = args
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gm.pairwise_emd(X, metric=M, n_jobs=2)


def test_works_in_a_pool_without_a_warning():
    X, M = problem(10)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        (there,) = pool.map(_pool_child, [(X, M)])
    np.testing.assert_array_equal(there, gm.pairwise_emd(X, metric=M))


class EnoughError(Exception):
    """Another thread was seen to run."""


def test_other_python_threads_run_meanwhile():
    # Python itself does not switch threads, so others run only without the GIL.
    X, M = problem(300, 60)
    masses, cost = _core.Masses(X, 1.0), _core.CostMatrix(M)
    started, finished = threading.Event(), threading.Event()
    beats = []

    def beat():
        started.set()
        while not finished.is_set():
            beats.append(1)
            time.sleep(0)  # gives the GIL away

    def report(_):
        if len(beats) > before + 3:
            raise EnoughError

    thread = threading.Thread(target=beat)
    interval = sys.getswitchinterval()
    thread.start()
    started.wait()
    sys.setswitchinterval(1000.0)
    try:
        before = len(beats)
        with every_check(), pytest.raises(EnoughError):
            _core.pairwise_dense(masses, masses, cost, False, 1, report)
    finally:
        sys.setswitchinterval(interval)
        finished.set()
        thread.join()
