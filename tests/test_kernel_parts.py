"""Kernels of several distances, and of learners that learn in the fit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import groundmetric as gm
from groundmetric import EMDKernel, distances

X, Y = load_digits(return_X_y=True)
KEEP = np.flatnonzero((Y == 4) | (Y == 9))[:50]
X, Y, X_TEST = X[KEEP[:30]], Y[KEEP[:30]], X[KEEP[30:]]
PIXELS = np.argwhere(np.ones((8, 8))).astype(float)
GRID = np.abs(PIXELS[:, None] - PIXELS).sum(axis=-1)
QUICK = gm.GroundMetricLearning(max_steps=2)


def test_by_hand():
    # Point masses: l1 is 2 between any two, so all l1 distances are 1 in units of the
    # median. EMDs are 1, 2 and 3, with median 2.
    metric = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    kernel = EMDKernel(distance=["l1", metric], weights=[3, 1], bandwidth=1.0)
    expected = 0.75 + 0.25 * np.array(metric) / 2
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(kernel.fit_transform(np.eye(3)), np.exp(-expected))
    # Half of bins 0 and 1: l1 is 1, 1 and 2; EMDs are 1/2, 1/2 and 5/2.
    row = -np.log(kernel.transform([[1, 1, 0]]))
    np.testing.assert_allclose(row, [[7 / 16, 7 / 16, 3 / 4 + 5 / 16]])


def test_mean_is_in_units_of_the_medians():
    kernel = EMDKernel(distance=["hellinger", GRID, None]).fit(X)
    rows, tests = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, X_TEST))
    mean, mean_test = np.zeros((30, 30)), np.zeros((20, 30))
    for between in (
        distances.hellinger,
        lambda *Z: gm.pairwise_emd(*Z, metric=GRID),
        distances.l1,
    ):
        unit = np.median(between(rows)[np.triu_indices(30, 1)])
        mean += between(rows) / unit / 3
        mean_test += between(tests, rows) / unit / 3
    sigma = np.median(mean[np.triu_indices(30, 1)])
    assert kernel.bandwidth_ == pytest.approx(sigma)
    np.testing.assert_allclose(kernel.transform(X_TEST), np.exp(-mean_test / sigma))
    np.testing.assert_array_equal(kernel.transform(X), kernel.gram_)
    assert np.linalg.eigvalsh(kernel.gram_).min() > -1e-10


def test_weights_of_zero_leave_a_distance_out():
    kernel = EMDKernel(distance=["l1", GRID], weights=[1, 0], bandwidth=0.5).fit(X)
    alone = EMDKernel(distance="l1", bandwidth=0.5).fit(X)
    np.testing.assert_array_equal(kernel.transform(X_TEST), alone.transform(X_TEST))
    # Lists, tuples and arrays of matrices are the same.
    found = [
        EMDKernel(distance=each).fit_transform(X)
        for each in ([GRID, 2 * GRID], (GRID, GRID.tolist()), np.stack([GRID, GRID]))
    ]
    np.testing.assert_allclose(found[0], found[1])
    np.testing.assert_allclose(found[0], found[2])
    np.testing.assert_allclose(found[0], EMDKernel(distance=GRID).fit_transform(X))


@pytest.mark.parametrize("name", ["l2", "chi2"])
def test_exponent(name):
    kernel = EMDKernel(distance=name, exponent=2.0, bandwidth=0.3).fit(X)
    D = distances.pairwise(X_TEST, X, distance=name)
    np.testing.assert_allclose(kernel.transform(X_TEST), np.exp(-((D / 0.3) ** 2)))
    assert kernel.shift_ < 1e-9  # positive definite


def test_a_learner_that_is_not_fitted_learns():
    learned = clone(QUICK).fit(X / X.sum(axis=1, keepdims=True), Y)
    kernel = EMDKernel(distance=["l1", QUICK]).fit(X, Y)
    known = EMDKernel(distance=["l1", learned]).fit(X)
    np.testing.assert_array_equal(kernel.transform(X_TEST), known.transform(X_TEST))
    assert not hasattr(QUICK, "path_")
    assert not hasattr(clone(kernel).distance[1], "path_")
    assert hasattr(clone(known).distance[1], "path_")
    alone = EMDKernel(distance=QUICK).fit(X, Y).transform(X_TEST)
    np.testing.assert_array_equal(
        alone, EMDKernel(distance=learned).fit(X).transform(X_TEST)
    )


class Recording(gm.GroundMetricLearning):
    """Remembers how many histograms it saw."""

    seen: list[int] = []  # noqa: RUF012 - shared by clones

    def fit(self, X, y):
        """Learn."""
        self.seen.append(len(X))
        return super().fit(X, y)


def test_searches_learn_in_each_fold():
    learner = Recording(max_steps=1)
    learner.seen.clear()
    search = GridSearchCV(
        make_pipeline(EMDKernel(), SVC(kernel="precomputed", C=10)),
        {"emdkernel__distance": ["l1", ["l1", learner]]},
        cv=StratifiedKFold(3),
        refit=False,
    )
    search.fit(X, Y)
    assert learner.seen == [20, 20, 20]
    assert not hasattr(learner, "path_")


@pytest.mark.parametrize("distance", [["l1", GRID, "chi2"], ["l1", QUICK], [GRID] * 2])
def test_saved(tmp_path, distance):
    kernel = EMDKernel(distance=distance, exponent=1.5).fit(X, Y)
    kernel.save(tmp_path / "kernel.npz")
    again = EMDKernel.load(tmp_path / "kernel.npz")
    np.testing.assert_array_equal(again.transform(X_TEST), kernel.transform(X_TEST))
    np.testing.assert_array_equal(again.fit(X, Y).gram_, kernel.gram_)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": "l1", "weights": [1]}, "weights are given, but distance is a si"),
        ({"distance": ["l1", "l2"], "weights": [1]}, "weights has 1 entries, but"),
        ({"distance": ["l1", "l2"], "weights": [1, -1]}, "weights must not be negativ"),
        ({"distance": ["l1", "l2"], "weights": [0, 0]}, "weights must not be negative"),
        ({"distance": ["l1", "l2"], "weights": [1, np.nan]}, "weights.*nan"),
        ({"distance": ["l1", "precomputed"]}, r"distance\[1\] is 'precomputed', which"),
        ({"distance": ["l1", 3]}, r"distance\[1\] is int; a list of distances may"),
        ({"distance": ["l1", ["l2", GRID]]}, r"distance\[1\] is list; a list of"),
        ({"distance": ["l1", "cosine"]}, "'cosine'; it must be one of l1"),
        ({"distance": ["l1", GRID[:2, :2]]}, r"distance has shape \(2, 2\)"),
        ({"distance": ["l1", GRID], "shrinkage": 0.5}, "distance is several; only a"),
        ({"distance": QUICK}, "a learner that is not fitted, so labels y are needed"),
        ({"exponent": 0.0}, r"exponent is 0\.0; a number above 0"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        EMDKernel(**options).fit(X)
