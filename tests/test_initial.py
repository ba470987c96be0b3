"""Initial metrics: Algorithm 3."""

import math

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import groundmetric as gm
from reference import initial_metric_sum, linear_minimum, triangle_fixing

pytestmark = pytest.mark.core

NORMS = ("l2", "l1", "polytope")


@pytest.fixture
def data():
    """Two classes of six histograms on five bins, their means far apart."""
    rng = np.random.default_rng(0)
    shapes = np.array([[5, 3, 1, 1, 1], [1, 1, 1, 3, 5]])
    y = np.repeat([0, 1], 6)
    X = rng.gamma(shapes[y] + 0.5)
    return X / X.sum(axis=1, keepdims=True), y


def literal(X, y, k, table, D=None, *, norm="l2"):
    """Algorithm 3, word by word: neighbors, tables, sum, triangle fixing."""
    omega = gm.label_similarity(y)
    D = cdist(X, X, "cityblock") if D is None else D

    def neighbors(i):
        out = []
        for sign in (1, -1):
            candidates = [j for j in range(len(X)) if sign * omega[i, j] > 0]
            candidates.sort(key=lambda j: (D[i, j], j))
            out += candidates[:k]
        return out

    Xi = initial_metric_sum(lambda i, j: table(X[i], X[j]), omega, neighbors)
    M = triangle_fixing(-0.5 * Xi) if norm == "l2" else linear_minimum(Xi, norm)[1]
    return M / np.linalg.norm(M)


@pytest.mark.parametrize("k", [None, 1, 3, 100])
@pytest.mark.parametrize("table", ["typical", "independence"])
def test_algorithm_3(data, k, table):
    X, y = data
    make = {"typical": gm.typical_table, "independence": gm.independence_table}[table]
    M = gm.initial_metric(X, y, table=table, n_neighbors=k)
    np.testing.assert_allclose(M, literal(X, y, k, make), atol=1e-5)
    assert np.linalg.norm(M) == pytest.approx(1.0)
    assert gm.is_metric(M)


