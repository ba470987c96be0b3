"""MetricProjector: what it keeps from one projection to the next."""

import subprocess
import sys
import threading

import numpy as np
import pytest

import groundmetric as gm
from certificates import check_metric
from groundmetric import _core
from matrices import matrix

pytestmark = pytest.mark.core


def test_warm_start_takes_fewer_rounds_and_ends_at_the_same_metric():
    rng = np.random.default_rng(2)
    A = matrix(rng, "euclidean", 60)
    projector = gm.MetricProjector(60)
    warm, cold = [], []
    for _ in range(10):
        A = A + 1e-3 * matrix(rng, "gaussian", 60)
        P, Q = projector.project(A), gm.project_metric(A)
        check_metric(P)
        assert np.linalg.norm(P.metric - Q.metric) <= 2e-6 * np.linalg.norm(Q.metric)
        warm.append(P.n_iter)
        cold.append(Q.n_iter)
    assert warm[0] == cold[0]
    assert sum(warm[1:]) < 0.7 * sum(cold[1:])
    assert projector.n_triangles > 0
    projector.forget()
    assert projector.n_triangles == 0
    assert projector.project(A).n_iter == Q.n_iter


def test_multipliers_survive_a_change_of_unit():
    # The core works in units of a power of two; the second input needs the next one.
    A = matrix(np.random.default_rng(9), "gaussian", 30)
    A *= 0.9999 / np.abs(A).max()
    projector = gm.MetricProjector(30)
    cold = projector.project(A).n_iter
    assert projector.project(1.0002 * A).n_iter <= cold / 2


def test_a_projector_survives_inputs_of_other_sizes():
    A = matrix(np.random.default_rng(10), "gaussian", 20)
    truth = gm.project_metric(A, tol=1e-8).metric
    projector = gm.MetricProjector(20)
    for other in (A * 1e200, 0 * A, A * 1e-200, A * 1e200, 0 * A):
        P = projector.project(other)
        assert P.converged
        check_metric(P)
    assert (P.metric == 0).all()
    error = np.linalg.norm(projector.project(A).metric - truth)
    assert error <= 2e-6 * np.linalg.norm(truth)


def test_weights_are_copied():
    A = matrix(np.random.default_rng(12), "euclidean", 8)
    weights = np.ones((8, 8))
    projector = gm.MetricProjector(8, weights=weights)
    before = projector.project(A).metric
    weights[:] = np.nan
    projector.forget()
    np.testing.assert_array_equal(projector.project(A).metric, before)


def test_one_projector_in_two_threads():
    A = matrix(np.random.default_rng(13), "gaussian", 60)
    projector = gm.MetricProjector(60)
    truth = gm.project_metric(A).metric
    errors = []

    def work():
        for _ in range(10):
            P = projector.project(A)
            errors.append(np.linalg.norm(P.metric - truth))
            projector.forget()
            projector.multipliers()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(errors) == 30
    assert max(errors) <= 2e-6 * np.linalg.norm(truth)


def test_projector_is_whole_after_an_interrupted_projection():
    A = matrix(np.random.default_rng(7), "gaussian", 40)
    projector = gm.MetricProjector(40)
    projector.project(A + 1.0)
    before = projector._state()

    def fail(n_rounds):
        if n_rounds == 3:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        projector._core.project(A, None, 1e-9, 100, 1, fail)
    for name, array in projector._state().items():
        np.testing.assert_array_equal(array, before[name])
    truth = gm.project_metric(A, tol=1e-8).metric
    error = np.linalg.norm(projector.project(A).metric - truth)
    assert error <= 2e-6 * np.linalg.norm(truth)


@pytest.mark.parametrize(
    "call",
    [
        lambda projector: projector.n_triangles,
        lambda projector: projector._state(),
        lambda projector: projector.multipliers(),
        lambda projector: projector.forget(),
        lambda projector: projector.project(np.zeros((40, 40))),
    ],
)
def test_a_projector_refuses_to_be_entered_twice_by_one_thread(call):
    projector = gm.MetricProjector(40)
    A = matrix(np.random.default_rng(7), "gaussian", 40)

    def report(_):  # as a signal handler might
        call(projector)

    with pytest.raises(RuntimeError, match="already inside another call"):
        projector._core.project(A, None, 1e-9, 100, 1, report)
    assert projector.n_triangles == 0
    assert projector.project(A).converged


