"""Kernels made of distances."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import ZERO_MASS, check_contract
from groundmetric import EMDKernel, distances
from groundmetric.experiments import C_GRID, SIGMA_GRID

# Distances in a complete bipartite graph, 2 on either side and 1 across. With x =
# exp(-1 / sigma), the vector (1, 1, 1, -1, -1, -1) has the eigenvalue
# 1 + 2 x^2 - 3 x = (1 - x) (1 - 2 x) in the Gram matrix, which is -1/8 for x = 3/4.
BIPARTITE = np.kron(np.eye(2), np.ones((3, 3))) + 1 - 2 * np.eye(6)
SIGMA = 1 / np.log(4 / 3)


class OfDistances(EMDKernel):
    """Scikit-learn's checks make distances, not kernels, if they find this."""

    metric = "precomputed"


@parametrize_with_checks(
    [EMDKernel(), EMDKernel(distance="chi2"), OfDistances(distance="precomputed")]
)
def test_scikit_learn_contract(estimator, check):
    pairwise = get_tags(estimator).input_tags.pairwise
    check_contract(estimator, check, zero_mass=() if pairwise else ZERO_MASS)


@pytest.fixture(scope="module")
def digits():
    """Fours and nines: 20 to train, 20 to test."""
    X, y = load_digits(return_X_y=True)
    keep = np.flatnonzero((y == 4) | (y == 9))[:40]
    return X[keep[:20]], y[keep[:20]], X[keep[20:]], y[keep[20:]]


@pytest.fixture(scope="module")
def grid():
    """Distances between the pixels of the digits."""
    points = np.argwhere(np.ones((8, 8))).astype(float)
    return np.abs(points[:, None] - points).sum(axis=-1)


def test_by_hand():
    # EMDs of point masses are entries of the metric.
    kernel = EMDKernel(distance=BIPARTITE, bandwidth=SIGMA)
    gram = kernel.fit_transform(np.eye(6))
    assert kernel.smallest_eigenvalue_ == pytest.approx(-1 / 8)
    assert kernel.shift_ == -kernel.smallest_eigenvalue_
    expected = np.where(BIPARTITE == 1, 3 / 4, 9 / 16)
    np.fill_diagonal(expected, 1 + 1 / 8)
    np.testing.assert_allclose(gram, expected)
    assert np.linalg.eigvalsh(gram).min() > -1e-14
    # The same from distances alone.
    again = EMDKernel(distance="precomputed", bandwidth=SIGMA)
    np.testing.assert_allclose(again.fit_transform(BIPARTITE), expected)
    # Half of bin 0 and half of bin 3: 1/2 from both, (2 + 1) / 2 from the others.
    row = kernel.transform([[1, 0, 0, 1, 0, 0]])
    near, far = np.sqrt(3 / 4), (3 / 4) ** 1.5
    np.testing.assert_allclose(row, [[near, far, far, near, far, far]])


def test_equal_histograms_get_the_shift():
    kernel = EMDKernel(distance=BIPARTITE, bandwidth=SIGMA)
    train = np.vstack([np.eye(6), 3 * np.eye(6)[:2]])  # two of them twice
    gram = kernel.fit_transform(train)
    assert kernel.shift_ == pytest.approx(1 / 8)
    assert np.linalg.eigvalsh(gram).min() > -1e-14
    np.testing.assert_array_equal(gram[6:], gram[:2])
    np.testing.assert_array_equal(kernel.transform(train), gram)
    np.testing.assert_array_equal(kernel.transform(5 * train[[4, 7]]), gram[[4, 1]])
    # Almost equal is not equal.
    near = kernel.transform(np.eye(6)[:1] + 1e-9)
    assert near[0, 0] == pytest.approx(1.0)
    distance = EMDKernel(distance="precomputed", bandwidth=SIGMA)
    D = BIPARTITE[np.ix_([0, 1, 2, 3, 4, 5, 0, 1], [0, 1, 2, 3, 4, 5, 0, 1])]
    np.testing.assert_allclose(distance.fit_transform(D), gram)
    np.testing.assert_allclose(distance.transform(D[:3]), gram[:3])


