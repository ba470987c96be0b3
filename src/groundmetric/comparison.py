"""Every distance of the paper on one classification task (sections 7.3 and 7.4).

Each method learns what it has to learn from the training histograms, once. Its
distances then serve nearest neighbors as they are, and a support vector machine through
:class:`~groundmetric.EMDKernel`, the kernel exp(-d / sigma).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from . import _validation
from ._initial import initial_metric
from ._kernel import C_GRID, SIGMA_GRID, EMDKernel
from ._learning import GroundMetricLearning
from ._transport import pairwise_emd
from .baselines import ITML, LMNN, NCA
from .distances import DISTANCES

Floats = NDArray[np.float64]
Labels = NDArray[Any]
# Distances between two sets of histograms of mass 1; of the first set, if the second is
# None.
Pairwise: TypeAlias = Callable[[Floats, "Floats | None"], Floats]
# From training histograms, labels and n_jobs.
Method: TypeAlias = Callable[[Floats, Labels, "int | None"], Pairwise]

__all__ = ["METHODS", "Comparison", "compare"]

N_FOLDS, N_REPEATS = 4, 2  # of the cross-validation, as in the paper


@dataclass(frozen=True)
class Comparison:
    """Errors of one method on the test histograms.

    Attributes
    ----------
    method : str
        A name in ``METHODS``.
    knn_errors : dict of int to float
        Share of errors of nearest neighbors, for each number of neighbors.
    svm_error : float or None
        Share of errors of the support vector machine, if there was one.

    Examples
    --------
    >>> from groundmetric.comparison import Comparison
    >>> Comparison("l1", {1: 0.25, 3: 0.15}, None).knn_errors[3]
    0.15
    """

    method: str
    knn_errors: dict[int, float]
    svm_error: float | None


def _bin_to_bin(name: str) -> Method:
    return lambda _X, _y, _n_jobs: DISTANCES[name]


def _mahalanobis(learner: type[LMNN | ITML | NCA], *, hellinger: bool) -> Method:
    def learn(X: Floats, y: Labels, _n_jobs: int | None) -> Pairwise:
        return learner(hellinger=hellinger).fit(X, y).pairwise

    return learn


def _emd(table: str) -> Method:
    def learn(X: Floats, y: Labels, n_jobs: int | None) -> Pairwise:
        metric = initial_metric(X, y, table=table, n_jobs=n_jobs)
        return partial(pairwise_emd, metric=metric, n_jobs=n_jobs)

    return learn


def _gml(X: Floats, y: Labels, n_jobs: int | None) -> Pairwise:
    return GroundMetricLearning(n_jobs=n_jobs).fit(X, y).pairwise


#: The methods by name: each takes training histograms of mass 1, labels and n_jobs, and
#: returns a function of two sets of histograms, their distances.
METHODS: dict[str, Method] = {
    **{name: _bin_to_bin(name) for name in DISTANCES},
    "lmnn": _mahalanobis(LMNN, hellinger=False),
    "lmnn-hellinger": _mahalanobis(LMNN, hellinger=True),
    "itml": _mahalanobis(ITML, hellinger=False),
    "itml-hellinger": _mahalanobis(ITML, hellinger=True),
    "nca": _mahalanobis(NCA, hellinger=False),
    "nca-hellinger": _mahalanobis(NCA, hellinger=True),
    "emd-uniform": _emd("uniform"),
    "emd-typical": _emd("typical"),
    "gml": _gml,
}


def compare(
    X_train: ArrayLike,
    y_train: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    methods: Iterable[str] | None = None,
    n_neighbors: Iterable[int] = (1, 3, 5, 11, 19),
    svm: bool = True,
    n_jobs: int | None = None,
) -> list[Comparison]:
    """Classify by nearest neighbors and support vector machines, with every distance.

    The parameters of the support vector machine are chosen as in the paper, by
    cross-validation on the training histograms: 4 folds, twice, over :data:`SIGMA_GRID`
    times the median distance and :data:`C_GRID`. Folds are the same for all methods and
    in every run. A method that learns does so once, from all training histograms; so it
    has seen the folds, and the choice may be a poor one if it fits them too well.

    Parameters
    ----------
    X_train, X_test : array-like or sparse matrix of shape (n, d) and (m, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y_train, y_test : array-like of shape (n,) and (m,)
        Labels.
    methods : iterable of str, optional
        Names in ``METHODS``; all of them by default.
    n_neighbors : iterable of int, default=(1, 3, 5, 11, 19)
        Numbers of neighbors.
    svm : bool, default=True
        Whether to train support vector machines, which takes longest.
    n_jobs : int, optional
        Number of threads for EMDs. Results do not depend on it.

    Returns
    -------
    list of Comparison
        One for each method, in the order of the methods.

    Examples
    --------
    >>> from groundmetric.comparison import compare
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = ["left", "left", "right", "right"]
    >>> for row in compare(X, y, X, y, methods=["l1", "gml"], n_neighbors=[1]):
    ...     print(row.method, row.knn_errors, row.svm_error)
    l1 {1: 0.0} 0.0
    gml {1: 0.0} 0.0
    """
    names = list(METHODS if methods is None else methods)
    for name in names:
        if name not in METHODS:
            raise ValueError(
                f"methods has {name!r}; it must be among {', '.join(METHODS)}."
            )
    given = _judged(X_train, y_train, X_test, y_test, needed=2 if svm else 1)
    counts = [
        _validation.as_count(k, "n_neighbors", low=1, high=len(given.train))
        for k in n_neighbors
    ]
    out = []
    for name in names:
        pairwise = METHODS[name](given.train, given.y, n_jobs)
        between = given._replace(
            train=pairwise(given.train, None), test=pairwise(given.test, given.train)
        )
        knn = {k: _knn_error(k, between) for k in counts}
        out.append(Comparison(name, knn, _svm_error(between) if svm else None))
    return out


class _Task(NamedTuple):
    """Histograms, or distances to the training histograms, and labels."""

    train: Floats
    y: Labels
    test: Floats
    z: Labels


def _judged(
    X_train: ArrayLike,
    y_train: ArrayLike,
    X_test: ArrayLike,
    y_test: ArrayLike,
    *,
    needed: int,
) -> _Task:
    """Check histograms and labels, and that each class has as many as needed."""
    train = _validation.as_distributions(X_train, "X_train")
    test = _validation.as_distributions(X_test, "X_test")
    if train.shape[1] != test.shape[1]:
        raise ValueError(
            f"X_train has {train.shape[1]} bins, but X_test has {test.shape[1]}."
        )
    _validation.require_length(y_train, len(train), "y_train")
    _validation.require_length(y_test, len(test), "y_test")
    y = np.asarray(y_train)
    members = np.unique(y, return_counts=True)[1]
    if members.size == 1:
        raise ValueError("y_train has one class only; at least two are needed.")
    if members.min() < needed:
        raise ValueError(
            "y_train has a class with a single member; cross-validation needs two."
        )
    return _Task(train, y, test, np.asarray(y_test))


def _knn_error(k: int, task: _Task) -> float:
    """Share of errors of k nearest neighbors, from distances."""
    neighbors = KNeighborsClassifier(k, metric="precomputed").fit(task.train, task.y)
    return 1.0 - float(neighbors.score(task.test, task.z))


def _svm_error(task: _Task) -> float:
    """Share of errors of a support vector machine, from distances."""
    # A fold without a class would make scikit-learn warn.
    folds = min(N_FOLDS, int(np.unique(task.y, return_counts=True)[1].min()))
    search = GridSearchCV(
        make_pipeline(EMDKernel(metric="precomputed"), SVC(kernel="precomputed")),
        {"emdkernel__multiple": SIGMA_GRID, "svc__C": C_GRID},
        cv=RepeatedStratifiedKFold(n_splits=folds, n_repeats=N_REPEATS, random_state=0),
    ).fit(task.train, task.y)
    return 1.0 - float(search.score(task.test, task.z))
