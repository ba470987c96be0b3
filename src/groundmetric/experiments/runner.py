"""Run methods on tasks, in parallel, and go on after a kill (section 7).

Workers compute and never write: rows come back as tasks are finished, in any order, and
only this process writes them, each task in one transaction. So whatever is in the file
is never computed again, and what was not yet written is.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from .. import __version__, validation
from .._progress import progress_bar
from .comparison import Comparison, require_sizes
from .methods import Method, as_methods
from .protocol import Task, require_rows
from .results import ResultsFile, Row
from .work import Failure, Outcome, Unit, finished, missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .results import StrPath

Floats = NDArray[np.float64]
Labels = NDArray[Any]

__all__ = ["run"]

MOST_NAMED = 5  # failures in a message


class MissingResultsError(RuntimeError):
    """A method failed on a task, and the message says why; the rest is written."""


def run(
    X: ArrayLike,
    y: ArrayLike,
    *,
    tasks: Iterable[Task],
    path: StrPath,
    experiment: str,
    methods: Iterable[str | Method] | None = None,
    n_neighbors: int = 20,
    svm: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> int:
    """Measure all methods on all tasks, and write one row for each.

    Run it again with the same arguments after it was killed, or with more tasks or
    methods: what is in the file is not computed again. Rows are the same for any
    number of jobs and in whatever order tasks come, except for times. Two runs that
    write to one file at a time do no harm, but both compute what neither has written.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,)
        Labels.
    tasks : iterable of Task
        From :func:`binary_tasks` or :func:`multiclass_tasks`.
    path : path-like
        The results file, which ends in .sqlite; made if there is none.
    experiment : str
        A name for these data and tasks. Results under a name are of the same data,
        ``n_neighbors`` and ``svm``, and those of a method are of one version of
        groundmetric, or else this is a ValueError.
    methods : iterable of str or Method, optional
        Names in :data:`METHODS`, or methods of your own; those of the paper's Figure 1
        by default.
    n_neighbors : int, default=20
        Largest number of neighbors for errors and recall.
    svm : bool, default=False
        Whether to train support vector machines, too.
    n_jobs : int, optional
        Tasks at a time, as joblib counts them; any of its backends will do, see
        ``joblib.parallel_config``. Each worker uses one thread.
    verbose : int, default=0
        1 shows a bar of tasks, with the time left (needs tqdm).

    Returns
    -------
    int
        How many rows were computed and written.

    Raises
    ------
    RuntimeError
        At the very end, if a method failed on a task; all other rows are written.
    ImportError
        At once, if a method needs a package that is not there.

    Examples
    --------
    >>> import tempfile
    >>> from groundmetric.experiments import binary_tasks, run
    >>> X = [[4, 1], [3, 1], [5, 1], [1, 4], [1, 3], [1, 5]]
    >>> y = [0, 0, 0, 1, 1, 1]
    >>> options = {"tasks": binary_tasks(y, n_train=1), "experiment": "toy"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for methods in (["l1"], ["l1", "l2", "hellinger"]):
    ...         run(X, y, methods=methods, path=folder + "/results.sqlite",
    ...             n_neighbors=2, **options)
    1
    2
    """
    rows = validation.as_distributions(X, "X")
    validation.require_length(y, len(rows), "y")
    labels = np.asarray(y)
    chosen, given = as_methods(methods), list(tasks)
    _require_tasks(given, labels, n_neighbors, svm=svm)
    if not isinstance(experiment, str) or not experiment:
        raise ValueError(f"experiment is {experiment!r}; a name is needed.")
    validation.n_threads(n_jobs)
    facts = {"n_neighbors": str(n_neighbors), "svm": str(bool(svm))}
    facts |= _facts(rows, labels, given, chosen)
    with ResultsFile(path) as file, threadpool_limits(1):
        file.require(experiment, facts)
        units = missing(given, chosen, file.done(experiment))
        results = finished(
            units, rows, labels, n_neighbors=n_neighbors, svm=svm, n_jobs=n_jobs
        )
        n_rows, failures = 0, []
        with progress_bar(
            len(units), label=experiment, show=verbose > 0, unit="task"
        ) as report:
            for n_done, (unit, outcomes) in enumerate(results, start=1):
                found = list(_rows(experiment, unit, outcomes))
                n_rows += file.append(found)
                failures += list(_failures(unit, outcomes))
                if report:
                    report(n_done)
    _require_success(failures, n_rows)
    return n_rows


def _rows(experiment: str, unit: Unit, outcomes: Sequence[Outcome]) -> Iterator[Row]:
    for method, outcome in zip(unit.methods, outcomes, strict=True):
        if isinstance(outcome, Comparison):
            yield Row(
                experiment=experiment,
                task=unit.task.index,
                classes=unit.task.name,
                seed=unit.task.seed,
                n_train=len(unit.task.train),
                n_test=len(unit.task.test),
                settings=_settings(method),
                version=__version__,
                **vars(outcome),
            )


def _failures(unit: Unit, outcomes: Sequence[Outcome]) -> Iterator[str]:
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            yield (
                f"method {outcome.method!r} failed on task {unit.task.index} "
                f"({unit.task.name}) with {outcome.reason}"
            )


def _require_success(failures: Sequence[str], n_rows: int) -> None:
    """Report at the end what went wrong on the way."""
    if failures:
        more = len(failures) - MOST_NAMED
        raise MissingResultsError(
            f"{len(failures)} results are missing, the other {n_rows} were written: "
            + "; ".join(failures[:MOST_NAMED])
            + (f"; and {more} more." if more > 0 else ".")
        )


def _require_tasks(
    tasks: Sequence[Task], labels: Labels, n_neighbors: int, *, svm: bool
) -> None:
    """Refuse tasks of other data, too small ones, and two with one number."""
    if not tasks:
        raise ValueError("tasks is empty; at least one is needed.")
    for k, task in enumerate(tasks):
        if not isinstance(task, Task):
            raise ValueError(f"tasks[{k}] is {task!r}; a Task is needed.")
        require_rows(task, labels, f"tasks[{k}]")
        split = labels[task.train], len(task.test)
        require_sizes(*split, n_neighbors, svm=svm, where=f" in tasks[{k}]")
    if len({task.index for task in tasks}) < len(tasks):
        raise ValueError("tasks has two tasks with the same index.")


def _facts(
    rows: Floats, labels: Labels, tasks: Sequence[Task], methods: Sequence[Method]
) -> dict[str, str]:
    """Say what the results depend on, in words or digests."""
    names = json.dumps([str(label) for label in labels])
    facts = {"X or y": _digest(rows.tobytes(), names.encode())}
    for task in tasks:
        drawn = _digest(task.train.tobytes(), b"|", task.test.tobytes())
        facts[f"task {task.index}"] = f"{task.name}, seed {task.seed}, rows {drawn}"
    for method in methods:
        facts[f"method {method.name!r}"] = _settings(method)
        facts[f"version of method {method.name!r}"] = __version__
    return facts


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def _settings(method: Method) -> str:
    try:
        return json.dumps(method.settings, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"method {method.name!r} has settings that JSON cannot hold: {error}."
        ) from error
