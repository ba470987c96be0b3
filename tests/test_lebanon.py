"""Lebanon's distance: the moment, the objective, and what is learned."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from sklearn.exceptions import ConvergenceWarning

import reference
from groundmetric import distances
from groundmetric.baselines import Lebanon
from groundmetric.baselines._lebanon import log_moment, loss_and_gradient
from problems import fours_and_nines


@pytest.fixture(scope="module")
def digits():
    return fours_and_nines(60)[0]


@pytest.mark.parametrize("concentration", [0.05, 1.0, 100.0])
@pytest.mark.parametrize("d", [2, 4, 40])
def test_moment_is_a_coefficient(d, concentration):
    weights = np.random.default_rng(d).dirichlet(np.full(d, concentration))
    found, _ = log_moment(weights, d / 2)
    expected = np.log(reference.moment_of_gammas(weights, d // 2))
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("weight", [1e-3, 1.0, 20.0])
def test_moment_of_one_bin(weight):
    # E[g^(1/2)] = Gamma(2) / Gamma(3/2), and Gamma(3/2) is half the root of pi.
    found, gradient = log_moment(np.array([weight]), 0.5)
    expected = np.sqrt(weight) / (np.sqrt(np.pi) / 2)
    assert np.exp(found) == pytest.approx(expected, rel=1e-12)
    assert gradient[0] == pytest.approx(0.5 / weight, rel=1e-12)


@pytest.mark.parametrize("d", [2, 3])
def test_loss_is_the_relative_volume(d):
    rng = np.random.default_rng(d)
    X, weights = rng.dirichlet(np.ones(d), 5), rng.dirichlet(np.ones(d))
    found, _ = loss_and_gradient(np.log(weights), X)
    before = reference.relative_volume(X, np.full(d, 1 / d))
    expected = reference.relative_volume(X, weights) - before
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert loss_and_gradient(np.zeros(d), X)[0] == pytest.approx(0.0, abs=1e-12)
    scaled, _ = loss_and_gradient(np.log(7 * weights), X)
    assert scaled == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("d", [1, 3, 8])
def test_gradient_is_that_of_finite_differences(d):
    rng = np.random.default_rng(d)
    X, start = rng.dirichlet(np.ones(d), 7), 2 * rng.normal(size=d)
    wrong = check_grad(
        lambda a: loss_and_gradient(a, X)[0],
        lambda a: loss_and_gradient(a, X)[1],
        start,
    )
    assert wrong < 1e-5


def test_learns(digits, tmp_path):
    learned = Lebanon().fit(digits)
    assert learned.losses_[0] == pytest.approx(0.0, abs=1e-9)
    assert (np.diff(learned.losses_) <= 0).all()
    assert len(learned.losses_) == learned.n_iter_ + 1
    assert learned.weights_.sum() == pytest.approx(1.0)
    # The formula of section 6.3.
    rows = digits / digits.sum(axis=1, keepdims=True)
    perturbed = rows * learned.weights_ / (rows @ learned.weights_)[:, None]
    np.testing.assert_allclose(learned.transform(digits), perturbed, rtol=1e-12)
    found = learned.pairwise(digits[:20], digits)
    roots = np.sqrt(perturbed)
    expected = np.arccos(np.minimum(roots[:20] @ roots.T, 1.0))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    between = learned.pairwise(digits)
    np.testing.assert_array_equal(between, between.T)
    assert (np.diag(between) == 0).all()
    # Bins that are usually empty, such as corners, hardly count.
    assert learned.weights_[0] < 0.01 / 64 < learned.weights_.max()
    # Labels are not used.
    again = Lebanon().fit(digits, np.arange(len(digits)))
    np.testing.assert_array_equal(again.weights_, learned.weights_)
    learned.save(tmp_path / "model.npz")
    loaded = Lebanon.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.pairwise(digits), between)


def test_weights_are_a_minimum(digits):
    learned = Lebanon(tol=1e-12).fit(digits[:, 8:24])
    rows = learned.histograms(digits[:, 8:24])
    theta, rng = np.log(learned.weights_), np.random.default_rng(0)
    best, gradient = loss_and_gradient(theta, rows)
    assert np.abs(gradient).max() < 1e-3
    for _ in range(20):
        step = rng.normal(size=16) / 10
        assert loss_and_gradient(theta + step, rows)[0] > best


def test_equal_weights_are_fisher():
    # The mean is the same for all bins, so the first gradient is zero.
    X = np.eye(4) + 0.5
    learned = Lebanon().fit(X)
    np.testing.assert_allclose(learned.weights_, 0.25, rtol=1e-9)
    np.testing.assert_allclose(learned.pairwise(X), distances.fisher(X), atol=1e-12)


def test_one_bin_and_empty_bins():
    assert Lebanon().fit([[1], [2]]).pairwise([[1], [2]]).tolist() == [[0, 0], [0, 0]]
    X = [[1, 3, 0], [2, 1, 0], [3, 3, 0]]
    learned = Lebanon().fit(X)
    assert (learned.weights_ > 0).all()
    # A histogram in a bin that was always empty is as far away as possible.
    assert learned.pairwise([[0, 0, 1]], X) == pytest.approx(np.pi / 2)


def test_limit_warns(digits):
    with pytest.warns(ConvergenceWarning, match="Lebanon made 3 steps and has not"):
        Lebanon(max_iter=3).fit(digits)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"tol": -1.0}, r"tol is -1\.0"), ({"max_iter": 0}, "max_iter is 0")],
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=message):
        Lebanon(**options).fit([[1, 2], [2, 1]])
