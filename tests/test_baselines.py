"""Learners to compare with: Mahalanobis distances, and chi-squared LMNN."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import validation
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from contract import check_contract
from groundmetric import _metric_learn, baselines
from groundmetric.baselines import ITML, LMNN, NCA, ChiSquaredLMNN
from groundmetric.baselines._chi_squared import loss_and_gradient, target_neighbors
from groundmetric.distances import chi2
from problems import fours_and_nines

MAHALANOBIS = [LMNN, ITML, NCA]
LEARNERS = [*MAHALANOBIS, ChiSquaredLMNN]

WITHOUT_ADAPTER = """
import warnings
warnings.simplefilter("error")
import numpy as np
import metric_learn
X = np.random.default_rng(0).random((12, 3))
y = np.repeat([0, 1], 6)
metric_learn.LMNN(n_neighbors=3).fit(X, y)
pairs = X[[[0, 1], [6, 7], [0, 6], [1, 7]]]
metric_learn.ITML().fit(pairs, [1, 1, -1, -1])
"""


@pytest.fixture(scope="module")
def digits():
    return fours_and_nines(60)


@pytest.mark.parametrize("hellinger", [False, True])
@pytest.mark.parametrize("learner", MAHALANOBIS)
def test_learns(digits, learner, hellinger):
    X, y, X_test, y_test = digits
    learned = learner(hellinger=hellinger).fit(X, y)
    between, to_test = learned.pairwise(X), learned.pairwise(X_test, X)
    assert (np.diag(between) == 0).all()
    np.testing.assert_array_equal(between, between.T)
    # The formula: |L phi(r) - L phi(c)|, with the Hellinger map or without.
    rows, tests = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, X_test))
    a, b = (np.sqrt(Z) if hellinger else Z for Z in (rows, tests))
    L = learned.components_
    np.testing.assert_allclose(to_test, cdist(b @ L.T, a @ L.T))
    # Closer to their own class, relative to the other, than before they learned.
    same = y[:, None] == y

    def contrast(D):
        return D[same].mean() / D[~same].mean()

    assert contrast(between) < 0.9 * contrast(cdist(a, a))
    classifier = KNeighborsClassifier(3, metric="precomputed").fit(between, y)
    assert classifier.score(to_test, y_test) > 0.8


def test_chi_squared_learns(digits):
    X, y, X_test, y_test = digits
    learned = ChiSquaredLMNN().fit(X, y)
    # L takes histograms to histograms; distances are chi-squared distances of those.
    np.testing.assert_allclose(learned.components_.sum(axis=0), 1.0)
    assert (learned.components_ >= 0).all()
    rows, tests = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, X_test))
    mapped = [Z @ learned.components_.T for Z in (tests, rows)]
    to_test, between = learned.pairwise(X_test, X), learned.pairwise(X)
    np.testing.assert_allclose(to_test, chi2(*mapped))
    np.testing.assert_array_equal(between, between.T)
    assert (np.diag(between) == 0).all()
    # No step made the loss larger, and the last is far below the first.
    assert (np.diff(learned.losses_) <= 0).all()
    assert learned.losses_[-1] < 0.5 * learned.losses_[0]
    errors = []
    for train, test in ((chi2(X), chi2(X_test, X)), (between, to_test)):
        votes = KNeighborsClassifier(3, metric="precomputed").fit(train, y)
        errors.append(1 - votes.score(test, y_test))
    assert errors[1] < errors[0]


@parametrize_with_checks([ChiSquaredLMNN(tol=1e-3)])
def test_scikit_learn(estimator, check):
    check_contract(estimator, check)


def some_histograms():
    """Nine histograms over four bins, in three classes, and weights to learn from."""
    rng = np.random.default_rng(3)
    X, y = rng.dirichlet(np.ones(4), 9), np.repeat([0, 1, 2], 3)
    return rng.normal(size=(4, 4)), X, y, target_neighbors(chi2(X), y, 2)


@pytest.mark.parametrize("push", [0.0, 0.7])
def test_loss_of_chi_squared_lmnn_is_its_definition(push):
    A, X, y, targets = some_histograms()
    found, _ = loss_and_gradient(A, X, y, targets, margin=0.05, push=push)
    expected = reference.chi_squared_lmnn(A, X, y, targets, margin=0.05, push=push)
    assert found == pytest.approx(expected, rel=1e-12)


def test_gradient_of_chi_squared_lmnn_is_that_of_finite_differences():
    A, X, y, targets = some_histograms()

    def at(a):
        return loss_and_gradient(a.reshape(4, 4), X, y, targets, margin=0.05, push=0.7)

    wrong = check_grad(lambda a: at(a)[0], lambda a: at(a)[1].ravel(), A.ravel())
    assert wrong < 1e-6


def test_targets_are_the_nearest_of_the_same_class():
    line = np.array([0.0, 1.0, 3.0, 3.5, 4.0])
    D = np.abs(line[:, None] - line)
    # Of the first: 2, not 1, which is nearer but of the other class.
    targets = target_neighbors(D, np.array([0, 1, 0, 1, 0]), 1)
    np.testing.assert_array_equal(targets, [[2], [3], [4], [1], [2]])


@pytest.mark.parametrize("learner", LEARNERS)
def test_same_again_in_all_forms(digits, learner):
    X, y = (array[::3] for array in digits[:2])
    expected = learner().fit(X, y).pairwise(X)
    names = np.array([f"digit {label}" for label in y])
    for rows, labels in (
        (sp.csr_array(X), pd.Series(y)),
        (pd.DataFrame(X), names),
        (X.astype(int), y.tolist()),
    ):
        found = clone(learner()).fit(rows, labels).pairwise(rows)
        np.testing.assert_array_equal(found, expected)


def test_pairs_of_itml(digits):
    X, y, _, _ = digits
    labels = np.unique(y, return_inverse=True)[1]
    learner = ITML()
    learner.classes_ = np.unique(y)
    squared = cdist(X, X, "sqeuclidean")
    pairs, same = learner._draw(labels, squared)
    # 20 * 2^2 of either kind, none of them twice.
    assert (same.sum(), (~same).sum()) == (80, 80)
    assert len(np.unique(pairs, axis=0)) == 160
    np.testing.assert_array_equal(y[pairs[:, 0]] == y[pairs[:, 1]], same)
    again, _ = learner._draw(labels, squared)
    np.testing.assert_array_equal(pairs, again)
    other, _ = learner.set_params(random_state=1)._draw(labels, squared)
    assert (pairs != other).any()


def test_equal_histograms_and_few_members():
    X = [[1, 2, 3], [1, 2, 3], [3, 1, 1], [3, 1, 2], [2, 4, 6], [3, 1, 1]]
    y = [0, 0, 0, 1, 1, 1]
    for learner in LEARNERS:
        D = learner().fit(X, y).pairwise(X)
        assert np.isfinite(D).all()
        assert D[0, 1] == D[0, 4] == 0


@pytest.mark.parametrize("learner", LEARNERS)
def test_limit_warns(digits, learner):
    X, y, _, _ = digits
    with pytest.warns(ConvergenceWarning):
        learner(max_iter=3).fit(X, y)


def test_scikit_learn_stays_as_it_is():
    before = validation.check_array
    _metric_learn._package()
    first = sys.modules["metric_learn._util"].check_array
    _metric_learn._package()
    assert sys.modules["metric_learn._util"].check_array is first
    assert validation.check_array is before


def test_adapter_is_still_needed():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT_ADAPTER],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode != 0, (
        "metric-learn works without src/groundmetric/_metric_learn.py: remove the "
        "translation there, and the limits on versions in pyproject.toml."
    )
    assert "force_all_finite" in run.stderr or "stable_cumsum" in run.stderr


def test_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "metric_learn", None)
    with pytest.raises(ImportError, match=r"pip install 'groundmetric\[baselines\]'"):
        LMNN().fit([[1, 2], [2, 1], [1, 3], [3, 1]], [0, 1, 0, 1])


@pytest.mark.parametrize(
    ("learner", "y", "message"),
    [
        (LMNN(n_neighbors=0), [0, 0, 1, 1], "n_neighbors is 0"),
        (LMNN(learn_rate=-1.0), [0, 0, 1, 1], r"learn_rate is -1\.0"),
        (LMNN(), [0, 0, 0, 1], "a class with a single member; LMNN needs two"),
        (ChiSquaredLMNN(), [0, 0, 0, 1], "single member; ChiSquaredLMNN needs two"),
        (ChiSquaredLMNN(margin=-1.0), [0, 0, 1, 1], r"margin is -1\.0"),
        (ChiSquaredLMNN(push=np.nan), [0, 0, 1, 1], "push is nan"),
        (ChiSquaredLMNN(tol=-1e-3), [0, 0, 1, 1], r"tol is -0\.001"),
        (ChiSquaredLMNN(max_iter=0), [0, 0, 1, 1], "max_iter is 0"),
        (LMNN(), [0, 0, 0, 0], "one class only"),
        (ITML(n_pairs=0), [0, 0, 1, 1], "n_pairs is 0"),
        (ITML(), [0, 1, 2, 3], "no two different histograms of one class"),
        (NCA(max_iter=0), [0, 0, 1, 1], "max_iter is 0"),
        (NCA(), [0, 1], "y has 2 labels for 4 histograms"),
    ],
)
def test_bad_input(learner, y, message):
    X = [[1, 2, 3], [2, 1, 3], [3, 2, 1], [3, 1, 2]]
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)


def test_names_are_public():
    assert sorted(baselines.__all__) == sorted(L.__name__ for L in LEARNERS)
