"""Nearest neighbors of sparse histograms whose bins have coordinates."""

import pickle
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array, vstack
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.transport import _points
from strategies import COORDINATES, MASSES
from test_points import NeverDense, bags

pytestmark = pytest.mark.core


def brute_force(Q, X, points, k, radius=np.inf, *, metric=None):
    """All distances, sorted by distance, then by index; Q None: excluding oneself."""
    pair = (X, None) if Q is None else (Q, X)
    D = gm.pairwise_emd(*pair, points=points, metric=metric)
    if Q is None:
        np.fill_diagonal(D, np.nan)
    order = np.argsort(D, axis=1, kind="stable")  # NaN comes last
    found = [row[order[i]] for i, row in enumerate(D)]
    n = [min(k, int((row <= radius).sum())) for row in found]
    return [row[:m] for row, m in zip(found, n, strict=True)], [
        row[:m] for row, m in zip(order, n, strict=True)
    ]


@pytest.fixture(scope="module")
def texts():
    """Make a base of 120 documents and 10 queries; words lie in three topics."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(400, 20)) + 3.0 * rng.integers(0, 3, (400, 1))
    X = bags(rng, 130, 400, 30)
    return X[:120], X[120:], points


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_same_as_all_distances_with_fewer_solves(texts, n_jobs):
    X, Q, points = texts
    search = gm.EMDNeighbors(points=points, n_neighbors=4, n_jobs=n_jobs).fit(X)
    for queries in (Q, None):
        distances, indices = search.kneighbors(queries)
        expected = brute_force(queries, X, points, 4)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(indices, expected[1])
        assert search.n_solves_ < 0.5 * len(indices) * 120
    radius = float(np.median(search.kneighbors(Q)[0]))
    distances, indices = search.radius_neighbors(Q, radius, sort_results=True)
    expected = brute_force(Q, X, points, 120, radius)
    for k in range(len(indices)):
        np.testing.assert_array_equal(distances[k], expected[0][k])
        np.testing.assert_array_equal(indices[k], expected[1][k])


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 6), st.integers(1, 5), st.data())
def test_ties_and_duplicates(n, d, data):
    X = data.draw(hnp.arrays(float, (n, d), elements=MASSES))
    X[:, 0] += X.sum(axis=1) == 0
    X /= X.sum(axis=1, keepdims=True)
    points = data.draw(hnp.arrays(float, (d, 2), elements=COORDINATES))
    k = data.draw(st.integers(1, n - 1))
    search = gm.EMDNeighbors(points=points, n_neighbors=k).fit(X)
    # The search normalizes again, as brute force has to.
    rows = csr_array(X)
    for queries in (X, None):
        distances, indices = search.kneighbors(queries)
        expected = brute_force(None if queries is None else rows, rows, points, k)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(indices, expected[1])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e-3, 1e4, 1e12]))
def test_bounds_in_single_precision_rule_nobody_out(seed, offset):
    # Far from the origin, or closer to each other than a float can tell.
    rng = np.random.default_rng(seed)
    d, s = 12, int(rng.integers(1, 30))
    points = rng.normal(size=(d, s)) * 10.0 ** rng.integers(-9, 3, (d, 1)) + offset
    points[rng.integers(d)] = points[0]
    X = csr_array(
        rng.integers(1, 4, (9, d)) * (rng.random((9, d)) < 0.5) + np.eye(9, d)
    )
    X = csr_array(X / X.sum(axis=1)[:, None])
    search = gm.EMDNeighbors(points=points, n_neighbors=3).fit(X)
    for queries in (X[:3], None):
        distances, indices = search.kneighbors(queries)
        expected = brute_force(queries, X, points, 3)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(indices, expected[1])


def test_a_thousand_documents_and_few_solves():
    # By topics, nearly all others are ruled out by their centroids or relaxed bounds.
    rng = np.random.default_rng(1)
    points = rng.normal(size=(600, 10)) + 30.0 * np.repeat(np.eye(10), 60, axis=0)
    topics = [
        np.bincount(60 * t + rng.integers(0, 60, 30), minlength=600)
        for t in rng.integers(0, 10, 1000)
    ]
    search = gm.EMDNeighbors(points=points).fit(csr_array(np.array(topics)))
    search.kneighbors(csr_array(np.array(topics[:20])))
    assert search.n_solves_ < 0.03 * 20 * 1000


def uphill(left, right):
    """Costs that depend on the direction, and are negative down the hill."""
    return cdist(left, right, "cityblock") + 0.5 * (right[:, 0] - left[:, :1])


def few_bins_at_a_time(monkeypatch):
    """Ten histograms or so in each part of the base, and as many queries."""
    monkeypatch.setattr(_points, "BLOCK", 256)


@pytest.mark.parametrize("metric", ["cityblock", "sqeuclidean", "hamming", uphill])
def test_other_metrics_are_the_same_as_all_distances(texts, metric, monkeypatch):
    few_bins_at_a_time(monkeypatch)
    X, Q, points = texts
    points = points.round()  # so that some bins share coordinates
    search = gm.EMDNeighbors(metric, points=points, n_neighbors=4, n_jobs=2).fit(X)
    for queries in (Q, None):
        distances, indices = search.kneighbors(queries)
        expected = brute_force(queries, X, points, 4, metric=metric)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(indices, expected[1])
    radius = float(np.median(search.kneighbors(Q)[0]))
    found = search.radius_neighbors(Q, max(radius, 0.0), sort_results=True)
    expected = brute_force(Q, X, points, 120, max(radius, 0.0), metric=metric)
    for k in range(len(found[0])):
        np.testing.assert_array_equal(found[0][k], expected[0][k])
        np.testing.assert_array_equal(found[1][k], expected[1][k])


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(["cityblock", "sqeuclidean", uphill]),
    st.integers(2, 6),
    st.integers(1, 5),
    st.data(),
)
def test_ties_and_duplicates_under_other_metrics(metric, n, d, data):
    X = data.draw(hnp.arrays(float, (n, d), elements=MASSES))
    X[:, 0] += X.sum(axis=1) == 0
    X /= X.sum(axis=1, keepdims=True)
    points = data.draw(hnp.arrays(float, (d, 2), elements=COORDINATES))
    k = data.draw(st.integers(1, n - 1))
    with pytest.MonkeyPatch.context() as patch:
        # A part for every histogram or two.
        patch.setattr(_points, "BLOCK", d)
        search = gm.EMDNeighbors(metric, points=points, n_neighbors=k).fit(X)
        found = [search.kneighbors(queries) for queries in (X, None)]
    rows = csr_array(X)
    for (distances, indices), queries in zip(found, (rows, None), strict=True):
        expected = brute_force(queries, rows, points, k, metric=metric)
        np.testing.assert_array_equal(distances, expected[0])
        np.testing.assert_array_equal(indices, expected[1])


@pytest.mark.parametrize("metric", ["cityblock", "sqeuclidean", "cosine"])
def test_relaxed_bounds_rule_out_most_pairs_under_other_metrics(metric, monkeypatch):
    few_bins_at_a_time(monkeypatch)
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 10)) + 10.0 * np.repeat(np.eye(10), 30, axis=0)
    topics = csr_array(
        [
            np.bincount(30 * t + rng.integers(0, 30, 20), minlength=300)
            for t in rng.integers(0, 10, 300)
        ]
    )
    search = gm.EMDNeighbors(metric, points=points, n_neighbors=3).fit(topics)
    distances, _ = search.kneighbors(topics[:40])
    assert search.n_solves_ < 0.15 * 40 * 300
    mass = topics / topics.sum(axis=1)[:, None]
    expected = brute_force(mass[:40], mass, points, 3, metric=metric)
    np.testing.assert_allclose(distances, expected[0], rtol=1e-12, atol=1e-13)


def test_few_costs_at_a_time(texts, monkeypatch):
    # Never those of all bins, whatever the number of queries.
    few_bins_at_a_time(monkeypatch)
    X, _, points = texts
    sizes = []

    def counted(left, right):
        sizes.append(len(left) * len(right))
        return cdist(left, right, "cityblock")

    gm.EMDNeighbors(counted, points=points).fit(X).kneighbors()
    assert len(sizes) > 4
    assert max(sizes) <= 256**2 < len(points) ** 2


def test_counts_stay_sparse_and_are_normalized(texts):
    X, Q, points = texts
    search = gm.EMDNeighbors(points=points).fit(NeverDense(X * 30))
    expected = gm.EMDNeighbors(points=points).fit(X.toarray()).kneighbors(Q.toarray())
    for found, other in zip(search.kneighbors(NeverDense(Q)), expected, strict=True):
        np.testing.assert_allclose(found, other, rtol=1e-12)


@pytest.mark.parametrize("metric", [None, "cityblock"])
def test_saved_loaded_and_pickled(texts, tmp_path, metric):
    X, Q, points = texts
    search = gm.EMDNeighbors(metric, points=points).fit(X)
    search.save(tmp_path / "search.npz")
    expected = search.kneighbors(Q)
    for there in (
        gm.EMDNeighbors.load(tmp_path / "search.npz"),
        pickle.loads(pickle.dumps(search)),  # noqa: S301 - our own
    ):
        for found, other in zip(there.kneighbors(Q), expected, strict=True):
            np.testing.assert_array_equal(found, other)
    # Fitted again without points, it has no trace of them.
    again = search.set_params(points=None, metric=None).fit(X)
    assert not hasattr(again, "points_")
    uniform = gm.EMDNeighbors().fit(X).kneighbors(Q)
    np.testing.assert_array_equal(again.kneighbors(Q)[0], uniform[0])


def test_a_function_is_pickled_but_not_saved(texts, tmp_path):
    X, Q, points = texts
    search = gm.EMDNeighbors(uphill, points=points).fit(X)
    with pytest.raises(ValueError, match="metric is a function, which cannot be saved"):
        search.save(tmp_path / "search.npz")
    assert not list(tmp_path.iterdir())
    again = pickle.loads(pickle.dumps(search))  # noqa: S301 - our own
    for found, other in zip(again.kneighbors(Q), search.kneighbors(Q), strict=True):
        np.testing.assert_array_equal(found, other)


def test_a_file_with_a_matrix_between_points_is_refused(texts, tmp_path):
    X, _, points = texts
    search = gm.EMDNeighbors("cityblock", points=points).fit(X)
    search.metric_ = np.ones((2, 2))
    search.save(tmp_path / "search.npz")
    with pytest.raises(ValueError, match="metric_ is not the name of a metric between"):
        gm.EMDNeighbors.load(tmp_path / "search.npz")


def test_bad_costs_in_a_sentence(texts):
    X, Q, points = texts
    search = gm.EMDNeighbors(
        lambda left, right: np.full((len(left), len(right)), np.nan), points=points
    ).fit(X)
    with pytest.raises(ValueError, match="metric is nan between points"):
        search.kneighbors(Q)
    assert search.n_solves_ == 0


@pytest.mark.parametrize(
    ("message", "options", "X"),
    [
        ("metric is 'city', which is not the full", {"metric": "city"}, None),
        ("but there are no points", {"metric": "cityblock", "points": None}, None),
        ("metric is a matrix, but points are given", {"metric": np.ones((3, 3))}, None),
        ("points has shape (3, 1), but the", {"points": np.ones((3, 1))}, None),
        ("X[1] has zero mass", {}, [[1, 0], [0, 0]]),
        ("X[0, 1] is -1.0: histograms must not have", {}, csr_array([[2.0, -1.0]])),
        ("X[1, 0] is nan: entries must be", {}, csr_array([[1.0, 0], [np.nan, 1]])),
    ],
)
def test_bad_input_in_a_sentence(message, options, X):
    search = gm.EMDNeighbors(**{"points": [[0.0], [1.0]]} | options)
    with pytest.raises(ValueError, match=re.escape(message)):
        search.fit(np.eye(2) if X is None else X)
    assert not hasattr(search, "n_samples_fit_")


def test_the_wrong_number_of_bins_in_a_query(texts):
    X, Q, points = texts
    search = gm.EMDNeighbors(points=points).fit(X)
    with pytest.raises(ValueError, match="399 features"):
        search.kneighbors(Q[:, :399])
    both = vstack([X, Q], format="csr")
    assert search.fit(both).kneighbors(return_distance=False).shape == (130, 5)
