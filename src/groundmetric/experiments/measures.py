r"""How good a distance is: the measures of sections 7.4 and 7.5.

All are computed from distances alone. Neighbors at the same distance come in the order
of the rows; if classes have the same number of votes, the first label in sorted order
wins, as in scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from .. import C_GRID, SIGMA_GRID, EMDKernel, validation

Floats = NDArray[np.float64]
Labels = NDArray[Any]

__all__ = ["knn_errors", "recall", "svm_error"]

N_FOLDS, N_REPEATS = 4, 2  # of the cross-validation, as in the paper


def knn_errors(
    distances: ArrayLike, y_train: ArrayLike, y_test: ArrayLike, *, n_neighbors: int
) -> list[float]:
    """Share of errors of nearest neighbors, for each number of neighbors.

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
        The entry kappa - 1 is the share of test histograms that their kappa nearest
        training histograms vote into a wrong class.

    Examples
    --------
    >>> from groundmetric.experiments import knn_errors
    >>> far = [[1, 2, 3], [2, 3, 1]]
    >>> knn_errors(far, ["a", "b", "b"], ["a", "a"], n_neighbors=3)
    [0.5, 0.0, 1.0]
    """
    between = _matrix(distances, y_test, y_train, ("y_test", "y_train"))
    validation.require_same_kind(y_train, y_test)
    high = between.shape[1]
    k = validation.as_count(n_neighbors, "n_neighbors", low=1, high=high)
    classes, codes = np.unique(np.asarray(y_train), return_inverse=True)
    nearest = np.argsort(between, axis=1, kind="stable")[:, :k]
    votes = np.cumsum(np.eye(len(classes), dtype=int)[codes[nearest]], axis=1)
    wrong = classes[votes.argmax(axis=2)] != np.asarray(y_test)[:, None]  # (m, k)
    return [float(share) for share in wrong.mean(axis=0)]


def recall(distances: ArrayLike, y: ArrayLike, *, n_neighbors: int) -> list[float]:
    """Recall accuracy: the share of the same class among the nearest, on average.

    Parameters
    ----------
    distances : array-like of shape (m, m)
        Between test histograms.
    y : array-like of shape (m,)
        Their labels, of two classes or more.
    n_neighbors : int
        Largest number of neighbors, less than m: no histogram is its own neighbor.

    Returns
    -------
    list of float
        The entry kappa - 1 is the mean, over histograms, of the share of their own
        class among their kappa nearest others.

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
    np.fill_diagonal(among, -np.inf)  # each its own nearest, and then left out
    nearest = np.argsort(among, axis=1, kind="stable")[:, 1 : k + 1]
    labels = np.asarray(y)
    same = labels[nearest] == labels[:, None]
    shares = np.cumsum(same, axis=1) / np.arange(1, k + 1)
    return [float(share) for share in shares.mean(axis=0)]


def svm_error(
    train: ArrayLike, y_train: ArrayLike, test: ArrayLike, y_test: ArrayLike
) -> float:
    """Share of errors of a support vector machine with the kernel exp(-d / sigma).

    Its parameters are chosen as in the paper, by cross-validation on the training
    histograms: 4 folds, twice, over :data:`groundmetric.SIGMA_GRID` times the median
    distance and :data:`groundmetric.C_GRID`. Folds are the same for all distances and
    in every run. A distance that was learned has seen all folds, and the choice may be
    a poor one if it fits them too well.

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
    within = _matrix(train, y_train, y_train, ("y_train", "y_train"))
    between = _matrix(test, y_test, y_train, ("y_test", "y_train"))
    validation.require_same_kind(y_train, y_test)
    members = np.unique(np.asarray(y_train), return_counts=True)[1]
    if members.size == 1:
        raise ValueError("y_train has one class only; at least two are needed.")
    if members.min() == 1:
        raise ValueError(
            "y_train has a class with a single member; cross-validation needs two."
        )
    # A fold without a class would make scikit-learn warn.
    folds = min(N_FOLDS, int(members.min()))
    search = GridSearchCV(
        make_pipeline(EMDKernel(metric="precomputed"), SVC(kernel="precomputed")),
        {"emdkernel__multiple": SIGMA_GRID, "svc__C": C_GRID},
        cv=RepeatedStratifiedKFold(n_splits=folds, n_repeats=N_REPEATS, random_state=0),
    ).fit(within, np.asarray(y_train))
    return 1.0 - float(search.score(between, np.asarray(y_test)))


def _matrix(
    distances: ArrayLike, rows: ArrayLike, columns: ArrayLike, names: tuple[str, str]
) -> Floats:
    """Judge distances and the labels of their rows and columns; copy them."""
    array = validation.as_float_array(distances, "distances", 2)
    validation.require_finite(array, "distances")
    for labels, size, name in zip((rows, columns), array.shape, names, strict=True):
        validation.require_length(labels, size, name)
    return array.copy()
