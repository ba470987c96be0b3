"""The paper's tasks (section 7.2): which classes, which rows to learn from and to test.

2N classes are drawn and split in two halves; each class of the first half and each of
the second make a binary task, N x N of them. Of each class, some rows are drawn to
learn from (30 in the paper) and some of the others to test (40). What is drawn depends
on the seed and the number of the task, never on which other tasks there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Indices = NDArray[np.int64]
Labels = NDArray[Any]

__all__ = ["Task", "binary_tasks", "multiclass_tasks", "require_rows"]


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, and rows to test.

    Attributes
    ----------
    index : int
        Number of the task in its experiment.
    seed : int
        What it was drawn with.
    classes : tuple
        The labels.
    train, test : ndarray of int
        Rows, class by class.

    Examples
    --------
    >>> from groundmetric.experiments import binary_tasks
    >>> task = binary_tasks(["a"] * 5 + ["b"] * 4, n_train=3)[0]
    >>> task.name, len(task.train), len(task.test)
    ('b | a', 6, 3)
    """

    index: int
    seed: int
    classes: tuple[Any, ...]
    train: Indices
    test: Indices

    @property
    def name(self) -> str:
        """The classes in one string."""
        return " | ".join(str(label) for label in self.classes)


def binary_tasks(
    y: ArrayLike,
    *,
    n_classes: int | None = None,
    seed: int = 0,
    classes: Iterable[object] | None = None,
    halves: tuple[Iterable[object], Iterable[object]] | None = None,
    n_train: int = 30,
    n_test: int = 40,
) -> list[Task]:
    """Draw the paper's N x N binary tasks.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of all histograms.
    n_classes : int, optional
        N, classes in each half; as many as there are by default.
    seed : int, default=0
        For drawing classes and rows.
    classes : iterable, optional
        Labels to draw from; all of y by default.
    halves : pair of iterables, optional
        The two halves, if they are not to be drawn.
    n_train : int, default=30
        Rows of each class to learn from.
    n_test : int, default=40
        Rows of each class to test, or as many as are left.

    Returns
    -------
    list of Task
        Task i * N + j is about class i of the first half and class j of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments import binary_tasks
    >>> y = np.repeat(["ant", "bee", "cat", "dog"], 70)
    >>> tasks = binary_tasks(y, halves=(["ant", "bee"], ["cat", "dog"]))
    >>> [task.name for task in tasks]
    ['ant | cat', 'ant | dog', 'bee | cat', 'bee | dog']
    >>> [(len(task.train), len(task.test)) for task in tasks[:1]]
    [(60, 80)]
    """
    draw = _Draw(y, seed, n_train, n_test)
    if halves is None:
        among = draw.known(classes, "classes")
        high = len(among) // 2
        n = high if n_classes is None else n_classes
        n = validation.as_count(n, "n_classes", low=1)
        if n > high:
            raise ValueError(
                f"n_classes is {n}, but there are {len(among)} classes: at most {high} "
                "can be in each half."
            )
        drawn = draw.classes(among, 2 * n, stream=0)
        first, second = drawn[:n], drawn[n:]
    else:
        if n_classes is not None or classes is not None:
            raise ValueError("halves is given; n_classes and classes must not be.")
        parts = [list(half) for half in halves]
        if len(parts) != 2:  # noqa: PLR2004 - halves
            raise ValueError(f"halves has {len(parts)} parts; two are needed.")
        first, second = parts
        if not first or not second:
            raise ValueError("halves has an empty half; both need a class.")
        draw.known([*first, *second], "halves")
    pairs = product(first, second)
    return [draw.task(index, pair) for index, pair in enumerate(pairs)]


