"""emd of rows: row i of one set with row i of the other."""

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.spatial.distance import cdist

import groundmetric as gm
import problems

pytestmark = pytest.mark.core

M = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def one_by_one(R, C, metric):
    return np.array([gm.emd(r, c, metric) for r, c in zip(R, C, strict=True)])


def test_by_hand():
    # Two units move by two bins; one unit moves by one.
    values = gm.emd([[3, 1, 0], [0, 2, 0]], [[1, 1, 2], [1, 1, 0]], M)
    np.testing.assert_array_equal(values, [4.0, 1.0])


@pytest.mark.parametrize("kind", ["euclidean", "negative"])
def test_the_same_as_one_by_one(rng, kind):
    pairs = [problems.pair(rng, "dense", 12) for _ in range(20)]
    R, C = (np.array([pair[k] for pair in pairs]) for k in (0, 1))
    R, C = (rows / rows.sum(axis=1, keepdims=True) for rows in (R, C))
    metric = problems.cost(rng, kind, 12)
    values = gm.emd(R, C, metric)
    assert values.shape == (20,)
    np.testing.assert_allclose(values, one_by_one(R, C, metric), rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(gm.emd(R, C, metric, n_jobs=2), values)


def test_masses_are_equal_in_each_pair_only(rng):
    R = rng.integers(1, 9, (6, 4)).astype(float)
    C = R[:, ::-1]
    metric = cdist(*(2 * [rng.random((4, 2))]))
    expected = [gm.emd(r, c, metric) for r, c in zip(R, C, strict=True)]
    assert len(set(R.sum(axis=1))) > 1
    for r, c in ((R, C), (csr_array(R), csr_array(C)), (R.tolist(), C.tolist())):
        np.testing.assert_allclose(gm.emd(r, c, metric), expected, rtol=1e-12)
    wide = np.pad(R, ((0, 0), (0, 2996)))  # sparse rows stay sparse
    there = np.pad(C, ((0, 0), (0, 2996)))
    costs = np.pad(metric, (0, 2996))
    found = gm.emd(csr_array(wide), csr_array(there), costs)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_one_vector_with_all_rows(rng):
    R = rng.dirichlet(np.ones(5), 7)
    metric = problems.cost(rng, "asymmetric", 5)
    there, back = gm.emd(R[0], R, metric), gm.emd(R, R[0], metric.T)
    np.testing.assert_allclose(there, gm.pairwise_emd(R[:1], R, metric=metric)[0])
    np.testing.assert_allclose(there, back)
    np.testing.assert_array_equal(gm.emd(R[:1], R, metric), there)


def test_the_type_depends_on_the_shape(rng):
    R = rng.dirichlet(np.ones(3), 2)
    assert type(gm.emd(R[0], R[1], M)) is float
    assert type(gm.emd(csr_array(R[:1]), R[1], M)) is float
    assert type(gm.emd(csr_matrix(R)[0], csr_matrix(R)[1], M)) is float
    assert gm.emd(R[:1], R[1:], M).shape == (1,)
    assert gm.emd(R, R, M).tolist() == [0.0, 0.0]


def test_between_points(rng):
    R, C = rng.dirichlet(np.ones(6), (2, 5))
    points = rng.normal(size=(6, 2))
    for name in ("euclidean", "sqeuclidean", "cosine"):
        metric = cdist(points, points, name)
        expected = one_by_one(R, C, metric)
        for r, c in ((R, C), (csr_array(R), csr_array(C))):
            values = gm.emd(r, c, name, points=points)
            np.testing.assert_allclose(values, expected, rtol=1e-9)
        assert np.isclose(gm.emd(R[0], C[0], name, points=points), expected[0])
        t = gm.transport(R[0], C[0], name, points=points)
        assert np.isclose(t.value, expected[0])
        assert abs(t.duality_gap) <= 1e-12


def test_point_clouds_in_pairs(rng):
    R, C = (
        [(rng.integers(1, 5, k) * 1.0, rng.random((k, 2))) for k in (3, 4)]
        for _ in range(2)
    )
    C = [(m * r[0].sum() / m.sum(), p) for (m, p), r in zip(C, R, strict=True)]
    expected = [gm.emd(r, c, cdist(p, q)) for (r, p), (c, q) in zip(R, C, strict=True)]
    np.testing.assert_allclose(gm.emd(R, C), expected, rtol=1e-12)
    equal = [(m / m.sum(), p) for m, p in R]
    np.testing.assert_allclose(gm.emd(equal, equal[:1])[0], 0.0, atol=1e-12)


BAD = [
    ("r has 3 histograms, but c has 2", np.eye(3), np.eye(3)[:2], {}),
    ("c[1] has mass 2.0, but r[1] has mass 1.0", np.eye(3), np.diag([1, 2, 1]), {}),
    ("c has mass 2.0, but r[0] has mass 1.0", np.eye(3), [1, 1, 0], {}),
    ("r[2, 0] is nan", [[1, 0, 0]] * 2 + [[np.nan, 0, 0]], [1, 0, 0], {}),
    ("c[1] has zero mass", np.eye(3)[:2], [[1, 0, 0], [0, 0, 0]], {}),
    ("have 3 and 2 bins", np.eye(3), [[0.5, 0.5]], {}),
    ("metric is None, but there are no points", np.eye(3), np.eye(3), {"metric": None}),
    ("metric is a matrix, but points are given", np.eye(3), np.eye(3), {"points": M}),
    ("n_jobs is 0", np.eye(3), np.eye(3), {"n_jobs": 0}),
    ("n_jobs is 0", [1, 0, 0], [0, 1, 0], {"n_jobs": 0}),
    (
        "c[0] has mass 2.0, but r[0] has mass 1.0",
        [([1], [[0]])],
        [([2], [[0]])],
        {"metric": None},
    ),
]


@pytest.mark.parametrize(("message", "r", "c", "options"), BAD)
def test_bad_input_in_a_sentence(message, r, c, options):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the message is below
        gm.emd(r, c, **{"metric": M} | options)
    assert message in str(caught.value)


def test_one_pair_of_points_has_bins_alike():
    with pytest.raises(ValueError, match="r has 2 bins, but c has 1"):
        gm.emd([1, 1], [2], points=[[0], [1]])
