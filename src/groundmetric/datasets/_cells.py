"""Tables of cells: CSV with any common delimiter, and parquet."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._reading import as_argument, listed
from ._text import Text, are_names, is_number, is_word

Floats = NDArray[np.float64]

EXACT = 2.0**53  # from here on, different whole numbers may be the same float


@dataclass(frozen=True)
class Cells:
    """Named columns of numbers, or of cells as they are written.

    Rows have numbers in the file: those of their lines, or from 0.
    """

    source: str
    names: list[str]
    columns: Sequence[Floats | list[str]]
    rows: NDArray[np.int64]
    unit: str = "row"

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return columns of numbers, side by side."""
        found = np.empty((len(self.columns[0]), len(columns)))
        for k, j in enumerate(columns):
            column = as_column(self.columns[j])
            if column.dtype == object:
                row = next(i for i, cell in enumerate(column) if not is_number(cell))
                raise self.refusal(row, j, _complaint(column[row]))
            found[:, k] = column
        return found

    def refusal(self, row: int, j: int, why: str) -> ValueError:
        """Say what is wrong with a cell, and where it is."""
        where = f"{self.source}, {self.unit} {self.rows[row]}"
        return ValueError(f"{where}, column {self.names[j]!r}: {why}.")


def find_column(name: str, names: Sequence[str], source: str, parameter: str) -> int:
    """Find a column by its name, or by its number from 0 (negative: from the end)."""
    if name in names:
        require_distinct([each for each in names if each == name], source)
        return names.index(name)
    try:
        return range(len(names))[int(name)]
    except (ValueError, IndexError):
        raise ValueError(
            f"{parameter} is {name!r}, but {source} has no such column; it has "
            f"{listed(names)}."
        ) from None


def require_distinct(names: Sequence[str], source: str) -> None:
    """Reject two columns of the same name, since columns are matched by name."""
    name, times = max(Counter(names).items(), key=itemgetter(1), default=("", 0))
    if times > 1:
        raise ValueError(f"{source} has two columns {name!r}.")


def _what(text: Text) -> str:
    is_text = any(is_word(cell) for cell in text.first)
    return "numbers beside text, like a row" if is_text else "only numbers"


def read_csv(
    text: Text,
    *,
    header: bool | None,
    as_written: Sequence[tuple[str, str]] = (),
    spell: Callable[..., str] = as_argument,
) -> Cells:
    """Read CSV with column names in its first line, unless header is False.

    Some columns, given by parameter and name, are read as written: 01 is not 1.
    """
    names = [str(j) for j in range(len(text.first))]
    if header is None and text.first != names and not are_names(text.first):
        yes, no = (spell("header", each) for each in (True, False))
        raise ValueError(
            f"{text.source}, line {text.first_line}: {_what(text)}, where the column "
            f"names should be; add {yes} if they are the names, or {no} if there are "
            "no names."
        )
    skip = int(header is not False)
    names = text.first if skip else names
    first = next(islice(text.rows(), skip, None), None)
    if first is None:
        raise ValueError(f"{text.source} has a header, but no rows.")
    words = _words(first[1])
    for parameter, name in as_written:
        words.add(find_column(name, names, text.source, spell(parameter)))
    try:
        columns, lines = _columns(text, skip, words)
    except ValueError:  # a later cell is not a number: read its whole column as text
        words = words.union(
            *(_words(row) for _, row in islice(text.rows(), skip, None))
        )
        columns, lines = _columns(text, skip, words)
    return Cells(text.source, names, columns, lines, "line")


def _words(row: list[str]) -> set[int]:
    return {j for j, cell in enumerate(row) if not is_number(cell)}


def _columns(
    text: Text, skip: int, words: set[int]
) -> tuple[list[Floats | list[str]], NDArray[np.int64]]:
    """Read numbers in little memory, columns of words as written, and line numbers."""
    spelled: dict[int, list[str]] = {j: [] for j in words}
    numeric = [j for j in range(len(text.first)) if j not in words]
    numbers, lines = array("d"), array("q")
    for line, row in islice(text.rows(), skip, None):
        lines.append(line)
        cells = [row[j] for j in numeric]
        if "_" in "".join(cells):
            raise ValueError("Python takes 1_000 as a number, but others do not.")
        numbers.extend(map(float, cells))
        for j in words:
            spelled[j].append(row[j])
    columns = iter(np.asarray(numbers).reshape(-1, max(len(numeric), 1)).T)
    found = [spelled.get(j) or next(columns) for j in range(len(text.first))]
    return found, np.asarray(lines, dtype=np.int64)


def _complaint(cell: str) -> str:
    """Say why a cell is not a number, and what to write."""
    if not cell:
        return "the cell is empty"
    if is_word(cell):
        return f"{cell!r} is not a number"
    plain = cell.rstrip("% ").replace(",", ".")
    if "%" in cell:
        return f"{cell!r} has a percent sign; write only the number, {plain}"
    return (
        f"{cell!r} has a decimal comma; write a point, {plain} (and no separators of "
        "thousands)"
    )


def as_column(cells: Floats | list[str]) -> NDArray[Any]:
    """Take cells as numbers if all of them are."""
    if not isinstance(cells, list):
        return cells
    if all(is_number(cell) for cell in cells):
        return np.array([float(cell) for cell in cells])
    return np.array(cells, dtype=object)


def as_labels(cells: Floats | list[str], warnings: list[str]) -> NDArray[Any]:
    """Take cells as labels: whole numbers, or else text.

    They are also text where different labels would be the same number, or not a number.
    """
    column = as_column(cells)
    if column.dtype != object and isinstance(cells, list):
        clash = next(_clashes(cells, column), None)
        if clash is not None:
            warnings.append(clash)
            column = np.array(cells, dtype=object)
    if column.dtype == object or (column != np.round(column)).any():
        return column.astype(str)
    return column.astype(np.int64)


def _clashes(cells: list[str], column: Floats) -> Iterator[str]:
    """Say which cells, as numbers, would be NaN, inexact or equal to another label."""
    spelled: dict[float, str] = {}
    for cell, x in zip(cells, column, strict=True):
        if not abs(x) < EXACT:  # NaN is not, either
            yield f"label {cell!r} is taken as the name of a class"
        elif spelled.setdefault(x, cell) != cell:
            yield f"labels {spelled[x]!r} and {cell!r} are taken as two classes"
