"""Rows of cells as they are written: what a reader of any format gives."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Rows(Protocol):
    """Rows that can be read more than once; the first may have the names of columns."""

    source: str
    unit: str  # what the numbers of rows count
    across: str  # what the file has where these rows have columns
    first_line: int
    first: list[str]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each row, with its number."""
        ...


class HeldRows:
    """Rows in memory."""

    def __init__(
        self,
        source: str,
        rows: Sequence[tuple[int, list[str]]],
        unit: str = "row",
        across: str = "column",
    ) -> None:
        self.source, self.unit, self.across = source, unit, across
        self._rows = rows
        self.first_line, self.first = rows[0]

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each row, with its number."""
        return iter(self._rows)


def transposed(given: Rows) -> HeldRows:
    """Make rows of columns, numbered from 0."""
    lines = [cells for _, cells in given.rows()]
    columns = [list(cells) for cells in zip(*lines, strict=True)]
    return HeldRows(given.source, [*enumerate(columns)], "column", "row")


def spelled(column: NDArray[np.float64]) -> list[str]:
    """Write numbers as in a table: whole ones without a point, NaN as an empty cell."""
    return [_written(float(x)) for x in column]


def _written(x: float) -> str:
    if np.isnan(x):
        return ""
    return str(int(x)) if x.is_integer() else repr(x)
