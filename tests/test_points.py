"""Sparse histograms whose bins have coordinates, and point clouds."""

import importlib
import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import coo_array, csr_array, csr_matrix
from scipy.spatial.distance import cdist

import groundmetric as gm
from certificates import check_transport
from groundmetric import _core
from groundmetric.transport import _pairs
from groundmetric.validation import cases
from strategies import COORDINATES, MASSES, histogram_pairs

_points = importlib.import_module("groundmetric.transport._points")

pytestmark = pytest.mark.core


class NeverDense(csr_matrix):
    """A sparse matrix that must stay so."""

    def toarray(self, *_, **__):  # noqa: D102 - scipy's
        raise AssertionError("made dense")

    todense = __array__ = toarray


def bags(rng, n, d, size):
    """Bags of about `size` words, of mass 1, most of them frequent ones."""
    counts = np.zeros((n, d))
    for row in counts:
        np.add.at(row, (d * rng.random(size) ** 3).astype(int), 1.0)
    return csr_array(counts / counts.sum(axis=1, keepdims=True))


def by_hand(X, Y, ground):
    """Cut out both supports, compute their costs, solve; check the certificates."""
    out = np.empty((X.shape[0], Y.shape[0]))
    for i, r in enumerate(X.toarray()):
        for j, c in enumerate(Y.toarray()):
            p, q = np.flatnonzero(r), np.flatnonzero(c)
            cost = ground(p, q)
            t = gm.transport(r[p], c[q], cost)
            check_transport(t, r[p], c[q], cost)
            out[i, j] = t.value
    return out


def test_word_movers_distance_by_hand():
    # Kusner et al.: each word moves to its nearest. "a" (0, 0) and "b" (3, 4), half the
    # mass each, against "b" alone: b stays, a moves by 5.
    vectors = [[0, 0], [3, 4]]
    assert gm.pairwise_emd([[0.5, 0.5]], [[0, 1]], points=vectors) == 2.5


@pytest.mark.parametrize("size", [5, 40])
def test_supports_cut_out_by_hand(size):
    rng = np.random.default_rng(size)
    X, Y, points = (
        bags(rng, 6, 300, size),
        bags(rng, 5, 300, size),
        rng.normal(size=(300, 7)),
    )
    expected = by_hand(X, Y, lambda p, q: cdist(points[p], points[q]))
    for n_jobs in (1, 2, 3):
        found = gm.pairwise_emd(X, Y, points=points, n_jobs=n_jobs)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@settings(max_examples=200, deadline=None)
@given(histogram_pairs(), st.data())
def test_equals_the_matrix_of_all_costs(pair, data):
    r, c = pair
    points = data.draw(hnp.arrays(float, (len(r), 2), elements=COORDINATES))
    expected = gm.emd(r, c, cdist(points, points))
    found = gm.pairwise_emd(csr_array([r]), csr_array([c]), points=points)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_the_same_bits_as_with_a_matrix_on_a_line():
    # Distances between whole numbers are exact either way, and so is their scaling.
    rng = np.random.default_rng(0)
    X, points = bags(rng, 12, 64, 30), np.zeros((64, 2))
    points[:, 0] = rng.permutation(64)  # with one coordinate they would be sorted
    found = gm.pairwise_emd(X, points=points)
    expected = gm.pairwise_emd(X, metric=cdist(points, points))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.parametrize("metric", [*_points.METRICS, "sqeuclidean", "cosine"])
def test_other_metrics_of_scipy(metric, monkeypatch):
    monkeypatch.setattr(_points, "BLOCK", 60)  # several blocks
    rng = np.random.default_rng(1)
    X, Y = bags(rng, 9, 80, 25), bags(rng, 7, 80, 25)
    points = rng.integers(1, 4, (80, 3)).astype(float)
    cost = cdist(points, points, metric)
    for other in (None, Y):
        found = gm.pairwise_emd(X, other, points=points, metric=metric)
        expected = gm.pairwise_emd(X, other, metric=cost)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    own = gm.pairwise_emd(X, points=points, metric=metric)
    np.testing.assert_array_equal(own, own.T)


def test_functions_need_not_be_symmetric_or_metrics():
    rng = np.random.default_rng(2)
    X, points = bags(rng, 8, 50, 20), rng.normal(size=(50, 2))

    def uphill(left, right):
        return np.maximum(right[:, 0] - left[:, 0, None], 0.1)

    found = gm.pairwise_emd(X, points=points, metric=uphill)
    expected = gm.pairwise_emd(X, metric=uphill(points, points))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert not np.array_equal(found, found.T)
    assert (np.diag(found) > 0).all()


