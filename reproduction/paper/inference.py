"""How certain a mean over tasks is: 95 % intervals over tasks or classes; a sign test.

A task pairs a class from one half with a class from the other (section 7.2), and all
tasks of a class share its images, so tasks are not independent. Student's interval over
tasks ignores this: it shows what would vary if only the tasks were redrawn, and is too
narrow for new classes. For these, use the pigeonhole bootstrap (Owen, *The pigeonhole
bootstrap*, Annals of Applied Statistics 1, 2007): draw the classes of each half with
replacement, independently, and weight each task by the product of the draws of its two
classes. This interval tends to be too wide.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from groundmetric import validation
from groundmetric.experiments.design import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

__all__ = ["INTERVALS", "Interval", "SignTest", "class_interval"]
__all__ += ["has_halves", "interval_of", "sign_p_value", "sign_test"]
__all__ += ["student_interval"]

# Shares are multiples of 1 / n_test, so smaller differences are rounding errors.
TIE = 1e-9
#: The kinds of intervals, and how to describe them.
INTERVALS = {
    "tasks": "Student's t over tasks",
    "classes": "bootstrap over the classes of both halves",
}


class Interval(NamedTuple):
    """Lower and upper ends, one for each column; NaN if all rows are equal.

    Examples
    --------
    >>> from paper.inference import Interval
    >>> Interval([0.1], [0.3]).high
    [0.3]
    """

    low: Floats
    high: Floats


def student_interval(values: Floats, *, ratio: float = 0.0) -> Interval:
    r"""Student's interval for the mean of each column.

    .. math:: \bar v \mp t \, s \, \sqrt{1 / n + \mathrm{ratio}}

    with s the standard deviation of the n rows and t the 97.5 % quantile of Student's
    distribution with n - 1 degrees of freedom. The ratio is 0 for independent rows, and
    n_test / n_train for splits of one data set (Nadeau & Bengio, *Inference for the
    Generalization Error*, Machine Learning 52, 2003).

    Examples
    --------
    >>> import numpy as np
    >>> from paper.inference import student_interval
    >>> low, high = student_interval(np.array([[0.1], [0.2], [0.3]]))
    >>> low.round(3), high.round(3)  # 0.2 -+ 4.303 * 0.1 / sqrt(3)
    (array([-0.048]), array([0.448]))
    """
    n = len(values)
    spread = values.std(axis=0, ddof=1) if n > 1 else np.zeros(values.shape[1])
    quantile = stats.t.ppf((1 + LEVEL) / 2, n - 1)
    half, mean = quantile * spread * np.sqrt(1 / n + ratio), values.mean(axis=0)
    return _where_different(values, mean - half, mean + half)


def has_halves(classes: Sequence[Sequence[str]]) -> bool:
    """Whether each task pairs a class from one half with a class from the other.

    Examples
    --------
    >>> from paper.inference import has_halves
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

    The ends are the 2.5 % and 97.5 % quantiles of the means of ``n_resamples`` draws.
    The seed is the same for all comparisons, so that they see the same draws.

    Examples
    --------
    >>> import numpy as np
    >>> from paper.inference import class_interval
    >>> classes = [("cat", "cup"), ("cat", "car"), ("dog", "cup"), ("dog", "car")]
    >>> low, high = class_interval(np.array([[0.1], [0.1], [0.3], [0.3]]), classes)
    >>> low.round(3), high.round(3)  # a quarter of the draws has only cats
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
    rng = np.random.default_rng(seed)
    weights = np.ones((n_resamples, len(values)))
    for half in zip(*classes, strict=True):
        names, of_task = np.unique(half, return_inverse=True)
        share = np.full(len(names), 1 / len(names))
        weights *= rng.multinomial(len(names), share, size=n_resamples)[:, of_task]
    total = weights.sum(axis=1)
    drawn = total > 0  # if tasks are missing, a draw may contain none
    means = weights[drawn] @ values / total[drawn, None]
    tail = (1 - LEVEL) / 2
    return _where_different(values, *np.quantile(means, [tail, 1 - tail], axis=0))


def interval_of(
    values: Floats, classes: Sequence[Sequence[str]], kind: str
) -> Interval:
    """Interval for the mean of each column; the kind is a key of ``INTERVALS``.

    Examples
    --------
    >>> import numpy as np
    >>> from paper.inference import interval_of
    >>> interval_of(np.array([[0.1], [0.1]]), [("cat", "cup"), ("cat", "car")], "tasks")
    Interval(low=array([nan]), high=array([nan]))
    """
    validation.require_one_of(kind, "interval", INTERVALS)
    if kind == "tasks":
        return student_interval(values)
    return class_interval(values, classes)


class SignTest(NamedTuple):
    """Numbers of wins, ties and losses, and two-sided p-values, one for each column.

    Examples
    --------
    See :func:`sign_test`.
    """

    wins: Counts
    ties: Counts
    losses: Counts
    p_value: Floats


def sign_test(gains: Floats) -> SignTest:
    """Test whether gains are as often negative as positive, ignoring ties.

    The test assumes independent tasks, so p is too small if they share classes. Gains
    have a row for each task, and are positive where the method is better.

    Examples
    --------
    >>> import numpy as np
    >>> from paper.inference import sign_test
    >>> sign_test(np.array([[0.1], [0.2], [0.0], [0.1]]))  # p = 2 / 2 ** 3
    SignTest(wins=array([3]), ties=array([1]), losses=array([0]), p_value=array([0.25]))
    """
    wins = np.sum(gains > TIE, axis=0)
    losses = np.sum(gains < -TIE, axis=0)
    p = [sign_p_value(won, lost) for won, lost in zip(wins, losses, strict=True)]
    return SignTest(wins, len(gains) - wins - losses, losses, np.array(p))


def sign_p_value(wins: int, losses: int) -> float:
    """Two-sided p-value of the sign test, and of McNemar's exact test.

    Examples
    --------
    >>> from paper.inference import sign_p_value
    >>> sign_p_value(3, 0)
    0.25
    """
    n = int(wins + losses)
    return float(stats.binomtest(int(wins), n).pvalue) if n else 1.0


def _where_different(values: Floats, low: Floats, high: Floats) -> Interval:
    """Equal rows, or a single one, do not show how certain their mean is."""
    same = np.ptp(values, axis=0) <= TIE
    return Interval(np.where(same, np.nan, low), np.where(same, np.nan, high))
