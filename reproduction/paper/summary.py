"""Summaries of results: mean curves and paired differences.

Means over tasks, as in the figures of section 7, and what the paper leaves out: how
certain they are. Two methods are compared task by task, since tasks differ far more
than methods do: the mean difference with its 95 % interval, and a sign test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from groundmetric import validation
from paper.inference import interval_of, sign_test

from .aligned import CURVES, Aligned, align

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

__all__ = ["MeanCurves", "PairedDifferences", "mean_curves", "paired_differences"]

#: Lower is better for these measures, higher for all others.
LESS_IS_BETTER = ("knn_errors", "svm_error")


@dataclass(frozen=True, eq=False)
class _Summary:
    """Attributes of both summaries; their docstrings describe them."""

    experiment: str
    measure: str
    kappas: Counts
    low: Floats
    high: Floats
    interval: str
    n_tasks: int
    n_incomplete: int


@dataclass(frozen=True, eq=False)
class MeanCurves(_Summary):
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
        Means, and the ends of their 95 % intervals, NaN where all tasks are equal.
    svm_error : ndarray of shape (n_methods,)
        Mean errors of support vector machines; NaN if none were trained.
    interval : str
        Kind of the intervals, a key of ``INTERVALS``.
    n_tasks, n_incomplete : int
        Number of tasks averaged, and of tasks left out because they lack a method.

    Examples
    --------
    See :func:`mean_curves`.
    """

    methods: tuple[str, ...]
    mean: Floats
    svm_error: Floats


@dataclass(frozen=True, eq=False)
class PairedDifferences(_Summary):
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
        Mean over tasks of method minus competitor, and the ends of its 95 % interval,
        NaN where all tasks are equal.
    wins, ties, losses : ndarray of shape (n_kappas,)
        Numbers of tasks on which the method is better, equal and worse.
    p_value : ndarray of shape (n_kappas,)
        Two-sided sign test without ties, which assumes independent tasks.
    interval : str
        Kind of the intervals, a key of ``INTERVALS``.
    n_tasks, n_incomplete : int
        Number of tasks compared, and of tasks left out because they lack a method.

    Examples
    --------
    See :func:`paired_differences`.
    """

    method: str
    against: tuple[str, ...]
    difference: Floats
    wins: Counts
    ties: Counts
    losses: Counts
    p_value: Floats


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
        Names of methods; by default all in the results. Tasks that lack one of them
        are left out.
    interval : {"tasks", "classes"}, default="tasks"
        Student's t over tasks, which assumes that they are independent, or a bootstrap
        over their classes; see :mod:`paper.inference`.

    Returns
    -------
    MeanCurves
        Means and intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.summary import mean_curves
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": "l1", "task": [0, 1],
    ...     "classes": ["cat | cup", "cat | car"], "svm_error": [0.0, 0.2],
    ...     "recall": [[1.0, 0.8], [0.8, 0.6]],
    ... })
    >>> curves = mean_curves(results, "recall")
    >>> curves.mean, curves.svm_error, curves.n_tasks
    (array([[0.9, 0.7]]), array([0.1]), 2)
    """
    aligned = _aligned_curves(results, measure, methods)
    svm = align(results, "svm_error", methods=methods)
    ends = [interval_of(v, aligned.classes, interval) for v in aligned.numbers]
    return MeanCurves(
        **_common(aligned, measure, interval),
        methods=aligned.methods,
        mean=aligned.numbers.mean(axis=1),
        low=np.array([end.low for end in ends]),
        high=np.array([end.high for end in ends]),
        svm_error=svm.numbers.mean(axis=(1, 2)),
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
    """Compare a method with another one, or with the best of the others at each kappa.

    The best one has the lowest mean error or the highest mean recall on these tasks.
    Choosing it on the same tasks favors the competitor, never the method.

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
        Names of the method and its competitors; by default all in the results. Tasks
        that lack one of them are left out.
    interval : {"tasks", "classes"}, default="tasks"
        Student's t over tasks, which assumes that they are independent, or a bootstrap
        over their classes; see :mod:`paper.inference`.

    Returns
    -------
    PairedDifferences
        For each number of neighbors.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.summary import paired_differences
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "l1", "gml", "gml"],
    ...     "task": [0, 1, 0, 1], "classes": 2 * ["cat | cup", "cat | car"],
    ...     "knn_errors": [[0.25, 0.5], [0.25, 0.25], [0.0, 0.25], [0.25, 0.25]],
    ... })
    >>> paired = paired_differences(results, "gml")
    >>> paired.against, paired.difference, paired.wins, paired.ties
    (('l1', 'l1'), array([-0.125, -0.125]), array([1, 1]), array([1, 1]))
    """
    aligned = _aligned_curves(results, measure, methods)
    aligned.require(method, "method")
    if against is None:
        rivals = _best_rivals(aligned, method, measure)
    else:
        aligned.require(against, "against")
        rivals = (against,) * aligned.numbers.shape[2]
    columns = np.arange(len(rivals))
    rows = [aligned.methods.index(name) for name in rivals]
    differences = aligned.of(method) - aligned.numbers[rows, :, columns].T
    signs = sign_test(-differences if measure in LESS_IS_BETTER else differences)
    ends = interval_of(differences, aligned.classes, interval)
    return PairedDifferences(
        **_common(aligned, measure, interval),
        **ends._asdict(),
        **signs._asdict(),
        method=method,
        against=rivals,
        difference=differences.mean(axis=0),
    )


def _best_rivals(aligned: Aligned, method: str, measure: str) -> tuple[str, ...]:
    """Name the best other method at each kappa; ties go to the first."""
    others = [name for name in aligned.methods if name != method]
    if not others:
        raise ValueError(f"results has no method besides {method!r} to compare with.")
    means = np.array([aligned.of(name).mean(axis=0) for name in others])
    if measure not in LESS_IS_BETTER:
        means = -means
    return tuple(others[i] for i in means.argmin(axis=0))


def _aligned_curves(
    results: pd.DataFrame, measure: str, methods: Iterable[str] | None
) -> Aligned:
    validation.require_one_of(measure, "measure", CURVES)
    return align(results, measure, methods=methods)


def _common(aligned: Aligned, measure: str, interval: str) -> dict[str, Any]:
    return {
        "experiment": aligned.experiment,
        "measure": measure,
        "kappas": np.arange(1, aligned.numbers.shape[2] + 1),
        "interval": interval,
        "n_tasks": aligned.n_tasks,
        "n_incomplete": aligned.n_incomplete,
    }
