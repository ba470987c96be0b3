"""Frames, AnnData and UMAP: what others make goes in, and what we make goes there."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

import groundmetric as gm
from groundmetric.datasets import make_histograms
from groundmetric.experiments import compare
from groundmetric.report import write_report

DATA = make_histograms(12, n_groups=2, group_size=3, random_state=0)
NAMES = [f"gene{k}" for k in range(6)]
KINDS = np.array(["B cell", "T cell"])[DATA.y]
FRAME = pd.DataFrame(DATA.X, columns=NAMES, index=[f"cell{k}" for k in range(24)])
SERIES = {
    "text": pd.Series(KINDS, index=FRAME.index),
    "category": pd.Series(KINDS, index=FRAME.index, dtype="category"),
    "string": pd.Series(KINDS, index=FRAME.index, dtype="string"),
}
LEARNERS = [
    gm.GroundMetricLearning(max_steps=2),
    gm.MetricLearningCV(gm.GroundMetricLearning(max_steps=2), {}, cv=2),
    gm.SinkhornMetricLearning(max_steps=2),
    gm.DiscriminantMetricLearning(),
    gm.AutoMetric(cv=2),
    gm.MetricLearningCV(
        gm.SinkhornMetricLearning(max_steps=2), {}, cv=2, patience=None
    ),
    gm.EMDClassifier(n_neighbors=1),
]


@pytest.mark.parametrize("kind", SERIES)
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
def test_learners_take_frames_and_series(learner, kind):
    expected = learner.fit(DATA.X, KINDS).metric_
    learner.fit(FRAME, SERIES[kind])
    np.testing.assert_array_equal(learner.metric_, expected)
    assert learner.classes_.tolist() == ["B cell", "T cell"]
    assert learner.feature_names_in_.tolist() == NAMES


@pytest.mark.parametrize("learner", LEARNERS[:3:2], ids=lambda one: type(one).__name__)
def test_names_are_saved_and_compared(learner, tmp_path):
    learner.fit(FRAME, SERIES["category"]).save(tmp_path / "model.npz")
    again = type(learner).load(tmp_path / "model.npz")
    assert again.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(again.pairwise(FRAME), learner.pairwise(FRAME))
    with pytest.raises(ValueError, match="feature names should match"):
        again.transform(FRAME[NAMES[::-1]])


def test_functions_take_frames():
    metric = gm.initial_metric(FRAME, SERIES["category"])
    np.testing.assert_array_equal(metric, gm.initial_metric(DATA.X, KINDS))
    ground = pd.DataFrame(metric, index=NAMES, columns=NAMES)
    np.testing.assert_array_equal(
        gm.pairwise_emd(FRAME, metric=ground), gm.pairwise_emd(DATA.X, metric=metric)
    )
    assert gm.is_metric(ground)


def test_comparisons_and_reports_take_frames(tmp_path):
    of_frame, of_arrays = (
        compare(X, y, methods=["l1", "chi2"], n_folds=3).drop(columns="seconds")
        for X, y in ((FRAME, SERIES["category"]), (DATA.X, KINDS))
    )
    pd.testing.assert_frame_equal(of_frame, of_arrays)
    path = write_report(
        tmp_path / "report.html", X=FRAME, y=SERIES["category"], learners=()
    )
    page = path.read_text()
    assert "gene5" in page
    assert "T cell" in page


@pytest.mark.filterwarnings("ignore")  # of pandas, for AnnData
def test_anndata_goes_in():
    anndata = pytest.importorskip("anndata")
    observed = pd.DataFrame({"cell_type": SERIES["category"]})
    genes = pd.DataFrame(index=NAMES)
    adata = anndata.AnnData(csr_matrix(DATA.X), obs=observed, var=genes)
    learner = gm.GroundMetricLearning(max_steps=2)
    expected = learner.fit(DATA.X, KINDS).metric_
    learner.fit(adata.to_df(), adata.obs["cell_type"])
    assert learner.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(learner.metric_, expected)
    # Without names, and without a dense copy of the caller's.
    learner.fit(adata.X, adata.obs["cell_type"])
    np.testing.assert_array_equal(learner.metric_, expected)
    adata.obsp["emd"] = learner.pairwise(adata.X)
    assert adata.obsp["emd"].shape == (24, 24)


def test_scikit_learn_takes_our_graphs_and_distances():
    metric = cdist(*[np.arange(6.0)[:, None]] * 2)
    search = gm.EMDNeighbors(metric, n_neighbors=4).fit(FRAME)
    graph = search.transform(FRAME)
    twin = NearestNeighbors(n_neighbors=4, metric="precomputed").fit(graph)
    np.testing.assert_allclose(twin.kneighbors()[0], search.kneighbors()[0])
    voted = KNeighborsClassifier(n_neighbors=3, metric="precomputed").fit(graph, KINDS)
    assert voted.score(graph, KINDS) > 0.5


def test_clusters_of_our_graph_are_those_of_all_distances():
    metric = cdist(*[np.arange(6.0)[:, None]] * 2)
    rng, low = np.random.default_rng(0), [9, 6, 2, 1, 1, 1]
    X = np.concatenate([rng.dirichlet(low, 15), rng.dirichlet(low[::-1], 15)])
    # With 16 neighbors, some are in the other cluster: the graph is connected.
    search = gm.EMDNeighbors(metric, n_neighbors=16).fit(X)
    graph = search.kneighbors_graph(mode="distance")
    graph.data[graph.data == 0] = 1e-12
    clusters = HDBSCAN(metric="precomputed", min_cluster_size=5, copy=True)
    found = clusters.fit_predict(graph.maximum(graph.T))
    assert found.tolist() == 15 * [found[0]] + 15 * [1 - found[0]]
    dense = clusters.fit_predict(gm.pairwise_emd(X, metric=metric))
    assert found.tolist() == dense.tolist()


@pytest.mark.filterwarnings("ignore")  # numba's, and UMAP's about a seed
def test_umap_takes_our_neighbors():
    umap = pytest.importorskip("umap")
    X = np.random.default_rng(0).dirichlet(np.ones(6), 60)
    search = gm.EMDNeighbors(n_neighbors=10)
    distances, indices = search.fit(X).kneighbors(X, n_neighbors=10)
    assert (indices[:, 0] == np.arange(60)).all()
    given = {"n_neighbors": 10, "precomputed_knn": (indices, distances)}
    places = umap.UMAP(**given, random_state=0).fit_transform(X)
    assert places.shape == (60, 2)
    # The neighbors decide: others give another map.
    given["precomputed_knn"] = (indices[::-1].copy(), distances)
    assert not np.allclose(umap.UMAP(**given, random_state=0).fit_transform(X), places)
