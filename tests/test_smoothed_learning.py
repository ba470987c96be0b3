"""The estimator of positions of bins for smoothed distances."""

import math
import pickle
import sys
import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import check_contract
from groundmetric import Checkpoint, Margin, MetricLearningCV, SinkhornMetricLearning
from groundmetric.base._blas import product
from groundmetric.smoothed._positions import squared_distances
from layers import torch


@parametrize_with_checks([SinkhornMetricLearning(max_steps=2)])
@pytest.mark.filterwarnings("ignore:Class")
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    rows = [np.flatnonzero(y == digit) for digit in (3, 5, 8, 9)]
    train = np.concatenate([r[:12] for r in rows])
    test = np.concatenate([r[12:62] for r in rows])
    return X[train], y[train], X[test], y[test]


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_learns(rho):
    # Six bins tell the classes apart, fourteen are noise.
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = np.hstack([1 + 2 * rng.random((240, 6)), 8 * rng.random((240, 14))])
    X[np.arange(240), y] += 1.5
    learner = SinkhornMetricLearning(smoothing=rho).fit(X[:120], y[:120])
    values = learner.path_.column("criterion")
    assert values[-1] < 0.3 * values[0]
    before = gm.sinkhorn_divergence(
        learner.histograms(X[120:]),
        learner.histograms(X[:120]),
        metric=learner.initial_metric_,
        smoothing=rho,
    )
    errors = [
        (y[distances.argmin(axis=1)] != y[120:]).mean()
        for distances in (before, learner.transform(X[120:]))
    ]
    assert errors[1] < errors[0] - 0.15
    # The noise has moved together.
    M = learner.metric_
    assert M[6:, 6:].mean() < 0.5 * M[:6, :6].mean()


def test_results(digits):
    X, y, X_test, _ = digits
    learner = SinkhornMetricLearning(
        criterion=Margin(floor=0.0), smoothing=2.0, max_steps=3
    ).fit(X, y)
    A, M = learner.embedding_, learner.metric_
    assert A.shape == (64, 64)
    np.testing.assert_allclose(cdist(A, A, "sqeuclidean"), M, atol=1e-12)
    np.testing.assert_allclose(A.mean(axis=0), 0.0, atol=1e-12)
    own = learner.pairwise(X)[np.triu_indices(len(X), 1)]
    assert np.median(own) == pytest.approx(1.0, rel=0.1)  # of 100 of 120
    spread = A.var(axis=0)
    assert (np.diff(spread) <= 1e-12).all()
    uniform = learner.initial_metric_[~np.eye(64, dtype=bool)]
    np.testing.assert_allclose(uniform, uniform[0])
    rows, others = learner.histograms(X_test[:4]), learner.histograms(X)
    expected = gm.sinkhorn_divergence(rows, others, metric=M, smoothing=2.0)
    np.testing.assert_array_equal(learner.transform(X_test[:4]), expected)
    np.testing.assert_array_equal(learner.pairwise(X_test[:4], X), expected)
    distance = learner.get_metric()
    assert distance(X_test[0], X[5]) == pytest.approx(expected[0, 5], rel=1e-9)
    assert list(learner.classes_) == [3, 5, 8, 9]
    assert learner.converged_ is False
    nearest = NearestNeighbors(n_neighbors=1, metric="precomputed")
    assert nearest.fit(learner.pairwise(X)).kneighbors(expected)[0].shape == (4, 1)


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_precision(digits, rho):
    X, y, _, _ = digits
    options = {"smoothing": rho, "max_steps": 4}
    plain = SinkhornMetricLearning(**options).fit(X, y)
    other = SinkhornMetricLearning(dtype="float32", **options).fit(X, y)
    slack = 0.02 * plain.metric_.max()  # triplets change at their edge
    np.testing.assert_allclose(other.metric_, plain.metric_, atol=slack)


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_torch_learns_the_same(digits, rho):
    torch()
    X, y, _, _ = digits
    options = {"smoothing": rho, "max_steps": 5}
    for more in ({}, {"batch_size": 20, "random_state": 0}):
        ours, theirs = (
            SinkhornMetricLearning(device=device, **options, **more).fit(X, y)
            for device in (None, "cpu")
        )
        np.testing.assert_allclose(theirs.metric_, ours.metric_, atol=1e-9)
        np.testing.assert_allclose(theirs.transform(X), ours.transform(X), atol=1e-9)


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_few_components(digits, rho):
    X, y, _, _ = digits
    learner = SinkhornMetricLearning(smoothing=rho, n_components=2, max_steps=20)
    learner.fit(X, y)
    assert learner.embedding_.shape == (64, 2)
    assert np.linalg.matrix_rank(learner.embedding_) == 2
    assert learner.path_[-1].criterion < 0.8 * learner.path_[0].criterion


