"""The compiled core through its own interface."""

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest

from groundmetric import _core
from problems import COSTS, METRICS, cost
from reference import obeys_triangle_inequality

pytestmark = pytest.mark.core


@pytest.mark.parametrize("kind", COSTS)
@pytest.mark.parametrize("d", [1, 2, 3, 7, 8, 9, 33, 40])
def test_triangle_inequality_check(kind, d):
    M = cost(np.random.default_rng(d), kind, d)
    tol = 1e-14 * np.abs(M)
    for threads in (1, 3):
        found = _core.CostMatrix(M).is_quasimetric(threads)
        assert found == obeys_triangle_inequality(M.tolist(), tol.tolist())
    if kind in METRICS:
        assert found


@pytest.mark.parametrize("d", [5, 70, 300])
def test_one_broken_triangle_is_found(d):
    rng = np.random.default_rng(d)
    M = 1.0 + rng.random((d, d))
    np.fill_diagonal(M, 0.0)
    assert _core.CostMatrix(M).is_quasimetric(2)
    i, j, k = rng.choice(d, 3, replace=False)
    M[i, j] = M[i, k] + M[k, j] + 1.0
    assert not _core.CostMatrix(M).is_quasimetric(2)


FINGERPRINT = """
import hashlib, sys
sys.path.insert(0, "tests")
import numpy as np
import groundmetric as gm
from groundmetric import _core
from problems import cost, pair
digest = hashlib.sha256()
for d in (1, 3, 17, 64, 130):
    for kind in ("euclidean", "grid", "squared", "negative"):
        rng = np.random.default_rng(d)
        r, c = pair(rng, "dense", d)
        t = gm.transport(r, c, cost(rng, kind, d))
        for x in (t.rows, t.cols, t.flow, *t.potentials, t.value, t.n_pivots):
            digest.update(np.asarray(x).tobytes())
    search = gm.EMDNeighbors(cost(rng, "euclidean", d), n_neighbors=3)
    found = search.fit(np.stack([pair(rng, "dense", d)[0] for _ in range(40)]))
    for x in (*found.kneighbors(), found.n_solves_):
        digest.update(np.asarray(x).tobytes())
    clouds = [(pair(rng, "dense", d)[0], rng.normal(size=(d, 5))) for _ in range(4)]
    digest.update(gm.pairwise_emd(clouds).tobytes())
print(_core.instruction_set(), digest.hexdigest())
"""


def test_every_instruction_set_gives_the_same_bits():
    results = {}
    for isa in ("baseline", "avx2", "avx512"):
        run = subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={**os.environ, "GROUNDMETRIC_ISA": isa},
            capture_output=True,
            text=True,
            check=True,
        )
        name, fingerprint = run.stdout.split()
        results[name] = fingerprint
    assert "baseline" in results
    if len(results) == 1:
        pytest.skip("this CPU has no other instruction set to compare with")
    for a, b in itertools.combinations(results.values(), 2):
        assert a == b


def test_arrays_are_never_converted_silently():
    with pytest.raises(TypeError):
        _core.CostMatrix(np.zeros((3, 3), np.int64))
    with pytest.raises(TypeError):
        _core.CostMatrix(np.zeros((3, 6))[:, ::2])
    with pytest.raises(TypeError):
        _core.Masses(np.ones((2, 6))[:, ::2], 3.0)


def test_unit_of_mass():
    # Total 4 is cut into 2**119 units: a power of two, so counts stay exact.
    unit = _core.Masses(np.array([[3.0, 1.0]]), 4.0).unit
    assert unit == 2.0**-117


def test_shapes_and_indices_are_checked_before_memory_is_read():
    one, same = (_core.Masses(np.ones((2, 3)), 3.0) for _ in range(2))
    four = _core.Masses(np.ones((2, 4)), 3.0)
    cost = _core.CostMatrix(np.zeros((3, 3)))
    more = _core.Masses(np.ones((2, 3)), 3.5)  # in the same units
    zeros, r = np.zeros((3, 3)), np.ones(3)
    for call, message in (
        (lambda: _core.detours(zeros[1:], 1), r"matrix has shape \(2, 3\)"),
        (lambda: _core.transport(r, r[1:], 3.0, zeros), r"cost has shape \(3, 3\)"),
        (lambda: _core.transport(r, r, 3.0, zeros[1:]), r"cost has shape \(2, 3\)"),
        (lambda: _core.pairwise_dense(one, four, cost, False, 1, None), "one of 3 x 4"),
        (
            lambda: _core.pairwise_dense(four, four, cost, False, 1, None),
            "one of 4 x 4",
        ),
        (
            lambda: _core.pairwise_dense(one, same, cost, True, 1, None),
            "within one set",
        ),
        (
            lambda: _core.pairwise_dense(one, more, cost, False, 1, None),
            "differ in mass",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            call()
