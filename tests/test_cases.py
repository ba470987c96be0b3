"""Dense, sparse, points: one function decides which case a call is."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import groundmetric as gm
from groundmetric.validation import Case, case_of, cases

X = np.array([[2.0, 1.0, 1.0], [1.0, 1.0, 2.0]])
POINTS = np.array([[0.0], [1.0], [3.0]])
METRIC = np.abs(POINTS - POINTS.T)
CLOUDS = [([1.0, 1.0], [[0.0], [1.0]]), ([2.0], [[3.0]])]


def batch(rows, metric, points):
    return gm.TransportBatch(rows, [(0, 1)], points=points).solve(metric)


CALLS = {
    "pairwise_emd": lambda rows, metric, points: gm.pairwise_emd(
        rows, metric=metric, points=points
    ),
    "TransportBatch": batch,
    "sinkhorn_divergence": lambda rows, metric, points: gm.sinkhorn_divergence(
        rows, metric=metric, points=points
    ),
    "EMDNeighbors": lambda rows, metric, points: gm.EMDNeighbors(
        metric, points=points
    ).fit(rows),
}
ALL_CALLS = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


def test_the_case_of_a_call(monkeypatch):
    sparse = csr_array(X)
    assert case_of(X) is Case.DENSE
    assert case_of(sparse) is Case.DENSE
    assert case_of(sparse, points=POINTS) is case_of(X, None, POINTS) is Case.POINTS
    assert case_of(CLOUDS) is case_of(CLOUDS, CLOUDS) is Case.POINTS
    monkeypatch.setattr(cases, "WIDE", 2)
    assert case_of(sparse) is case_of(sparse, sparse) is Case.SPARSE
    assert case_of(sparse, X) is case_of(X, sparse) is Case.DENSE
    assert case_of(sparse, csr_array(np.eye(2))) is Case.DENSE  # on other bins


@ALL_CALLS
def test_a_matrix_with_points_is_rejected(call):
    with pytest.raises(ValueError, match="metric is a matrix, but points are given as"):
        call(X, METRIC, POINTS)


@ALL_CALLS
@pytest.mark.parametrize("rows", [X, csr_array(X)], ids=["dense", "sparse"])
def test_a_name_without_points_is_rejected(call, rows):
    with pytest.raises(ValueError, match="metric is 'cosine', but there are no points"):
        call(rows, "cosine", None)


def test_a_matrix_with_point_clouds_is_rejected():
    for call in (CALLS["pairwise_emd"], CALLS["TransportBatch"]):
        with pytest.raises(ValueError, match="but points are given as well"):
            call(CLOUDS, METRIC, None)


def test_what_no_metric_is():
    assert Case.POINTS.accept(None) == "euclidean"
    for case in (Case.DENSE, Case.SPARSE):
        assert case.accept(METRIC) is METRIC
        with pytest.raises(ValueError, match="a matrix of costs is needed"):
            case.accept(None)
    uniform = gm.EMDNeighbors().fit(X)
    np.testing.assert_array_equal(uniform.metric_, 1 - np.eye(3))
