"""A fitted learner is a metric: whatever takes ``metric=`` applies its powers."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import groundmetric as gm

RNG = np.random.default_rng(3)
X = np.vstack(
    [
        RNG.dirichlet(np.r_[3, 2, np.ones(6)], 15),
        RNG.dirichlet(np.r_[np.ones(6), 2, 3], 15),
    ]
)
Y = np.repeat([0, 1], 15)
QUERIES = RNG.dirichlet(np.ones(8), 5)
POINTS = RNG.normal(size=(8, 3))
EXACT = gm.GroundMetricLearning(max_steps=3).fit(X, Y)
MAPPED = gm.MappedMetricLearning(POINTS, n_components=2, max_steps=3).fit(X, Y)
COMBINED = gm.CombinedMetricLearning([1 - np.eye(8)], POINTS, max_steps=3).fit(X, Y)
SMOOTHED = gm.SinkhornMetricLearning(max_steps=3).fit(X, Y)
LEARNERS = pytest.mark.parametrize("learner", [EXACT, MAPPED, COMBINED, SMOOTHED])


@pytest.mark.parametrize("learner", [EXACT, MAPPED, COMBINED])
def test_distances(learner) -> None:
    expected = learner.pairwise(QUERIES, X)
    np.testing.assert_allclose(
        gm.pairwise_emd(10 * QUERIES, X, metric=learner), expected, rtol=1e-9
    )
    pairs = [(0, 4), (2, 7)]
    batch = gm.TransportBatch(QUERIES, pairs, Y=X)
    for _ in range(2):
        values = batch.solve(learner).values
        np.testing.assert_allclose(values, [expected[i, j] for i, j in pairs])
    raw = gm.pairwise_emd(QUERIES, X, metric=learner.metric_)
    assert np.abs(raw / expected - 1).max() > 0.05  # powers matter


@LEARNERS
def test_neighbors(learner) -> None:
    D = learner.pairwise(QUERIES, X)
    search = gm.EMDNeighbors(learner, n_neighbors=4).fit(X)
    distances, indices = search.kneighbors(QUERIES)
    expected = np.argsort(D, axis=1, kind="stable")[:, :4]
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(distances, np.take_along_axis(D, expected, 1), atol=1e-9)
    own = search.kneighbors(return_distance=False)
    assert not (own == np.arange(30)[:, None]).any()
    counts = [len(found) for found in search.radius_neighbors(QUERIES, np.median(D))[1]]
    assert counts == (np.median(D) >= D).sum(axis=1).tolist()


@LEARNERS
def test_kernel(learner) -> None:
    kernel = gm.EMDKernel(distance=learner, bandwidth=2.0).fit(X)
    expected = np.exp(-learner.pairwise(QUERIES, X) / 2)
    np.testing.assert_allclose(kernel.transform(QUERIES), expected, atol=1e-9)
    pipeline = make_pipeline(gm.EMDKernel(distance=learner), SVC(kernel="precomputed"))
    assert cross_val_score(pipeline, X, Y, cv=2).mean() > 0.5  # clones stay fitted


@LEARNERS
def test_classifier_votes_by_the_learners_own_distances(learner, tmp_path) -> None:
    classifier = gm.EMDClassifier(n_neighbors=3, learner=clone(learner)).fit(X, Y)
    nearest = np.argsort(learner.pairwise(QUERIES, X), axis=1, kind="stable")[:, :3]
    votes = Y[nearest].mean(axis=1)
    np.testing.assert_allclose(classifier.predict_proba(QUERIES)[:, 1], votes)
    classifier.save(tmp_path / "model.npz")
    again = gm.EMDClassifier.load(tmp_path / "model.npz")
    np.testing.assert_allclose(again.predict_proba(QUERIES)[:, 1], votes)
    search = gm.EMDNeighbors(learner).fit(X)
    search.save(tmp_path / "search.npz")
    loaded = gm.EMDNeighbors.load(tmp_path / "search.npz")
    for mine, theirs in zip(
        search.kneighbors(QUERIES), loaded.kneighbors(QUERIES), strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


def test_classifier_with_positions_makes_no_matrix() -> None:
    d = 10_500
    rows = csr_array(
        (np.ones(40), (np.repeat(np.arange(20), 2), RNG.integers(0, d, 40))), (20, d)
    )
    learner = gm.MappedMetricLearning(
        RNG.normal(size=(d, 3)), n_components=2, max_steps=1
    )
    classifier = gm.EMDClassifier(n_neighbors=1, learner=learner).fit(
        rows, np.arange(20) % 2
    )
    assert classifier.score(rows, np.arange(20) % 2) == 1.0
    assert hasattr(classifier.neighbors_, "points_")
    with pytest.raises(ValueError, match="10500 x 10500"):
        classifier.metric_  # noqa: B018 - computed when asked for


def test_what_is_refused() -> None:
    with pytest.raises(NotFittedError):
        gm.pairwise_emd(X, metric=gm.GroundMetricLearning())
    with pytest.raises(ValueError, match="smoothed, not EMDs"):
        gm.pairwise_emd(X, metric=SMOOTHED)
    with pytest.raises(ValueError, match="points are given as well"):
        gm.pairwise_emd(X, metric=EXACT, points=POINTS)
    with pytest.raises(ValueError, match="points are given as well"):
        gm.EMDNeighbors(EXACT, points=POINTS).fit(X)
    with pytest.raises(ValueError, match="has 7 bins, but metric was learned on 8"):
        gm.EMDNeighbors(EXACT).fit(X[:, 1:])
    with pytest.raises(ValueError, match="only such a matrix can be shrunk"):
        gm.EMDKernel(distance=SMOOTHED, shrinkage=0.5).fit(X)
    with pytest.raises(ValueError, match="method fit is needed"):
        gm.EMDClassifier(learner="margin").fit(X, Y)
    rows = X.copy()
    batch = gm.TransportBatch(rows, [(0, 1)])
    rows[0] = rows[1]
    with pytest.raises(ValueError, match="changed since"):
        batch.solve(EXACT)


def test_solves_with_points_take_turns() -> None:
    batch = gm.TransportBatch(X, [(0, 20), (3, 25)], points=POINTS)
    other = threading.Event()

    def squares(left, right):
        other.wait(0.3)  # let the other thread come in between, if it can
        return ((left[:, None] - right[None]) ** 2).sum(axis=2)

    expected = (
        gm.TransportBatch(X, [(0, 20), (3, 25)], points=POINTS)
        .solve("sqeuclidean")
        .values
    )
    found = {}

    def first() -> None:
        found["squares"] = batch.solve(squares).values

    def second() -> None:
        found["distances"] = batch.solve().values
        other.set()

    threads = [threading.Thread(target=run) for run in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_allclose(found["squares"], expected, rtol=1e-9)
    direct = gm.pairwise_emd(X[[0, 3]], X[[20, 25]], points=POINTS)
    np.testing.assert_allclose(found["distances"], np.diag(direct), rtol=1e-9)


def test_embedding_does_not_turn_with_rounding() -> None:
    one = gm.SinkhornMetricLearning(max_steps=5, n_jobs=1).fit(X, Y)
    two = gm.SinkhornMetricLearning(max_steps=5, n_jobs=2).fit(X, Y)
    np.testing.assert_allclose(one.metric_, two.metric_, atol=1e-10)
    np.testing.assert_allclose(one.embedding_, two.embedding_, atol=1e-6)
    from groundmetric.smoothed._positions import on_principal_axes

    A = np.eye(12) - 1 / 12  # all axes are tied
    A[0] *= 1.5
    turned = on_principal_axes(A)
    noise = 1e-14 * np.random.default_rng(0).normal(size=A.shape)
    np.testing.assert_allclose(on_principal_axes(A + noise), turned, atol=1e-6)


@LEARNERS
def test_distances_have_a_median_of_one_in_pipelines(learner) -> None:
    between = learner.pairwise(X)[np.triu_indices(len(X), 1)]
    assert np.median(between) == pytest.approx(1.0)
    pipeline = make_pipeline(clone(learner), LogisticRegression(C=1.0))
    assert pipeline.fit(X, Y).score(X, Y) > 0.7  # with distances of 0.002: chance