def test_sparse_histograms_stay_sparse():
    # 50 million bins: neither the histograms nor anything else has a place for each.
    rng = np.random.default_rng(3)
    X = bags(rng, 10, 500, 20)
    wide = csr_array((X.data, X.indices * 1000, X.indptr), shape=(10, 500_000))
    points = rng.normal(size=(500, 2))
    coordinates = np.zeros((500_000, 2))
    coordinates[::1000] = points
    found = gm.pairwise_emd(NeverDense(wide), points=coordinates)
    np.testing.assert_array_equal(found, gm.pairwise_emd(X, points=points))


def test_many_bins_with_a_matrix(monkeypatch):
    rng = np.random.default_rng(8)
    X, Y = bags(rng, 7, 40, 15), bags(rng, 5, 40, 15)
    cost = rng.normal(size=(40, 40))
    expected = [gm.pairwise_emd(X, Z, metric=cost) for Z in (None, Y)]
    metric = cdist(cost, cost)
    own = gm.pairwise_emd(X, metric=metric)
    monkeypatch.setattr(cases, "WIDE", 39)
    for Z, other in zip((None, NeverDense(Y)), expected, strict=True):
        found = gm.pairwise_emd(NeverDense(X), Z, metric=cost, n_jobs=2)
        np.testing.assert_allclose(found, other, rtol=1e-12)
    found = gm.pairwise_emd(NeverDense(X), metric=metric)
    np.testing.assert_allclose(found, own, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(found, found.T)
    with pytest.raises(ValueError, match=r"metric has shape \(39, 39\)"):
        gm.pairwise_emd(X, metric=cost[:39, :39])


def test_any_form_of_input():
    rng = np.random.default_rng(4)
    X, points = bags(rng, 5, 30, 12), rng.normal(size=(30, 2))
    expected = gm.pairwise_emd(X, points=points)
    counts = 12 * X.toarray()
    twice = coo_array(X)
    twice = coo_array(
        (
            np.r_[twice.data, twice.data] / 2,
            (np.tile(twice.row, 2), np.tile(twice.col, 2)),
        ),
        shape=X.shape,
    )
    for given_x, mass in (
        (X.toarray(), 1),
        (X.toarray().tolist(), 1),
        (csr_array(counts.round().astype(np.int32)), 12),
        (X.tocsc(), 1),
        (twice, 1),
    ):
        found = gm.pairwise_emd(given_x, points=points.tolist())
        np.testing.assert_allclose(found, mass * expected, rtol=1e-12, atol=1e-15)


@settings(deadline=None)
@given(st.lists(st.integers(1, 5), min_size=2, max_size=4), st.data())
def test_point_clouds(sizes, data):
    clouds = []
    for size in sizes:
        masses = data.draw(hnp.arrays(float, size, elements=MASSES)) + 0.25
        points = data.draw(hnp.arrays(float, (size, 2), elements=COORDINATES))
        clouds.append((masses / masses.sum(), points))
    expected = [[gm.emd(a, b, cdist(p, q)) for b, q in clouds] for a, p in clouds]
    found = gm.pairwise_emd(clouds)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    both = gm.pairwise_emd(clouds[:1], clouds, metric="cityblock")
    direct = [
        gm.emd(clouds[0][0], b, cdist(clouds[0][1], q, "cityblock")) for b, q in clouds
    ]
    np.testing.assert_allclose(both[0], direct, rtol=1e-12, atol=1e-14)


def test_coordinates_of_any_size():
    rng = np.random.default_rng(5)
    X, points = bags(rng, 4, 20, 9), rng.normal(size=(20, 3))
    expected = gm.pairwise_emd(X, points=points)
    for scale in (2.0**-900, 2.0**900):
        found = gm.pairwise_emd(X, points=points * scale)
        np.testing.assert_array_equal(found, expected * scale)
    assert not gm.pairwise_emd(X, points=np.zeros((20, 1))).any()


def test_many_bins_in_common_are_forgotten_in_time():
    # 1,100 bins each, most of them new: more than the 32 MB that are kept.
    rng = np.random.default_rng(6)
    points = rng.normal(size=(9000, 1))
    X = csr_array(
        (np.ones(8 * 1100), rng.permutation(9000)[: 8 * 1100], np.arange(0, 8801, 1100))
    )
    X.resize((8, 9000))
    found = gm.pairwise_emd(X, points=points)
    # On a line the distance is the area between the distribution functions.
    order = np.argsort(points[:, 0])
    levels = np.cumsum(X.toarray()[:, order], axis=1)[:, :-1]
    gaps = np.diff(points[order, 0])
    expected = [[np.abs(a - b) @ gaps for b in levels] for a in levels]
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_pairs_travel(metric):
    rng = np.random.default_rng(7)
    X, points = bags(rng, 5, 30, 12), rng.normal(size=(30, 2))
    pairs = _pairs.all_pairs(X, None, metric, points)
    expected = pairs.solve(slice(0, 5), slice(0, 5), 1, None)
    there = pickle.loads(pickle.dumps(pairs))  # noqa: S301 - our own
    block = there.solve(slice(1, 3), slice(3, 5), 1, None)
    np.testing.assert_array_equal(block, expected[1:3, 3:5])


NO_POINTS = {"points": None}
LINE = [[2.0], [1.0], [0.0]]
BAD = [
    ("X[1, 2] is nan: entries must be finite", [[1, 0, 0], [1, 0, np.nan]], {}),
    ("X[0, 1] is -1.0: histograms must not have negative", [[2, -1, 0]], {}),
    ("X[1] has zero mass", [[1, 0, 0], [0, 0, 0]], {}),
    ("Y[0] has mass 2.0, but X[0] has mass 1.0", None, {"Y": [[2, 0, 0]]}),
    ("X has 3 bins, but Y has 2", None, {"Y": [[1, 0]]}),
    (
        "points has shape (2, 1), but the histograms have 3",
        None,
        {"points": [[0], [1]]},
    ),
    ("points[1, 0] is inf", None, {"points": [[0], [np.inf], [1]]}),
    ("metric is 'mahalanobis', which scales", None, {"metric": "mahalanobis"}),
    ("metric is 'se', which is not the full name", None, {"metric": "se"}),
    ("metric is 'nearly', which is not the full", None, {"metric": "nearly"}),
    ("metric is a matrix, but points are given", None, {"metric": np.eye(3)}),
    (
        "metric returned costs of shape (1, 1) for 3 and 3",
        [[1, 1, 1]],
        {"metric": lambda _left, _right: [[0.0]]},
    ),
    ("metric is nan between points 0 and 2", [[1, 0, 1]], {"metric": "cosine"}),
    ("and X is not a list of point clouds", np.eye(3), NO_POINTS),
    ("metric is None, but there are no points", [[1, 0], [0, 1]], NO_POINTS),
    ("but X[1] is not a pair of arrays", [([1], [[0]]), [1, 0]], NO_POINTS),
    ("X[0][1] has shape (1, 1), but the", [([1, 1], [[0]])], NO_POINTS),
    (
        "X[1] has points with 2 coordinates, but those of X[0] have 1",
        [([1], [[0]]), ([1], [[0, 0]])],
        NO_POINTS,
    ),
    (
        "The points of X have 1 coordinates, but those of Y have 2",
        [([1], [[0]])],
        {"Y": [([1], [[0, 0]])], **NO_POINTS},
    ),
]


@pytest.mark.parametrize(("message", "X", "options"), BAD)
def test_bad_input_in_a_sentence(message, X, options):
    X = [[1, 0, 0], [0, 0, 1]] if X is None else X
    with pytest.raises(ValueError, match=re.escape(message)):
        gm.pairwise_emd(X, **{"points": LINE} | options)


def test_the_core_checks_what_would_read_out_of_bounds():
    values, starts = np.ones(2), np.array([0, 2])
    for bins in ([1, 0], [0, 3], [-1, 0]):
        with pytest.raises(ValueError, match="not rising, or out of range"):
            _core.SparseMasses(values, np.array(bins, np.int32), starts, 3, 2.0)
    x = _core.SparseMasses(values, np.array([0, 2], np.int32), starts, 3, 2.0)
    with pytest.raises(ValueError, match="do not have 2 bins"):
        _core.pairwise_points(x, x, _core.Points(np.zeros((2, 1))), False, 1, None)
    cost, bins = _core.CostMatrix(np.zeros((1, 1))), np.array([0], np.int32)
    with pytest.raises(ValueError, match="Bin 2 has no costs"):
        _core.pairwise_sparse(x, x, cost, bins, bins, True, True, 1, None)
