"""Rows of written cells as columns: which are numbers, and which are text."""

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ._cells import Cells, Floats
from ._reading import as_argument
from ._rows import Rows
from ._spelling import (
    COMMA,
    are_names,
    have_decimal_commas,
    is_missing,
    is_number,
    is_text,
    is_word,
    with_point,
)


def read_rows(
    rows: Rows,
    *,
    header: bool | None,
    as_written: Sequence[str] = (),
    spell: Callable[..., str] = as_argument,
    notes: list[str] | None = None,
) -> Cells:
    """Read rows with column names in the first one, unless header is False.

    Columns that are named in ``as_written`` stay as they are, for 01 is no 1, and lanes
    1,2 have no decimal comma. Decimal commas are read only if there are notes to say
    so.
    """
    names = [str(j) for j in range(len(rows.first))]
    if header is None and rows.first != names and not are_names(rows.first):
        yes, no = (spell("header", each) for each in (True, False))
        raise ValueError(
            f"{rows.source}, {rows.unit} {rows.first_line}: {_what(rows.first)}, where "
            f"the column names should be; add {yes} if they are the names, or {no} if "
            "there are no names."
        )
    skip = int(header is not False)
    names = rows.first if skip else names
    first = next(islice(rows.rows(), skip, None), None)
    if first is None:
        raise ValueError(f"{rows.source} has a header, but no rows.")
    kept = set(_places(as_written, names))
    words = _words(first[1])
    try:
        if notes is not None and any(_may_be_decimal(first[1][j]) for j in words):
            raise ValueError("These are text, or have commas.")  # noqa: TRY301
        columns, lines = _columns(rows, skip, words | kept)
    except ValueError:
        words = _needed(rows, skip, words)
        columns, lines = _columns(rows, skip, words | kept)
        numeric = [
            j
            for j, column in enumerate(columns)
            if j not in kept and not (isinstance(column, list) and is_text(column))
        ]
        if notes is not None and have_decimal_commas(
            [row[j] for j in numeric] for _, row in islice(rows.rows(), skip, None)
        ):
            for j in numeric:
                columns[j] = _with_points(columns[j])
            notes.append("decimal commas: numbers such as 0,5 are read as 0.5")
    read_again = partial(_written, rows, skip)
    return Cells(
        rows.source,
        names,
        columns,
        lines,
        rows.unit,
        rows.across,
        written=read_again,
    )


def _places(wanted: Sequence[str], names: list[str]) -> Iterator[int]:
    """Find columns by name or number; others may be in another file."""
    for name in wanted:
        if name in names:
            yield names.index(name)
        elif name.removeprefix("-").isdecimal() and -len(names) <= int(name) < len(
            names
        ):
            yield int(name) % len(names)


def _what(cells: list[str]) -> str:
    has_text = any(is_word(cell) for cell in cells)
    return "numbers beside text, like a row" if has_text else "only numbers"


def _may_be_decimal(cell: str) -> bool:
    return is_missing(cell) or COMMA.fullmatch(cell) is not None


def _words(row: list[str]) -> set[int]:
    return {j for j, cell in enumerate(row) if not is_number(cell)}


def _needed(rows: Rows, skip: int, words: set[int]) -> set[int]:
    """Find the columns that have a cell which is not a number."""
    return words.union(*(_words(row) for _, row in islice(rows.rows(), skip, None)))


def _with_points(column: Floats | list[str]) -> Floats | list[str]:
    return [with_point(x) for x in column] if isinstance(column, list) else column


def _written(rows: Rows, skip: int, j: int) -> list[str]:
    return [row[j] for _, row in islice(rows.rows(), skip, None)]


def _columns(
    rows: Rows, skip: int, words: set[int]
) -> tuple[list[Floats | list[str]], NDArray[np.int64]]:
    """Read numbers in little memory, columns of words as written, and line numbers."""
    spelled: dict[int, list[str]] = {j: [] for j in words}
    numeric = [j for j in range(len(rows.first)) if j not in words]
    numbers, lines = array("d"), array("q")
    for line, row in islice(rows.rows(), skip, None):
        lines.append(line)
        cells = [row[j] for j in numeric]
        if "_" in "".join(cells):
            raise ValueError("Python takes 1_000 as a number, but others do not.")
        numbers.extend(map(float, cells))
        for j in words:
            spelled[j].append(row[j])
    columns = iter(np.asarray(numbers).reshape(-1, max(len(numeric), 1)).T)
    found = [spelled.get(j) or next(columns) for j in range(len(rows.first))]
    return found, np.asarray(lines, dtype=np.int64)
