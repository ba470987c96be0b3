"""What the results of an experiment say: mean curves and paired differences.

Means over tasks as in the figures of section 7, and what the paper leaves out: how sure
they are. Two methods are compared task by task, since tasks differ far more than
methods do: the mean of the differences with its 95 % interval, and a sign test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .aligned import CURVES, Aligned, align
from .inference import interval_of, sign_test

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

__all__ = ["MeanCurves", "PairedDifferences", "mean_curves", "paired_differences"]

#: Of these measures less is better, of all others more.
LESS_IS_BETTER = ("knn_errors", "svm_error")


@dataclass(frozen=True, eq=False)
class MeanCurves:
    """Means of a measure over tasks, for each method and number of neighbors.

    Attributes
    ----------
    experiment, measure : str
        What was averaged.
    methods : tuple of str
        Names of the methods.
    kappas : ndarray of shape (n_kappas,)
        Numbers of neighbors, from 1.
    mean, low, high : ndarray of shape (n_methods, n_kappas)
        Means, and the ends of their 95 % intervals; these are NaN where tasks do
        not differ.
    svm_error : ndarray of shape (n_methods,)
        Mean errors of support vector machines; NaN where there are none.
    interval : str
        What the intervals are made of, a key of ``INTERVALS``.
    n_tasks, n_incomplete : int
        Number of tasks averaged, and of those left out for lack of a method.

    Examples
    --------
    See :func:`mean_curves`.
    """

    experiment: str
    measure: str
    methods: tuple[str, ...]
    kappas: Counts
    mean: Floats
    low: Floats
    high: Floats
    svm_error: Floats
    interval: str
    n_tasks: int
    n_incomplete: int


@dataclass(frozen=True, eq=False)
class PairedDifferences:
    """One method against another on the same tasks, for each number of neighbors.

    Attributes
    ----------
    experiment, measure, method : str
        What was compared.
    kappas : ndarray of shape (n_kappas,)
        Numbers of neighbors, from 1.
    against : tuple of str, of length n_kappas
        The competitor at each kappa.
    difference, low, high : ndarray of shape (n_kappas,)
        Mean over tasks of method minus competitor, and the ends of its 95 % interval;
        these are NaN where tasks do not differ.
    wins, ties, losses : ndarray of shape (n_kappas,)
        Numbers of tasks on which the method is better, equal and worse.
    p_value : ndarray of shape (n_kappas,)
        Two-sided sign test, ties dropped. It takes tasks to be independent.
    interval : str
        What the intervals are made of, a key of ``INTERVALS``.
    n_tasks, n_incomplete : int
        Number of tasks compared, and of those left out for lack of a method.

    Examples
    --------
    See :func:`paired_differences`.
    """

    experiment: str
    measure: str
    method: str
    kappas: Counts
    against: tuple[str, ...]
    difference: Floats
    low: Floats
    high: Floats
    wins: Counts
    ties: Counts
    losses: Counts
    p_value: Floats
    interval: str
    n_tasks: int
    n_incomplete: int


def mean_curves(
    results: pd.DataFrame,
    measure: str = "knn_errors",
    *,
    methods: Iterable[str] | None = None,
    interval: str = "tasks",
) -> MeanCurves:
    """Average a measure over tasks, for each method and number of neighbors.

    Parameters
    ----------
    results : DataFrame
        Results of one experiment, a row for each task and method.
    measure : {"knn_errors", "recall"}, default="knn_errors"
        What to average.
    methods : iterable of str, optional
        Names of methods; all of the results by default. Only tasks that have all of
        them count.
    interval : {"tasks", "classes"}, default="tasks"
        Student's t over tasks, as if they were independent, or a bootstrap over the
        classes that they share; see :mod:`groundmetric.experiments.inference`.

    Returns
    -------
    MeanCurves
        Means and intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from groundmetric.experiments.summary import mean_curves
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": "l1", "task": [0, 1],
    ...     "classes": ["cat | cup", "cat | car"], "svm_error": [0.0, 0.2],
    ...     "recall": [[1.0, 0.8], [0.8, 0.6]],
    ... })
    >>> curves = mean_curves(results, "recall")
    >>> curves.mean, curves.svm_error, curves.n_tasks
    (array([[0.9, 0.7]]), array([0.1]), 2)
    """
    _require_curve(measure)
    aligned = align(results, measure, methods=methods)
    svm = align(results, "svm_error", methods=methods)
    ends = [interval_of(v, aligned.classes, interval) for v in aligned.numbers]
    return MeanCurves(
        aligned.experiment,
        measure,
        aligned.methods,
        _kappas(aligned),
        aligned.numbers.mean(axis=1),
        np.array([end.low for end in ends]),
        np.array([end.high for end in ends]),
        svm.numbers.mean(axis=(1, 2)),
        interval,
        aligned.n_tasks,
        aligned.n_incomplete,
    )


def paired_differences(
    results: pd.DataFrame,
    method: str,
    *,
    against: str | None = None,
    measure: str = "knn_errors",
    methods: Iterable[str] | None = None,
    interval: str = "tasks",
) -> PairedDifferences:
    """Compare a method with one other, or with the best of the others at each kappa.

    The best is the one with the lowest mean error or the highest mean recall on these
    very tasks. Such a choice flatters the competitor, and never the method.

    Parameters
    ----------
    results : DataFrame
        Results of one experiment, a row for each task and method.
    method : str
        Name of the method.
    against : str, optional
        Name of the competitor; the best at each kappa by default.
    measure : {"knn_errors", "recall"}, default="knn_errors"
        What to compare.
    methods : iterable of str, optional
        Names of the method and its competitors; all of the results by default. Only
        tasks that have all of them count.
    interval : {"tasks", "classes"}, default="tasks"
        Student's t over tasks, as if they were independent, or a bootstrap over the
        classes that they share; see :mod:`groundmetric.experiments.inference`.

    Returns
    -------
    PairedDifferences
        For each number of neighbors.

    Examples
    --------
    >>> import pandas as pd
    >>> from groundmetric.experiments.summary import paired_differences
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "l1", "gml", "gml"],
    ...     "task": [0, 1, 0, 1], "classes": 2 * ["cat | cup", "cat | car"],
    ...     "knn_errors": [[0.25, 0.5], [0.25, 0.25], [0.0, 0.25], [0.25, 0.25]],
    ... })
    >>> paired = paired_differences(results, "gml")
    >>> paired.against, paired.difference, paired.wins, paired.ties
    (('l1', 'l1'), array([-0.125, -0.125]), array([1, 1]), array([1, 1]))
    """
    _require_curve(measure)
    aligned = align(results, measure, methods=methods)
    _require_there(method, aligned, "method")
    if against is None:
        rivals = _best_rivals(aligned, method, measure)
    else:
        _require_there(against, aligned, "against")
        rivals = (against,) * aligned.numbers.shape[2]
    columns = np.arange(len(rivals))
    rows = [aligned.methods.index(name) for name in rivals]
    differences = aligned.of(method) - aligned.numbers[rows, :, columns].T
    signs = sign_test(-differences if measure in LESS_IS_BETTER else differences)
    return PairedDifferences(
        aligned.experiment,
        measure,
        method,
        _kappas(aligned),
        rivals,
        differences.mean(axis=0),
        *interval_of(differences, aligned.classes, interval),
        signs.wins,
        signs.ties,
        signs.losses,
        signs.p_value,
        interval,
        aligned.n_tasks,
        aligned.n_incomplete,
    )


def _best_rivals(aligned: Aligned, method: str, measure: str) -> tuple[str, ...]:
    """Name the best other method at each kappa; the first of equals."""
    others = [name for name in aligned.methods if name != method]
    if not others:
        raise ValueError(f"results has no method besides {method!r} to compare with.")
    means = np.array([aligned.of(name).mean(axis=0) for name in others])
    if measure not in LESS_IS_BETTER:
        means = -means
    return tuple(others[i] for i in means.argmin(axis=0))


def _require_curve(measure: str) -> None:
    if measure not in CURVES:
        raise ValueError(
            f"measure is {measure!r}; it must be among {', '.join(CURVES)}."
        )


def _require_there(method: str, aligned: Aligned, argument: str) -> None:
    if method not in aligned.methods:
        raise ValueError(
            f"{argument} is {method!r}; results has {', '.join(aligned.methods)}."
        )


def _kappas(aligned: Aligned) -> Counts:
    return np.arange(1, aligned.numbers.shape[2] + 1)
