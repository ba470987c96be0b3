"""What ``make reproduce`` runs, planned before anything is computed.

Tasks are drawn from classes that are large enough: with members to learn from, and
enough members to test that every test histogram has the neighbors asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .methods import ALL_STARTS, BESIDE, FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4
from .protocol import Task, binary_tasks, multiclass_tasks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

__all__ = ["Planned", "Request", "eligible", "plan"]

# Methods, and N, for each figure.
FIGURE = {1: (FIGURE_1, 25), 2: (FIGURE_2, 25), 3: (FIGURE_3, 10), 4: (FIGURE_4, 10)}
WITH_STARTS = 3  # the figure of all k
PAIR = 2  # classes of a binary task


@dataclass(frozen=True)
class Request:
    """The options of the command; ``n_classes`` is N, ``classes`` are names.

    ``every`` selects each n-th task; tasks are the same as in a run of all. With
    ``all_starts``, Figure 3 has each k from each initial metric.
    """

    figures: Sequence[int]
    methods: Sequence[str] | None = None
    experiment: str | None = None
    n_classes: int | None = None
    multiclass: int | None = None
    n_tasks: int | None = None
    classes: Sequence[str] | None = None
    seed: int = 0
    n_train: int = 30
    n_test: int = 40
    n_neighbors: int = 20
    every: int = 1
    all_starts: bool = False

    def require_sense(self) -> None:
        """Reject options that contradict each other."""
        if self.multiclass is not None and self.n_classes is not None:
            raise ValueError(
                "--classes is for tasks of two classes; leave it out with "
                "--multiclass, or use --tasks for more tasks."
            )
        if self.all_starts and (self.methods or WITH_STARTS not in self.figures):
            raise ValueError(
                "--all-starts adds to the methods of figure 3; it needs --figure 3, "
                "and no --method."
            )
        if self.multiclass is None and self.n_tasks is not None:
            raise ValueError(
                "--tasks needs --multiclass; --classes N sets N x N tasks of two "
                "classes."
            )

    def methods_of(self, figure: int) -> Sequence[str]:
        """Return the names of the methods to run for a figure."""
        if self.methods:
            return self.methods
        more = ALL_STARTS if self.all_starts and figure == WITH_STARTS else ()
        names = *FIGURE[figure][0], *BESIDE.get(figure, ()), *more
        return tuple(dict.fromkeys(names))

    @property
    def task_size(self) -> int:
        """Number of classes of a task."""
        return self.multiclass or PAIR

    @property
    def members(self) -> tuple[int, int]:
        """Members that a class needs, to learn from and to test on."""
        share = -(-(self.n_neighbors + 1) // self.task_size)  # rounded up
        return self.n_train, min(self.n_test, share)


@dataclass(frozen=True)
class Planned:
    """An experiment; figures with the same tasks share one."""

    name: str
    tasks: list[Task]
    methods: list[str]
    figures: list[int]


def eligible(
    y: NDArray[Any], request: Request, source: str
) -> tuple[list[Any], dict[str, int]]:
    """Return the classes to draw from, and the sizes of classes that are too small.

    A class that is too small, but was asked for by name, is an error.
    """
    found, counts = np.unique(y, return_counts=True)
    members = dict(zip(found.tolist(), counts.tolist(), strict=True))
    labels = _named(list(members), request.classes, source)
    needed = sum(request.members)
    learn, test = request.members
    sizes = f"at least {needed} are needed, {learn} to learn from and {test} to test"
    small = {label: members[label] for label in labels if members[label] < needed}
    if request.classes and small:
        label, size = next(iter(small.items()))
        raise ValueError(f"--class {label} has {size} histograms; {sizes}.")
    large = [label for label in labels if label not in small]
    if len(large) < request.task_size:
        raise ValueError(
            f"{source} has {len(large)} classes that are large enough, but a task has "
            f"{request.task_size}; {sizes} (see --train, --test and --neighbors)."
        )
    return large, {str(label): size for label, size in small.items()}


def plan(
    y: NDArray[Any],
    among: Sequence[Any],
    request: Request,
    *,
    stem: str,
    most: int | None = None,
) -> list[Planned]:
    """Draw the tasks of all figures from some classes.

    N is at most ``most``, unless the request sets it.
    """
    high = len(among) // PAIR
    groups: dict[int, list[int]] = {}
    for number in dict.fromkeys(request.figures):
        groups.setdefault(_size(number, request, high, most or high), []).append(number)
    if request.experiment is not None and len(groups) > 1:
        sizes = " and ".join(f"{n} x {n}" for n in groups)
        raise ValueError(
            f"--experiment is {request.experiment!r}, but the figures have {sizes} "
            "tasks, which cannot share a name; run them one by one, or set --classes."
        )
    return [
        Planned(
            request.experiment or f"{stem}/{_title(n, request)}-seed{request.seed}",
            _tasks(y, among, n, request)[:: request.every],
            list(dict.fromkeys(m for f in figures for m in request.methods_of(f))),
            figures,
        )
        for n, figures in groups.items()
    ]


def _named(
    labels: Sequence[Any], names: Sequence[str] | None, source: str
) -> list[Any]:
    """Select labels by name; the name of a number is how it is written."""
    if not names:
        return list(labels)
    known = {str(label): label for label in labels}
    for name in names:
        if name not in known:
            raise ValueError(f"--class is {name!r}, which {source} does not have.")
    return [known[name] for name in dict.fromkeys(names)]


def _size(figure: int, request: Request, high: int, most: int) -> int:
    """Return N for a figure: as requested, or at most the paper's."""
    if request.multiclass is not None:
        return request.multiclass
    n = request.n_classes
    if n is not None and n > high:
        raise ValueError(
            f"--classes is {n}, but each half can have at most {high} classes that are "
            "large enough."
        )
    return n or min(FIGURE[figure][1], high, most)


def _title(n: int, request: Request) -> str:
    return f"{n}x{n}" if request.multiclass is None else f"{n}-classes"


def _tasks(
    y: NDArray[Any], among: Sequence[Any], n: int, request: Request
) -> list[Task]:
    options: dict[str, Any] = {
        "n_classes": n,
        "seed": request.seed,
        "classes": among,
        "n_train": request.n_train,
        "n_test": request.n_test,
    }
    if request.multiclass is None:
        return binary_tasks(y, **options)
    return multiclass_tasks(y, n_tasks=request.n_tasks or 1, **options)