SIGNALED = """
import signal
import numpy as np
import groundmetric as gm
projector = gm.MetricProjector(300)
signal.signal(signal.SIGALRM, lambda *_: print(projector.n_triangles))
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    projector.project(np.random.default_rng(0).normal(size=(300, 300)))
except RuntimeError as error:
    print(error)
"""


def test_a_signal_handler_that_looks_at_the_projector_does_not_hang():
    run = subprocess.run(
        [sys.executable, "-c", SIGNALED],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "already inside another call" in run.stdout


def test_matrices_of_another_size_are_refused():
    core = gm.MetricProjector(3)._core
    with pytest.raises(ValueError, match=r"matrix has shape \(2, 2\), but \(3, 3\)"):
        core.project(np.zeros((2, 2)), None, 1e-6, 10, 1, None)
    with pytest.raises(ValueError, match=r"weights has shape \(3, 2\), but \(3, 3\)"):
        core.project(np.zeros((3, 3)), np.ones((3, 2)), 1e-6, 10, 1, None)
    with pytest.raises(ValueError, match=r"matrix has shape \(2, 3\), but \(2, 2\)"):
        _core.detours(np.zeros((2, 3)), 1)


def test_bad_size():
    with pytest.raises(ValueError, match="d is 0; it must be at least 1"):
        gm.MetricProjector(0)
    with pytest.raises(ValueError, match="d is 40000; it must be at most 32767"):
        gm.MetricProjector(40_000)
    with pytest.raises(ValueError, match=r"A has shape \(2, 2\), but \(3, 3\)"):
        gm.MetricProjector(3).project(np.zeros((2, 2)))


@pytest.mark.parametrize("kind", ["euclidean", "gaussian", "descent"])
def test_another_projector_goes_on_with_the_same_triangles(kind):
    rng = np.random.default_rng(0)
    A = matrix(rng, kind, 40)
    one, two = gm.MetricProjector(40), gm.MetricProjector(40)
    one.project(A)
    for factor in (1.001, 2.5, 1e-3):  # other units, too
        two._set_state(one._state())
        assert two.n_triangles == one.n_triangles > 0
        P, Q = one.project(factor * A), two.project(factor * A)
        np.testing.assert_array_equal(P.metric, Q.metric)
        assert (P.n_iter, P.n_sweeps) == (Q.n_iter, Q.n_sweeps)
        assert P.n_sweeps >= P.n_iter - 1


@pytest.mark.parametrize(
    "change",
    [
        {"triangles": np.array([[0, 1, 1]], np.int32)},
        {"triangles": np.array([[0, 1, 5]], np.int32)},
        {"triangles": np.array([[-1, 1, 2]], np.int32)},
        {"triangles": np.array([[0, 1, 2], [1, 0, 2]], np.int32), "duals": np.ones(2)},
        {"duals": np.array([-1.0])},
        {"duals": np.array([np.nan])},
        {"duals": np.ones(2)},
        {"triangles": np.array([[0, 1]], np.int32)},
        {"unit": np.array(np.nan)},
        {"unit": np.array(0.0)},
    ],
)
def test_what_are_no_triangles_is_refused(change):
    A = np.array([[0.0, 1.0, 7.0], [1.0, 0.0, 2.0], [7.0, 2.0, 0.0]])
    projector = gm.MetricProjector(3)
    expected = projector.project(A).metric
    state = projector._state()
    assert state["triangles"].tolist() == [[0, 2, 1]]
    with pytest.raises(ValueError, match="not triangles of a projector"):
        projector._set_state({**state, **change})
    for name, array in projector._state().items():
        np.testing.assert_array_equal(array, state[name])
    np.testing.assert_allclose(projector.project(A).metric, expected, rtol=1e-12)
