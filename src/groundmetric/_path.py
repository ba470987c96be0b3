"""The path of a descent: one row for each step."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import os

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Step:
    """One evaluation of the dissimilar side, and the step that followed it.

    Attributes
    ----------
    outer, inner : int
        p and q of Algorithm 2, from 0.
    criterion : float
        The convex bound that the inner loop lowers; C_k itself where inner is 0.
    similar, dissimilar : float
        Its two parts: the tangent of S+, and S-.
    step_size : float
        t0 / sqrt(t), relative to the norms of metric and subgradient.
    violation : float
        Largest violation of a triangle inequality that the step left, before the
        projection mended the last of it.
    n_solves : int
        Pairs that the simplex looked at; where inner is 0, similar ones too.
    n_stopped : int
        Those of them that it left when its own bound proved them to be nobody's
        neighbors.
    n_bounded : int
        Pairs that bounds ruled out without a look.
    n_pivots : int
        Pivots of the simplex.
    n_sweeps : int
        Passes of the projection over its working set.
    seconds : float
        Since the start of the descent.
    """

    outer: int
    inner: int
    criterion: float
    similar: float
    dissimilar: float
    step_size: float
    violation: float
    n_solves: int
    n_stopped: int
    n_bounded: int
    n_pivots: int
    n_sweeps: int
    seconds: float


NAMES = [field.name for field in fields(Step)]


class Path(Sequence[Step]):
    """The steps of a descent, in order."""

    def __init__(self, steps: Sequence[Step] = ()) -> None:
        self._steps = list(steps)

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, k: int) -> Step: ...
    @overload
    def __getitem__(self, k: slice) -> Path: ...
    def __getitem__(self, k: int | slice) -> Step | Path:
        return Path(self._steps[k]) if isinstance(k, slice) else self._steps[k]

    def __repr__(self) -> str:
        return f"Path of {len(self)} steps"

    def append(self, step: Step) -> None:
        """Add a step at the end."""
        self._steps.append(step)

    def column(self, name: str) -> Floats:
        """One quantity over all steps."""
        return np.array([getattr(step, name) for step in self._steps], dtype=float)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a row for each step, with a header."""
        with FilePath(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(NAMES)
            writer.writerows(astuple(step) for step in self._steps)

    def to_array(self) -> Floats:
        """Return all steps in rows; numbers this small are exact in floating point."""
        rows = [astuple(step) for step in self._steps]
        return np.array(rows, dtype=float).reshape(-1, len(NAMES))

    @classmethod
    def from_array(cls, rows: Floats) -> Path:
        """Make the path that gave these rows."""
        # Annotations are strings here: "int" or "float".
        kinds: list[type] = [
            int if field.type == "int" else float for field in fields(Step)
        ]
        return cls(
            [
                Step(*(kind(x) for kind, x in zip(kinds, row, strict=True)))
                for row in rows
            ]
        )