@pytest.mark.parametrize("norm", ["l1", "polytope"])
@pytest.mark.parametrize("k", [None, 1])
def test_other_norms(data, k, norm):
    X, y = data
    M = gm.initial_metric(X, y, n_neighbors=k, norm=norm)
    slow = literal(X, y, k, gm.typical_table, norm=norm)
    np.testing.assert_allclose(M, slow, atol=1e-5)
    assert np.linalg.norm(M) == pytest.approx(1.0)
    assert gm.is_metric(M)
    U = gm.initial_metric(X, table="uniform")
    half = gm.initial_metric(X, y, n_neighbors=k, norm=norm, blend=0.5)
    np.testing.assert_allclose(half, (M + U) / np.linalg.norm(M + U), atol=1e-12)
    scaled = gm.initial_metric(
        X, similarity=7 * gm.label_similarity(y), n_neighbors=k, norm=norm, n_jobs=3
    )
    np.testing.assert_allclose(scaled, M, atol=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_a_descent_starts_there(data, norm):
    X, y = data
    M = gm.initial_metric(X, y, norm=norm, blend=0.5)
    learner = gm.GroundMetricLearning(init=M, max_steps=2).fit(X, y)
    first = learner.initial_metric_
    np.testing.assert_allclose(first / np.linalg.norm(first), M, rtol=1e-12)


@pytest.mark.parametrize("total", [1e-3, 1e4, math.inf])
def test_total(data, total):
    X, y = data
    M = gm.initial_metric(X, y, total=total)
    slow = literal(X, y, None, lambda r, c: gm.typical_table(r, c, total=total))
    np.testing.assert_allclose(M, slow, atol=1e-5)


def test_tables_agree_for_small_totals(data):
    X, y = data
    np.testing.assert_allclose(
        gm.initial_metric(X, y, total=1e-6),
        gm.initial_metric(X, y, table="independence"),
        atol=1e-6,
    )


def test_neighbors_by_a_metric(data):
    X, y = data
    line = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    M = gm.initial_metric(X, y, n_neighbors=2, neighbor_metric=line)
    D = gm.pairwise_emd(X, metric=line)
    np.testing.assert_allclose(M, literal(X, y, 2, gm.typical_table, D), atol=1e-5)


def test_uniform_is_half_of_l1(data):
    X, y = data
    M = gm.initial_metric(X, table="uniform")
    np.testing.assert_allclose(M, (1 - np.eye(5)) / np.sqrt(20))
    D = gm.pairwise_emd(X, metric=M * np.sqrt(20))
    np.testing.assert_allclose(2 * D, cdist(X, X, "cityblock"), atol=1e-14)
    np.testing.assert_array_equal(M, gm.initial_metric(X, y, table="uniform"))


def test_blend(data):
    X, y = data
    M, U = gm.initial_metric(X, y), gm.initial_metric(X, table="uniform")
    np.testing.assert_allclose(gm.initial_metric(X, y, blend=0.0), U, atol=1e-15)
    half = gm.initial_metric(X, y, blend=0.5)
    np.testing.assert_allclose(half, (M + U) / np.linalg.norm(M + U), atol=1e-12)
    assert gm.is_metric(half)


def test_labels_and_similarity_and_counts_agree(data):
    X, y = data
    M = gm.initial_metric(X, y)
    omega = gm.label_similarity(y)
    np.testing.assert_allclose(M, gm.initial_metric(X, similarity=omega), atol=1e-14)
    # Only signs and ratios of weights matter, and no diagonal.
    np.testing.assert_allclose(
        M, gm.initial_metric(X, similarity=7 * omega + np.eye(12)), atol=1e-6
    )
    for table in ("typical", "independence"):
        np.testing.assert_allclose(
            gm.initial_metric(X, y, table=table),
            gm.initial_metric(X * np.arange(1, 13)[:, None], y, table=table),
            atol=1e-6,
        )
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(
            M, gm.initial_metric(X, similarity=scale * omega), atol=1e-12
        )
    # The last bit of symmetry is not asked for.
    omega[0, 1] *= 1 + 1e-15
    np.testing.assert_allclose(M, gm.initial_metric(X, similarity=omega), atol=1e-12)
    np.testing.assert_array_equal(M, gm.initial_metric(X, y, n_jobs=3))


def test_the_metric_is_better_than_the_uniform_one_for_the_linear_criterion(data):
    X, y = data
    omega = gm.label_similarity(y)
    Xi = X.T @ omega @ X
    M = gm.initial_metric(X, y, table="independence")
    U = gm.initial_metric(X, table="uniform")
    assert (M * Xi).sum() < (U * Xi).sum()
    # It is the best: no other metric of unit norm has a smaller value.
    rng = np.random.default_rng(1)
    for _ in range(200):
        other = gm.project_metric(M + 0.3 * rng.normal(size=M.shape)).metric
        value = (other / np.linalg.norm(other) * Xi).sum()
        assert (M * Xi).sum() <= value + 1e-9


@pytest.mark.parametrize("norm", NORMS)
def test_no_metric_helps_is_a_warning(norm):
    # Similar histograms differ, dissimilar ones are equal: every metric makes similar
    # ones farther apart, and the projection is zero.
    X = [[1, 0], [0, 1], [1, 0], [0, 1]]
    similarity = gm.pair_similarity(4, [(0, 1), (2, 3)], [(0, 2), (1, 3)])
    with pytest.warns(UserWarning, match="no metric brings similar histograms closer"):
        M = gm.initial_metric(X, similarity=similarity, norm=norm)
    np.testing.assert_array_equal(M, gm.initial_metric(X, table="uniform"))


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("seed", range(20))
def test_no_metric_helps_whatever_rounding_says(seed, norm):
    # With X the identity and similarity -A, Xi is -A; for A a sum of normals of
    # triangle inequalities, <M, Xi> >= 0 for every metric M.
    rng = np.random.default_rng(seed)
    d = 10
    A = np.zeros((d, d))
    for _ in range(15):
        i, j, k = rng.choice(d, 3, replace=False)
        w = rng.random()
        A[i, j] += w
        A[i, k] -= w
        A[k, j] -= w
    with pytest.warns(UserWarning, match="no metric brings similar histograms closer"):
        gm.initial_metric(
            np.eye(d), similarity=-(A + A.T), table="independence", norm=norm
        )


@pytest.mark.parametrize("norm", NORMS)
def test_one_bin_and_two(norm):
    X = [[1], [2]]
    np.testing.assert_array_equal(gm.initial_metric(X, [0, 1], norm=norm), [[0.0]])
    X = [[1, 3], [2, 3], [3, 1], [3, 2]]
    found = gm.initial_metric(X, [0, 0, 1, 1], norm=norm)
    np.testing.assert_allclose(found, (1 - np.eye(2)) / np.sqrt(2), rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "requires y to be passed.*or a similarity"),
        (
            {"y": [0, 1], "similarity": np.eye(2)},
            "Pass either y or similarity, not both",
        ),
        ({"y": [0, 1, 1]}, "y has 3 labels for 2 histograms"),
        ({"y": [0, 0]}, "y has one class only, 0"),
        ({"similarity": np.zeros((2, 2))}, "similarity is zero for all pairs"),
        ({"similarity": [[0, 1], [2, 0]]}, r"similarity\[0, 1\] is 1\.0, .* symmetric"),
        ({"similarity": [[0, 1]]}, r"similarity has shape \(1, 2\) for 2 histograms"),
        ({"similarity": [[0, np.nan], [0, 0]]}, r"similarity\[0, 1\] is nan"),
        ({"y": [0, 1], "table": "mean"}, "table is 'mean'; it must be one of typical"),
        ({"y": [0, 1], "norm": "l3"}, "norm is 'l3'; it must be one of l2, l1, poly"),
        ({"y": [0, 1], "n_neighbors": 0}, "n_neighbors is 0; it must be at least 1"),
        ({"y": [0, 1], "blend": 1.5}, r"blend is 1\.5; a number from 0\.0 to 1\.0"),
        ({"y": [0, 1], "total": -1}, "total is -1"),
        ({"table": "uniform", "n_neighbors": 0}, "n_neighbors is 0"),
        ({"y": [0, 1], "neighbor_metric": [[0]]}, "neighbor_metric has shape"),
    ],
)
@pytest.mark.filterwarnings("ignore:Class")
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        gm.initial_metric([[1, 2], [2, 1]], **options)
