"""How good is a distance? The measures of sections 7.4 and 7.5.

All are computed from distances alone. Neighbors at the same distance keep the order of
the rows; if classes have the same number of votes, the first label in sorted order
wins, as in scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.svm import SVC

from .. import EMDKernel, validation
from ..base._votes import votes

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]

__all__ = ["C_GRID", "SIGMA_GRID", "knn_errors", "recall", "svm_error"]

#: The paper's bandwidths for :class:`~groundmetric.EMDKernel`, in units of the median.
SIGMA_GRID = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
#: The paper's values of ``C`` for support vector machines.
C_GRID = (1.0, 10.0, 100.0)
N_FOLDS, N_REPEATS = 4, 2  # of the cross-validation, as in the paper


def knn_errors(
    distances: ArrayLike, y_train: ArrayLike, y_test: ArrayLike, *, n_neighbors: int
) -> list[float]:
    """Error rate of nearest neighbors, for each number of neighbors.

    Parameters
    ----------
    distances : array-like of shape (m, n)
        From the test histograms to the training histograms.
    y_train, y_test : array-like of shape (n,) and (m,)
        Labels.
    n_neighbors : int
        Largest number of neighbors, at most n.

    Returns
    -------
    list of float
        Entry kappa - 1 is the share of test histograms that their kappa nearest
        training histograms assign to a wrong class.

    Examples
    --------
    >>> from groundmetric.experiments import knn_errors
    >>> far = [[1, 2, 3], [2, 3, 1]]
    >>> knn_errors(far, ["a", "b", "b"], ["a", "a"], n_neighbors=3)
    [0.5, 0.0, 1.0]
    """
    wrong = knn_wrong(distances, y_train, y_test, n_neighbors=n_neighbors)
    return [float(share) for share in wrong.mean(axis=0)]


def knn_wrong(
    distances: ArrayLike, y_train: ArrayLike, y_test: ArrayLike, *, n_neighbors: int
) -> NDArray[np.bool_]:
    """Whether neighbors misclassify each test histogram, for 1, 2, ... of them.

    Examples
    --------
    >>> from groundmetric.experiments.measures import knn_wrong
    >>> knn_wrong([[1, 2], [2, 1]], ["a", "b"], ["a", "a"], n_neighbors=1).ravel()
    array([False,  True])
    """
    between = _matrix(distances, y_test, y_train, ("y_test", "y_train"))
    validation.require_same_kind(y_train, y_test)
    high = between.shape[1]
    k = validation.as_count(n_neighbors, "n_neighbors", low=1, high=high)
    classes, codes = np.unique(np.asarray(y_train), return_inverse=True)
    winners = classes[votes(codes[nearest(between, k)], len(classes))]
    wrong: NDArray[np.bool_] = winners != np.asarray(y_test)[:, None]
    return wrong


def recall(distances: ArrayLike, y: ArrayLike, *, n_neighbors: int) -> list[float]:
    """Recall accuracy: the mean share of the own class among nearest neighbors.

    Parameters
    ----------
    distances : array-like of shape (m, m)
        Between test histograms.
    y : array-like of shape (m,)
        Their labels.
    n_neighbors : int
        Largest number of neighbors, less than m: histograms exclude themselves.

    Returns
    -------
    list of float
        Entry kappa - 1 is the mean over histograms of the share of their own class
        among their kappa nearest others.

    Examples
    --------
    >>> from groundmetric.experiments import recall
    >>> line = [[0, 1, 3], [1, 0, 2], [3, 2, 0]]
    >>> recall(line, ["a", "a", "b"], n_neighbors=2)
    [0.6666666666666666, 0.3333333333333333]
    """
    among = _matrix(distances, y, y, ("y", "y"))
    high = len(among) - 1
    k = validation.as_count(n_neighbors, "n_neighbors", low=1, high=high)
    labels = np.asarray(y)
    shares = own_share(labels[nearest_others(among, k)], labels)
    return [float(share) for share in shares]


def svm_error(
    train: ArrayLike, y_train: ArrayLike, test: ArrayLike, y_test: ArrayLike
) -> float:
    """Error rate of a support vector machine with the kernel exp(-d / sigma).

    As in the paper, cross-validation on the training histograms (4 folds, twice)
    chooses sigma from :data:`SIGMA_GRID` times the median distance, and C from
    :data:`C_GRID`. Folds are the same for all distances and in every run. A learned
    distance has seen all folds, so the choice may be poor if it overfits them.

    Parameters
    ----------
    train : array-like of shape (n, n)
        Distances between training histograms.
    y_train, y_test : array-like of shape (n,) and (m,)
        Labels.
    test : array-like of shape (m, n)
        Distances from the test histograms to the training histograms.

    Returns
    -------
    float

    Examples
    --------
    >>> from groundmetric.experiments import svm_error
    >>> train = [[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]]
    >>> svm_error(train, [0, 0, 1, 1], [[1, 2, 9, 8]], [0])
    0.0
    """
    return float(svm_wrong(train, y_train, test, y_test).mean())


def svm_wrong(
    train: ArrayLike, y_train: ArrayLike, test: ArrayLike, y_test: ArrayLike
) -> NDArray[np.bool_]:
    """Whether a support vector machine misclassifies each test histogram.

    Examples
    --------
    >>> from groundmetric.experiments.measures import svm_wrong
    >>> train = [[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]]
    >>> svm_wrong(train, [0, 0, 1, 1], [[1, 2, 9, 8]], [1])
    array([ True])
    """
    within = _matrix(train, y_train, y_train, ("y_train", "y_train"))
    between = _matrix(test, y_test, y_train, ("y_test", "y_train"))
    validation.require_same_kind(y_train, y_test)
    smallest = int(class_sizes(y_train, "y_train", svm=True)[1].min())
    # A fold without a class would make scikit-learn warn.
    folds = min(N_FOLDS, smallest)
    labels = np.asarray(y_train)
    splits = RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=N_REPEATS, random_state=0
    ).split(within, labels)
    # All is checked: scikit-learn would take as long to check it again as to learn.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        scores = np.array([_scores(within, labels, *split) for split in splits])
        means = np.ascontiguousarray(scores.T).mean(axis=-1)  # (n_C, n_sigma)
        sigma, c = np.unravel_index(means.T.argmax(), means.T.shape)
        kernel, machine = _kernel(SIGMA_GRID[sigma]), _machine(C_GRID[c])
        machine.fit(kernel.fit_transform(within), labels)
        found = machine.predict(kernel.transform(between))
    wrong: NDArray[np.bool_] = found != np.asarray(y_test)
    return wrong


def _scores(within: Floats, labels: Labels, seen: Indices, held: Indices) -> Floats:
    """Accuracy on held-out histograms, for each sigma and C.

    scikit-learn's search would compute the kernel again for each C, and take twice as
    long.
    """
    scores = np.empty((len(SIGMA_GRID), len(C_GRID)))
    for i, multiple in enumerate(SIGMA_GRID):
        kernel = _kernel(multiple)
        gram = kernel.fit_transform(within[np.ix_(seen, seen)])
        rows = kernel.transform(within[np.ix_(held, seen)])
        for j, c in enumerate(C_GRID):
            found = _machine(c).fit(gram, labels[seen]).predict(rows)
            scores[i, j] = (found == labels[held]).mean()
    return scores


def _kernel(multiple: float) -> EMDKernel:
    return EMDKernel(distance="precomputed", multiple=multiple)


def _machine(c: float) -> SVC:
    return SVC(kernel="precomputed", C=c)


def class_sizes(
    y: ArrayLike, name: str, *, svm: bool = False, where: str = ""
) -> tuple[Labels, Indices]:
    """Classes and their sizes; two classes at least, of two members for an SVM."""
    classes, sizes = np.unique(np.asarray(y), return_counts=True)
    validation.require_classes(classes, name, where)
    if svm and sizes.min() == 1:
        raise ValueError(
            f"{name} has a class with a single member{where}; cross-validation needs "
            "two."
        )
    return classes, sizes


def nearest(distances: Floats, n_neighbors: int) -> Indices:
    """Columns of the smallest entries in each row; ties go to the first."""
    return np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]


def nearest_others(distances: Floats, n_neighbors: int) -> Indices:
    """Nearest neighbors in a square matrix, excluding each point itself."""
    return nearest(np.where(np.eye(len(distances)), np.inf, distances), n_neighbors)


def own_share(neighbors: Labels, labels: Labels) -> Floats:
    """Mean share of a point's own label among its 1, 2, ... nearest others."""
    same = neighbors == labels[:, None]
    counts = np.arange(1, neighbors.shape[1] + 1)
    shares: Floats = (np.cumsum(same, axis=1) / counts).mean(axis=0)
    return shares


def _matrix(
    distances: ArrayLike, rows: ArrayLike, columns: ArrayLike, names: tuple[str, str]
) -> Floats:
    """Check distances and the labels of their rows and columns."""
    array = validation.as_float_array(distances, "distances", 2)
    validation.require_finite(array, "distances")
    for labels, size, name in zip((rows, columns), array.shape, names, strict=True):
        validation.require_length(labels, size, name)
    return array
