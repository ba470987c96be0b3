"""Check a frame of results, and align its methods task by task.

Methods are only compared on the same tasks: a task without results of one of the
methods is left out for all of them, and counted.
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
#: Separates the names of the classes of a task.
SEPARATOR = " | "
# May be missing: support vector machines are optional.
OPTIONAL = ("svm_error",)


@dataclass(frozen=True, eq=False)
class Aligned:
    """One measure of several methods on the same tasks.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    methods : tuple of str
        Names of the methods, in order of appearance.
    classes : tuple of tuple of str
        Classes of each task.
    numbers : ndarray of shape (n_methods, n_tasks, n_kappas)
        The measure; entry ``kappa - 1`` of the last axis is for kappa neighbors. It has
        one entry if the measure is not a curve.
    n_incomplete : int
        Number of tasks left out because they lack one of the methods.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.aligned import align
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

    def require(self, method: str, argument: str) -> None:
        """Reject a method that the results do not have."""
        if method not in self.methods:
            raise ValueError(
                f"{argument} is {method!r}; results has {', '.join(self.methods)}."
            )


def align(
    results: pd.DataFrame, measure: str, *, methods: Iterable[str] | None = None
) -> Aligned:
    """Align the methods of one experiment on the tasks that have all of them.

    Parameters
    ----------
    results : DataFrame
        Results of one experiment, a row for each task and method.
    measure : str
        A column of numbers, or of lists of numbers.
    methods : iterable of str, optional
        The methods to align; by default all in the results.

    Returns
    -------
    Aligned
        The tasks are in ascending order.

    Examples
    --------
    >>> import pandas as pd
    >>> from paper.aligned import align
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
    repeated = results[results.duplicated(["method", "task"])]
    if len(repeated):
        method, task = repeated[["method", "task"]].iloc[0]
        raise ValueError(f"results has method {method!r} twice in task {task}.")
    chosen = results["method"].isin(names)
    by_task = results[chosen].set_index(["task", "method"])
    classes, cells = (
        by_task[column].unstack()[list(names)]  # noqa: PD010 - cells may be lists
        for column in ("classes", measure)
    )
    complete = classes.dropna()
    if complete.empty:
        raise ValueError(
            f"results has no task with all of the methods {', '.join(names)}; leave "
            "out those that are not finished."
        )
    for task, found in zip(complete.index, map(set, complete.to_numpy()), strict=True):
        if len(found) > 1:
            raise ValueError(
                f"results has other classes in task {task} for one method than for "
                f"another: {' and '.join(sorted(map(repr, found)))}."
            )
    return Aligned(
        experiment,
        names,
        tuple(tuple(joined.split(SEPARATOR)) for joined in complete[names[0]]),
        _numbers(cells.loc[complete.index], measure),
        results["task"].nunique() - len(complete),
    )


def _experiment(results: pd.DataFrame, measure: str) -> str:
    """Return the name of the experiment; reject missing columns and several names."""
    for column in ("experiment", "task", "classes", "method", measure):
        if column not in results:
            raise ValueError(f"results has no column {column!r}.")
    experiments = sorted(results["experiment"].unique())
    if not experiments:
        raise ValueError("results is empty.")
    if len(experiments) > 1:
        raise ValueError(
            f"results has several experiments, {', '.join(map(repr, experiments))}: "
            "select the rows of one."
        )
    return str(experiments[0])


def _methods(results: pd.DataFrame, methods: Iterable[str] | None) -> tuple[str, ...]:
    there = tuple(results["method"].unique())
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


def _numbers(cells: pd.DataFrame, measure: str) -> Floats:
    """Stack the entries, tasks by methods, to shape (n_methods, n_tasks, n_kappas)."""
    arrays = cells.map(lambda cell: np.atleast_1d(np.asarray(cell, np.float64)))
    size = len(arrays.iloc[0, 0])
    for method, of_method in arrays.items():
        for task, values in of_method.items():
            if len(values) != size or not size:
                raise ValueError(
                    f"results has {len(values)} entries in {measure} for method "
                    f"{method!r} and task {task}, but {size} for {cells.columns[0]!r} "
                    f"and task {cells.index[0]}; all must have the same number, at "
                    "least one."
                )
            if measure not in OPTIONAL and not np.isfinite(values).all():
                raise ValueError(
                    f"results has no finite {measure} for method {method!r} and task "
                    f"{task}."
                )
    return np.array([arrays[method].tolist() for method in arrays])
