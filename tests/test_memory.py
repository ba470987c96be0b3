"""When memory runs out: a MemoryError, and objects that are whole afterwards."""

import os
import subprocess
import sys

import pytest

pytestmark = [
    pytest.mark.skipif(
        sys.platform != "linux",
        reason="only Linux limits the address space of a process",
    ),
    pytest.mark.skipif(
        "libasan" in os.environ.get("LD_PRELOAD", ""),
        reason="the address sanitizer ends a process that runs out of memory",
    ),
]

# Tries an action under ever larger limits until it has all that it needs, so that a
# different allocation fails each time; afterwards `check` has to hold.
SCRIPT = """
import resource
import numpy as np
import groundmetric as gm
from groundmetric import _core

rng = np.random.default_rng(0)

def in_use():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()

def starve(action, check):
    n_failures = 0
    for extra in np.geomspace(2**18, 2**28, 21):
        resource.setrlimit(resource.RLIMIT_AS, (in_use() + int(extra), -1))
        try:
            action()
        except MemoryError:
            n_failures += 1
        else:
            return n_failures
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
        check()
    raise AssertionError("no limit was enough")
"""

BATCH = """
X = rng.gamma(1.0, size=(40, 400))
X /= X.sum(axis=1, keepdims=True)
M = 1 - np.eye(400)  # no pivots: little time, much room
pairs = np.stack(np.triu_indices(40, 1), axis=1)
batch = gm.TransportBatch(X, pairs)
some = np.arange(len(pairs) - 100, len(pairs))
expected = {sign: gm.TransportBatch(X, pairs[some]).solve(sign * M) for sign in (-1, 1)}

def check():
    for sign, other in expected.items():
        solution = batch.solve(sign * M, pairs=some)
        np.testing.assert_allclose(solution.values, other.values, rtol=1e-12)
"""

CASES = {
    "first solve": BATCH
    + """
print(starve(lambda: batch.solve(M), check))
""",
    # Not a metric: all trees are forgotten, and the new ones need twice the room.
    "another kind of cost": BATCH
    + """
batch.solve(M)
everything, cost = np.arange(len(pairs)), _core.CostMatrix(-M)

def check_and_renew():
    global batch
    check()
    batch = gm.TransportBatch(X, pairs)
    batch.solve(M)
print(starve(lambda: batch._core.solve(cost, everything, 1, None), check_and_renew))
""",
    "search": """
X = rng.gamma(1.0, size=(150, 100))
search = _core.DenseSearch(_core.Masses(X, 1.0), _core.CostMatrix(1 - np.eye(100)))

def action():
    found = search.find(None, 149, np.full(150, np.inf), keep_trees=True)
    return found.plan_sum(np.ones(len(found.indices)))

few = np.full(150, np.inf)
expected = search.find(None, 3, few)
try:  # raise once while there is memory; the C library aborts without it
    search.find(None, 0, few)
except ValueError:
    pass

def check():
    found = search.find(None, 3, few)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_array_equal(found.distances, expected.distances)
print(starve(action, check))
""",
    "project": """
A = rng.normal(size=(150, 150))
A = A + A.T
np.fill_diagonal(A, 0.0)
projector = gm.MetricProjector(150, tol=1e-3)
projector.project(rng.normal(size=(150, 150)))
before = projector._state()

def action():
    projector.project(A)

def check():
    for name, array in projector._state().items():
        np.testing.assert_array_equal(array, before[name])
print(starve(action, check))
""",
}


@pytest.mark.parametrize("case", CASES)
def test_objects_are_whole_when_memory_runs_out(case):
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT + CASES[case]],
        env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "16384"},  # free at once
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert int(run.stdout) > 0
