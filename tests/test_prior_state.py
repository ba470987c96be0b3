"""What starts from a prior: weights of bins, maps, offsets, and their gradients."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
import reference
from groundmetric.learning._entries import weighted
from groundmetric.learning._margin import MarginCriterion
from groundmetric.learning._parameters import (
    PARTS,
    Parameters,
    Prior,
    inverse_document_frequency,
)
from groundmetric.learning._tilted import Tilted
from groundmetric.similarity._makers import weights_of
from groundmetric.smoothed._batches import Batches
from groundmetric.smoothed._pull import PulledCriterion
from groundmetric.smoothed._softmax import SoftmaxCriterion, softmax
from groundmetric.smoothed._training import Training, TrainingSettings

RHO = (0.5, 3.0, math.inf)
PRECISE = {"tol": 1e-13, "max_iter": 10_000}


def example(seed=0, n=12, d=7, classes=3, s=3):
    """Sparse histograms, labels, coordinates of bins, and weights of bins."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.gamma(rng.gamma(1.0, size=(classes, d))[y] + 0.3)
    X[rng.random(X.shape) < 0.3] = 0.0
    X[:, 0] += 0.1
    X /= X.sum(axis=1, keepdims=True)
    return X, y, rng.normal(size=(d, s)), rng.gamma(2.0, size=d)


def setup(X, y, points, weights, rho, *, dtype="float64", n_components=None, **options):
    """Make parameters, and batches of histograms."""
    rows = csr_array(X)
    learned = options.pop("learned", PARTS)
    prior = Prior.of(rows, points, n_components, weights)
    parameters = Parameters(prior, learned, dtype)
    given = options.pop("options", PRECISE if dtype == "float64" else {})
    omega = weights_of(rows.shape[0], y, None)
    batches = Batches(rows, omega, parameters, rho, options=given, **options)
    return parameters, batches


def moved(parameters, seed=1, size=0.3):
    rng = np.random.default_rng(seed)
    change = size * rng.normal(size=parameters.start.shape)
    return parameters.start + change.astype(parameters.dtype)


def state_of(parameters, theta):
    return tuple(parameters.part(theta, name) for name in PARTS)


@pytest.mark.parametrize("rho", RHO)
def test_loss_literally(rho):
    X, y, points, weights = example(n=6, d=5)
    parameters, batches = setup(X, y, points, weights, rho)
    theta = moved(parameters)
    criterion = SoftmaxCriterion(batches)
    found = PulledCriterion(criterion, parameters, 0.7).evaluate(theta)
    x = points - points.mean(axis=0)
    x /= math.sqrt((x**2).sum() / len(x))
    logs = np.log(weights) - np.log(weights).mean()
    eps = rho * np.mean([((p - q) ** 2).sum() for p in x for q in x])
    first = [
        reference.prior_distance(X[i], X[j], logs, x, eps)
        for i in range(len(X))
        for j in range(i)
    ]
    assert criterion.tau == pytest.approx(0.2 * np.median(first), rel=1e-6)
    expected = reference.prior_loss(
        X,
        gm.label_similarity(y),
        (x, np.eye(3), logs),
        state_of(parameters, theta),
        tau=criterion.tau,
        eps=eps,
        pull=0.7,
    )
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.n_inexact == 0


