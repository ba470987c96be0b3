"""The paper's tasks (section 7.2): classes, and rows to train and test on.

Draw 2N classes and split them into two halves. Each class of the first half forms a
binary task with each class of the second, N x N in all. For each class, draw some rows
to train on (30 in the paper) and some of the others to test on (40). The draws of a
task depend on the seed and its index only, not on which other tasks there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from groundmetric import validation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Indices = NDArray[np.int64]
Labels = NDArray[Any]

__all__ = ["Task", "binary_tasks", "multiclass_tasks", "require_rows"]


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to train on, and rows to test on.

    Attributes
    ----------
    index : int
        Number of the task in its experiment.
    seed : int
        Seed that the task was drawn with.
    classes : tuple
        The labels.
    train, test : ndarray of int
        Rows, class by class.

    Examples
    --------
    >>> from paper import binary_tasks
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
        N, the number of classes in each half; by default as many as possible.
    seed : int, default=0
        Seed for drawing classes and rows.
    classes : iterable, optional
        Labels to draw from; by default all in y.
    halves : pair of iterables, optional
        The two halves, instead of drawing them.
    n_train : int, default=30
        Number of rows of each class to train on.
    n_test : int, default=40
        Number of rows of each class to test on, or as many as are left.

    Returns
    -------
    list of Task
        Task i * N + j pairs class i of the first half with class j of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from paper import binary_tasks
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
            raise ValueError("halves cannot be combined with n_classes or classes.")
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
        Number of classes in a task, at least two.
    n_tasks : int, default=1
        Number of tasks. Each draws its own classes, so two may share some.
    seed : int, default=0
        Seed for drawing classes and rows.
    classes : iterable, optional
        Labels to draw from; by default all in y.
    n_train, n_test : int, default=30 and 40
        Numbers of rows of each class, as in :func:`binary_tasks`.

    Returns
    -------
    list of Task

    Examples
    --------
    >>> import numpy as np
    >>> from paper import multiclass_tasks
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
    """Reject a task of other data: its rows must have exactly its classes."""
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
    """Draws classes and rows from labels by a seed."""

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
                raise ValueError(
                    f"{name} has {validation.spelled(label)}, which is not a label in "
                    "y."
                )
            if chosen.count(label) > 1:
                raise ValueError(f"{name} has {validation.spelled(label)} twice.")
            if members[label] < needed:
                raise ValueError(
                    f"y has {members[label]} members of class {label!r}; at least "
                    f"{needed} are needed, {self.n_train} to train on and one to test "
                    "on."
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
