"""Judge a frame of results, and line its methods up task by task.

Methods are compared on the same tasks or not at all (section 7.5 averages over all
tasks): a task that lacks one of the methods is left out, for all of them, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

Floats = NDArray[np.float64]

__all__ = ["CURVES", "SEPARATOR", "Aligned", "align"]

#: The measures that are curves over kappa, the number of neighbors.
CURVES = ("knn_errors", "recall")
#: What stands between the names of the classes of a task.
SEPARATOR = " | "
# May be missing: not everyone asks for support vector machines.
OPTIONAL = ("svm_error",)


@dataclass(frozen=True, eq=False)
class Aligned:
    """One measure of several methods on the same tasks.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    methods : tuple of str
        Names of the methods, as they first appear in the results.
    classes : tuple of tuple of str
        Classes of each task.
    numbers : ndarray of shape (n_methods, n_tasks, n_kappas)
        The measure; entry ``kappa - 1`` of the last axis is for kappa neighbors. A
        measure that is no curve has one entry.
    n_incomplete : int
        Number of tasks left out, since they lack one of the methods.

    Examples
    --------
    >>> import pandas as pd
    >>> from groundmetric.experiments.aligned import align
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "gml"], "task": 0,
    ...     "classes": "cat | dog", "recall": [[0.8, 0.7], [0.9, 0.8]],
    ... })
    >>> aligned = align(results, "recall")
    >>> aligned.methods, aligned.classes, aligned.numbers.shape
    (('l1', 'gml'), (('cat', 'dog'),), (2, 1, 2))
    """

    experiment: str
    methods: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...]
    numbers: Floats
    n_incomplete: int

    @property
    def n_tasks(self) -> int:
        """Number of tasks that have all methods."""
        return len(self.classes)

    def of(self, method: str) -> Floats:
        """Values of one method, of shape (n_tasks, n_kappas)."""
        found: Floats = self.numbers[self.methods.index(method)]
        return found


def align(
    results: pd.DataFrame, measure: str, *, methods: Iterable[str] | None = None
) -> Aligned:
    """Line the methods of one experiment up, on the tasks that have all of them.

    Parameters
    ----------
    results : DataFrame
        Results of one experiment, a row for each task and method.
    measure : str
        A column of numbers, or of lists of numbers.
    methods : iterable of str, optional
        The methods to line up; all of the results by default.

    Returns
    -------
    Aligned
        The tasks are in ascending order.

    Examples
    --------
    >>> import pandas as pd
    >>> from groundmetric.experiments.aligned import align
    >>> results = pd.DataFrame({
    ...     "experiment": "pets", "method": ["l1", "gml", "l1"], "task": [0, 0, 1],
    ...     "classes": ["cat | dog", "cat | dog", "cat | fox"], "seconds": [1, 3, 2],
    ... })
    >>> aligned = align(results, "seconds")
    >>> aligned.n_tasks, aligned.n_incomplete  # the second task lacks gml
    (1, 1)
    >>> aligned.of("gml")
    array([[3.]])
    """
    experiment = _experiment(results, measure)
    names = _methods(results, methods)
    rows = _rows(results)
    tasks = sorted({task for _, task in rows})
    complete = [t for t in tasks if all((name, t) in rows for name in names)]
    if not complete:
        raise ValueError(
            f"results has no task with all of the methods {', '.join(names)}; "
            f"leave out those that are not done."
        )
    classes = results["classes"].tolist()
    for task in complete:
        found = {classes[rows[name, task]] for name in names}
        if len(found) > 1:
            raise ValueError(
                f"results has other classes in task {task} for one method than for "
                f"another: {' and '.join(sorted(map(repr, found)))}."
            )
    return Aligned(
        experiment,
        names,
        tuple(tuple(classes[rows[names[0], t]].split(SEPARATOR)) for t in complete),
        _values(results, measure, rows, names, complete),
        len(tasks) - len(complete),
    )


def _experiment(results: pd.DataFrame, measure: str) -> str:
    """Return the name of the only experiment; refuse missing columns."""
    for column in ("experiment", "task", "classes", "method", measure):
        if column not in results:
            raise ValueError(f"results has no column {column!r}.")
    experiments = sorted(set(results["experiment"]))
    if not experiments:
        raise ValueError("results is empty.")
    if len(experiments) > 1:
        raise ValueError(
            f"results has several experiments, {', '.join(map(repr, experiments))}: "
            "select the rows of one."
        )
    return str(experiments[0])


def _methods(results: pd.DataFrame, methods: Iterable[str] | None) -> tuple[str, ...]:
    there = tuple(dict.fromkeys(results["method"]))
    if methods is None:
        return there
    if isinstance(methods, str):
        raise ValueError(f"methods is the string {methods!r}; give a list of names.")
    names = tuple(dict.fromkeys(methods))
    if not names:
        raise ValueError("methods is empty; name at least one.")
    for name in names:
        if name not in there:
            raise ValueError(
                f"results has no method {name!r}; it has {', '.join(there)}."
            )
    return names


def _rows(results: pd.DataFrame) -> dict[tuple[str, int], int]:
    """Positions of the rows by method and task."""
    keys = list(zip(results["method"], map(int, results["task"]), strict=True))
    rows = {key: position for position, key in enumerate(keys)}
    if len(rows) < len(keys):
        method, task = next(k for i, k in enumerate(keys) if rows[k] != i)
        raise ValueError(f"results has method {method!r} twice in task {task}.")
    return rows


def _values(
    results: pd.DataFrame,
    measure: str,
    rows: dict[tuple[str, int], int],
    methods: tuple[str, ...],
    tasks: list[int],
) -> Floats:
    """Gather the measure, of shape (n_methods, n_tasks, n_kappas)."""
    column = results[measure].tolist()
    values = [
        [np.atleast_1d(np.asarray(column[rows[m, t]], dtype=np.float64)) for t in tasks]
        for m in methods
    ]
    size = len(values[0][0])
    for method, of_method in zip(methods, values, strict=True):
        for task, value in zip(tasks, of_method, strict=True):
            if len(value) != size or not size:
                raise ValueError(
                    f"results has {len(value)} entries in {measure} for method "
                    f"{method!r} and task {task}, but {size} for {methods[0]!r} and "
                    f"task {tasks[0]}; all must have the same, at least one."
                )
            if measure not in OPTIONAL and not np.isfinite(value).all():
                raise ValueError(
                    f"results has no finite {measure} for method {method!r} and task "
                    f"{task}."
                )
    return np.array(values)
