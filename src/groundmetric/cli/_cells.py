"""Tables of cells: CSV of any common delimiter, and parquet."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import csv, parquet

from ._console import note
from ._text import Text, are_names, is_number, is_word

Floats = NDArray[np.float64]

BLOCK = 8 << 20  # bytes that are parsed at a time
NUMERIC = (
    *(pa.types.is_floating, pa.types.is_integer),
    *(pa.types.is_boolean, pa.types.is_null),
)
EXACT = 2.0**53  # from here on, several whole numbers are read as one


@dataclass(frozen=True)
class Cells:
    """Named columns; ``where`` says which row it is, in the words of the file."""

    source: str
    names: list[str]
    table: pa.Table
    where: Callable[[int], str] = "row {}".format

    def spelled(self, j: int) -> list[str] | None:
        """Return a column as it was written; None if it was read as numbers."""
        column = self.table.column(j)
        if any(is_kind(column.type) for is_kind in NUMERIC):
            return None
        return ["" if x is None else str(x) for x in column.to_pylist()]

    def column(self, j: int) -> NDArray[Any]:
        """Return a column of numbers, or else of strings."""
        spelled = self.spelled(j)
        if spelled is not None:
            return as_column(spelled)
        found: Floats = self.table.column(j).cast(pa.float64(), safe=False).to_numpy()
        return found

    def numbers(self, columns: Sequence[int]) -> Floats:
        """Return columns of numbers, side by side."""
        found = np.empty((self.table.num_rows, len(columns)))
        for k, j in enumerate(columns):
            column = self.column(j)
            if column.dtype == object:
                cells = enumerate(column)
                row, cell = next(item for item in cells if not is_number(item[1]))
                raise self.refusal(row, j, _complaint(cell))
            found[:, k] = column
        return found

    def refusal(self, row: int, j: int, why: str) -> ValueError:
        """Say what is wrong with a cell, and where it is."""
        where = f"{self.source}, {self.where(row)}, column {self.names[j]!r}"
        return ValueError(f"{where}: {why}.")


def find_column(name: str, names: Sequence[str], source: str, option: str) -> int:
    """Find a column by its name, or by its number from 0 (from the end below)."""
    if name in names:
        require_distinct([each for each in names if each == name], source)
        return names.index(name)
    n = len(names)
    try:
        position = int(name)
    except ValueError:
        position = n
    if not -n <= position < n:
        raise ValueError(
            f"{option} is {name!r}, but {source} has no such column; it has "
            f"{_listed(names)}."
        )
    return position % n


def require_distinct(names: Sequence[str], source: str) -> None:
    """Refuse two columns of the same name, since columns are matched by name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{source} has two columns {name!r}.")
        seen.add(name)


def read_csv(text: Text, *, header: bool | None, label: str | None = None) -> Cells:
    """Read CSV with names of columns in its first line, unless header is False."""
    names = [str(j) for j in range(len(text.first))]
    if header is None and text.first != names and not are_names(text.first):
        raise ValueError(
            f"{text.source}, line {text.first_line}: only numbers, where the names of "
            "the columns should be; add --no-header if there are none, or --header if "
            "these are."
        )
    skip = int(header is not False)
    names = text.first if skip else names
    row = next(islice(text.rows(), skip, None), None)
    if row is None:
        raise ValueError(f"{text.source} has a header, but no rows.")
    strings = {j for j, cell in enumerate(row[1]) if not is_number(cell)}
    if label is not None:
        strings.add(find_column(label, names, text.source, "--label"))
    table = _parsed(text, skip, strings)

    def where(row: int) -> str:
        return f"line {next(islice(text.rows(), row + skip, None))[0]}"

    return Cells(text.source, names, table, where)


