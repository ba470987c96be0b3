"""The machine that chooses its kernel on held-out histograms."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import groundmetric as gm
from contract import ZERO_MASS, check_contract
from groundmetric import EMDSVC, DiscriminantMetricLearning, EMDKernel

X, Y = load_digits(return_X_y=True)
KEEP = np.flatnonzero((Y == 4) | (Y == 9))[:80]
X, Y, X_TEST, Y_TEST = X[KEEP[:40]], Y[KEEP[:40]], X[KEEP[40:]], Y[KEEP[40:]]
PIXELS = np.argwhere(np.ones((8, 8))).astype(float)
GRID = np.abs(PIXELS[:, None] - PIXELS).sum(axis=-1)
ATOMS = 1.0 - np.eye(64)


# Checks of training errors have two bins: positions on a line.
@parametrize_with_checks([EMDSVC([EMDKernel(multiple=0.1)], C=1000.0)])
def test_scikit_learn_contract(estimator, check):
    check_contract(estimator, check, zero_mass=ZERO_MASS)


def test_scores_are_means_over_the_grid():
    kernels = [
        EMDKernel(distance="l2", exponent=2.0),
        EMDKernel(distance=["l1", GRID], multiple=2.0),
    ]
    machine = EMDSVC(kernels, C=5.0, cv=3).fit(X, Y)
    folds = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    for score, kernel in zip(machine.scores_, kernels, strict=True):
        shares = []
        for seen, held in folds.split(X, Y):
            for factor in (0.5, 1.0, 2.0, 5.0):
                multiple = factor ** (1 / kernel.exponent) * kernel.multiple
                each = clone(kernel).set_params(multiple=multiple)
                gram, rows = each.fit_transform(X[seen]), each.transform(X[held])
                for c in (5.0, 50.0):
                    found = SVC(kernel="precomputed", C=c).fit(gram, Y[seen])
                    shares.append(accuracy_score(Y[held], found.predict(rows)))
        assert score == pytest.approx(np.mean(shares))
    assert machine.best_index_ == machine.scores_.argmax()


def test_the_chosen_kernel_predicts():
    machine = EMDSVC().fit(X, Y)
    assert len(machine.scores_) == 4
    gram = machine.kernel_.gram_
    alone = SVC(kernel="precomputed", C=10.0).fit(gram, Y)
    rows = machine.kernel_.transform(X_TEST)
    np.testing.assert_array_equal(machine.predict(X_TEST), alone.predict(rows))
    np.testing.assert_array_equal(
        machine.decision_function(X_TEST), alone.decision_function(rows)
    )
    assert machine.score(X_TEST, Y_TEST) > 0.9


def test_a_kernel_that_tells_nothing_is_not_chosen():
    # Distances in which only an empty pixel counts are all zero.
    nothing = np.zeros((64, 64))
    nothing[0, 1:] = nothing[1:, 0] = 1.0
    kernels = [EMDKernel(distance=nothing), EMDKernel(distance="l1")]
    machine = EMDSVC(kernels).fit(X, Y)
    assert machine.best_index_ == 1
    assert machine.kernel_.distance == "l1"
    # The first of equals.
    twice = EMDSVC([EMDKernel(distance=ATOMS), EMDKernel()]).fit(X, Y)
    assert twice.scores_[0] == twice.scores_[1]
    assert twice.best_index_ == 0


def test_one_kernel_needs_no_folds():
    machine = EMDSVC([EMDKernel()], cv="none").fit(X[:8], Y[:8])
    assert np.isnan(machine.scores_).tolist() == [True]


def test_learners_see_no_held_out_histogram():
    class Recording(gm.GroundMetricLearning):
        def fit(self, X, y):
            seen.append(X)
            return super().fit(X, y)

    seen = []
    rows = X / X.sum(axis=1, keepdims=True)
    splits = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    kernels = [EMDKernel(), EMDKernel(distance=Recording(max_steps=1))]
    EMDSVC(kernels, cv=splits).fit(X, Y)
    for found, (train, _) in zip(seen, splits, strict=False):
        np.testing.assert_array_equal(found, rows[train])


def test_learners_fitted_to_what_they_are_scored_on_are_worth_a_warning(recwarn):
    def kernels_of(rows):
        learner = DiscriminantMetricLearning().fit(X[rows], Y[rows])
        return [EMDKernel(), EMDKernel(distance=["l1", learner])]

    EMDSVC(kernels_of(np.arange(0, 40, 2)), cv=2).fit(X[1::2], Y[1::2])
    EMDSVC(kernels_of(np.arange(40))[1:]).fit(X, Y)
    assert not recwarn.list
    with pytest.warns(UserWarning, match=r"kernels\[1\] has a learner that is fitted"):
        EMDSVC(kernels_of(np.arange(40)), cv=2).fit(X, Y)


def test_small_classes_have_fewer_folds():
    rows = np.r_[:12, np.flatnonzero(Y == 4)[-2:]]
    labels = np.where(np.arange(14) < 12, Y[rows], 5)
    machine = EMDSVC().fit(X[rows], labels)
    assert np.isfinite(machine.scores_).all()
    with pytest.raises(ValueError, match="cv is 2, but a class has only 1 histogram;"):
        EMDSVC().fit(X[rows[:13]], labels[:13])


def test_scikit_learns_tools():
    machine = EMDSVC([EMDKernel(), EMDKernel(distance="hellinger")], cv=2)
    assert cross_val_score(machine, X, Y, cv=2).mean() > 0.8
    assert clone(machine).fit(X, Y.astype(str)).predict(X[:1])[0] == str(Y[0])
    nested = clone(machine).set_params(C=1.0)
    assert nested.C == 1.0
    assert nested.kernels[1].distance == "hellinger"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernels": []}, "kernels is .*; a list of at least one EMDKernel is needed"),
        ({"kernels": EMDKernel()}, "a list of at least one EMDKernel is needed"),
        ({"kernels": ["l1"]}, r"kernels\[0\] is 'l1'; an EMDKernel is needed"),
        (
            {"kernels": [EMDKernel(distance="precomputed")]},
            r"kernels\[0\] has precomputed distances; X must be histograms",
        ),
        ({"C": 0.0}, r"C is 0\.0; a number above 0"),
        ({"cv": 30}, "cv is 30, but a class has only"),
    ],
)
def test_bad_parameters(options, message):
    with pytest.raises(ValueError, match=message):
        EMDSVC(**options).fit(X, Y)


def test_a_single_class():
    with pytest.raises(ValueError, match="y has"):
        EMDSVC().fit(X[:3], [1, 1, 1])
