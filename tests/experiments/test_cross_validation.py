"""Cross-validated errors, and their intervals."""

import os
import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from groundmetric.experiments import (
    METHODS,
    Method,
    cross_validate,
    cross_validation,
)
from groundmetric.experiments.measured import Measured

X = np.repeat([[3, 1, 0], [0, 1, 3]], 6, axis=0) + np.eye(3)[np.arange(12) % 3]
Y = np.repeat(["a", "b"], 6)


def test_every_histogram_is_tested_once_in_each_repeat():
    seen = []

    def learn(train, labels, n_jobs):
        assert n_jobs == 1
        assert sorted(labels) == ["a"] * 4 + ["b"] * 4

        def distances(left, right):
            assert right is not None  # only recall would need them
            seen.append(left)
            return METHODS["l1"].learn(train, labels, None)(left, right)

        return distances

    (found,) = cross_validate(
        X, Y, methods=[Method("mine", "mine", {}, learn)], n_folds=3, n_repeats=2,
        n_neighbors=2, n_jobs=1,
    )  # fmt: skip
    assert (found.design.n_train, found.design.n_test) == (8, 4)
    assert found.knn_errors == [0.0] * 6
    assert found.svm_errors is None
    tested = np.concatenate(seen)
    given = np.concatenate([X, X]) / 5
    assert np.array_equal(np.sort(tested, axis=0), np.sort(given, axis=0))


def test_folds_may_be_smaller_than_neighborhoods():
    # Leave one of each class out: 10 to learn from, 2 to test, and all 10 vote. Five of
    # either class are a tie, in which the first label wins.
    (found,) = cross_validate(
        X, Y, methods=["l1"], n_folds=6, n_repeats=1, n_neighbors=10
    )
    assert found.knn_errors == [0.5] * 6


def test_a_test_set_is_one_split():
    tests = [[3, 1, 0], [0, 1, 3], [1, 1, 0]]
    (found,) = cross_validate(
        X, Y, X_test=tests, y_test=["a", "b", "b"], methods=["l1"]
    )
    assert found.design.kind == "given"
    assert (found.design.n_train, found.design.n_test) == (12, 3)
    assert found.knn_errors == [pytest.approx(1 / 3)]
    assert found.first is None  # nothing large is kept


def test_support_vector_machines_and_the_bar(monkeypatch, capsys):
    def measured(method, split, *, n_neighbors, svm, n_jobs):
        assert (n_neighbors, svm, n_jobs) == (2, True, 1)
        assert len(split.z) == 4
        wrong = np.array([[True, k < len(method.name)] for k in range(4)])
        machine = np.array([True, False, False, False])
        return Measured(method.name, wrong, machine, 0.0)

    monkeypatch.setattr(cross_validation, "measured", measured)
    found = cross_validate(
        X, Y, methods=["l1", "chi2"], n_folds=3, n_repeats=1, n_neighbors=2, svm=True,
        verbose=1,
    )  # fmt: skip
    assert [(one.method, one.knn_errors, one.svm_errors) for one in found] == [
        ("l1", [0.5] * 3, [0.25] * 3),
        ("chi2", [1.0] * 3, [0.25] * 3),
    ]
    assert "6/6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_folds": 7}, "n_folds is 7, but y has 6 of class a"),
        ({"n_folds": 1}, "n_folds is 1"),
        ({"n_repeats": 0}, "n_repeats is 0"),
        (
            {"n_neighbors": 9, "n_folds": 3},
            "n_neighbors is 9; it must be at most 8, since there are 8 training hist",
        ),
        ({"y": ["a"] * 12}, "one class only"),
        ({"y": Y[:-1]}, "y has 11 labels for 12 histograms"),
        ({"seed": -1}, "seed is -1"),
        ({"X_test": X}, "X_test and y_test must be given together"),
        ({"X_test": [[1, 2]], "y_test": ["a"]}, "X has 3 bins, but X_test has 2"),
    ],
)
def test_bad_input(options, message):
    given = {"X": X, "y": Y, "methods": ["l1"], **options}
    with pytest.raises(ValueError, match=message):
        cross_validate(given.pop("X"), given.pop("y"), **given)


def test_processes_give_the_same_results_and_warnings(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.dirichlet(np.ones(4), 16), np.arange(16) % 2

    def learn(rows, _labels, _n_jobs):
        warnings.warn(f"{os.getpid()} learned from {len(rows)}.", stacklevel=1)
        return lambda left, right: cdist(left, left if right is None else right)

    methods = ["l1", Method("own", "own", {}, learn)]
    options = {"methods": methods, "n_folds": 2, "n_repeats": 1}
    with pytest.warns(UserWarning, match=f"{os.getpid()} learned from 8"):
        here = cross_validate(X, y, **options, n_jobs=2)
    monkeypatch.setattr(cross_validation, "WORTH_PROCESSES", 8)
    with pytest.warns(UserWarning, match="learned from 8") as warned:
        there = cross_validate(X, y, **options, n_jobs=2)
    assert len(warned) == 2
    assert not any(str(one.message).startswith(f"{os.getpid()} ") for one in warned)
    assert [one.knn_errors for one in there] == [one.knn_errors for one in here]
