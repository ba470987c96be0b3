"""Tables of cells: CSV of any common delimiter, and parquet."""

import csv
import io
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._console import note

DELIMITERS = ",;\t"
EXACT = 2.0**53  # from here on, several whole numbers are read as one


@dataclass(frozen=True)
class Cells:
    """Named columns. A column holds numbers, or else strings as they were read.

    Attributes
    ----------
    lines : list of int
        The line that each row comes from; empty if there are no lines.
    spelled : list
        Each column as it was read; None if it was no text.
    """

    source: str
    names: list[str]
    columns: list[NDArray[Any]]
    lines: list[int]
    spelled: list[list[str] | None]

    def where(self, row: int, column: int | None = None) -> str:
        """Say where a cell is, or a row."""
        at = f"line {self.lines[row]}" if self.lines else f"row {row}"
        return at if column is None else f"{at}, column {self.names[column]!r}"

    def position(self, name: str) -> int:
        """Find a column that is there, by its name."""
        if self.names.count(name) > 1:
            raise ValueError(f"{self.source} has two columns {name!r}.")
        return self.names.index(name)

    def find(self, name: str, option: str) -> int:
        """Find a column by its name, or by its number from 0 (from the end below)."""
        if name in self.names:
            return self.position(name)
        n = len(self.names)
        try:
            position = int(name)
        except ValueError:
            position = n
        if not -n <= position < n:
            raise ValueError(
                f"{option} is {name!r}, but {self.source} has no such column; it has "
                f"{_listed(self.names)}."
            )
        return position % n


def read_text(path: str) -> tuple[str, str]:
    """Read a text file, or standard input for a dash; and how to call it."""
    if path == "-":
        return sys.stdin.read().removeprefix("\ufeff"), "standard input"
    try:
        return Path(path).read_text(encoding="utf-8-sig"), path
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error}.") from error


def read_lines(text: str, source: str) -> tuple[list[list[str]], list[int]]:
    """Split text into cells, blank lines left out, and number the lines."""
    first = text.lstrip().partition("\n")[0]
    delimiter = max(DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                rows.append(cells)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise ValueError(f"{source}, line {reader.line_num}: {error}.") from error
    if not rows:
        raise ValueError(f"{source} is empty.")
    for cells, line in zip(rows, lines, strict=True):
        if len(cells) != len(rows[0]):
            raise ValueError(
                f"{source}, line {line}: {len(cells)} cells, but line {lines[0]} has "
                f"{len(rows[0])}."
            )
    return rows, lines


def read_csv(path: str, *, header: bool | None) -> Cells:
    """Read CSV with names of columns in its first line, unless header is False."""
    text, source = read_text(path)
    rows, lines = read_lines(text, source)
    names = [str(j) for j in range(len(rows[0]))]
    if header is None and rows[0] != names and all(map(is_number, rows[0])):
        raise ValueError(
            f"{source}, line {lines[0]}: only numbers, where the names of the columns "
            "should be; add --no-header if there are none, or --header if these are."
        )
    if header is not False:
        names, rows, lines = rows[0], rows[1:], lines[1:]
    if not rows:
        raise ValueError(f"{source} has a header, but no rows.")
    spelled = [list(column) for column in zip(*rows, strict=True)]
    columns = [as_column(column) for column in spelled]
    return Cells(source, names, columns, lines, [*spelled])


def read_parquet(path: str) -> Cells:
    """Read a parquet file."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency
        from pyarrow import parquet  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'groundmetric[parquet]'."
        ) from error
    try:
        table = parquet.read_table(path)
    except pa.ArrowException as error:
        raise ValueError(f"{path} is damaged, or no parquet file: {error}.") from error
    if not table.num_rows:
        raise ValueError(f"{path} has no rows.")
    table = _without_index(table)
    values = [column.to_pylist() for column in table.columns]
    spelled = [
        column if all(isinstance(x, str) for x in column) else None for column in values
    ]
    names = [str(name) for name in table.column_names]
    return Cells(path, names, [_as_array(column) for column in values], [], spelled)


def _without_index(table: Any) -> Any:  # noqa: ANN401 - pyarrow's
    """Leave out what pandas keeps beside the columns of a frame: no bins."""
    kept = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in kept if isinstance(name, str)]  # others are ranges
    if not index:
        return table
    note(f"left out: the index, {_listed(index)}")
    return table.drop_columns(index)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number; NaN does, 1_000 only in Python."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def as_column(cells: list[str]) -> NDArray[Any]:
    """Take cells as numbers if all of them are."""
    if all(is_number(cell) for cell in cells):
        return np.array([float(cell) for cell in cells])
    return np.array(cells, dtype=object)


def told_apart(cells: Sequence[str], column: NDArray[Any]) -> NDArray[Any]:
    """Take labels as text where some of them would be the same number, or none."""
    spelled: dict[float, str] = {}
    for cell, x in zip(cells, column, strict=True):
        if column.dtype == object:
            break
        if not abs(x) < EXACT:  # nor is NaN
            note(f"warning: label {cell!r} is taken for the name of a class")
        elif spelled.setdefault(x, cell) != cell:
            note(
                f"warning: labels {spelled[x]!r} and {cell!r} are taken for two classes"
            )
        else:
            continue
        return np.array(cells, dtype=object)
    return column


def _as_array(values: list[Any]) -> NDArray[Any]:
    if all(isinstance(x, (int, float, type(None))) for x in values):
        return np.array([np.nan if x is None else float(x) for x in values])
    return as_column(["" if x is None else str(x) for x in values])  # decimals, too


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = [repr(name) for name in names]
    if len(shown) > most:
        shown = [*shown[: most - 2], "...", shown[-1]]
    return ", ".join(shown)
