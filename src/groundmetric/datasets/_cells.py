"""Tables of cells: named columns of numbers, or of cells as they are written."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._reading import listed
from ._rows import HeldRows, spelled
from ._spelling import complaint, is_missing, is_number

Floats = NDArray[np.float64]

UNKNOWN = {"na", "n/a", "#n/a", "nan", "null"}  # in lower case
EXACT = 2.0**53  # from here on, different whole numbers may be the same float


class Gap(NamedTuple):
    """A missing entry: where it is, and how it is spelled."""

    row: int
    column: int
    spelling: str


@dataclass(frozen=True)
class Cells:
    """Named columns of numbers, or of cells as they are written.

    Rows have numbers in the file: those of their lines, or from 0. ``index`` has the
    columns that name the rows, if the format says so, and ``written`` reads a column
    of numbers as it is written.
    """

    source: str
    names: list[str]
    columns: Sequence[Floats | list[str]]
    rows: NDArray[np.int64]
    unit: str = "row"
    across: str = "column"
    index: tuple[int, ...] = ()
    written: Callable[[int], list[str]] | None = None

    def numbers(self, columns: Sequence[int]) -> tuple[Floats, list[Gap]]:
        """Return columns of numbers, side by side, and where NaN stands for a gap."""
        found = np.empty((len(self.columns[0]), len(columns)))
        gaps: list[Gap] = []
        for k, j in enumerate(columns):
            column = as_column(self.columns[j])
            if column.dtype == object:
                numbers, missing = self._with_gaps(j)
                found[:, k] = numbers
                gaps += [Gap(i, k, spelling) for i, spelling in missing]
            else:
                found[:, k] = column
                gaps += [
                    Gap(int(i), k, "NaN") for i in np.flatnonzero(np.isnan(column))
                ]
        return found, gaps

    def _with_gaps(self, j: int) -> tuple[list[float], list[tuple[int, str]]]:
        """Read a column as numbers, with NaN for each missing cell."""
        numbers, missing = [], []
        for i, cell in enumerate(self.columns[j]):
            if is_number(cell):
                numbers.append(float(cell))
            elif is_missing(cell):
                numbers.append(np.nan)
            else:
                raise self.refusal(i, j, complaint(cell))
            if numbers[-1] != numbers[-1]:
                missing.append((i, cell))
        return numbers, missing

    def spelled(self, j: int) -> list[str]:
        """Return a column as it is written."""
        column = self.columns[j]
        if isinstance(column, list):
            return column
        return spelled(column) if self.written is None else self.written(j)

    def as_rows(self) -> HeldRows:
        """Write the table, with its names in the first row."""
        columns = [self.spelled(j) for j in range(len(self.names))]
        rows = [self.names, *map(list, zip(*columns, strict=True))]
        return HeldRows(self.source, [*enumerate(rows)], self.unit)

    def where(self, row: int) -> str:
        """Name the place of a row."""
        return f"{self.source}, {self.unit} {self.rows[row]}"

    def refusal(self, row: int, j: int, why: str) -> ValueError:
        """Say what is wrong with a cell, and where it is."""
        return ValueError(f"{self.where(row)}, {self.across} {self.names[j]!r}: {why}.")


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
    Unknown labels, such as NA, are labels, too, but worth a warning.
    """
    column = as_column(cells)
    if column.dtype == object:
        unknown = [x for x in dict.fromkeys(cells) if str(x).lower() in UNKNOWN]
        warnings += [f"label {x!r} is taken as the name of a class" for x in unknown]
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
    known: dict[float, str] = {}
    for cell, x in zip(cells, column, strict=True):
        if not abs(x) < EXACT:  # NaN is not, either
            yield f"label {cell!r} is taken as the name of a class"
        elif known.setdefault(x, cell) != cell:
            yield f"labels {known[x]!r} and {cell!r} are taken as two classes"