def test_points_that_mean_something(digits):
    # Pixels of digits, from their places: neighboring ones stay near each other.
    X, y, _, _ = digits
    points = np.stack(np.divmod(np.arange(64), 8), axis=1)
    learner = SinkhornMetricLearning(points=points, max_steps=5).fit(X, y)
    assert learner.embedding_.shape == (64, 2)
    expected = squared_distances(points - 3.5)
    np.testing.assert_allclose(
        learner.initial_metric_ / learner.initial_metric_.mean(),
        expected / expected.mean(),
        atol=1e-12,
    )


def test_starts_from_the_positions_of_another_fit(digits):
    X, y, _, _ = digits
    learner = SinkhornMetricLearning(max_steps=3).fit(X, y)
    first = learner.metric_
    learner.set_params(points=learner.embedding_).fit(X, y)
    np.testing.assert_allclose(learner.initial_metric_, first, atol=1e-12)
    assert learner.path_[-1].criterion < learner.path_[0].criterion


def test_stops_early(digits):
    X, y, _, _ = digits
    whole = SinkhornMetricLearning(criterion=Margin(floor=0.0), max_steps=10).fit(X, y)
    values = whole.path_.column("criterion")
    share = 0.5 * (values[4] + values[5]) / values[0]
    floor = SinkhornMetricLearning(criterion=Margin(floor=share), max_steps=10).fit(
        X, y
    )
    assert floor.converged_
    assert floor.n_iter_ == 6
    stopped = SinkhornMetricLearning(callbacks=[lambda step: step.outer == 2]).fit(X, y)
    assert stopped.n_iter_ == 3


def test_long_fits_are_told_before_they_start(digits):
    X, y, _, _ = digits
    learner = SinkhornMetricLearning(max_steps=10**6, callbacks=[lambda _: True])
    with pytest.warns(gm.LongFitWarning, match="may take about .* 48 hist") as found:
        learner.fit(X, y)
    assert found[0].filename == __file__
    # A batch is shorter, and the energy distance takes no iterations.
    for options in ({"batch_size": 2}, {"smoothing": math.inf}):
        learner.set_params(smoothing=1.0, batch_size=None).set_params(**options)
        assert learner.fit(X, y).n_iter_ == 1


def test_similarities(digits):
    X, y, _, _ = digits
    a = SinkhornMetricLearning(max_steps=3).fit(X, y)
    b = SinkhornMetricLearning(max_steps=3).fit(X, similarity=gm.label_similarity(y))
    np.testing.assert_allclose(a.metric_, b.metric_, atol=1e-12)


