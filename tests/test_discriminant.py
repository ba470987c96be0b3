"""Fisher's discriminants of histograms: the twin, certificates, scikit-learn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.covariance import ledoit_wolf as ledoit_wolf_of
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

import reference
from groundmetric.smoothed import _features, _fisher
from groundmetric.smoothed._classes import Classes
from groundmetric.smoothed._features import Features
from groundmetric.smoothed._nearness import (
    features_of_bins,
    known_sets,
    side_by_side,
    valid_kernel,
)

SHAPES = [(40, 9), (12, 30), (9, 10), (10, 10), (11, 10), (12, 10)]  # n, d
INF = math.inf


def task(n, d, n_classes=3, s=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.dirichlet(np.ones(d), n) * rng.integers(0, 2, (n, d))
    X[:, 0] += 0.1
    X[np.arange(n), 1 + y] += 0.3
    return X / X.sum(axis=1, keepdims=True), y, rng.normal(size=(d, s))


def explicit(X, y, points, trust):
    """Write the features of the bins out: all unit vectors, and gamma times points."""
    if points is None or trust == 0:
        return np.eye(X.shape[1])
    if trust == INF:
        return points
    own, theirs = (
        sum(((F[y == c] - F[y == c].mean(axis=0)) ** 2).sum() for c in np.unique(y))
        for F in (X, X @ points)
    )
    gamma = trust * np.sqrt(own / theirs)
    return np.hstack([np.eye(X.shape[1]), gamma * points])


def found_by(X, y, points=None, trust=1.0, rho=None):
    classes = Classes(y)
    features = Features.of(csr_array(X), classes, points, trust)
    return _fisher.positions(features, classes, rho)


def squares(A):
    """Squared distances between positions, which are known up to a rotation."""
    return cdist(A, A, "sqeuclidean")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rho", [None, 0.01, 0.5, 1.0])
@pytest.mark.parametrize("trust", [0.0, 0.3, 1.0, 5.0, INF])
def test_positions_are_those_of_the_twin(shape, rho, trust):
    X, y, points = task(*shape)
    A = found_by(X, y, points, trust, rho)
    expected = reference.discriminants(X, y, explicit(X, y, points, trust), rho)[0]
    assert A.shape == expected.shape == (shape[1], 2)
    np.testing.assert_allclose(squares(A), squares(expected), rtol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("trust", [0.0, 1.0])
def test_directions_are_certified(shape, trust):
    X, y, points = task(*shape)
    features = explicit(X, y, points, trust)
    _, sigma, between, _ = reference.discriminants(X, y, features, 0.2)
    A = found_by(X, y, points, trust, 0.2)
    # Directions lie in the span of the features of histograms, or in their own.
    W = np.linalg.lstsq(X @ features, X @ A, rcond=None)[0]
    np.testing.assert_allclose(W.T @ sigma @ W, np.eye(2), atol=1e-7)
    # The Rayleigh quotient is stationary.
    values = np.diag(W.T @ between @ W)
    np.testing.assert_allclose(between @ W, sigma @ W * values, atol=1e-7 * values[-1])


@pytest.mark.parametrize("block", [1, 500, 2**24])
def test_both_branches_agree_in_blocks_of_any_size(monkeypatch, block):
    monkeypatch.setattr(_features, "BLOCK", block)
    X, y, points = task(14, 10)
    classes = Classes(y)
    features = Features.of(csr_array(X), classes, points, 1.0)
    assert features.n_features == len(y)  # solved in the features
    in_features = _fisher._in_features(features, classes)
    in_histograms = _fisher._in_histograms(features, classes)
    for p in (5, 13):
        a, b = (_fisher.shrunk(each, p, None) for each in (in_features, in_histograms))
        np.testing.assert_allclose(a, b, rtol=1e-10)
    np.testing.assert_allclose(in_features.squares, in_histograms.squares, rtol=1e-9)
    A = _fisher.positions(features, classes, None)
    monkeypatch.setattr(Features, "n_features", property(lambda _: len(y) + 1))
    monkeypatch.setattr(Features, "n_dimensions", 10)
    B = _fisher.positions(features, classes, None)
    np.testing.assert_allclose(squares(A), squares(B), rtol=1e-8)


@pytest.mark.parametrize("shape", [(40, 9), (200, 12)])
def test_shrinkage_is_that_of_ledoit_and_wolf(shape):
    X, y, _ = task(*shape)
    classes = Classes(y)
    centered = classes.within(X)
    expected = ledoit_wolf_of(centered, assume_centered=True)[1]
    features = Features.of(csr_array(X), classes, None, 1.0)
    sides = _fisher._in_features(features, classes)
    rho = _fisher.ledoit_wolf(sides.within, sides.squares, shape[1])
    assert rho == pytest.approx(expected, rel=1e-9)
    assert 0 < rho < 1


def test_shrinkage_has_limits():
    # Rows +z and -z: their squares do not vary, and nothing is estimated.
    z = np.array([[1.0, 0.0], [-1.0, 0.0]])
    least = _fisher.ledoit_wolf(z.T @ z / 2, np.ones(2), 2)
    assert least == _fisher.LEAST_SHRINKAGE
    # In one dimension, a matrix is a multiple of the identity.
    assert _fisher.ledoit_wolf(np.ones((1, 1)), np.array([0.5, 1.5]), 1) == 1.0


def angles_between(A, B):
    """Return the cosines of the angles between the spaces of two sets of columns."""
    a, b = (np.linalg.qr(each)[0] for each in (A, B))
    return np.linalg.svd(a.T @ b, compute_uv=False)


@pytest.mark.parametrize("rho", [0.1, 0.7])
def test_subspace_is_that_of_linear_discriminant_analysis(rho):
    # Its Sigma is the same if n > p, and with "lsqr" coefficients are Sigma^-1 means.
    X, y, _ = task(60, 9)
    lda = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=rho).fit(X, y)
    contrasts = np.diff(lda.coef_, axis=0).T
    A = found_by(X, y, rho=rho)
    np.testing.assert_allclose(angles_between(A, contrasts), 1.0, atol=1e-9)


def test_without_shrinkage_directions_are_those_of_an_eigenproblem():
    # "eigen" also shrinks the scatter between classes: only without any is it ours.
    X, y, points = task(60, 9)
    points = known_sets(points, 9)[0]
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X @ points, y)
    A = found_by(X, y, points, INF, 1e-8)
    ours, theirs = X @ A, X @ points @ lda.scalings_[:, :2]
    # W' Sigma W = 1 in both, whose scatters differ by n - c and n.
    np.testing.assert_allclose(
        squares(ours), squares(theirs) * squares(ours)[0, 1] / squares(theirs)[0, 1],
        rtol=1e-4,
    )  # fmt: skip


@pytest.mark.parametrize("rho", [None, 0.3])
@pytest.mark.parametrize("n", [8, 40])
def test_redundant_points_change_nothing(rho, n):
    X, y, _ = task(n, 10)
    plain = found_by(X, y, rho=rho)
    unit = found_by(X, y, np.eye(10), 1.0, rho)
    np.testing.assert_allclose(squares(unit), squares(plain), rtol=1e-7)
    scaled = found_by(X, y, 7.0 * np.eye(10), INF, rho)
    np.testing.assert_allclose(squares(scaled), squares(plain), rtol=1e-7)


@pytest.mark.parametrize("n", [8, 40])
def test_trust_goes_from_the_bins_to_their_points(n):
    X, y, points = task(n, 10)
    plain = squares(found_by(X, y, rho=0.2))
    for trust in (1e-200, 1e-7):
        A = found_by(X, y, points, trust, 0.2)
        np.testing.assert_allclose(squares(A), plain, rtol=1e-4)
    # Points have 4 dimensions, bins p: the same multiple of I needs another rho.
    p = min(n - 1, 10)
    rho = (0.25 * p / 4) / (1 + 0.25 * p / 4)
    expected = squares(found_by(X, y, points, INF, 0.2))
    for trust in (1e7, 1e150):
        found = squares(found_by(X, y, points, trust, rho))
        np.testing.assert_allclose(
            found / found.max(), expected / expected.max(), rtol=1e-4
        )


@st.composite
def awkward(draw):
    """Histograms with ties, empty bins, repeated rows, and classes of one member."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(2, 7))
    cells = st.sampled_from([0.0, 0.0, 0.25, 1.0, 3.0])
    rows = draw(
        st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)
    )
    y = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    y[0], y[1] = 0, 1
    X = np.array(rows)
    X[X.sum(axis=1) == 0, 0] = 1.0
    return X / X.sum(axis=1, keepdims=True), np.array(y)


