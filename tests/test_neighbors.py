"""The search for neighbors: brute force, bit for bit, with fewer solves."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone
from sklearn.cluster import DBSCAN
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import check_contract
from groundmetric import EMDNeighbors, pairwise_emd
from problems import HISTOGRAMS, METRICS, cost, histogram
from strategies import MASSES, metrics

pytestmark = pytest.mark.core


@parametrize_with_checks([EMDNeighbors()])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


def normalized(X):
    return X / X.sum(axis=1, keepdims=True)


def brute_force(D, k):
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order


def assert_equivalent(found, D, k):
    """Compare but for rounding: ``pairwise_emd`` may take a hub, the search does not.

    Under a metric that is capped, values may differ by 1e-12 of each, and ties break.
    """
    distances, indices = found
    expected, _ = brute_force(D, k)
    np.testing.assert_allclose(distances, expected, rtol=1e-12, atol=1e-15)
    of_found = np.take_along_axis(D, indices, axis=1)
    np.testing.assert_allclose(of_found, distances, rtol=1e-12, atol=1e-15)
    assert all(len(set(row)) == k for row in indices.tolist())


def without_self(D):
    D = D.copy()
    np.fill_diagonal(D, np.inf)
    return D


def assert_same(found, expected):
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def clusters(n=200, d=24, n_queries=20, seed=0):
    """Histograms around few centers, queries among them, and a rugged metric."""
    rng = np.random.default_rng(seed)
    centers = rng.gamma(0.5, size=(8, d))
    X = rng.gamma(20 * centers[rng.integers(0, 8, n + n_queries)] + 0.1)
    factors = rng.uniform(0.5, 2.0, (d, d))
    M = gm.metric_closure(cost(rng, "euclidean", d) * (factors + factors.T))
    return normalized(X[:n]), normalized(X[n:]), M / M.max()


def mixture(rng, d, n):
    """Histograms of all kinds, some of them twice."""
    rows = [histogram(rng, HISTOGRAMS[k % len(HISTOGRAMS)], d) for k in range(n)]
    return normalized(np.stack([*rows, *rows[: n // 3]]))


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("d", [1, 2, 9, 40])
def test_is_brute_force(kind, d):
    rng = np.random.default_rng(d)
    X, Q, M = mixture(rng, d, 24), mixture(rng, d, 9), cost(rng, kind, d)
    Q[:4] = X[5:9]
    search = EMDNeighbors(M).fit(X)
    D, own = pairwise_emd(Q, X, metric=M), pairwise_emd(X, metric=M)
    for k in (1, 5, len(X) - 1):
        assert_same(search.kneighbors(Q, k), brute_force(D, k))
        assert_same(search.kneighbors(n_neighbors=k), brute_force(without_self(own), k))
    assert_same(search.kneighbors(Q, len(X)), brute_force(D, len(X)))
    for radius in (0.0, np.median(D), D[0, 0], D.max()):
        for queries, distances in ((Q, D), (None, without_self(own))):
            found = search.radius_neighbors(queries, radius)
            for row, values, indices in zip(distances, *found, strict=True):
                np.testing.assert_array_equal(indices, np.flatnonzero(row <= radius))
                np.testing.assert_array_equal(values, row[indices])


@st.composite
def searches(draw):
    d = draw(st.integers(1, 6))
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rows = draw(hnp.arrays(float, (n + m, d), elements=MASSES))
    rows[rows.sum(axis=1) == 0, 0] = 1.0
    rows = normalized(rows)
    return rows[:n], rows[n:], draw(metrics(d)), draw(st.integers(1, n))


@given(searches())
@settings(max_examples=200, deadline=None)
def test_is_brute_force_with_zeros_ties_and_duplicates(search):
    X, Q, M, k = search
    neighbors = EMDNeighbors(M).fit(X)
    D = pairwise_emd(Q, X, metric=M)
    assert_equivalent(neighbors.kneighbors(Q, k), D, k)
    assert neighbors.n_solves_ <= D.size
    if k < len(X):
        D = without_self(pairwise_emd(X, metric=M))
        assert_equivalent(neighbors.kneighbors(n_neighbors=k), D, k)


def test_solves_few_pairs():
    X, Q, M = clusters()
    search = EMDNeighbors(M, n_neighbors=3).fit(X)
    assert_same(search.kneighbors(Q), brute_force(pairwise_emd(Q, X, metric=M), 3))
    assert 3 * len(Q) <= search.n_solves_ < 0.1 * len(Q) * len(X)
    search.kneighbors()
    assert 3 * len(X) <= search.n_solves_ < 0.1 * len(X) * len(X)
    # All that are near, and few of the others.
    n_near = sum(map(len, search.radius_neighbors(Q, 0.1, return_distance=False)))
    assert n_near <= search.n_solves_ < n_near + 0.1 * len(Q) * len(X)


def test_the_uniform_metric_takes_the_neighbors_only():
    X, Q, _ = clusters()
    search = EMDNeighbors(n_neighbors=3).fit(X)
    distances, _ = search.kneighbors(Q)
    # One-sided bounds are exact; ties apart, nothing else is solved.
    assert search.n_solves_ == 3 * len(Q)
    l1 = np.abs(Q[:, None] - X[None]).sum(axis=-1)
    np.testing.assert_allclose(distances, np.sort(l1, axis=1)[:, :3] / 2)


def test_equal_histograms_are_solved_no_more_often_than_asked_for():
    X = np.tile([[0.25, 0.75]], (50, 1))
    search = EMDNeighbors(n_neighbors=4).fit(X)
    _, indices = search.kneighbors(X[:2])
    np.testing.assert_array_equal(indices, [range(4)] * 2)
    assert search.n_solves_ == 8


def test_prices_of_all_sizes():
    # Neighbors a million times nearer than the largest cost, and a metric scaled.
    rng = np.random.default_rng(0)
    X = normalized(rng.gamma(1.0, size=(40, 12)))
    points = rng.normal(size=(12, 2)) * np.geomspace(1e-7, 1, 12)[:, None]
    M = np.abs(points[:, None] - points[None]).sum(axis=-1)
    for scale in (1e-200, 1.0, 1e200):
        D = pairwise_emd(X[:9], X, metric=scale * M)
        search = EMDNeighbors(scale * M).fit(X)
        assert_same(search.kneighbors(X[:9], 6), brute_force(D, 6))


def test_a_metric_with_rounding_in_it():
    # Too much for common mass to stay, too little to be refused.
    X, Q, M = clusters(60)
    i, j, k = next(
        (i, j, k)
        for i in range(24)
        for j in range(i)
        for k in range(24)
        if k not in (i, j) and abs(M[i, k] + M[k, j] - M[i, j]) < 1e-14
    )
    M[i, j] = M[j, i] = M[i, k] + M[k, j] + 5e-13 * M.max()
    D = pairwise_emd(Q, X, metric=M)
    assert_same(EMDNeighbors(M).fit(X).kneighbors(Q), brute_force(D, 5))


def test_threads_change_nothing():
    X, Q, M = clusters()
    one = EMDNeighbors(M).fit(X)
    for n_jobs in (2, 5, -1):
        many = EMDNeighbors(M, n_jobs=n_jobs).fit(X)
        assert_same(many.kneighbors(Q), one.kneighbors(Q))
        assert many.n_solves_ == one.n_solves_
        assert_same(many.kneighbors(), one.kneighbors())


def test_counts_and_other_forms_of_input_agree():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, (30, 5)) + 1
    expected = EMDNeighbors().fit(counts).kneighbors(counts[:4] * 7)
    for form in (counts.tolist(), counts.astype(np.float32), sp.csr_array(counts)):
        assert_same(EMDNeighbors().fit(form).kneighbors(counts[:4]), expected)
    frame = pd.DataFrame(counts).add_prefix("bin")
    search = EMDNeighbors().fit(frame)
    assert_same(search.kneighbors(frame[:4]), expected)
    assert search.feature_names_in_[0] == "bin0"


def test_graphs_are_those_of_scikit_learn():
    X, Q, M = clusters(40)
    search = EMDNeighbors(M, n_neighbors=4, radius=0.2).fit(X)
    D, own = pairwise_emd(Q, X, metric=M), pairwise_emd(X, metric=M)
    twin = NearestNeighbors(n_neighbors=4, radius=0.2, metric="precomputed").fit(own)
    for mode in ("connectivity", "distance"):
        for ours, theirs in (
            (search.kneighbors_graph(Q, mode=mode),
             twin.kneighbors_graph(D, mode=mode)),
            (search.kneighbors_graph(mode=mode), twin.kneighbors_graph(mode=mode)),
            (search.radius_neighbors_graph(Q, mode=mode),
             twin.radius_neighbors_graph(D, mode=mode)),
            (search.radius_neighbors_graph(mode=mode, sort_results=True),
             twin.radius_neighbors_graph(mode=mode)),
        ):  # fmt: skip
            assert ours.shape == theirs.shape
            np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    distances, indices = search.radius_neighbors(Q, sort_results=True)
    for i, row in enumerate(indices):
        assert list(distances[i]) == sorted(distances[i])
        np.testing.assert_array_equal(D[i, row], distances[i])
    alone = search.radius_neighbors(Q, radius=10.0, return_distance=False)
    assert alone.shape == (len(Q),)  # of equal lengths, and still an array of arrays
    assert alone[0].shape == (40,)


# DBSCAN spoils the order of its graph itself, and before 1.9.1 warns of it.
@pytest.mark.filterwarnings("ignore:Precomputed sparse input was not sorted")
def test_feeds_estimators_that_take_distances():
    X, Q, M = clusters()
    y = np.argmax(X @ M[:, :3], axis=1)
    D, own = pairwise_emd(Q, X, metric=M), pairwise_emd(X, metric=M)
    graph = EMDNeighbors(M, n_neighbors=6).fit_transform(X)
    assert graph.shape == (200, 200)
    assert set(np.diff(graph.indptr)) == {7}  # itself, too
    knn = KNeighborsClassifier(5, metric="precomputed")
    pipeline = make_pipeline(EMDNeighbors(M, n_neighbors=5), knn).fit(X, y)
    expected = clone(knn).fit(own, y).predict(D)
    np.testing.assert_array_equal(pipeline.predict(Q), expected)
    search = EMDNeighbors(M, radius=0.1).fit(X)
    dbscan = DBSCAN(eps=0.1, metric="precomputed")
    sparse = search.radius_neighbors_graph(mode="distance")
    np.testing.assert_array_equal(
        dbscan.fit_predict(sparse), clone(dbscan).fit_predict(own)
    )


def test_pickle():
    X, Q, M = clusters(30)
    search = EMDNeighbors(M).fit(X)
    again = pickle.loads(pickle.dumps(search))  # noqa: S301 - our own
    assert_same(again.kneighbors(Q), search.kneighbors(Q))
    assert not hasattr(pickle.loads(pickle.dumps(EMDNeighbors())), "n_solves_")  # noqa: S301


def test_progress_bar(capsys):
    X, Q, M = clusters(30)
    EMDNeighbors(M, verbose=1).fit(X).kneighbors(Q)
    assert "20/20" in capsys.readouterr().err


SQUARE = [[0, 1, 3], [1, 0, 1], [3, 1, 0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": SQUARE}, r"metric\[0, 2\] exceeds metric\[0, 1\] \+ metric"),
        ({"metric": np.ones((3, 3))}, r"metric\[0, 0\] is 1\.0: the diagonal"),
        ({"metric": np.zeros((2, 2))}, r"metric has shape \(2, 2\)"),
        ({"metric": np.triu(np.ones((3, 3)), 1)}, "must be symmetric"),
        ({"n_neighbors": 0}, "n_neighbors is 0; it must be at least 1"),
        ({"n_neighbors": 1.5}, "n_neighbors is 1.5; a whole number"),
        ({"radius": -1.0}, r"radius is -1\.0"),
        ({"n_jobs": 0}, "n_jobs is 0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        EMDNeighbors(**options).fit([[1, 2, 3], [2, 1, 3]])


def test_bad_queries():
    search = EMDNeighbors(n_neighbors=2).fit([[1, 2, 3], [2, 1, 3]])
    with pytest.raises(ValueError, match="n_neighbors is 3; it must be at most 2"):
        search.kneighbors([[1, 1, 1]], 3)
    with pytest.raises(ValueError, match="n_neighbors is 2; it must be at most 1"):
        search.kneighbors()
    with pytest.raises(ValueError, match=r"X\[0\] has zero mass"):
        search.kneighbors([[0, 0, 0]])
    with pytest.raises(ValueError, match="X has 2 features, but EMDNeighbors"):
        search.kneighbors([[1, 1]])
    with pytest.raises(
        ValueError, match="mode is 'both'; it must be one of connectivity"
    ):
        search.kneighbors_graph([[1, 1, 1]], mode="both")
    with pytest.raises(ValueError, match="radius is nan"):
        search.radius_neighbors([[1, 1, 1]], float("nan"))


def test_radius_graph_in_front_of_dbscan():
    rng = np.random.default_rng(0)
    line = np.abs(np.subtract.outer(range(4), range(4))).astype(float)
    shapes = 50 * np.array([[4, 1, 1, 1], [1, 1, 1, 4]])
    X = np.vstack([rng.gamma(shape, size=(20, 4)) for shape in shapes])
    search = EMDNeighbors(line, radius=0.3, graph="radius")
    options = {"eps": 0.2, "min_samples": 10, "metric": "precomputed"}
    found = make_pipeline(search, DBSCAN(**options)).fit_predict(X)
    X /= X.sum(axis=1, keepdims=True)
    expected = DBSCAN(**options).fit_predict(gm.pairwise_emd(X, metric=line))
    np.testing.assert_array_equal(found, expected)
    assert set(found) == {0, 1}
    with pytest.raises(
        ValueError, match="graph is 'knn'; it must be one of n_neighbors"
    ):
        EMDNeighbors(graph="knn").fit(X)


def test_infinite_radius():
    X = np.eye(4) + 0.1
    distances, indices = EMDNeighbors().fit(X).radius_neighbors(X[:1], np.inf)
    assert indices[0].tolist() == [0, 1, 2, 3]
    assert len(distances[0]) == 4
    with pytest.raises(ValueError, match="radius is nan"):
        EMDNeighbors(radius=np.nan).fit(X)