def test_files(digits, tmp_path):
    X, y, _, _ = digits
    learner = SinkhornMetricLearning(smoothing=math.inf, max_steps=3, n_components=5)
    learner.fit(X, y).save(tmp_path / "model.npz")
    loaded = SinkhornMetricLearning.load(tmp_path / "model.npz")
    assert loaded.get_params() == learner.get_params()
    for name in ("embedding_", "metric_", "initial_metric_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(learner, name))
    np.testing.assert_array_equal(loaded.transform(X), learner.transform(X))
    copy = pickle.loads(pickle.dumps(learner))  # noqa: S301 - ours
    np.testing.assert_array_equal(copy.transform(X), learner.transform(X))
    with pytest.raises(ValueError, match="is a model of SinkhornMetricLearning"):
        gm.GroundMetricLearning.load(tmp_path / "model.npz")
    learner.embedding_ = learner.embedding_[:-1]
    learner.save(tmp_path / "broken.npz")
    with pytest.raises(ValueError, match="embedding_ has 63 rows"):
        SinkhornMetricLearning.load(tmp_path / "broken.npz")


@pytest.mark.parametrize("options", [{}, {"batch_size": 20, "random_state": 3}])
@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_goes_on_from_a_checkpoint(digits, tmp_path, rho, options):
    X, y, _, _ = digits
    path = tmp_path / "run"
    options = {"smoothing": rho, "max_steps": 6, **options}
    options["criterion"] = Margin(floor=0.0)
    whole = SinkhornMetricLearning(**options).fit(X, y)

    def crash(step):
        if step.outer == 3:
            raise KeyboardInterrupt

    broken = SinkhornMetricLearning(
        callbacks=[crash, Checkpoint(path, seconds=0)], **options
    )
    with pytest.raises(KeyboardInterrupt):
        broken.fit(X, y)
    assert not hasattr(broken, "metric_")
    other = {**options, "smoothing": 2.0}
    with pytest.raises(ValueError, match="other data, parameters"):
        SinkhornMetricLearning(callbacks=[Checkpoint(path)], **other).fit(X, y)
    seen = []
    rest = SinkhornMetricLearning(callbacks=[seen.append, Checkpoint(path)], **options)
    np.testing.assert_array_equal(rest.fit(X, y).metric_, whole.metric_)
    assert len(seen) == 3
    assert not path.exists()


def test_learning_in_batches(digits):
    X, y, _, _ = digits
    a, b, c = (
        SinkhornMetricLearning(batch_size=24, random_state=seed, max_steps=8).fit(X, y)
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(a.metric_, b.metric_)
    assert not np.array_equal(a.metric_, c.metric_)
    whole = SinkhornMetricLearning(max_steps=1).fit(X, y)
    before = whole.path_[0].criterion
    whole.set_params(points=a.embedding_)
    assert whole.fit(X, y).path_[0].criterion < 0.5 * before
    whole = SinkhornMetricLearning(max_steps=2).fit(X, y)
    large = SinkhornMetricLearning(max_steps=2, batch_size=1000).fit(X, y)
    np.testing.assert_array_equal(large.metric_, whole.metric_)


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_memory_of_batches(rho):
    # Of n d + batch^2 numbers, whatever n is: all pairs would take n^2 = 9e6.
    n, d, batch = 3000, 20, 60
    rng = np.random.default_rng(0)
    X, y = rng.dirichlet(np.ones(d), n), np.arange(n) % 3
    learner = SinkhornMetricLearning(
        smoothing=rho, batch_size=batch, max_steps=3, random_state=0
    )
    learner.fit(X[:200], y[:200])
    tracemalloc.start()
    learner.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * (10 * n * d + 40 * batch**2 * d)
    assert peak < 8 * n**2 / 2


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"smoothing": 0}, "smoothing is 0; use GroundMetricLearning for exact EMDs"),
        ({"smoothing": -1}, "smoothing is -1; a number from 0 to inf is needed"),
        ({"smoothing": math.nan}, "smoothing is nan"),
        ({"n_components": 0}, "n_components is 0; it must be at least 1"),
        ({"n_components": 65}, "n_components is 65; it must be at most 64"),
        ({"points": np.eye(3)}, "points has 3 rows; one for each of 64 bins"),
        ({"points": np.ones((64, 2))}, "points are all the same"),
        ({"criterion": Margin(n_targets=0)}, "n_targets is 0"),
        ({"criterion": Margin(margin=0.0)}, "margin is 0.0; it must be positive"),
        ({"power": 0.0}, "power is 0.0"),
        ({"max_steps": 0}, "max_steps is 0; it must be at least 1"),
        (
            {"criterion": Margin(margin=1e308)},
            r"margin is 1e\+308; a number from 0\.0 to 1e\+100",
        ),
        ({"criterion": Margin(floor=-1.0)}, "floor is -1.0"),
        ({"criterion": "neighborhood"}, "only Margin"),
        ({"batch_size": 1}, "batch_size is 1; it must be at least 2"),
        ({"batch_size": 2.5}, "batch_size is 2.5; a whole number is needed"),
        ({"device": "tpu"}, "device is 'tpu'; 'cpu', 'cuda' or 'mps' is needed"),
        ({"dtype": "float16"}, "dtype is 'float16'"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"callbacks": [3]}, r"callbacks\[0\] is 3; a function is needed"),
        ({"callbacks": [Checkpoint(3)]}, "path of Checkpoint is 3; that of a file"),
    ],
)
def test_bad_parameters(digits, changed, sentence):
    X, y, _, _ = digits
    learner = SinkhornMetricLearning(**{"max_steps": 1, **changed})
    with pytest.raises(ValueError, match=sentence):
        learner.fit(X, y)
    assert not any(name.endswith("_") for name in vars(learner))