TRUSTS = st.sampled_from([0.0, 1.0, 1e6, INF])


@given(
    awkward(), TRUSTS, st.sampled_from([None, 1e-8, 0.5, 1.0]), st.integers(0, 2**31)
)
def test_results_are_finite_and_do_not_depend_on_orders(data, trust, rho, seed):
    X, y = data
    rng = np.random.default_rng(seed)
    n, d = X.shape
    points = np.round(rng.normal(size=(d, 2)))
    points[0, 0] += 9.0
    points = known_sets(points, d)[0]
    A = found_by(X, y, points, trust, rho)
    if A is None:
        # Then, and only then, classes have the same mean positions.
        means = [X[y == c].mean(axis=0) for c in np.unique(y)]
        features = points if trust == INF else np.eye(d)
        assert np.ptp(means @ features, axis=0).max() < 1e-5
        return
    assert np.isfinite(A).all()
    assert A.shape[0] == d
    assert A.shape[1] < len(np.unique(y))
    if rho == 1e-8:
        return  # too near to singular to compare digits
    rows, bins = rng.permutation(n), rng.permutation(d)
    B = found_by(X[rows][:, bins], 3 - y[rows], points[bins], trust, rho)
    found = squares(B)
    scale = max(squares(A).max(), 1e-300)
    np.testing.assert_allclose(
        found / scale, squares(A)[bins][:, bins] / scale, atol=1e-5
    )


