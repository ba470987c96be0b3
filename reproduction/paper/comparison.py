"""Compare methods on one task, as the paper does: errors and recall (section 7.4)."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundmetric import (
    EMDNeighbors,
    GroundMetricLearning,
    MetricLearningCV,
    pairwise_emd,
    validation,
)
from groundmetric.experiments import recall
from groundmetric.experiments.measured import Split, measured, require_sizes

from .methods import as_methods

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike

    from groundmetric.experiments import Method

Floats = NDArray[np.float64]

__all__ = ["Comparison", "compare_split", "evaluate"]


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
    >>> from paper.comparison import Comparison
    >>> Comparison("l1", [0.25, 0.15], [0.8, 0.7], None, 0.0, 0.1).knn_errors[1]
    0.15
    """

    method: str
    knn_errors: list[float]
    recall: list[float]
    svm_error: float | None
    fit_seconds: float = field(compare=False)
    seconds: float = field(compare=False)


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
        Names in :data:`METHODS`, or your own methods; by default those of Figure 1.
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
    >>> from paper.comparison import compare_split
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
    start = clock()
    found = measured(
        method, split, n_neighbors=n_neighbors, svm=svm, n_jobs=n_jobs, clock=clock
    )
    among = _ranked(found.pairwise, split.test, n_neighbors, n_jobs)
    return Comparison(
        found.method,
        [float(share) for share in found.knn_wrong.mean(axis=0)],
        recall(among, split.z, n_neighbors=n_neighbors),
        None if found.svm_wrong is None else float(found.svm_wrong.mean()),
        found.fit_seconds,
        clock() - start,
    )


def _ranked(pairwise: Any, rows: Floats, k: int, n_jobs: int | None) -> Floats:
    """Compute distances within a set; for exact EMDs, the ranks of the k nearest only.

    A pruned search solves about half of the pairs. It finds the same neighbors, also
    among ties.
    """
    owner = getattr(pairwise, "__self__", None)
    metric = None
    if isinstance(owner, (GroundMetricLearning, MetricLearningCV)) and owner._is_exact:
        metric = owner
    elif isinstance(pairwise, partial) and pairwise.func is pairwise_emd:
        metric = pairwise.keywords["metric"]
    if metric is None:
        distances: Floats = pairwise(rows, None)
        return distances
    search = EMDNeighbors(metric, n_neighbors=k, n_jobs=n_jobs).fit(rows)
    nearest = np.asarray(search.kneighbors(return_distance=False), dtype=np.int64)
    ranks = np.full((len(rows), len(rows)), float(k))
    np.put_along_axis(ranks, nearest, np.arange(float(k)), axis=1)
    return ranks


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