def multiclass_tasks(
    y: ArrayLike,
    *,
    n_classes: int,
    n_tasks: int = 1,
    seed: int = 0,
    classes: Iterable[object] | None = None,
    n_train: int = 30,
    n_test: int = 40,
) -> list[Task]:
    """Draw tasks of many classes at once.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of all histograms.
    n_classes : int
        Classes in a task, at least two.
    n_tasks : int, default=1
        Tasks; the classes of each are drawn anew, and two may have some in common.
    seed : int, default=0
        For drawing classes and rows.
    classes : iterable, optional
        Labels to draw from; all of y by default.
    n_train, n_test : int, default=30 and 40
        Rows of each class, as in :func:`binary_tasks`.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments import multiclass_tasks
    >>> y = np.repeat(np.arange(20), 50)
    >>> (task,) = multiclass_tasks(y, n_classes=10)
    >>> len(task.classes), len(task.train), len(task.test)
    (10, 300, 200)
    """
    draw = _Draw(y, seed, n_train, n_test)
    among = draw.known(classes, "classes")
    size = validation.as_count(n_classes, "n_classes", low=2, high=len(among))
    count = validation.as_count(n_tasks, "n_tasks", low=1)
    return [
        draw.task(index, draw.classes(among, size, stream=index))
        for index in range(count)
    ]


def require_rows(task: Task, labels: Labels, name: str) -> None:
    """Refuse a task of other data: its rows must be of its classes, and of no other."""
    for part, rows in (("train", task.train), ("test", task.test)):
        of = f"{name}.{part}"
        if not isinstance(rows, np.ndarray) or rows.ndim != 1 or rows.dtype.kind != "i":
            raise ValueError(f"{of} must be a one-dimensional array of integers.")
        if rows.size == 0:
            raise ValueError(f"{of} is empty; at least one row is needed.")
        if rows.min() < 0 or rows.max() >= len(labels):
            wrong = rows[(rows < 0) | (rows >= len(labels))][0]
            last = len(labels) - 1
            raise ValueError(f"{of} has row {wrong}; X has rows 0 to {last}.")
        found = dict.fromkeys(labels[rows].tolist())
        if set(found) != set(task.classes):
            raise ValueError(
                f"{of} has rows of {' | '.join(map(str, found))} by y, but the task is "
                f"{task.name}: it was drawn from other labels."
            )
    both = np.intersect1d(task.train, task.test)
    if both.size:
        raise ValueError(f"{name} has row {both[0]} in train and in test.")


class _Draw:
    """Labels, and what is drawn from them by a seed."""

    def __init__(self, y: ArrayLike, seed: int, n_train: int, n_test: int) -> None:
        self.labels = validation.as_labels(y)
        self.seed = validation.as_count(seed, "seed", low=0)
        self.n_train = validation.as_count(n_train, "n_train", low=1)
        self.n_test = validation.as_count(n_test, "n_test", low=1)

    def known(self, classes: Iterable[object] | None, name: str) -> list[Any]:
        """List classes in sorted order; each must have enough members."""
        found, counts = np.unique(self.labels, return_counts=True)
        members = dict(zip(found.tolist(), counts.tolist(), strict=True))
        chosen = list(members) if classes is None else list(classes)
        needed = self.n_train + 1
        for label in chosen:
            if label not in members:
                raise ValueError(f"{name} has {label!r}, which is no label in y.")
            if chosen.count(label) > 1:
                raise ValueError(f"{name} has {label!r} twice.")
            if members[label] < needed:
                raise ValueError(
                    f"y has {members[label]} members of class {label!r}; at least "
                    f"{needed} are needed, {self.n_train} to learn from and one to "
                    "test."
                )
        return [label for label in members if label in set(chosen)]

    def classes(self, among: Sequence[Any], size: int, *, stream: int) -> list[Any]:
        """Draw classes, in random order."""
        order = self._rng(0, stream).permutation(len(among))[:size]
        return [among[k] for k in order]

    def task(self, index: int, classes: Sequence[Any]) -> Task:
        """Draw the rows of a task."""
        rng = self._rng(1, index)
        rows = [rng.permutation(np.flatnonzero(self.labels == c)) for c in classes]
        stop = self.n_train + self.n_test
        train = np.concatenate([row[: self.n_train] for row in rows])
        test = np.concatenate([row[self.n_train : stop] for row in rows])
        return Task(index, self.seed, tuple(classes), train, test)

    def _rng(self, purpose: int, stream: int) -> np.random.Generator:
        sequence = np.random.SeedSequence(self.seed, spawn_key=(purpose, stream))
        return np.random.default_rng(sequence)
