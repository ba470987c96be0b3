"""The units of work of a run, and how joblib's backends process them.

A unit is a task with the methods that have no row yet. Workers only receive the rows of
their task.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import joblib
import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from groundmetric._cluster import completed
from groundmetric.experiments.measured import Split

from .comparison import evaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from groundmetric.experiments import Method

    from .comparison import Comparison
    from .protocol import Task

Floats = NDArray[np.float64]
Labels = NDArray[Any]

__all__ = ["Failure", "Outcome", "Unit", "finished", "missing"]


@dataclass(frozen=True)
class Failure:
    """A method that raised."""

    method: str
    reason: str


Outcome: TypeAlias = "Comparison | Failure"


@dataclass(frozen=True)
class Unit:
    """A task, and the methods that still have to run on it."""

    task: Task
    methods: Sequence[Method]


def missing(
    tasks: Sequence[Task], methods: Sequence[Method], done: set[tuple[int, str]]
) -> list[Unit]:
    """List the units that still have to be computed."""
    units = [
        Unit(task, [m for m in methods if (task.index, m.name) not in done])
        for task in tasks
    ]
    return [unit for unit in units if unit.methods]


def finished(
    units: Sequence[Unit],
    rows: Floats,
    labels: Labels,
    *,
    n_neighbors: int,
    svm: bool,
    n_jobs: int | None,
    client: object = None,
) -> Iterator[tuple[Unit, list[Outcome]]]:
    """Yield each unit with its outcomes as soon as it is finished, in any order."""
    if client is not None:
        options = (rows, labels, n_neighbors, svm)
        calls_there = [(unit,) for unit in units]
        for _, result in completed(client, _computed_there, options, calls_there):
            yield result
        return
    calls = (
        joblib.delayed(_computed)(
            unit,
            Split.of(rows, labels, unit.task.train, unit.task.test),
            n_neighbors,
            svm=svm,
        )
        for unit in units
    )
    backend, _ = joblib.parallel.get_active_backend()
    # No queue: workers that outlive a killed run only finish their current task.
    if getattr(backend, "supports_return_generator", False):
        yield from joblib.Parallel(
            n_jobs=n_jobs, return_as="generator_unordered", pre_dispatch="n_jobs"
        )(calls)
        return
    # This backend returns lists: keep them short, so that a kill loses little.
    size = joblib.effective_n_jobs(n_jobs)
    with joblib.Parallel(n_jobs=n_jobs, batch_size=1) as parallel:
        while some := list(islice(calls, size)):
            yield from parallel(some)


def _computed_there(
    options: tuple[Floats, Labels, int, bool], unit: Unit
) -> tuple[Unit, list[Outcome]]:
    """Run a unit on a worker of a cluster, which has all rows."""
    rows, labels, n_neighbors, svm = options
    split = Split.of(rows, labels, unit.task.train, unit.task.test)
    return _computed(unit, split, n_neighbors, svm=svm)


def _computed(
    unit: Unit, split: Split, n_neighbors: int, *, svm: bool
) -> tuple[Unit, list[Outcome]]:
    """Run the methods of a unit in a worker; one failure does not stop the others."""
    outcomes: list[Outcome] = []
    with threadpool_limits(1):
        for method in unit.methods:
            try:
                outcome: Outcome = evaluate(
                    method,
                    split,
                    n_neighbors=n_neighbors,
                    svm=svm,
                    n_jobs=1,
                    # Other workers may be threads of the same process.
                    clock=time.thread_time,
                )
            except ImportError:
                raise  # it would fail on all tasks: the user must install something
            except Exception as error:  # noqa: BLE001 - methods may raise anything
                reason = f"{type(error).__name__}: {error}".rstrip(".")
                outcome = Failure(method.name, reason)
            outcomes.append(outcome)
    return unit, outcomes
