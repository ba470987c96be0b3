"""Names of places in the user's data, for messages about bad entries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


LONG = 10**30  # an integer with more digits is not spelled out


def spelled(value: object) -> str:
    """Write a value as Python does, 1 and not np.int64(1); huge integers in short."""
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, int) and abs(plain) > LONG:
        return f"about {'-' * (plain < 0)}1e{int(math.log10(abs(plain)))}"
    return repr(plain)


@dataclass(frozen=True)
class Table:
    """How messages name an array, its rows and its columns.

    Attributes
    ----------
    name : str
        The name of an argument or a file.
    row : callable, optional
        Returns the name of a row, such as "line 7"; None if rows have only numbers.
    columns : sequence, optional
        Names of the columns; None if they have only numbers.
    """

    name: str
    row: Callable[[int], str] | None = None
    columns: Sequence[Any] | None = None

    @classmethod
    def of(cls, X: object, name: str | Table) -> Table:
        """Take the names from a frame; other arrays have only positions."""
        if isinstance(name, Table):
            return name
        frame: Any = X
        if not hasattr(frame, "columns") or not hasattr(frame, "iloc"):
            return _plain(name)

        def row(i: int) -> str:
            label = frame.index[i]
            return f"row {i}" if label == i else f"row {i} (index {label})"

        return cls(name, row, list(frame.columns))

    def __str__(self) -> str:
        return self.name

    def entry(self, where: Sequence[int]) -> str:
        """Name an entry."""
        if self.row is None:
            return f"{self.name}{list(where)}"
        i, j = where
        column = j if self.columns is None else self.columns[j]
        label = repr(column) if isinstance(column, str) else column
        return f"{self.name}, {self.row(i)}, column {label}"

    def whole_row(self, i: int) -> str:
        """Name a row."""
        return (
            f"{self.name}[{i}]" if self.row is None else f"{self.name}, {self.row(i)}"
        )


@lru_cache
def _plain(name: str) -> Table:
    return Table(name)


def unmasked(x: Any, name: str | Table) -> Any:
    """Return the data of a masked array that has no masked entry; others as given."""
    if not np.ma.isMaskedArray(x):
        return x
    masked = np.argwhere(np.ma.getmaskarray(x))
    if len(masked):
        table = Table.of(x, name)
        raise ValueError(
            f"{table} is a masked array, and {table.entry(masked[0].tolist())} is "
            f"masked; fill in the missing entries first ({len(masked)} of {x.size})."
        )
    return x.data
