"""Histograms of zero mass, such as empty documents: rejected, uniform, or NaN."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import groundmetric as gm
from groundmetric import EMDClassifier, EMDKernel, EMDNeighbors, GroundMetricLearning

X = np.array(
    [[4, 1, 1, 0], [3, 2, 1, 0], [0, 0, 0, 0], [0, 1, 1, 4], [0, 1, 2, 3], [5, 1, 0, 0]]
)
Y = np.array(["a", "a", "a", "b", "b", "a"])
FULL = np.array([0, 1, 3, 4, 5])  # rows with mass
UNIFORM = np.where(X.sum(axis=1, keepdims=True) == 0, 1, X)
LINE = np.abs(np.subtract.outer(range(4), range(4))) / 3.0
POINTS = [[0.0], [1.0], [2.0], [3.0]]

LEARNERS = [
    GroundMetricLearning(max_steps=2),
    gm.MappedMetricLearning(max_steps=2),
    gm.CombinedMetricLearning(max_steps=2),
    gm.SinkhornMetricLearning(max_steps=2),
    gm.SinkhornMetricLearning(criterion="softmax", points=POINTS, max_steps=2),
    gm.DiscriminantMetricLearning(),
]
SEARCHES = [{"metric": LINE}, {"points": POINTS}]


def of_any(rows, kind):
    return {"dense": np.asarray, "sparse": sp.csr_matrix, "frame": pd.DataFrame}[kind](
        rows
    )


def named(learner):
    return type(learner).__name__


@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
@pytest.mark.parametrize("learner", LEARNERS, ids=named)
def test_uniform_rows_of_learners(learner, kind):
    if isinstance(learner, gm.CombinedMetricLearning):
        learner.set_params(metrics=[LINE, 1 - np.eye(4)])
    filled = learner.fit(of_any(UNIFORM, kind), Y).pairwise(of_any(UNIFORM, kind))
    learner.fit(of_any(X, kind), Y, empty="uniform")
    assert np.array_equal(learner.pairwise(of_any(X, kind)), filled)
    assert not hasattr(learner, "sample_indices_")


@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("learner", LEARNERS, ids=named)
def test_rows_of_learners_that_cannot_be_compared(learner, kind, tmp_path):
    if isinstance(learner, gm.CombinedMetricLearning):
        learner.set_params(metrics=[LINE, 1 - np.eye(4)])
    own = learner.fit(of_any(X[FULL], kind), Y[FULL]).pairwise(X[FULL])
    learner.fit(of_any(X, kind), Y, empty="nan")
    assert learner.sample_indices_.tolist() == FULL.tolist()
    learner.save(tmp_path / "model.npz")
    for model in (learner, type(learner).load(tmp_path / "model.npz")):
        between = model.pairwise(of_any(X, kind))
        assert np.allclose(between[np.ix_(FULL, FULL)], own, rtol=1e-9, atol=1e-12)
        assert np.isnan(between[2]).all()
        assert np.isnan(between[:, 2]).all()
        found = model.transform(of_any(X, kind))
        assert found.shape == (6, 5)
        assert np.isnan(found).any(axis=1).tolist() == (X.sum(axis=1) == 0).tolist()
        assert np.isnan(model.pairwise(X[:1], X)[0]).tolist() == [0, 0, 1, 0, 0, 0]
        seen = model.histograms(of_any(X, kind))
        seen = seen.toarray() if sp.issparse(seen) else seen
        assert np.isnan(seen[2]).all()
        assert not np.isnan(seen[FULL]).any()


def test_errors_are_the_default_and_name_the_ways_out():
    sentence = r"X\[2\] has zero mass: .* empty='uniform' or 'nan' accepts such rows"
    for fit in (GroundMetricLearning().fit, EMDClassifier().fit, EMDNeighbors().fit):
        with pytest.raises(ValueError, match=sentence):
            fit(X, Y)
    learner = GroundMetricLearning(max_steps=1).fit(X[FULL], Y[FULL])
    with pytest.raises(ValueError, match=sentence):
        learner.transform(X)
    with pytest.raises(ValueError, match="as 2 rows have"):
        learner.transform(X[[2, 2]])


def test_a_rule_that_is_none_is_rejected_and_changes_nothing():
    learner = GroundMetricLearning(max_steps=1).fit(X, Y, empty="nan")
    before = dict(vars(learner))
    with pytest.raises(ValueError, match="empty is 'zero'"):
        learner.fit(X, Y, empty="zero")
    assert vars(learner) == before
    with pytest.raises(ValueError, match="empty is 'zero'"):
        EMDNeighbors(empty="zero").fit(X)


def test_too_few_rows_are_left():
    with pytest.raises(ValueError, match="X has 3 histograms, but 1 of positive mass"):
        GroundMetricLearning().fit([[0, 0], [1, 2], [0, 0]], [0, 1, 1], empty="nan")
    with pytest.raises(ValueError, match="no histogram of positive mass"):
        EMDNeighbors(empty="nan").fit([[0, 0]])


@pytest.mark.parametrize("options", SEARCHES, ids=["matrix", "points"])
def test_nobody_has_an_empty_neighbor(options):
    search = EMDNeighbors(**options, n_neighbors=5, empty="nan").fit(X)
    base = EMDNeighbors(**options, n_neighbors=5).fit(X[FULL])
    distances, indices = search.kneighbors(X[FULL])
    expected = base.kneighbors(X[FULL])
    assert np.array_equal(distances, expected[0])
    assert np.array_equal(indices, FULL[expected[1]])
    with pytest.raises(ValueError, match=r"X\[2\] has zero mass, so that it has no"):
        search.kneighbors(X)
    with pytest.raises(ValueError, match=r"X\[2\] has zero mass"):
        search.kneighbors(n_neighbors=1)
    with pytest.raises(ValueError, match="n_neighbors is 6"):
        search.kneighbors(X[FULL], 6)
    found = search.radius_neighbors(X, 10.0, return_distance=False)
    assert [each.tolist() for each in found] == [
        [] if row == 2 else FULL.tolist() for row in range(6)
    ]
    graph = search.radius_neighbors_graph(None, 10.0).toarray()
    assert graph[2].sum() == graph[:, 2].sum() == 0
    assert graph.sum() == 5 * 4


def test_searches_are_saved_with_what_they_hide(tmp_path):
    EMDNeighbors(LINE, n_neighbors=5, empty="nan").fit(X).save(tmp_path / "s.npz")
    search = EMDNeighbors.load(tmp_path / "s.npz")
    assert 2 not in search.kneighbors(X[:1], return_distance=False)
    search.set_params(empty="error").fit(X[FULL])
    assert 2 in search.kneighbors(X[:1], return_distance=False)


@pytest.mark.parametrize("kind", ["dense", "sparse", "frame"])
def test_classifiers_predict_what_they_cannot_compare_by_priors(kind, tmp_path):
    learner = GroundMetricLearning(max_steps=2)
    classifier = EMDClassifier(2, learner=learner, empty="nan")
    classifier.fit(of_any(X, kind), Y)
    shares = classifier.predict_proba(of_any(X, kind))
    assert np.allclose(shares[2], [4 / 6, 2 / 6])
    own = EMDClassifier(2, learner=learner).fit(X[FULL], Y[FULL])
    assert np.array_equal(shares[FULL], own.predict_proba(X[FULL]))
    assert classifier.predict(of_any(X[[2, 2]], kind)).tolist() == ["a", "a"]
    classifier.save(tmp_path / "model.npz")
    again = EMDClassifier.load(tmp_path / "model.npz")
    assert np.array_equal(again.predict_proba(of_any(X, kind)), shares)


def test_uniform_rows_of_classifiers():
    learner = GroundMetricLearning(max_steps=2)
    found = EMDClassifier(2, learner=learner, empty="uniform").fit(X, Y)
    own = EMDClassifier(2, learner=learner).fit(UNIFORM, Y)
    assert np.array_equal(found.predict_proba(X), own.predict_proba(UNIFORM))


def documents():
    """Return counts of four words in thirty documents, three of them empty."""
    rng = np.random.default_rng(0)
    rows = np.concatenate(
        [rng.poisson([5, 3, 1, 1], (15, 4)), rng.poisson([1, 1, 3, 5], (15, 4))]
    )
    rows[[3, 8, 20]] = 0
    return rows, np.repeat([0, 1], 15)


@pytest.mark.parametrize("empty", ["uniform", "nan"])
def test_empty_documents_do_not_end_a_cross_validation(empty):
    rows, y = documents()
    learner = GroundMetricLearning(max_steps=2)
    scores = cross_val_score(EMDClassifier(learner=learner, empty=empty), rows, y, cv=3)
    assert np.isfinite(scores).all()
    assert scores.mean() > 0.8
    search = gm.MetricLearningCV(learner, {}, cv=2).fit(rows, y, empty=empty)
    assert np.isnan(search.transform(rows)).any() == (empty == "nan")


def test_kernels_take_empty_documents_as_uniform():
    rows, y = documents()
    pipeline = make_pipeline(EMDKernel(empty="uniform"), SVC(kernel="precomputed"))
    assert np.isfinite(cross_val_score(pipeline, rows, y, cv=3)).all()
    with pytest.raises(ValueError, match="empty is 'nan', but no kernel may be NaN"):
        EMDKernel(empty="nan").fit(rows)


def test_steps_on_batches_leave_empty_rows_out():
    learner = GroundMetricLearning().fit(X, Y, empty="nan")
    learner.partial_fit(X, Y)
    assert learner.transform(X).shape == (6, 5)
