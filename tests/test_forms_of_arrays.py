"""Arrays of half precision, and masked arrays."""

import numpy as np
import pytest

import groundmetric as gm
from groundmetric import validation

M = 1 - np.eye(4)
X = np.array([[4, 2, 1, 1], [1, 1, 4, 2], [2, 4, 1, 1], [1, 1, 2, 4]]) / 8
y = np.array([0, 1, 0, 1])
CALLS = {
    "emd": lambda rows: gm.emd(rows[0], rows[1], M),
    "rows": lambda rows: gm.emd(rows, rows[::-1], M),
    "plan": lambda rows: gm.transport(rows[0], rows[1], M).plan,
    "pairwise": lambda rows: gm.pairwise_emd(rows, metric=M),
    "points": lambda rows: gm.pairwise_emd(rows, points=M),
    "batch": lambda rows: gm.TransportBatch(rows, [(0, 1)]).solve(M).values,
    "hat": lambda rows: gm.pairwise_emd_hat(rows, metric=M),
    "neighbors": lambda rows: gm.EMDNeighbors(M).fit(rows).kneighbors(n_neighbors=2)[0],
    "near points": lambda rows: (
        gm.EMDNeighbors(points=M).fit(rows).kneighbors(n_neighbors=2)[0]
    ),
    "learner": lambda rows: gm.GroundMetricLearning(max_steps=2).fit(rows, y).metric_,
    "smoothed": lambda rows: gm.sinkhorn_divergence(rows, metric=M),
    "table": lambda rows: gm.typical_table(rows[0], rows[1]),
}


@pytest.mark.parametrize("name", CALLS)
def test_half_precision_is_the_float64_array_of_its_values(name):
    rows = X.astype(np.float16)
    np.testing.assert_array_equal(
        CALLS[name](rows), CALLS[name](rows.astype(np.float64))
    )


def test_half_precision_in_costs_and_points():
    points = np.linspace(0, 1, 8).reshape(4, 2).astype(np.float16)
    wide = points.astype(np.float64)
    np.testing.assert_array_equal(
        gm.pairwise_emd(X, points=points), gm.pairwise_emd(X, points=wide)
    )
    cost = np.abs(wide[:, :1] - wide[:, 1]).astype(np.float16)
    assert gm.emd(X[0], X[1], cost) == gm.emd(X[0], X[1], cost.astype(np.float64))


@pytest.mark.parametrize("name", CALLS)
def test_masked_arrays_without_a_masked_entry(name):
    for mask in (False, np.zeros(X.shape, bool)):
        rows = np.ma.array(X, mask=mask)
        np.testing.assert_array_equal(CALLS[name](rows), CALLS[name](X))


@pytest.mark.parametrize("name", CALLS)
def test_masked_entries_are_named(name):
    rows = np.ma.array(X, mask=np.eye(4))
    with pytest.raises(ValueError, match=r"is a masked array, and \w+\[0(, 0)?\] is m"):
        CALLS[name](rows)


def test_masked_labels():
    learner = gm.GroundMetricLearning(max_steps=1)
    same = learner.fit(X, np.ma.array(y)).metric_
    np.testing.assert_array_equal(same, learner.fit(X, y).metric_)
    with pytest.raises(ValueError, match=r"y is a masked array, and y\[2\] is masked"):
        learner.fit(X, np.ma.array(y, mask=[0, 0, 1, 0]))


def test_the_data_of_a_masked_array_are_not_copied():
    rows = np.ma.array(X)
    assert np.shares_memory(validation.as_float_array(rows, "X", 2), X)
