"""The path of a descent: one row for each step."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import os

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class DescentStep:
    """One evaluation of the criterion, and the step that followed it.

    Attributes
    ----------
    outer, inner : int
        p and q of Algorithm 2, from 0.
    criterion : float
        The criterion. For C_k where inner is not 0: the bound that the inner loop
        lowers.
    similar, dissimilar : float
        The two parts of C_k: the tangent of S+, and S-. Margins are not split: 0, and
        the criterion.
    step_size : float
        t0 / sqrt(t), relative to the norms of metric and subgradient.
    violation : float
        Largest violation of a triangle inequality after the step, before the final
        repair of the projection.
    n_triplets, n_clear : int
        Active triplets, and histograms without impostors; 0 for C_k.
    n_solves : int
        Pairs that the simplex started.
    n_stopped : int
        Those of them that it stopped early, once its own bound proved them too far.
    n_bounded : int
        Pairs ruled out by bounds, without starting the simplex.
    n_pivots : int
        Pivots of the simplex.
    n_sweeps : int
        Passes of the projection over its working set.
    seconds : float
        Since the start of the descent.

    Examples
    --------
    A callback sees each step, and ends the run by returning True:

    >>> from groundmetric import GroundMetricLearning
    >>> def enough(step):
    ...     return step.outer == 1
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning("neighborhood", callbacks=[enough])
    >>> learner.fit(X, [0, 0, 1, 1]).n_iter_
    2
    """

    outer: int
    inner: int
    criterion: float
    similar: float
    dissimilar: float
    step_size: float
    violation: float
    n_triplets: int
    n_clear: int
    n_solves: int
    n_stopped: int
    n_bounded: int
    n_pivots: int
    n_sweeps: int
    seconds: float


NAMES = [field.name for field in fields(DescentStep)]
# Annotations are strings here: "int" or "float".
ROW = np.dtype([(field.name, str(field.type)) for field in fields(DescentStep)])


class DescentPath(Sequence[DescentStep]):
    """The steps of a descent, in order: a sequence of :class:`DescentStep`.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning("neighborhood", max_steps=3)
    >>> path = learner.fit(X, [0, 0, 1, 1]).path_
    >>> path
    DescentPath of 3 steps
    >>> path.column("step_size").round(2)
    array([0.5 , 0.35, 0.29])
    """

    def __init__(self, steps: Sequence[DescentStep] = ()) -> None:
        self._steps = list(steps)

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, k: int) -> DescentStep: ...
    @overload
    def __getitem__(self, k: slice) -> DescentPath: ...
    def __getitem__(self, k: int | slice) -> DescentStep | DescentPath:
        return DescentPath(self._steps[k]) if isinstance(k, slice) else self._steps[k]

    def __repr__(self) -> str:
        return f"DescentPath of {len(self)} steps"

    def append(self, step: DescentStep) -> None:
        """Add a step at the end."""
        self._steps.append(step)

    def column(self, name: str) -> Floats:
        """One quantity over all steps."""
        return np.array([getattr(step, name) for step in self._steps], dtype=float)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each step, with a header."""
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(NAMES)
            writer.writerows(astuple(step) for step in self._steps)

    def to_array(self) -> NDArray[np.void]:
        """Return all steps in rows, with a field for each quantity."""
        return np.array([astuple(step) for step in self._steps], dtype=ROW)

    @classmethod
    def from_array(cls, rows: NDArray[Any]) -> DescentPath:
        """Make the path that gave these rows."""
        if rows.dtype != ROW:
            raise ValueError("its path has other columns")
        return cls([DescentStep(*row) for row in rows.tolist()])