@pytest.mark.parametrize("metric", [None, *distances.DISTANCES, "grid", "learned"])
@pytest.mark.parametrize("multiple", [0.1, 5.0])
def test_positive_semidefinite_and_consistent(digits, grid, metric, multiple):
    X, _, X_test, _ = digits
    metric = grid if isinstance(metric, str) and metric == "grid" else metric
    if isinstance(metric, str) and metric == "learned":
        metric = gm.project_metric(np.random.default_rng(0).random((64, 64))).metric
    kernel = EMDKernel(distance=metric, multiple=multiple)
    gram = kernel.fit_transform(X)
    assert np.linalg.eigvalsh(gram).min() >= -1e-10
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(kernel.transform(X), gram)
    if metric is None:
        D, D_test = distances.l1(X) / 2, distances.l1(X_test, X) / 2
    elif isinstance(metric, str):
        D, D_test = (
            distances.pairwise(*Z, distance=metric) for Z in ((X,), (X_test, X))
        )
    else:
        rows, tests = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, X_test))
        D = gm.pairwise_emd(rows, metric=metric)
        D_test = gm.pairwise_emd(tests, rows, metric=metric)
    median = np.median(D[np.triu_indices(len(D), 1)])
    assert kernel.bandwidth_ == pytest.approx(multiple * median)
    off = ~np.eye(len(D), dtype=bool)
    np.testing.assert_allclose(gram[off], np.exp(-D / kernel.bandwidth_)[off])
    np.testing.assert_allclose(np.diag(gram), 1 + kernel.shift_)
    expected = np.exp(-D_test / kernel.bandwidth_)
    np.testing.assert_allclose(kernel.transform(X_test), expected)


def test_none_is_the_uniform_metric(digits):
    X, _, X_test, _ = digits
    left, right = (EMDKernel(distance=m, bandwidth=0.3) for m in (None, 1 - np.eye(64)))
    np.testing.assert_allclose(left.fit_transform(X), right.fit_transform(X))
    np.testing.assert_allclose(left.transform(X_test), right.transform(X_test))


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_shrinkage_mixes_the_uniform_metric_in(digits, grid, share):
    X, _, X_test, _ = digits
    X, Z, metric = X[:12], X_test[:5], np.asarray(grid, float)
    d = len(metric)
    mixed = (1 - share) * metric + share * metric.sum() / (d * (d - 1)) * (
        1 - np.eye(d)
    )
    kernel = EMDKernel(distance=metric, shrinkage=share, bandwidth=1.0).fit(X)
    plain = EMDKernel(distance=mixed, bandwidth=1.0).fit(X)
    np.testing.assert_allclose(kernel.gram_, plain.gram_, rtol=1e-12)
    np.testing.assert_allclose(kernel.transform(Z), plain.transform(Z), rtol=1e-12)


def test_median_of_equal_histograms():
    # Of ten pairs, six are equal: the median is 0, and that of the others 1.
    kernel = EMDKernel(multiple=2.0).fit([[1, 0]] * 4 + [[0, 1]])
    assert kernel.bandwidth_ == 2.0
    assert EMDKernel().fit([[1, 0], [2, 0]]).bandwidth_ == 1.0
    assert EMDKernel().fit([[1, 0]]).bandwidth_ == 1.0


def test_grids_are_the_papers():
    assert SIGMA_GRID == (0.1, 0.2, 0.5, 1, 2, 5)
    assert C_GRID == (1, 10, 100)


def test_targets_do_not_matter(digits):
    X, y, _, _ = digits
    expected = EMDKernel().fit_transform(X)
    several = np.stack([y, -y], axis=1)
    np.testing.assert_array_equal(EMDKernel().fit_transform(X, several), expected)


def test_grid_search(digits, grid):
    X, y, X_test, y_test = digits
    search = GridSearchCV(
        make_pipeline(EMDKernel(distance=grid), SVC(kernel="precomputed")),
        {"emdkernel__multiple": SIGMA_GRID[::2], "svc__C": C_GRID},
        cv=2,
    ).fit(X, y)
    assert search.score(X_test, y_test) > 0.8
    assert search.best_estimator_[0].gram_.shape == (20, 20)


def test_cross_validation_slices_both_ways(digits):
    # Histograms are cut in rows, distances in rows and columns; both give the same.
    X, y, _, _ = digits
    predicted = [
        cross_val_predict(
            make_pipeline(EMDKernel(distance=metric), SVC(kernel="precomputed")),
            data,
            y,
            cv=4,
            method="decision_function",
        )
        for metric, data in (("l1", X), ("precomputed", distances.l1(X)))
    ]
    np.testing.assert_allclose(*predicted)
    assert not get_tags(EMDKernel()).input_tags.pairwise
    assert get_tags(EMDKernel(distance="precomputed")).input_tags.pairwise