def test_cross_validation_chooses_smoothing_and_steps(digits, tmp_path):
    X, y, _, _ = digits
    grid = {"smoothing": [1.0, math.inf]}
    learner = MetricLearningCV(
        SinkhornMetricLearning(max_steps=3), param_grid=grid, cv=2, patience=None
    ).fit(X, y)
    results = learner.cv_results_
    assert results["step"].tolist() == [0, 1, 2, 3] * 2
    assert learner.smoothing_ == learner.best_params_["smoothing"]
    assert learner.n_iter_ == learner.best_step_
    plain = SinkhornMetricLearning(
        criterion=Margin(floor=0.0),
        max_steps=max(learner.best_step_, 1),
        **learner.best_params_,
    ).fit(X, y)
    metric = plain.metric_ if learner.best_step_ else plain.initial_metric_
    np.testing.assert_array_equal(learner.metric_, metric)
    assert learner.embedding_.shape == (64, 64)
    changed = clone(learner).set_params(estimator__criterion__margin=0.1)
    assert changed.estimator.criterion.margin == 0.1
    learner.set_params(param_grid=None).save(tmp_path / "model")
    loaded = MetricLearningCV.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.transform(X), learner.transform(X))


def test_cross_validation_of_candidates_with_different_numbers_of_steps(digits):
    X, y, _, _ = digits
    grid = [
        {"smoothing": [1.0], "max_steps": [1]},
        {"smoothing": [math.inf], "max_steps": [4]},
    ]
    learner = MetricLearningCV(
        SinkhornMetricLearning(), param_grid=grid, cv=2, patience=None
    ).fit(X, y)
    scores = learner.cv_results_["mean_test_score"].reshape(2, 5)
    assert np.isnan(scores[0]).tolist() == 2 * [False] + 3 * [True]  # not scored
    assert len(set(scores[1])) > 2


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_kernels(digits, rho):
    X, y, X_test, y_test = digits
    learner = SinkhornMetricLearning(max_steps=5, smoothing=rho)
    D = learner.fit_transform(X, y)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diag(D), 0.0)
    np.testing.assert_allclose(learner.transform(X), D, atol=1e-9)
    assert (learner.transform(X) >= 0).all()
    kernel = gm.EMDKernel(distance="precomputed").fit(D)
    np.testing.assert_allclose(kernel.gram_, np.exp(-D / np.median(D[D > 0])), rtol=0.2)
    if rho == math.inf:  # a squared Euclidean distance: the kernel is Gaussian
        Z = learner.histograms(X) @ learner.embedding_
        np.testing.assert_allclose(D, cdist(Z, Z, "sqeuclidean"), atol=1e-12)
        assert kernel.smallest_eigenvalue_ > -1e-12
    pipeline = make_pipeline(
        learner, gm.EMDKernel(distance="precomputed"), SVC(kernel="precomputed", C=10)
    )
    assert pipeline.fit(X, y).score(X_test, y_test) > 0.7


