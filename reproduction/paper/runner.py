"""Run methods on tasks in parallel, and resume after a kill (section 7).

Workers only compute. Rows come back as tasks finish, in any order, and this process
alone writes them, one transaction per task. So rows in the file are never computed
again, and rows that were not yet written are.
"""

from __future__ import annotations

import hashlib
import json
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from groundmetric import __version__, validation
from groundmetric._cluster import require_client
from groundmetric._progress import progress_bar
from groundmetric.experiments.measured import require_sizes

from .comparison import Comparison
from .methods import as_methods
from .origin import version
from .protocol import Task, require_rows
from .results import ResultsFile, Row
from .work import Failure, Outcome, Unit, finished, missing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from groundmetric.experiments import Method

    from .results import StrPath

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Result = tuple[Unit, list[Outcome]]

__all__ = ["MissingResultsError", "run"]

MOST_NAMED = 5  # failures in a message


class MissingResultsError(RuntimeError):
    """A method failed on a task, or a worker died; all other rows are written."""


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
    client: object = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> int:
    """Measure all methods on all tasks, and write one row for each.

    Call it again with the same arguments to resume after a kill, or with more tasks or
    methods: rows in the file are not computed again. Except for times, rows do not
    depend on the number of jobs or the order of tasks. Two runs may safely write to one
    file at the same time, but both compute the rows that neither has written yet.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,)
        Labels.
    tasks : iterable of Task
        From :func:`binary_tasks` or :func:`multiclass_tasks`.
    path : path-like
        The results file, which must end in .sqlite; created if it does not exist.
    experiment : str
        A name for these data and tasks. All results under one name must have the same
        data, ``n_neighbors`` and ``svm``, and all results of a method the same version
        of groundmetric; otherwise a ValueError is raised.
    methods : iterable of str or Method, optional
        Names in ``paper.METHODS``, or your own methods; by default those of the paper's
        Figure 1.
    n_neighbors : int, default=20
        Largest number of neighbors for errors and recall.
    svm : bool, default=False
        Whether to train support vector machines too.
    client : dask.distributed.Client, optional
        Run tasks on the workers of a cluster (needs the extra ``distributed``) instead
        of n_jobs processes.
    n_jobs : int, optional
        Number of parallel tasks, as in joblib, with any of its backends (see
        ``joblib.parallel_config``). Each worker uses one thread.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    int
        Number of rows computed and written.

    Raises
    ------
    RuntimeError
        At the end, if a method failed on a task, or at once if a worker process was
        killed; all other rows are written.
    ImportError
        Immediately, if a method needs a package that is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from paper import binary_tasks, run
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
    if client is not None:
        require_client(client)
    facts = {"n_neighbors": str(n_neighbors), "svm": str(bool(svm))}
    facts |= _facts(rows, labels, given, chosen)
    origin = version()  # of the code that is imported now, whatever happens to it later
    with ResultsFile(path) as file, threadpool_limits(1):
        file.require(experiment, facts)
        units = missing(given, chosen, file.done(experiment))
        results = finished(
            units,
            rows,
            labels,
            n_neighbors=n_neighbors,
            svm=svm,
            n_jobs=n_jobs,
            client=client,
        )
        n_rows, failures = 0, []
        with progress_bar(
            len(units), label=experiment, show=verbose > 0, unit="task"
        ) as report:
            for n_done, (unit, outcomes) in enumerate(_alive(results), start=1):
                found = list(_rows(experiment, origin, unit, outcomes))
                n_rows += file.append(found)
                failures += list(_failures(unit, outcomes))
                if report:
                    report(n_done)
    _require_success(failures, n_rows)
    return n_rows


def _alive(results: Iterator[Result]) -> Iterator[Result]:
    """Say in a sentence that a worker was killed."""
    try:
        yield from results
    except BrokenExecutor as error:
        raise MissingResultsError(
            "A worker process was killed, perhaps because memory ran out. The tasks "
            "that were finished are written; run it again to resume, with fewer jobs "
            "if memory is short."
        ) from error


def _rows(
    experiment: str, origin: str, unit: Unit, outcomes: Sequence[Outcome]
) -> Iterator[Row]:
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
                version=origin,
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
    """Raise one error for all failures."""
    if failures:
        more = len(failures) - MOST_NAMED
        raise MissingResultsError(
            f"{len(failures)} results are missing; the other {n_rows} were written: "
            + "; ".join(failures[:MOST_NAMED])
            + (f"; and {more} more." if more > 0 else ".")
        )


def _require_tasks(
    tasks: Sequence[Task], labels: Labels, n_neighbors: int, *, svm: bool
) -> None:
    """Reject tasks from other data, tasks that are too small, and repeated indices."""
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
    """Collect what the results depend on, as text or digests."""
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