def _parsed(text: Text, skip: int, strings: set[int]) -> pa.Table:
    """Parse columns as numbers if all of their cells are, or else as strings."""
    while True:
        try:
            table = _parse(text, skip, strings)
        except pa.ArrowInvalid as error:
            found = re.search(r"column #(\d+)", str(error))
            if found is None or int(found[1]) in strings:
                text.require_strict()
                raise ValueError(f"{text.source}: {error}.") from error
            strings.add(int(found[1]))
            continue
        odd = (pc.match_substring_regex(table[j], '[\n"]') for j in strings)
        if any(pc.any(found).as_py() for found in odd):
            text.require_strict()  # pyarrow does not mind a quote that is left open
        table = _without_blank(table)
        empty = {j for j, column in enumerate(table.columns) if column.null_count}
        if not empty:
            return table
        strings |= empty


def _parse(text: Text, skip: int, strings: set[int]) -> pa.Table:
    names = [str(j) for j in range(len(text.first))]
    types = [pa.string() if int(name) in strings else pa.float64() for name in names]
    with text.open() as file:
        reader = csv.open_csv(  # block by block, in little memory
            file,
            csv.ReadOptions(
                column_names=names, skip_rows=skip * text.first_line, block_size=BLOCK
            ),
            csv.ParseOptions(
                delimiter=text.delimiter,
                newlines_in_values=True,
                invalid_row_handler=lambda row: "error" if row.text.strip() else "skip",
            ),
            csv.ConvertOptions(
                column_types=dict(zip(names, types, strict=True)),
                null_values=[""],  # of numbers; strings may be empty
            ),
        )
        return reader.read_all()


def _without_blank(table: pa.Table) -> pa.Table:
    """Strip strings, and leave out rows in which all cells are empty."""
    blank = []
    for j, column in enumerate(table.columns):
        if pa.types.is_string(column.type):
            stripped = pc.utf8_trim_whitespace(column)
            table = table.set_column(j, table.field(j), stripped)
            blank.append(pc.equal(stripped, ""))
        else:
            blank.append(pc.is_null(column))
    every = reduce(pc.and_, blank)
    return table.filter(pc.invert(every)) if pc.any(every).as_py() else table


def read_parquet(path: str) -> Cells:
    """Read a parquet file."""
    try:
        with parquet.ParquetFile(path) as file:
            table = file.read()
    except pa.ArrowException as error:
        raise ValueError(f"{path} is damaged, or no parquet file: {error}.") from error
    if not table.num_rows:
        raise ValueError(f"{path} has no rows.")
    table = _without_index(table)
    names = [str(name) for name in table.column_names]
    return Cells(path, names, table)


def _without_index(table: pa.Table) -> pa.Table:
    """Leave out what pandas keeps beside the columns of a frame: no bins."""
    kept = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [name for name in kept if isinstance(name, str)]  # others are ranges
    if not index:
        return table
    note(f"left out: the index, {_listed(index)}")
    return table.drop_columns(index)


def _complaint(cell: str) -> str:
    """Say why a cell is no number, and what to write."""
    if not cell:
        return "the cell is empty"
    if is_word(cell):
        return f"{cell!r} is no number"
    plain = cell.rstrip("% ").replace(",", ".")
    if "%" in cell:
        return f"{cell!r} has a percent sign; write the number alone, {plain}"
    return (
        f"{cell!r} has a decimal comma; write a point, {plain} (and nothing between "
        "thousands)"
    )


def as_column(cells: list[str]) -> NDArray[Any]:
    """Take cells as numbers if all of them are."""
    if all(is_number(cell) for cell in cells):
        return np.array([float(cell) for cell in cells])
    return np.array(cells, dtype=object)


def told_apart(cells: Sequence[str] | None, column: NDArray[Any]) -> NDArray[Any]:
    """Take labels as text where some of them would be the same number, or none."""
    if cells is None or column.dtype == object:
        return column
    spelled: dict[float, str] = {}
    for cell, x in zip(cells, column, strict=True):
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


def _listed(names: Sequence[str], most: int = 6) -> str:
    shown = [repr(name) for name in names]
    if len(shown) > most:
        shown = [*shown[: most - 2], "...", shown[-1]]
    return ", ".join(shown)
