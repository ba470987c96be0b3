"""Errors and recall, from distances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import reference
from groundmetric import EMDKernel
from groundmetric.experiments import C_GRID, SIGMA_GRID, knn_errors, recall, svm_error


@st.composite
def tied(draw):
    """Distances between 8 test and 9 training rows with many ties, and labels."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_values, n_classes = draw(st.integers(1, 50)), draw(st.integers(1, 4))
    distances = rng.integers(n_values, size=(8, 9)).astype(float)
    return distances, rng.integers(n_classes, size=9), rng.integers(n_classes, size=8)


@given(tied())
def test_errors_are_those_of_the_definition(problem):
    distances, y, z = problem
    expected = [reference.knn_error(distances, y, z, k) for k in range(1, 10)]
    assert knn_errors(distances, y, z, n_neighbors=9) == expected


@settings(deadline=None)
@given(tied())
def test_errors_are_those_of_scikit_learn(problem):
    distances, y, z = problem
    # Ranks have our order, and no ties that scikit-learn could break otherwise.
    ranks = distances.argsort(axis=1, kind="stable").argsort(axis=1)
    for k, error in enumerate(knn_errors(distances, y, z, n_neighbors=9), start=1):
        knn = KNeighborsClassifier(k, metric="precomputed").fit(np.zeros((9, 9)), y)
        assert error == np.mean(knn.predict(ranks) != z)


@given(tied())
def test_recall_is_that_of_the_definition(problem):
    distances, _, y = problem
    square = distances[:, :8] + distances[:, :8].T
    expected = [reference.recall_accuracy(square, y, k) for k in range(1, 8)]
    assert recall(square, y, n_neighbors=7) == pytest.approx(expected, rel=1e-12)


def test_no_histogram_is_its_own_neighbor_even_among_duplicates():
    # All at distance 0: the nearest other of 0 is 1, of all others it is 0.
    assert recall(np.zeros((3, 3)), ["a", "b", "b"], n_neighbors=2) == [0.0, 1 / 3]


def test_given_distances_are_left_alone():
    square = np.ones((3, 3))
    recall(square, [0, 0, 1], n_neighbors=1)
    knn_errors(square, [0, 0, 1], [0, 0, 1], n_neighbors=1)
    assert (square == 1).all()


@pytest.mark.parametrize(
    ("y_train", "y_test", "expected"),
    [
        ([0, 1], [0.0], 0.0),
        (["a", "b"], np.array(["a"], dtype=object), 0.0),
        ([True, False], [1], 0.0),
        ([0, 1], [2], 1.0),  # a class that is not there is an error, not a mistake
        ([0, 1], [2.0], 1.0),
    ],
)
def test_labels_of_one_kind_may_be_written_in_many_ways(y_train, y_test, expected):
    assert knn_errors([[1, 2]], y_train, y_test, n_neighbors=1) == [expected]


def test_svm_tells_two_clusters_apart_and_errs_on_a_wrong_label():
    train = 5.0 - 4.0 * np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    y = [0, 0, 0, 1, 1, 1]
    assert svm_error(train, y, train, y) == 0.0
    assert svm_error(train, y, train[:2], [0, 1]) == 0.5


@pytest.mark.parametrize("seed", range(3))
def test_svm_is_chosen_as_by_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    X = rng.dirichlet(np.ones(8), 60) + 0.1 * np.eye(8)[y]
    distances = cdist(X, X, "cityblock")
    train, test = slice(0, 24), slice(24, None)
    search = GridSearchCV(
        make_pipeline(EMDKernel(distance="precomputed"), SVC(kernel="precomputed")),
        {"emdkernel__multiple": SIGMA_GRID, "svc__C": C_GRID},
        cv=RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=0),
    ).fit(distances[train, train], y[train])
    expected = 1.0 - search.score(distances[test, train], y[test])
    found = svm_error(
        distances[train, train], y[train], distances[test, train], y[test]
    )
    assert found == pytest.approx(expected)
    assert 0.1 < found < 0.9


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: knn_errors([[1, 2]], [0], [0], n_neighbors=1),
         "y_train has 1 labels for 2"),
        (lambda: knn_errors([[1, 2]], [0, 1], [0, 1], n_neighbors=1),
         "y_test has 2 labels for 1"),
        (lambda: knn_errors([[1, 2]], [0, 1], [0], n_neighbors=3),
         "n_neighbors is 3; it must be at most 2"),
        (lambda: knn_errors([[1, np.nan]], [0, 1], [0], n_neighbors=1),
         r"distances\[0, 1\] is nan"),
        (lambda: knn_errors([[1, 2]], ["0", "1"], [0], n_neighbors=1),
         "y_test has labels such as 0, but y_train such as '0': labels of one kind"),
        (lambda: svm_error(1 - np.eye(4), [0, 0, 1, 1], [[0, 1, 1, 1]], ["0"]),
         "y_test has labels such as '0', but y_train such as 0: labels of one kind"),
        (lambda: recall(np.eye(2), [0, 1], n_neighbors=2),
         "n_neighbors is 2; it must be at most 1"),
        (lambda: recall([[1, 2]], [0], n_neighbors=1), "y has 1 labels for 2"),
        (lambda: svm_error(np.eye(2), [0, 0], np.eye(2), [0, 0]), "one class only"),
        (lambda: svm_error(np.eye(2), [0, 1], np.eye(2), [0, 1]), "single member"),
    ],
)  # fmt: skip
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
