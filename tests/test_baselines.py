"""Learners to compare with: Mahalanobis distances, and chi-squared LMNN."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.optimize import check_grad
from scipy.spatial.distance import cdist, pdist
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import validation
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from contract import check_contract
from groundmetric import _metric_learn, baselines
from groundmetric.baselines import (
    GMML,
    ITML,
    LMNN,
    NCA,
    AitchisonEmbedding,
    ChiSquaredLMNN,
    Lebanon,
)
from groundmetric.baselines._aitchison import loss_and_gradients
from groundmetric.baselines._chi_squared import loss_and_gradient
from groundmetric.baselines._gmml import scatters
from groundmetric.baselines._itml import project
from groundmetric.baselines._margins import target_neighbors
from groundmetric.distances import chi2
from problems import fours_and_nines

MAHALANOBIS = [LMNN, ITML, NCA, GMML]
LEARNERS = [*MAHALANOBIS, ChiSquaredLMNN, AitchisonEmbedding]

WITHOUT_ADAPTER = """
import warnings
warnings.simplefilter("error")
import numpy as np
import metric_learn
X = np.random.default_rng(0).random((12, 3))
y = np.repeat([0, 1], 6)
metric_learn.LMNN(n_neighbors=3).fit(X, y)
"""


@pytest.fixture(scope="module")
def digits():
    return fours_and_nines(60)


@pytest.mark.parametrize("phi", ["identity", "root", "log"])
@pytest.mark.parametrize("learner", MAHALANOBIS)
def test_learns(digits, learner, phi):
    X, y, X_test, y_test = digits
    offset = "auto" if phi == "log" else None
    learned = learner(hellinger=phi == "root", offset=offset).fit(X, y)
    between, to_test = learned.pairwise(X), learned.pairwise(X_test, X)
    assert (np.diag(between) == 0).all()
    np.testing.assert_array_equal(between, between.T)
    # The formula: |L phi(r) - L phi(c)|.
    rows, tests = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, X_test))
    map_ = {
        "identity": lambda Z: Z,
        "root": np.sqrt,
        "log": lambda Z: np.log(Z + 1 / 64),
    }
    a, b = (map_[phi](Z) for Z in (rows, tests))
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


@pytest.mark.filterwarnings("ignore:ITML made:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [ChiSquaredLMNN(tol=1e-3), GMML(), ITML(), AitchisonEmbedding(), Lebanon()]
)
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


def some_pairs(n_classes, d):
    """Differences of pairs, which of them are alike, and bounds."""
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(12 * n_classes, d))
    y = np.repeat(np.arange(n_classes), 12)
    rows[:, 0] += y
    rows /= np.median(cdist(rows, rows))
    pairs = rng.permutation(np.argwhere(np.triu(np.ones((len(y), len(y))), 1)))[:150]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    order = np.argsort(~same, kind="stable")  # as metric-learn takes them
    squared = cdist(rows, rows, "sqeuclidean")
    bounds = np.percentile(squared[squared > 0], (5, 95))
    return rows[pairs[order]], same[order], bounds


@pytest.mark.parametrize(("n_classes", "d"), [(2, 7), (4, 40), (3, 200)])
def test_itml_is_that_of_metric_learn(n_classes, d):
    pairs, same, bounds = some_pairs(n_classes, d)
    theirs = _metric_learn._package().ITML(max_iter=60)
    theirs._fit(pairs.copy(), np.where(same, 1, -1), bounds=bounds.copy())
    each = np.where(same, *bounds)
    ours = project(pairs[:, 0] - pairs[:, 1], same, each, gamma=1.0, max_iter=60)
    assert ours.n_rounds == theirs.n_iter_ + 1
    expected = theirs.components_.T @ theirs.components_
    np.testing.assert_allclose(ours.matrix, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 10.0])
def test_itml_is_its_algorithm(gamma):
    pairs, same, bounds = some_pairs(3, 9)
    V, each = pairs[:, 0] - pairs[:, 1], np.where(same, *bounds)
    ours = project(V, same, each, gamma=gamma, max_iter=5)
    expected = reference.itml(V, same, each, gamma=gamma, n_rounds=5)
    np.testing.assert_allclose(ours.matrix, expected, rtol=1e-10, atol=1e-12)


def test_itml_satisfies_all_constraints_if_slack_costs_much():
    # Two pairs along different axes: one is to be shorter, one longer.
    V, same = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([True, False])
    found = project(V, same, np.array([0.5, 2.0]), gamma=1e9, max_iter=100)
    np.testing.assert_allclose(found.matrix, np.diag([0.5, 2.0]), rtol=1e-6)
    assert found.converged


def test_scatters_are_those_of_all_pairs():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(11, 4)), np.array([0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 3])
    for found, expected in zip(
        scatters(X, y), reference.pair_scatters(X, y), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("t", [0.0, 0.3, 0.5, 1.0])
def test_gmml_is_the_geometric_mean(t):
    rng = np.random.default_rng(2)
    X, y = rng.dirichlet(np.ones(4), 12), np.repeat([0, 1, 2], 4)
    prior = np.diag([1.0, 2.0, 3.0, 4.0]) + 0.1
    learner = GMML(t=t, regularization=0.2, prior=prior, hellinger=False).fit(X, y)
    scale = np.median(pdist(X))
    S, D = reference.pair_scatters(X / scale, y)
    weight = 0.2 * np.trace(S + D) / 8
    expected = reference.geodesic(
        np.linalg.inv(S + weight * np.linalg.inv(prior)), D + weight * prior, t
    )
    L = learner.components_ * scale
    np.testing.assert_allclose(L.T @ L, expected, rtol=1e-8)


def test_gmml_minimizes_its_criterion():
    rng = np.random.default_rng(3)
    X, y = rng.dirichlet(np.ones(3), 20), np.repeat([0, 1], 10)
    learner = GMML(regularization=0.0)
    S, D = scatters(np.sqrt(X), y)

    def criterion(A):
        return np.trace(A @ S) + np.trace(np.linalg.inv(A) @ D)

    L = learner._root_of_mean(S, D, 0.5)
    best = criterion(L.T @ L)
    for _ in range(20):
        step = rng.normal(size=(3, 3)) / 10
        other = (np.eye(3) + step) @ L.T @ L @ (np.eye(3) + step).T
        assert criterion(other) > best


def test_gmml_becomes_its_prior():
    X, y = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]], [0, 0, 1, 1]
    prior = np.diag([1.0, 4.0, 9.0])
    L = GMML(regularization=1e9, prior=prior).fit(X, y).components_
    A = L.T @ L
    np.testing.assert_allclose(A / A[0, 0], prior, atol=1e-6)


@pytest.mark.parametrize("push", [0.0, 0.7])
def test_loss_of_aitchison_is_its_definition(push):
    A, X, y, targets = some_histograms()
    log_b = np.log([0.1, 0.2, 0.3, 0.4])
    found, _, _ = loss_and_gradients(A, log_b, X, y, targets, margin=3.0, push=push)
    expected = reference.aitchison(A, log_b, X, y, targets, margin=3.0, push=push)
    assert found == pytest.approx(expected, rel=1e-12)


def test_gradients_of_aitchison_are_those_of_finite_differences():
    A, X, y, targets = some_histograms()
    start = np.append(A[:3], np.log([0.1, 0.2, 0.3, 0.4]))

    def at(flat):
        return loss_and_gradients(
            flat[:12].reshape(3, 4), flat[12:], X, y, targets, margin=3.0, push=0.7
        )

    def gradient(flat):
        _, of_L, of_log_b = at(flat)
        return np.append(of_L, of_log_b)

    assert check_grad(lambda a: at(a)[0], gradient, start) < 1e-5


def test_aitchison_starts_at_the_isometric_log_ratio(digits):
    X = digits[0]
    logs = np.log(X / X.sum(axis=1, keepdims=True) + 1 / 64)
    ratios = logs - logs.mean(axis=1, keepdims=True)  # the centered log-ratio
    L = AitchisonEmbedding()._start(logs)
    assert L.shape == (63, 64)
    expected = pdist(ratios) / np.median(pdist(ratios))
    np.testing.assert_allclose(pdist(logs @ L.T), expected)
    few = pdist(logs @ AitchisonEmbedding(n_components=5)._start(logs).T)
    axes = PCA(5).fit_transform(ratios)
    np.testing.assert_allclose(few, pdist(axes) / np.median(pdist(axes)))


def test_aitchison_learns(digits, tmp_path):
    X, y, X_test, y_test = digits
    learned = AitchisonEmbedding(n_components=10, max_steps=200).fit(X, y)
    assert learned.converged_
    assert (learned.offsets_ > 0).all()
    assert np.ptp(learned.offsets_) > 0
    assert (np.diff(learned.losses_) <= 0).all()
    assert learned.losses_[-1] < 0.5 * learned.losses_[0]
    rows, tests = (Z / Z.sum(axis=1, keepdims=True) for Z in (X, X_test))
    mapped = [
        np.log(Z + learned.offsets_) @ learned.components_.T for Z in (tests, rows)
    ]
    to_test = learned.pairwise(X_test, X)
    np.testing.assert_allclose(to_test, cdist(*mapped))
    votes = KNeighborsClassifier(3, metric="precomputed").fit(learned.pairwise(X), y)
    assert votes.score(to_test, y_test) > 0.8
    fixed = AitchisonEmbedding(n_components=10, learn_offsets=False, max_steps=2)
    fixed.fit(X, y)
    assert (fixed.n_iter_, fixed.converged_) == (2, False)
    np.testing.assert_allclose(fixed.offsets_, 1 / 64)
    learned.save(tmp_path / "model.npz")
    again = AitchisonEmbedding.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.pairwise(X_test, X), to_test)


@pytest.mark.parametrize(
    "learner", [AitchisonEmbedding(margin=1e30), ChiSquaredLMNN(push=1e20)]
)
def test_warns_if_no_step_lowers_the_loss(learner):
    rng = np.random.default_rng(0)
    X, y = rng.dirichlet(np.full(5, 0.5), 20), np.arange(20) % 2
    with pytest.warns(ConvergenceWarning, match="L-BFGS found no lower loss after"):
        learner.fit(X, y)
    assert not getattr(learner, "converged_", False)
    assert len(learner.losses_) == learner.n_iter_ + 1


def test_equal_histograms_and_few_members():
    X = [[1, 2, 3], [1, 2, 3], [3, 1, 1], [3, 1, 2], [2, 4, 6], [3, 1, 1]]
    y = [0, 0, 0, 1, 1, 1]
    for learner in LEARNERS:
        D = learner().fit(X, y).pairwise(X)
        assert np.isfinite(D).all()
        assert D[0, 1] == D[0, 4] == 0


@pytest.mark.parametrize("learner", [LMNN, ITML, NCA, ChiSquaredLMNN])
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
        (ITML(gamma=0.0), [0, 0, 1, 1], r"gamma is 0\.0; a number above 0"),
        (NCA(max_iter=0), [0, 0, 1, 1], "max_iter is 0"),
        (NCA(offset=0.0), [0, 0, 1, 1], r"offset is 0\.0; a number above 0"),
        (
            NCA(offset="1 / d"),
            [0, 0, 1, 1],
            "offset is '1 / d'; it must be",
        ),
        (GMML(t=2.0), [0, 0, 1, 1], r"t is 2\.0; a number from 0\.0 to 1\.0"),
        (GMML(regularization=-1), [0, 0, 1, 1], "regularization is -1"),
        (GMML(regularization=0), [0, 0, 1, 1], "a larger one is needed"),
        (GMML(), [0, 1, 2, 3], "no two histograms of one class"),
        (GMML(prior=np.eye(2)), [0, 0, 1, 1], r"but \(3, 3\) is needed"),
        (GMML(prior=np.triu(np.ones((3, 3)))), [0, 0, 1, 1], r"prior\[0, 1\] is 1\.0"),
        (GMML(prior=np.zeros((3, 3))), [0, 0, 1, 1], "not positive definite"),
        (GMML(prior=1e-310 * np.eye(3)), [0, 0, 1, 1], "prior is too small: the inve"),
        (GMML(offset=1e300), [0, 0, 1, 1], r"offset is 1e\+300; at most 1e\+06 is"),
        (NCA(offset=1e12), [0, 0, 1, 1], "offset is 1000000000000.0; at most"),
        (AitchisonEmbedding(n_components=3), [0, 0, 1, 1], "it must be at most 2"),
        (AitchisonEmbedding(max_steps=0), [0, 0, 1, 1], "max_steps is 0"),
        (AitchisonEmbedding(margin=-1.0), [0, 0, 1, 1], r"margin is -1\.0"),
        (AitchisonEmbedding(), [0, 0, 0, 1], "AitchisonEmbedding needs two"),
        (NCA(), [0, 1], "y has 2 labels for 4 histograms"),
    ],
)
def test_bad_input(learner, y, message):
    X = [[1, 2, 3], [2, 1, 3], [3, 2, 1], [3, 1, 2]]
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)


@pytest.mark.parametrize("d", [1, 3])
def test_gmml_needs_histograms_that_differ(d):
    with pytest.raises(ValueError, match="X has no two histograms that differ"):
        GMML().fit(np.ones((6, d)), [0, 0, 0, 1, 1, 1])


def test_names_are_public():
    every = [*LEARNERS, Lebanon]
    assert sorted(baselines.__all__) == sorted(L.__name__ for L in every)
