"""A training as an estimator uses it: what is learned, and what comes out."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

import groundmetric as gm
import reference
from groundmetric.base._votes import vote_errors
from groundmetric.learning._parameters import inverse_document_frequency
from groundmetric.similarity._makers import weights_of
from groundmetric.smoothed._prior import PriorLearning, State
from groundmetric.smoothed._training import TrainingSettings


def documents(n=300, d=60, seed=0):
    """Documents of three topics: words near their topic's center, and common ones."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n)
    points = rng.normal(size=(d, 5))
    topics = np.where(np.arange(d) < 30, np.arange(d) % 3, -1)  # half are uninformative
    points[:30, 0] += 2.0 * topics[:30]
    chance = np.where(topics == y[:, None], 0.12, 0.02)
    chance[:, 30:] = 0.15
    counts = rng.binomial(4, chance)
    counts[:, -1] += 1
    rows = csr_array(counts / counts.sum(axis=1, keepdims=True))
    return rows, y, points


def fit(rows, y, points, steps=60, **options):
    settings = TrainingSettings(max_outer=steps)
    learning = PriorLearning(settings=settings, **options)
    training, eps = learning.training(rows, weights_of(len(y), y, None), points)
    before = State.of(training, eps)
    training.run()
    return before, State.of(training, eps), training


def error(state, rows, y, others, theirs):
    return vote_errors(state.nearest(rows, others, 5)[1], y, theirs)[-1]


@pytest.mark.parametrize(
    "options",
    [
        {"bin_weights": "idf"},
        {"batch_size": 64},
        {"margins": (3, 0.3)},
        {"smoothing": 1.0, "steps": 12, "batch_size": 60},
    ],
    ids=["softmax", "batches", "margins", "plans"],
)
def test_learns(options):
    rows, y, points = documents()
    if "bin_weights" in options:
        options = {"bin_weights": inverse_document_frequency(rows[:160])}
    before, after, training = fit(rows[:160], y[:160], points, **options)
    values = training.path.column("criterion")
    assert values[-3:].mean() < values[:3].mean()
    errors = [
        error(state, rows[:160], y[:160], rows[160:], y[160:])
        for state in (before, after)
    ]
    assert errors[1] < errors[0] - 0.03
    # Uninformative words have lost weight.
    lost = after.log_weights - before.log_weights
    assert lost[30:].mean() < lost[:30].mean()


@pytest.mark.parametrize("rho", [2.0, math.inf])
def test_state(rho):
    rows, y, points = documents(n=24, d=12)
    _, state, _ = fit(
        rows, y, points, steps=3, smoothing=rho, options={"tol": 1e-9}, dtype="float64"
    )
    expected = [
        reference.prior_distance(
            rows[[i]].toarray()[0],
            rows[[20]].toarray()[0],
            state.log_weights,
            state.positions,
            state.eps,
        )
        for i in range(3)
    ]
    found = state.distances(rows[:3], rows[20:], tol=1e-9)
    np.testing.assert_allclose(found[:, 0], expected, rtol=1e-5, atol=1e-9)
    own = state.distances(rows)
    np.testing.assert_array_equal(np.diag(own), 0.0)
    np.testing.assert_allclose(own[:3, 20:], found, rtol=1e-3)
    # It is the public divergence between weighted histograms.
    between = gm.sinkhorn_divergence(
        state.weigh(rows[:3]),
        state.weigh(rows[20:]),
        metric="sqeuclidean",
        points=state.positions,
        smoothing=state.smoothing,
        tol=1e-9,
    )
    np.testing.assert_allclose(found, between, atol=1e-9)
    half = state.divided(2.0)
    assert half.smoothing == pytest.approx(state.smoothing)
    np.testing.assert_allclose(half.distances(rows), own / 2, rtol=1e-3, atol=1e-9)
    distances, indices = state.nearest(rows, rows[:5], 4)
    np.testing.assert_array_equal(indices[:, 0], np.arange(5))
    np.testing.assert_allclose(
        distances, np.take_along_axis(own[:5], indices, axis=1), rtol=1e-3, atol=1e-6
    )


def test_draws_come_from_the_seed():
    rows, y, points = documents()
    options = {"batch_size": 50, "steps": 6}
    states = [fit(rows, y, points, seed=seed, **options)[1] for seed in (1, 1, 2)]
    np.testing.assert_array_equal(states[0].positions, states[1].positions)
    assert (states[0].positions != states[2].positions).any()
