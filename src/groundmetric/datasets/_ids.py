"""Which column names the rows: ids that all outputs carry, but that are no bins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cells import EXACT, Cells, find_column
from ._reading import Reading
from ._spelling import is_number, is_text
from ._suspects import ENOUGH, FEW, IDS, LABELS, NUMBERED, words_of

# Names of columns of text that are ids in a table of any size.
NAMING = IDS | NUMBERED | {"name", "names", "file", "filename", "specimen", "isolate"}


def id_column(
    cells: Cells, reading: Reading, left: Sequence[int], *, free: bool
) -> int | None:
    """Find the column of ids: as named, or guessed among those left, and noted.

    If ``free``, no column left is a bin, so that names alone decide.
    """
    if reading.id is not None:
        if reading.is_second and reading.id not in cells.names:
            return None
        j = find_column(reading.id, cells.names, cells.source, reading.spell("id"))
        _require_ids(cells, j, reading)
        return j
    found = _of_index(cells, left)
    if found is None:
        found = _of_text(cells, left)
    if found is None:
        found = _of_numbers(cells, left, free=free)
    if found is not None:
        reading.notes.append(f"ids: {described(cells, found)}")
    return found


def described(cells: Cells, j: int) -> str:
    """Name a column in a note."""
    name = cells.names[j]
    if j not in cells.index:
        return (
            f"{cells.across} {name!r}" if name else f"the {cells.across} without a name"
        )
    if cells.across == "row":
        return "the names of the columns"
    return f"the index, {name!r}" if name else "the index"


def _of_index(cells: Cells, left: Sequence[int]) -> int | None:
    """Take the index of a frame, or a column without a name, which is one as well."""
    places = [j for j in left if j in cells.index or not cells.names[j]]
    good = [j for j in places if is_distinct(cells.spelled(j))]
    return good[0] if good else None


def _of_text(cells: Cells, left: Sequence[int]) -> int | None:
    """Take a column of text that differs in each row, if there is only one."""
    found = []
    for j in left:
        column, words = cells.columns[j], words_of(cells.names[j])
        if not isinstance(column, list) or words & LABELS or not is_text(column):
            continue
        if (words & NAMING or len(column) >= ENOUGH) and is_distinct(column):
            found.append(j)
    named = [j for j in found if words_of(cells.names[j]) & NAMING]
    best = named or found
    return best[0] if len(best) == 1 else None


def _of_numbers(cells: Cells, left: Sequence[int], *, free: bool) -> int | None:
    """Take a column of whole numbers by its name, if there is only one."""
    found = []
    for j in left:
        words = words_of(cells.names[j])
        least = FEW + 1 if words & IDS else ENOUGH
        if not words & (IDS | NUMBERED) or (len(cells.rows) < least and not free):
            continue
        column: Any = cells.columns[j]
        if isinstance(column, list) and not all(map(str.isdecimal, column)):
            continue
        values = np.asarray(column, dtype=float)
        if (values == np.round(values)).all() and is_distinct(cells.spelled(j)):
            found.append(j)
    return found[0] if len(found) == 1 else None


def is_distinct(column: Sequence[str]) -> bool:
    """Whether no two cells are the same, and none is empty."""
    return all(column) and len(set(column)) == len(column)


def _require_ids(cells: Cells, j: int, reading: Reading) -> None:
    """Reject ids that are missing, or that two rows share."""
    first: dict[str, int] = {}
    for i, cell in enumerate(cells.spelled(j)):
        if not cell:
            raise cells.refusal(i, j, "no id")
        if cell in first:
            there = f"{cells.unit} {cells.rows[first[cell]]}"
            raise cells.refusal(
                i,
                j,
                f"{cell!r} is the id of {there}, too; ids must differ, so leave the "
                f"column out with {reading.spell('ignore', cells.names[j])}",
            )
        first[cell] = i


def groups_of(cells: Cells, j: int | None, warnings: list[str]) -> NDArray[Any] | None:
    """Return the groups as they are written, if there are any."""
    if j is None:
        return None
    found, column = cells.spelled(j), cells.columns[j]
    if "" in found:
        raise cells.refusal(found.index(""), j, "no group")
    if cells.written is None and not isinstance(column, list):
        large = np.abs(column) >= EXACT
        if large.any():
            row = int(np.argmax(large))
            why = f"{found[row]} is too large for a group; write a letter before it"
            raise cells.refusal(row, j, why)
    same: dict[float, str] = {}
    for cell in filter(is_number, dict.fromkeys(found)):
        other = same.setdefault(float(cell), cell)
        if other != cell:
            warnings.append(f"groups {other!r} and {cell!r} are taken as two groups")
    return np.array(found, dtype=str)


def ids_of(cells: Cells, j: int | None) -> NDArray[Any] | None:
    """Return the ids as they are written, if there are any."""
    return None if j is None else np.array(cells.spelled(j), dtype=str)