@pytest.mark.parametrize("rho", RHO)
@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("n_components", [None, 2])
def test_gradient_by_finite_differences(rho, part, n_components):
    X, y, points, weights = example(seed=3)
    parameters, batches = setup(X, y, points, weights, rho, n_components=n_components)
    criterion = PulledCriterion(SoftmaxCriterion(batches), parameters, 0.1)
    theta = moved(parameters)
    g = criterion.evaluate(theta).gradient
    rng, h = np.random.default_rng(4), 1e-5
    for _ in range(3):
        E = np.zeros_like(theta)
        some = parameters.slices[part]
        E[some] = rng.normal(size=some.stop - some.start)
        up, down = (criterion.evaluate(theta + t * E).value for t in (h, -h))
        assert g @ E == pytest.approx((up - down) / (2 * h), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rho", RHO)
def test_gradient_without_points(rho):
    X, y, _, _ = example(seed=5)
    for r in (None, 3):
        parameters, batches = setup(X, y, None, None, rho, n_components=r)
        assert list(parameters.slices) == ["weights", "offsets"]
        criterion = SoftmaxCriterion(batches)
        theta = moved(parameters, size=0.1)
        g = criterion.evaluate(theta).gradient
        E, h = np.random.default_rng(6).normal(size=theta.shape), 1e-5
        up, down = (criterion.evaluate(theta + t * E).value for t in (h, -h))
        assert g @ E == pytest.approx((up - down) / (2 * h), rel=1e-6)


@pytest.mark.parametrize(("n", "d"), [(12, 40), (40, 12)])
def test_without_points_axes_are_those_of_the_histograms(n, d):
    """Also of fewer histograms than bins, as documents often are."""
    X = np.random.default_rng(n).gamma(0.5, size=(n, d))
    X /= X.sum(axis=1, keepdims=True)
    few = Prior.of(csr_array(X), None, 3).points
    _, _, axes = np.linalg.svd(X - X.mean(axis=0))
    span = axes[:3].T - axes[:3].T.mean(axis=0)
    coefficients = np.linalg.lstsq(span, few, rcond=None)[0]
    np.testing.assert_allclose(span @ coefficients, few, atol=1e-9)


def test_more_components_than_histograms():
    X = np.random.default_rng(0).gamma(0.5, size=(9, 600))
    X /= X.sum(axis=1, keepdims=True)
    rows = csr_array(X)
    tracemalloc.start()
    points = Prior.of(rows, None, 12).points
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 600 * 600 / 2
    # Projections of e_p keep the distances of histograms along all that they vary in.
    ratio = pdist(X @ points) / pdist(X)
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_without_points_bins_are_equally_far_apart():
    X, _, _, _ = example()
    prior = Prior.of(csr_array(X), None)
    squares = ((prior.points[:, None] - prior.points) ** 2).sum(axis=2)
    np.testing.assert_allclose(squares[~np.eye(7, dtype=bool)], squares[0, 1])
    assert (prior.points**2).sum() / 7 == pytest.approx(1.0)
    # With fewer components: the axes along which the histograms vary most.
    few = Prior.of(csr_array(X), None, 2).points
    _, _, axes = np.linalg.svd(X - X.mean(axis=0))
    span = axes[:2].T - axes[:2].T.mean(axis=0)
    coefficients = np.linalg.lstsq(span, few, rcond=None)[0]
    np.testing.assert_allclose(span @ coefficients, few, atol=1e-10)


@pytest.mark.parametrize("rho", RHO)
def test_gradient_of_margins(rho):
    # Targets and triplets are stable nearby; the margin is held fixed, as in the
    # gradient.
    X, y, points, weights = example(seed=7, n=15)
    parameters, batches = setup(X, y, points, weights, rho)
    criterion = MarginCriterion(
        np.empty((15, 0)), batches.weights, 3, 0.4, searches=batches.searches
    )
    theta = moved(parameters)
    found = criterion.evaluate(theta)

    def distances(vector):
        return batches.next_solved(vector)[0].distances.copy()

    value, W, _, triplets = reference.margin_loss(
        distances(theta), gm.label_similarity(y), 3, 0.4
    )
    assert found.value == pytest.approx(value)
    assert found.n_triplets == len(triplets) > 0
    rng, h = np.random.default_rng(8), 1e-5
    for _ in range(3):
        E = rng.normal(size=theta.shape)
        slope = (W * (distances(theta + h * E) - distances(theta - h * E))).sum()
        assert found.gradient @ E == pytest.approx(slope / (2 * h), rel=1e-5)


def test_softmax_where_similar_histograms_are_far():
    # exp(-900) is zero in double precision; the loss is not.
    D = np.array([[0.0, 900.0, 1.0], [900.0, 0.0, 2.0], [1.0, 2.0, 0.0]])
    v = np.where(np.equal.outer([0, 0, 1], [0, 0, 1]), 1.0, -1.0)
    found = softmax(D, lambda rows: v[rows].copy(), 1.0)
    assert found.value == pytest.approx((899 + 898) / 2, rel=1e-12)
    expected = np.array([[0, 0.5, -0.5], [0.5, 0, -0.5], [0, 0, 0]])
    np.testing.assert_allclose(found.weights, expected, atol=1e-15)


def test_softmax_of_weighted_pairs():
    rng = np.random.default_rng(0)
    D = rng.random((9, 9))
    D = D + D.T
    omega = rng.normal(size=(9, 9))
    omega = (omega + omega.T) * (rng.random((9, 9)) < 0.8)
    omega = np.triu(omega, 1) + np.triu(omega, 1).T
    omega[4] = omega[:, 4] = -np.abs(omega[4])  # without similar ones
    omega[6] = omega[:, 6] = 0.0  # without any
    v = np.where(omega > 0, omega / omega.max(), omega / -omega.min())
    found = softmax(D, lambda rows: v[rows].copy(), 0.3)
    assert found.value == pytest.approx(reference.softmax_loss(D, omega, 0.3))
    assert (found.weights[[4, 6]] == 0).all()


@pytest.mark.parametrize("rho", [2.0, math.inf])
def test_steps_literally(rho):
    X, y, points, weights = example(seed=9)
    parameters, batches = setup(X, y, points, weights, rho)
    criterion = SoftmaxCriterion(batches)
    settings = TrainingSettings(max_outer=5, step_size=0.02, weight_factor=3.0)
    training = Training(criterion, parameters, settings)
    training.run()
    rates = np.full(parameters.start.shape, 0.02)
    rates[parameters.slices["weights"]] = 0.06
    gradients = [lambda theta: criterion.evaluate(theta).gradient] * 5
    expected = reference.adam(parameters.start, gradients, rates)
    np.testing.assert_allclose(training.result, expected, atol=1e-9)
    assert training.hit_limit
    assert training.path.column("step_size")[0] == pytest.approx(0.02)
    values = training.path.column("criterion")
    assert values[-1] < values[0]


@pytest.mark.parametrize("rho", RHO)
def test_unseen_bins_keep_what_is_known(rho):
    X, y, points, weights = example(seed=2)
    X[:, [2, 5]] = 0.0
    X /= X.sum(axis=1, keepdims=True)
    parameters, batches = setup(X, y, points, weights, rho, dtype="float32")
    criterion = PulledCriterion(SoftmaxCriterion(batches), parameters, 1.0)
    training = Training(criterion, parameters, TrainingSettings(max_outer=8))
    training.run()
    logs, A, offsets = state_of(parameters, training.result)
    start = state_of(parameters, parameters.start)
    seen = np.array([0, 1, 3, 4, 6])
    np.testing.assert_array_equal(logs[[2, 5]], start[0][[2, 5]])
    np.testing.assert_array_equal(offsets[[2, 5]], 0.0)
    assert (logs[seen] != start[0][seen]).all()
    assert (offsets[seen] != 0).all()
    positions = parameters.positions(training.result)
    np.testing.assert_array_equal(positions[[2, 5]], (parameters.points @ A)[[2, 5]])


def test_masses_of_bins_without_weight():
    rows = csr_array([[0.5, 0.5, 0.0], [0.2, 0.0, 0.8], [0.0, 0.0, 1.0]])
    for dtype in ("float32", "float64"):
        parameters = Parameters(Prior.of(rows, np.eye(3)), ("weights",), dtype)
        theta = np.array([-2e4, -2e4 + math.log(3), 5e3], dtype)
        tilted = Tilted(rows, parameters)
        tilted.weigh(theta)
        found = tilted.rows.toarray()
        rtol = 1e-3 if dtype == "float32" else 1e-9
        np.testing.assert_allclose(found[0], [0.25, 0.75, 0.0], rtol=rtol)
        np.testing.assert_allclose(found[1:, 2], 1.0)
        assert (tilted.rows.data > 0).all()
        gradient = tilted.gradient(np.zeros((3, 3)), np.arange(5.0))
        assert np.isfinite(gradient).all()


def test_weights_are_a_perturbation():
    X, _, _, weights = example(seed=4)
    rows = csr_array(X)
    expected = [reference.perturbed(r, np.log(weights)) for r in X]
    found = csr_array(
        (weighted(rows.data, rows, np.log(weights)), rows.indices, rows.indptr)
    )
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-13)


