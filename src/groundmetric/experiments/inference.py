"""How sure a mean over tasks is: 95 % intervals, by tasks or by classes; a sign test.

Tasks are pairs of classes, one of either half (section 7.2), and all tasks of a class
share its images: they are not independent, and an interval that takes them to be so,
Student's over tasks, tells what would vary if tasks alone were drawn anew; it is too
narrow for what would happen with other classes. For these there is the pigeonhole
bootstrap (Owen, *The pigeonhole bootstrap*, Annals of Applied Statistics 1, 2007): the
classes of either half are drawn with replacement, independently, and a task counts as
often as the product of the draws of its two classes. That errs on the wide side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

__all__ = ["INTERVALS", "LEVEL", "Interval", "SignTest", "class_interval"]
__all__ += ["has_halves", "interval_of", "sign_test", "task_interval"]

LEVEL = 0.95
# Shares are multiples of 1 / n_test; a smaller difference is rounding.
TIE = 1e-9
#: What an interval may be made of, and how to say so.
INTERVALS = {
    "tasks": "Student's t over tasks",
    "classes": "bootstrap over the classes of both halves",
}


class Interval(NamedTuple):
    """Lower and upper ends, one for each column; NaN where tasks do not differ.

    Tasks that do not differ, or a single one, do not tell how sure their mean is.

    Examples
    --------
    >>> from groundmetric.experiments.inference import Interval
    >>> Interval([0.1], [0.3]).high
    [0.3]
    """

    low: Floats
    high: Floats


def task_interval(values: Floats) -> Interval:
    """Student's interval for the mean of each column, over rows (tasks).

    mean -+ t s / sqrt(n), with s the standard deviation of the n rows and t the 97.5 %
    quantile of Student's distribution with n - 1 degrees of freedom.

    Parameters
    ----------
    values : ndarray of shape (n_tasks, n)
        A row for each task.

    Returns
    -------
    Interval
        For each column.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.inference import task_interval
    >>> low, high = task_interval(np.array([[0.1], [0.2], [0.3]]))
    >>> low.round(3), high.round(3)  # 0.2 -+ 4.303 * 0.1 / sqrt(3)
    (array([-0.048]), array([0.448]))
    """
    n_tasks = len(values)
    if n_tasks == 1:
        return _nothing(values)
    mean = values.mean(axis=0)
    spread = values.std(axis=0, ddof=1) / np.sqrt(n_tasks)
    half = stats.t.ppf((1 + LEVEL) / 2, n_tasks - 1) * spread
    return _where_different(values, Interval(mean - half, mean + half))


def has_halves(classes: Sequence[Sequence[str]]) -> bool:
    """Tell whether tasks are pairs of a class of one half and a class of the other.

    Parameters
    ----------
    classes : sequence of sequences of str
        The classes of each task.

    Returns
    -------
    bool

    Examples
    --------
    >>> from groundmetric.experiments.inference import has_halves
    >>> has_halves([("cat", "cup"), ("dog", "cup")])
    True
    >>> has_halves([("cat", "cup"), ("cup", "dog")])
    False
    """
    if any(len(task) != 2 for task in classes):  # noqa: PLR2004 - a pair
        return False
    first, second = zip(*classes, strict=True)
    return set(first).isdisjoint(second)


def class_interval(
    values: Floats,
    classes: Sequence[Sequence[str]],
    *,
    n_resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Pigeonhole bootstrap interval for the mean of each column, over classes.

    The 2.5 % and 97.5 % quantiles of the means of ``n_resamples`` draws.

    Parameters
    ----------
    values : ndarray of shape (n_tasks, n)
        A row for each task.
    classes : sequence of pairs of str
        The two classes of each task, one of either half.
    n_resamples : int, default=2000
        Number of draws.
    seed : int, default=0
        Seed of the draws: the same for all comparisons, which is as it should be.

    Returns
    -------
    Interval
        For each column.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.inference import class_interval
    >>> classes = [("cat", "cup"), ("cat", "car"), ("dog", "cup"), ("dog", "car")]
    >>> low, high = class_interval(np.array([[0.1], [0.1], [0.3], [0.3]]), classes)
    >>> low.round(3), high.round(3)  # cats only in a quarter of the draws, or dogs
    (array([0.1]), array([0.3]))
    """
    for task in classes:
        if len(task) != 2:  # noqa: PLR2004 - a pair
            raise ValueError(
                f"interval='classes' needs tasks of two classes, but one has "
                f"{len(task)}: {', '.join(task)}. Use interval='tasks'."
            )
    if not has_halves(classes):
        first, second = zip(*classes, strict=True)
        raise ValueError(
            "interval='classes' needs tasks between two halves of the classes, but "
            f"{min(set(first) & set(second))} is in both. Use interval='tasks'."
        )
    if len(values) == 1:
        return _nothing(values)
    rng = np.random.default_rng(seed)
    weights = np.ones((n_resamples, len(values)))
    for half in zip(*classes, strict=True):
        names, of_task = np.unique(half, return_inverse=True)
        share = np.full(len(names), 1 / len(names))
        weights *= rng.multinomial(len(names), share, size=n_resamples)[:, of_task]
    total = weights.sum(axis=1)
    drawn = total > 0  # without all tasks of the halves, a draw may have none
    means = weights[drawn] @ values / total[drawn, None]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return _where_different(values, Interval(low, high))


