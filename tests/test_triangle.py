"""Checks and repair of metrics."""

import numpy as np
import pytest
from hypothesis import given

import groundmetric as gm
from matrices import KINDS, matrix
from strategies import square_matrices

pytestmark = pytest.mark.core

LINE = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))


def literal_violations(M):
    """All (amount, i, j, k) with M_ij > M_ik + M_kj, by the definition."""
    d = len(M)
    return sorted(
        (
            (M[i, j] - (M[i, k] + M[k, j]), i, j, k)
            for i in range(d)
            for j in range(d)
            for k in range(d)
            if M[i, j] > M[i, k] + M[k, j]
        ),
        key=lambda v: (-v[0], v[1:]),
    )


@given(square_matrices())
def test_violations_by_definition(M):
    expected = literal_violations(M)
    assert gm.triangle_violation(M) == (expected[0][0] if expected else 0.0)
    found = gm.metric_violations(M, max_items=1000)
    for v in found:
        assert v.amount == M[v.i, v.j] - (M[v.i, v.k] + M[v.k, v.j])
        assert v.amount > 0
    symmetric = np.array_equal(M, M.T)
    wanted = [v for v in expected if not symmetric or v[1] <= v[2]]
    assert sorted(v.amount for v in found) == sorted(v[0] for v in wanted)
    assert {v[:3] for v in found} == {v[1:] for v in wanted}
    metric = not expected and symmetric and not np.diag(M).any()
    assert gm.is_metric(M) == metric


def test_worst_first_and_no_more_than_asked_for():
    M = LINE.copy()
    M[0, 4] = M[4, 0] = 10.0  # 6 too long through 1, 2, 3
    M[1, 3] = M[3, 1] = 2.5  # 0.5 too long through 2
    found = gm.metric_violations(M, max_items=3)
    assert [v.amount for v in found] == [6.0, 6.0, 6.0]
    assert {(v.i, v.j) for v in found} == {(0, 4)}
    assert len(gm.metric_violations(M)) == 4
    assert gm.metric_violations(M, max_items=0) == []
    assert gm.metric_violations(LINE) == []


def test_tolerance():
    M = LINE.copy()
    M[0, 2] = M[2, 0] = 2.25
    assert not gm.is_metric(M)
    assert not gm.is_metric(M, tol=0.2)
    assert gm.is_metric(M, tol=0.25)
    M = LINE + np.diag([0, 0.125, 0, 0, 0])
    assert not gm.is_metric(M)
    assert gm.is_metric(M, tol=0.125)
    M = LINE + np.triu(np.full((5, 5), 0.125), 1)
    assert not gm.is_metric(M)
    assert gm.is_metric(M, tol=0.25)


@pytest.mark.parametrize("d", [1, 2, 9, 70, 300])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_closure_is_the_shortest_paths(d, n_jobs):
    rng = np.random.default_rng(d)
    M = np.triu(rng.random((d, d)) ** 4, 1)
    M = M + M.T
    C = gm.metric_closure(M, n_jobs=n_jobs)
    assert gm.triangle_violation(C, n_jobs=n_jobs) == 0.0
    assert gm.is_metric(C)
    literal = M.copy()  # Floyd and Warshall
    for k in range(d):
        literal = np.minimum(literal, literal[:, k : k + 1] + literal[k : k + 1])
    np.testing.assert_allclose(C, literal, rtol=1e-14)
    assert (C <= M).all()
    np.testing.assert_array_equal(gm.metric_closure(C), C)


def test_closure_of_a_sparse_graph_is_a_long_chain():
    d = 100
    M = np.full((d, d), 1e6)
    np.fill_diagonal(M, 0.0)
    M[np.arange(d - 1), np.arange(1, d)] = M[np.arange(1, d), np.arange(d - 1)] = 1.0
    line = np.abs(np.subtract.outer(np.arange(d), np.arange(d)))
    np.testing.assert_array_equal(gm.metric_closure(M), line)


@pytest.mark.parametrize("kind", KINDS)
def test_detours_at_every_size(kind):
    # Sizes around the widths of vectors, blocks and panels.
    for d in (1, 7, 8, 9, 15, 17, 31, 33, 130, 257):
        M = matrix(np.random.default_rng(d), kind, d)
        literal = np.min(M[:, :, None] + M[None], axis=1)
        expected = max(0.0, (M - literal).max())
        assert gm.triangle_violation(M) == expected


@pytest.mark.parametrize(
    "function",
    [gm.is_metric, gm.triangle_violation, gm.metric_violations, gm.metric_closure],
)
def test_bad_input(function):
    with pytest.raises(ValueError, match=r"M has shape \(2, 3\), but must be square"):
        function(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"M\[1, 0\] is nan: .* finite"):
        function([[0, 1], [float("nan"), 0]])


def test_bad_dissimilarities():
    with pytest.raises(ValueError, match=r"M\[0, 1\] is -1\.0: .* negative"):
        gm.metric_closure([[0, -1], [-1, 0]])
    with pytest.raises(ValueError, match=r"M\[0, 1\] is 1\.0: .* symmetric"):
        gm.metric_closure([[0, 1], [2, 0]])
    with pytest.raises(ValueError, match=r"M\[1, 1\] is 3\.0: the diagonal"):
        gm.metric_closure([[0, 1], [1, 3]])
    with pytest.raises(ValueError, match=r"tol is -0\.5"):
        gm.is_metric(LINE, tol=-0.5)
    with pytest.raises(ValueError, match="max_items is -1"):
        gm.metric_violations(LINE, max_items=-1)