@pytest.mark.parametrize("rho", [2.0, math.inf])
def test_resumes_from_a_state(rho):
    X, y, points, weights = example(n=20)

    def fresh():
        parameters, batches = setup(
            X, y, points, weights, rho, dtype="float32", batch_size=8, seed=3
        )
        criterion = PulledCriterion(SoftmaxCriterion(batches), parameters, 0.3)
        return Training(criterion, parameters, TrainingSettings(max_outer=9))

    whole, first, second = fresh(), fresh(), fresh()
    whole.run()
    first.run([lambda training: len(training.path) == 4])
    second.set_state({name: np.array(a) for name, a in first.state().items()})
    assert len(second.path) == 4
    second.run()
    np.testing.assert_array_equal(second.result, whole.result)
    np.testing.assert_array_equal(
        second.path.column("criterion"), whole.path.column("criterion")
    )
    broken = first.state() | {"adam.theta": np.zeros(3, np.float32)}
    with pytest.raises(ValueError, match="theta has shape"):
        fresh().set_state(broken)
    broken = first.state() | {"adam.taken": np.array(7)}
    with pytest.raises(ValueError, match="path"):
        fresh().set_state(broken)


@pytest.mark.parametrize("rho", [1.0, math.inf])
def test_threads_change_nothing(rho):
    X, y, points, weights = example(n=40, d=30)
    results = []
    for n in (1, 3):
        parameters, batches = setup(
            X, y, points, weights, rho, options={"n_jobs": n}, batch_size=20
        )
        criterion = SoftmaxCriterion(batches)
        settings = TrainingSettings(max_outer=4)
        training = Training(criterion, parameters, settings)
        training.run()
        results.append(training.result)
    np.testing.assert_allclose(results[1], results[0], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rho", RHO)
def test_single_precision(rho):
    X, y, points, weights = example(n=30, d=20)
    found = []
    for dtype in ("float64", "float32"):
        parameters, batches = setup(X, y, points, weights, rho, dtype=dtype)
        criterion = PulledCriterion(SoftmaxCriterion(batches), parameters, 1.0)
        at = criterion.evaluate(moved(parameters))
        assert at.gradient.dtype == dtype
        found.append((at.value, at.gradient))
    (value, gradient), (single, its) = found
    slack = 1e-4 if math.isinf(rho) else 5e-3  # tol is 1e-3
    assert single == pytest.approx(value, rel=slack)
    np.testing.assert_allclose(its, gradient, atol=slack * np.abs(gradient).max())


def test_strong_pull_keeps_the_prior():
    X, y, points, weights = example(n=20)
    away = []
    for pull in (0.0, 1.0, 100.0):
        parameters, batches = setup(X, y, points, weights, math.inf)
        criterion = PulledCriterion(SoftmaxCriterion(batches), parameters, pull)
        training = Training(criterion, parameters, TrainingSettings(max_outer=200))
        training.run()
        away.append(np.linalg.norm(training.result - parameters.start))
    assert away[0] > 2 * away[1] > 0
    assert away[2] < 0.1 * away[1]


def test_only_what_is_learned_moves():
    X, y, points, weights = example()
    for learned in (("weights",), ("map",), ("offsets",), ("weights", "offsets")):
        parameters, batches = setup(X, y, points, weights, math.inf, learned=learned)
        assert tuple(parameters.slices) == learned
        training = Training(
            SoftmaxCriterion(batches), parameters, TrainingSettings(max_outer=2)
        )
        training.run()
        fixed = set(PARTS) - set(learned)
        assert all(parameters.part(training.result, name) is None for name in fixed)
        if "weights" in fixed:
            np.testing.assert_allclose(
                np.exp(np.diff(parameters.log_weights(training.result))),
                weights[1:] / weights[:-1],
            )


def test_inverse_document_frequency():
    rows = csr_array([[1.0, 2.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    expected = [1.0, math.log(4 / 2) + 1, math.log(4) + 1]
    np.testing.assert_allclose(inverse_document_frequency(rows), expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(6), "bin_weights has 6 entries for 7 bins"),
        ([1, 1, 0, 1, 1, 1, 1], r"bin_weights\[2\] is 0.0"),
        ([1, 1, 1, np.nan, 1, 1, 1], r"bin_weights\[3\] is nan"),
    ],
)
def test_wrong_weights(weights, message):
    X, _, points, _ = example()
    with pytest.raises(ValueError, match=message):
        Prior.of(csr_array(X), points, None, weights)


def test_points_that_are_all_the_same():
    X, _, _, _ = example()
    with pytest.raises(ValueError, match="all the same"):
        Prior.of(csr_array(X), np.ones((7, 2)))


def test_memory_is_that_of_entries_and_positions():
    n, d, r, batch = 300, 20_000, 16, 64
    rng = np.random.default_rng(0)
    X = csr_array(random_array((n, d), density=0.002, rng=rng, dtype=float))
    X += csr_array((np.ones(n), (np.arange(n), np.arange(n))), shape=(n, d))
    X = csr_array(X / X.sum(axis=1)[:, None])
    points, y = rng.normal(size=(d, r)), np.arange(n) % 4
    parameters, batches = setup(
        X, y, points, None, math.inf, dtype="float32", batch_size=batch
    )
    criterion = PulledCriterion(SoftmaxCriterion(batches), parameters, 1.0)
    tracemalloc.start()
    training = Training(criterion, parameters, TrainingSettings(max_outer=3))
    training.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # Vectors, moments, gradient and a copy; and what a batch takes.
    assert peak < 4 * (7 * len(parameters.start) + 10 * X.nnz + 20 * batch**2)
    assert peak < 4 * d * d / 100


def test_limits_of_smoothing():
    X, y, points, weights = example()
    found = {}
    for rho in (300.0, 1e9, math.inf):
        parameters, batches = setup(X, y, points, weights, rho)
        solver, members = batches.next_solved(moved(parameters))
        found[rho] = solver.distances
        np.testing.assert_array_equal(members, np.arange(12))
        np.testing.assert_array_equal(solver.distances, solver.distances.T)
        np.testing.assert_array_equal(np.diag(solver.distances), 0.0)
    np.testing.assert_array_equal(found[1e9], found[math.inf])
    scale = found[math.inf].max()
    np.testing.assert_allclose(found[300.0], found[math.inf], atol=0.02 * scale)


def test_plans_that_do_not_converge_are_counted():
    X, y, points, weights = example()
    options = {"tol": 1e-12, "max_iter": 2}
    parameters, batches = setup(X, y, points, weights, 0.5, options=options)
    criterion = SoftmaxCriterion(batches, tau=0.1)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        at = criterion.evaluate(parameters.start)
    assert at.n_inexact > 0
    training = Training(criterion, parameters, TrainingSettings(max_outer=2))
    with pytest.warns(ConvergenceWarning):
        training.run()
    assert training.n_inexact > at.n_inexact


def test_batches_are_drawn_in_turn():
    X, y, points, weights = example(n=20)
    parameters, batches = setup(X, y, points, weights, math.inf, batch_size=6, seed=5)
    drawn = [batches.next_solved(parameters.start)[1] for _ in range(3)]
    assert len(np.unique(np.concatenate(drawn))) == 18  # none comes twice
    solver, members = batches.next_solved(parameters.start)
    whole = setup(X, y, points, weights, math.inf)[1]
    everything, _ = whole.next_solved(parameters.start)
    expected = everything.distances[np.ix_(members, members)]
    np.testing.assert_allclose(solver.distances, expected, atol=1e-12)