def test_missing_torch_is_a_sentence(digits, monkeypatch):
    X, y, _, _ = digits
    monkeypatch.setitem(sys.modules, "torch", None)
    for rho in (1.0, math.inf):
        learner = SinkhornMetricLearning(smoothing=rho, device="cuda")
        with pytest.raises(
            ValueError, match=r"device .cuda. needs PyTorch, which is not"
        ):
            learner.fit(X, y)


def test_full_gpu_is_a_sentence(digits, monkeypatch):
    class OutOfMemoryError(RuntimeError):
        """What PyTorch raises."""

    def fail(*_, **__):
        raise OutOfMemoryError

    X, y, _, _ = digits
    monkeypatch.setattr("groundmetric.smoothed._problems.DenseProblems.solve_own", fail)
    monkeypatch.setattr("groundmetric.base._arrays.Arrays.get", fail)
    for rho in (1.0, math.inf):
        learner = SinkhornMetricLearning(smoothing=rho)
        with pytest.raises(MemoryError, match=r"for 1128 pairs .*fits: batch_size"):
            learner.fit(X, y)
        assert not hasattr(learner, "metric_")


def test_in_a_pipeline(digits):
    X, y, _, _ = digits
    learner = SinkhornMetricLearning(max_steps=5, smoothing=math.inf)
    nearest = KNeighborsClassifier(3, metric="precomputed")
    scores = cross_val_score(make_pipeline(learner, nearest), X, y, cv=3)
    assert scores.mean() > 0.7


def test_every_step_draws_a_batch():
    # Most batches have no impostors: the positions stay, and the draws continue.
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = rng.dirichlet(np.where(y[:, None] == (np.arange(20) >= 10), 2.0, 0.5)[0], 200)
    X[y == 1] = X[y == 1][:, ::-1]
    learner = SinkhornMetricLearning(batch_size=20, max_steps=30, random_state=0)
    learner.fit(X, y)
    n_clear = learner.path_.column("n_clear")
    assert learner.n_iter_ == 30
    assert n_clear[0] == 20
    assert n_clear.min() < 20


def test_distances_that_have_not_converged_count():
    rng = np.random.default_rng(0)
    X, y = rng.dirichlet(np.ones(6), 6), np.arange(6) % 2
    learner = SinkhornMetricLearning(
        criterion=Margin(floor=0.0), smoothing=1e-3, max_steps=2
    )
    with pytest.warns(ConvergenceWarning):
        learner.fit(X, y)
    assert learner.converged_ is False


@pytest.mark.parametrize("rho", [1.0, 3.0, math.inf])
@pytest.mark.parametrize("seed", [0, 1])
def test_threads_change_nothing(rho, seed):
    # BLAS rounds products of this size differently with more threads.
    rng = np.random.default_rng(seed)
    n = 150 if math.isinf(rho) else 50
    X = rng.dirichlet(np.ones(256), n)
    y = np.arange(n) % 5
    options = {"smoothing": rho, "max_steps": 2, "n_components": 16}
    one, two = (
        SinkhornMetricLearning(n_jobs=n_jobs, **options).fit(X, y) for n_jobs in (1, 2)
    )
    for name in ("metric_", "embedding_", "initial_metric_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    criteria = [learner.path_.column("criterion") for learner in (one, two)]
    np.testing.assert_array_equal(*criteria)
    np.testing.assert_array_equal(one.transform(X), two.transform(X))


def test_products_are_the_same_with_any_number_of_threads():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(300, 200)), rng.normal(size=(200, 150))
    found = [product(A, B, n_threads) for n_threads in (1, 2, 3, 7)]
    for each in found[1:]:
        np.testing.assert_array_equal(each, found[0])
    np.testing.assert_allclose(found[0], A @ B, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(product(A[:0], B), np.empty((0, 150)))