def test_equal_rows_within_classes_leave_all_directions():
    X = np.array([[3.0, 1, 0], [3, 1, 0], [0, 1, 3], [0, 1, 3]]) / 4
    y = np.array([0, 0, 1, 1])
    A = found_by(X, y)
    # Only the means count: the one direction is their difference, (1, 0, -1).
    assert A.shape == (3, 1)
    assert A[1, 0] == pytest.approx(0.0, abs=1e-12)
    assert A[0, 0] == pytest.approx(-A[2, 0])
    single = found_by(X[::2], y[::2])  # classes of one member
    # Sigma is I / p, with p = 1 and p = 3.
    np.testing.assert_allclose(3 * squares(single), squares(A), atol=1e-9)


def test_the_smallest_problem_by_hand():
    # X = (x, 1 - x) with x = .5, .7 | .2, .4: S_W = .01 J with J = [[1, -1], [-1, 1]],
    # trace .02 = mu p with p = 2; rho = .5: Sigma = .005 J + .005 I. Means differ by
    # (.3, -.3), an eigenvector with Sigma = .015: |w|^2 = 1 / .015, along (1, -1).
    X = np.array([[0.5, 0.5], [0.7, 0.3], [0.2, 0.8], [0.4, 0.6]])
    A = found_by(X, np.array([0, 0, 1, 1]), rho=0.5)
    assert abs(A[0, 0] - A[1, 0]) == pytest.approx(2 / math.sqrt(2 * 0.015))


def test_nothing_tells_equal_means_apart():
    X = np.array([[3.0, 1, 0], [1, 1, 2], [1, 1, 2], [3, 1, 0]]) / 4
    assert found_by(X, np.array([0, 0, 1, 1])) is None
    same = np.tile(X[:1], (4, 1))
    assert found_by(same, np.array([0, 0, 1, 1])) is None


def test_collinear_means_leave_one_direction():
    X, _, _ = task(30, 6)
    y = np.arange(30) % 3
    for c, share in enumerate((0.0, 0.5, 1.0)):
        X[y == c] += (1 - share) * np.eye(6)[0] + share * np.eye(6)[1]
        X[y == c] -= X[y == c].mean(axis=0)
        X[y == c] += (1 - share) * np.eye(6)[0] + share * np.eye(6)[1]
    assert found_by(X, y).shape == (6, 1)
    assert found_by(X[:5], y[:5]).shape[1] == 2


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-5, 1e300])
def test_nearness_has_no_scale(scale):
    points = np.array([[0.0, 1.0], [0.5, 0.0], [1.0, 1.0], [-0.75, 0.25]])
    for kernel in ("rbf", "linear"):
        found, expected = (
            features_of_bins(known_sets(each, 4), kernel)
            for each in (points * scale, points)
        )
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-9)


def test_nearness_of_sets_is_the_mean_of_theirs():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(6, 1)), 100 * rng.normal(size=(6, 20))
    for kernel in ("rbf", "linear"):
        K = [features_of_bins(known_sets(each, 6), kernel) for each in (one, two)]
        both = features_of_bins(known_sets([one, two.tolist()], 6), kernel)
        assert both.shape[1] <= 6
        np.testing.assert_allclose(
            both @ both.T, (K[0] @ K[0].T + K[1] @ K[1].T) / 2, atol=1e-9
        )
    sets = known_sets((one, two), 6)
    expected = (squares(sets[0]) + squares(sets[1])) / 2
    np.testing.assert_allclose(squares(side_by_side(sets)), expected, atol=1e-12)


def test_the_kernel_is_that_of_the_equation():
    points = known_sets([[0.0], [1.0], [3.0]], 3)[0]
    between = squares(points)
    F = features_of_bins([points], "rbf")
    expected = np.exp(-2 * between / np.median(between[np.triu_indices(3, 1)]))
    np.testing.assert_allclose(F @ F.T, expected, atol=1e-12)


def test_extreme_outliers_and_repeated_bins():
    points = np.array([[0.0], [1e-160], [0.0], [3e-160], [1e-160], [1.0]])
    F = features_of_bins(known_sets(points, 6), "rbf")
    assert np.isfinite(F).all()
    np.testing.assert_allclose((F**2).sum(axis=1), 1.0)


@pytest.mark.parametrize("wrong", [True, "cubic", 3, ["rbf"]])
def test_kernels_that_there_are_not(wrong):
    with pytest.raises(ValueError, match="kernel"):
        valid_kernel(wrong, 5)


def test_nearness_is_for_few_bins():
    assert valid_kernel(None, 2000) == "rbf"
    assert valid_kernel(None, 2001) == "linear"
    with pytest.raises(ValueError, match="needs a 10001 x 10001 matrix of all bins"):
        valid_kernel("rbf", 10_001)