def test_clone_pickle_forms_and_names(digits, grid):
    X, _, X_test, _ = digits
    kernel = EMDKernel(distance=grid).fit(X)
    expected = kernel.transform(X_test)
    assert not hasattr(clone(kernel), "gram_")
    again = pickle.loads(pickle.dumps(kernel))  # noqa: S301 - our own
    np.testing.assert_array_equal(again.transform(X_test), expected)
    sparse = EMDKernel(distance=grid, n_jobs=2).fit(sp.csr_array(X))
    np.testing.assert_array_equal(sparse.transform(sp.csr_array(X_test)), expected)
    assert list(kernel.get_feature_names_out()[:2]) == ["emdkernel0", "emdkernel1"]
    # The caller's copy is its own.
    kernel.fit_transform(X)[:] = 0
    np.testing.assert_array_equal(kernel.transform(X_test), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": "cosine"}, "distance is 'cosine'; it must be one of l1"),
        ({"distance": np.ones((2, 2))}, r"distance has shape \(2, 2\)"),
        ({"distance": np.ones((3, 3))}, r"distance\[0, 0\] is 1\.0: the diagonal"),
        ({"distance": [[0, 1, 5], [1, 0, 2], [5, 2, 0]]},
         r"distance\[0, 2\] exceeds distance\[0, 1\] \+ distance\[1, 2\] by 2\.0"),
        ({"distance": "precomputed"}, r"X has shape \(2, 3\), but must be square"),
        ({"bandwidth": "mean"}, "bandwidth is 'mean'; 'median' or a number"),
        ({"bandwidth": 0.0}, r"bandwidth is 0\.0; a number above 0"),
        ({"bandwidth": -1.0}, r"bandwidth is -1\.0"),
        ({"shrinkage": 1.5}, r"shrinkage is 1\.5"),
        ({"distance": "chi2", "shrinkage": 0.5}, "only a ground metric can be shrunk"),
        ({"multiple": 0}, "multiple is 0; a number above 0"),
        ({"multiple": np.nan}, "multiple is nan"),
        ({"distance": 1 - np.eye(3), "n_jobs": 0}, "n_jobs is 0"),
    ],
)  # fmt: skip
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        EMDKernel(**options).fit([[1, 2, 3], [2, 1, 3]])


def test_bad_data():
    with pytest.raises(ValueError, match="Negative values in data"):
        EMDKernel().fit([[1, -2], [2, 1]])
    with pytest.raises(ValueError, match=r"X\[1\] has zero mass"):
        EMDKernel().fit([[1, 2], [0, 0]])
    # Rounding is forgiven, and averaged.
    near = np.array([[0, 1], [1 + 1e-9, 0]])
    kernel = EMDKernel(distance="precomputed", bandwidth=1.0)
    gram = kernel.fit_transform(near)
    np.testing.assert_array_equal(gram, gram.T)
    np.testing.assert_array_equal(kernel.transform(near), gram)
    with pytest.raises(ValueError, match=r"X\[0, 1\] is 1\.0: the matrix must be sym"):
        EMDKernel(distance="precomputed").fit([[0, 1], [2, 0]])


def test_training_points_of_any_mass_get_their_training_rows():
    # An EMD whose kernel needs a shift: two groups of bins, far within, near between.
    groups = np.arange(6) < 3
    B = np.where(groups[:, None] != groups[None, :], 1.0, 2.0)
    np.fill_diagonal(B, 0.0)
    rng = np.random.default_rng(1)
    rng.dirichlet(np.full(6, 0.1), 40)
    A = np.vstack([rng.dirichlet(np.full(6, 0.1), 40), np.eye(6)])
    kernel = EMDKernel(distance=B, multiple=2.0).fit(A)
    assert kernel.shift_ > 0.01
    for factor in (1.0, 3.0, 1 / 7):
        np.testing.assert_array_equal(kernel.transform(factor * A), kernel.gram_)
    D = gm.pairwise_emd(A, metric=B)
    given = EMDKernel(distance="precomputed", multiple=2.0).fit(D)
    again = given.transform(gm.pairwise_emd(A, A, metric=B))
    np.testing.assert_array_equal(again, given.gram_)
    np.testing.assert_allclose(given.gram_, kernel.gram_, atol=1e-12)


def test_median_counts_duplicates():
    # Distances 0, 1, 1 between pairs: the median is 1; between distinct ones 1, too.
    X = [[1, 0], [1, 0], [0, 1], [3, 1]]
    kernel = EMDKernel().fit(X)
    pairs = [0.0, 1.0, 0.25, 1.0, 0.25, 0.75]
    assert kernel.bandwidth_ == pytest.approx(np.median(pairs))
    # If it is zero, of those that differ: 1/2 here, and not the last resort 1.
    assert EMDKernel().fit([[1, 1]] * 4 + [[0, 2]]).bandwidth_ == 0.5


def test_bandwidths_that_are_none():
    X = [[1, 2], [2, 1], [3, 1]]
    for options, message in (
        ({"bandwidth": [1, 2]}, "bandwidth is"),
        ({"multiple": "median"}, "multiple is 'median'; a number at least 0"),
        (
            {"bandwidth": 1e-300, "multiple": 1e-300},
            "bandwidth times multiple is 0.0, out of range",
        ),
    ):
        with pytest.raises(ValueError, match=message):
            EMDKernel(**options).fit(X)