def interval_of(
    values: Floats, classes: Sequence[Sequence[str]], kind: str
) -> Interval:
    """Interval of either kind for the mean of each column.

    Parameters
    ----------
    values : ndarray of shape (n_tasks, n)
        A row for each task.
    classes : sequence of sequences of str
        The classes of each task.
    kind : {"tasks", "classes"}
        A key of ``INTERVALS``.

    Returns
    -------
    Interval
        For each column.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.inference import interval_of
    >>> interval_of(np.array([[0.1], [0.1]]), [("cat", "cup"), ("cat", "car")], "tasks")
    Interval(low=array([nan]), high=array([nan]))
    """
    if kind not in INTERVALS:
        raise ValueError(
            f"interval is {kind!r}; it must be among {', '.join(INTERVALS)}."
        )
    return task_interval(values) if kind == "tasks" else class_interval(values, classes)


class SignTest(NamedTuple):
    """Numbers of tasks won, tied and lost, and a two-sided p-value, for each column.

    Examples
    --------
    See :func:`sign_test`.
    """

    wins: Counts
    ties: Counts
    losses: Counts
    p_value: Floats


def sign_test(gains: Floats) -> SignTest:
    """Test whether gains are as often negative as positive; ties are dropped.

    Tasks are taken to be independent, so where they share classes p is too small.

    Parameters
    ----------
    gains : ndarray of shape (n_tasks, n)
        A row for each task; positive where the method is better.

    Returns
    -------
    SignTest
        For each column.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.inference import sign_test
    >>> sign_test(np.array([[0.1], [0.2], [0.0], [0.1]]))  # p = 2 / 2 ** 3
    SignTest(wins=array([3]), ties=array([1]), losses=array([0]), p_value=array([0.25]))
    """
    wins = np.sum(gains > TIE, axis=0)
    losses = np.sum(gains < -TIE, axis=0)
    p = [
        float(stats.binomtest(int(won), int(won + lost)).pvalue) if won + lost else 1.0
        for won, lost in zip(wins, losses, strict=True)
    ]
    return SignTest(wins, len(gains) - wins - losses, losses, np.array(p))


def _where_different(values: Floats, interval: Interval) -> Interval:
    same = np.ptp(values, axis=0) <= TIE
    return Interval(*(np.where(same, np.nan, end) for end in interval))


def _nothing(values: Floats) -> Interval:
    """One task says nothing about others."""
    unknown = np.full(values.shape[1], np.nan)
    return Interval(unknown, unknown)
