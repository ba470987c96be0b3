"""Compare methods on one task: learn, compute distances, measure (section 7.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .measures import class_sizes, knn_wrong, recall, svm_wrong
from .methods import Method, as_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .methods import Pairwise

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]
Wrong = NDArray[np.bool_]

__all__ = ["Comparison", "Split", "compare_split", "evaluate"]


@dataclass(frozen=True)
class Comparison:
    """Measures of one method on one task. Equality ignores the times.

    Attributes
    ----------
    method : str
        Name of the method.
    knn_errors : list of float
        Error rates of nearest neighbors, for 1, 2, ... neighbors.
    recall : list of float
        Mean share of the own class among the nearest other test histograms, for 1, 2,
        ... neighbors.
    svm_error : float or None
        Error rate of the support vector machine, if one was trained.
    fit_seconds, seconds : float
        CPU time for learning, and in total.

    Examples
    --------
    >>> from groundmetric.experiments import Comparison
    >>> Comparison("l1", [0.25, 0.15], [0.8, 0.7], None, 0.0, 0.1).knn_errors[1]
    0.15
    """

    method: str
    knn_errors: list[float]
    recall: list[float]
    svm_error: float | None
    fit_seconds: float = field(compare=False)
    seconds: float = field(compare=False)


class Measured(NamedTuple):
    """A comparison in detail: which test histograms are misclassified, and how."""

    comparison: Comparison
    knn_wrong: Wrong  # (m, n_neighbors), for 1, 2, ... neighbors
    svm_wrong: Wrong | None  # (m,)
    pairwise: Pairwise | None = None  # what was learned, if it was kept
    between: Floats | None = None  # its distances from test to training histograms


class Split(NamedTuple):
    """Histograms of mass 1 to learn from and to test, and their labels."""

    train: Floats
    y: Labels
    test: Floats
    z: Labels

    @classmethod
    def of(cls, X: Floats, y: Labels, train: Indices, test: Indices) -> Split:
        """Select rows of one data set."""
        return cls(X[train], y[train], X[test], y[test])


def compare_split(
    X_train: ArrayLike,
    y_train: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    methods: Iterable[str | Method] | None = None,
    n_neighbors: int = 20,
    svm: bool = False,
    n_jobs: int | None = None,
) -> list[Comparison]:
    """Measure every distance on one training and test set.

    Parameters
    ----------
    X_train, X_test : array-like or sparse matrix of shape (n, d) and (m, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y_train, y_test : array-like of shape (n,) and (m,)
        Labels.
    methods : iterable of str or Method, optional
        Names in :data:`METHODS`, or your own methods; by default those of the paper's
        Figure 1.
    n_neighbors : int, default=20
        Largest number of neighbors, at most n and less than m.
    svm : bool, default=False
        Whether to train support vector machines too; see :func:`svm_error`.
    n_jobs : int, optional
        Number of threads for EMDs; does not affect the results.

    Returns
    -------
    list of Comparison
        One for each method, in the order of the methods.

    Examples
    --------
    >>> from groundmetric.experiments import compare_split
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = ["left", "left", "right", "right"]
    >>> found = compare_split(X, y, X, y, methods=["l1", "gml"], n_neighbors=2)
    >>> for row in found:
    ...     print(row.method, row.knn_errors, row.recall)
    l1 [0.0, 0.0] [1.0, 0.5]
    gml [0.0, 0.0] [1.0, 0.5]
    """
    chosen = as_methods(methods)
    split = _checked(X_train, y_train, X_test, y_test)
    require_sizes(split.y, len(split.z), n_neighbors, svm=svm, where="")
    validation.n_threads(n_jobs)
    return [
        evaluate(method, split, n_neighbors=n_neighbors, svm=svm, n_jobs=n_jobs)
        for method in chosen
    ]


def evaluate(
    method: Method,
    split: Split,
    *,
    n_neighbors: int,
    svm: bool,
    n_jobs: int | None,
    clock: Callable[[], float] = time.process_time,
) -> Comparison:
    """Learn one distance and measure it; the clock returns CPU seconds."""
    return measured(
        method, split, n_neighbors=n_neighbors, svm=svm, n_jobs=n_jobs, clock=clock
    ).comparison


def measured(
    method: Method,
    split: Split,
    *,
    n_neighbors: int,
    svm: bool,
    n_jobs: int | None,
    with_recall: bool = True,
    keep: bool = False,
    clock: Callable[[], float] = time.process_time,
) -> Measured:
    """Learn one distance and measure it in detail; keep the learner if asked to.

    Recall needs all distances between test histograms. Without it, its list is empty.
    """
    start = clock()
    pairwise = method.learn(split.train, split.y, n_jobs)
    learned = clock()
    between = pairwise(split.test, split.train)
    found, machine = [], None
    if with_recall:
        among = pairwise(split.test, None)
        found = recall(among, split.z, n_neighbors=n_neighbors)
    if svm:
        machine = svm_wrong(pairwise(split.train, None), split.y, between, split.z)
    wrong = knn_wrong(between, split.y, split.z, n_neighbors=n_neighbors)
    comparison = Comparison(
        method.name,
        [float(share) for share in wrong.mean(axis=0)],
        found,
        None if machine is None else float(machine.mean()),
        learned - start,
        clock() - start,
    )
    return Measured(comparison, wrong, machine, *((pairwise, between) if keep else ()))


def require_sizes(
    y_train: Labels, n_test: int | None, n_neighbors: int, *, svm: bool, where: str
) -> None:
    """Refuse tasks that are too small to measure.

    Recall limits the neighbors by the number of test histograms; pass None without it.
    """
    k = validation.as_count(n_neighbors, "n_neighbors", low=1)
    most, there = len(y_train), f"{len(y_train)} training"
    if n_test is not None:
        most, there = min(most, n_test - 1), f"{there} and {n_test} test"
    if k > most:
        raise ValueError(
            f"n_neighbors is {k}; it must be at most {most}, since there are {there} "
            f"histograms{where}."
        )
    class_sizes(y_train, "y_train", svm=svm, where=where)


def _checked(
    X_train: ArrayLike, y_train: ArrayLike, X_test: ArrayLike, y_test: ArrayLike
) -> Split:
    """Check histograms and labels."""
    train = validation.as_distributions(X_train, "X_train")
    test = validation.as_distributions(X_test, "X_test")
    if train.shape[1] != test.shape[1]:
        raise ValueError(
            f"X_train has {train.shape[1]} bins, but X_test has {test.shape[1]}."
        )
    validation.require_length(y_train, len(train), "y_train")
    validation.require_length(y_test, len(test), "y_test")
    validation.require_same_kind(y_train, y_test)
    return Split(train, np.asarray(y_train), test, np.asarray(y_test))
