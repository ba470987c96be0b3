"""Which column holds the labels, and which are the bins."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ._cells import (
    EXACT,
    Cells,
    Floats,
    as_column,
    as_labels,
    find_column,
    require_distinct,
)
from ._reading import Bins, Reading, listed
from ._suspects import check_bins, suspects
from ._text import is_word


class Split(NamedTuple):
    """A table, split: histograms, their labels, and the columns that are bins."""

    rows: Floats
    labels: NDArray[Any] | None
    bins: list[int]


def split_columns(
    cells: Cells,
    reading: Reading,
    given: NDArray[Any] | None = None,
    *,
    labeled: bool | None,
    wanted: Bins | None,
) -> Split:
    """Separate histograms, labels and columns that are neither.

    Bins with names are looked up. Otherwise every column is a bin except the labels;
    a text column is left out even where no labels are needed. If ``labeled`` is None,
    labels are read if there are any. Labels that are given come first.
    """
    names, spell = cells.names, reading.spell
    ignored = {
        find_column(name, names, cells.source, spell("ignore"))
        for name in reading.ignore
    }
    ignored |= _group_column(cells, reading)
    if "" in names and len(names) > 1:
        reading.notes.append("left out: the column without a name")
        ignored |= {j for j, name in enumerate(names) if not name}
    used = [j for j in range(len(names)) if j not in ignored]
    require_distinct([names[j] for j in used], cells.source)
    known = [] if wanted is None else _look_up(cells, wanted)
    left = [j for j in used if j not in known]
    chosen = _label_column(cells, reading, left, labeled=labeled, known=bool(known))
    if chosen in ignored:
        other = "groups" if chosen in _group_column(cells, reading) else "ignore"
        raise ValueError(
            f"{spell('label')} and {spell(other)} both name {reading.label!r}."
        )
    bins = known or [j for j in left if j != chosen]
    if not bins:
        raise ValueError(f"{cells.source} has no column left for the histograms.")
    rows = cells.numbers(bins)
    labels = _if_valid(given, len(rows))
    if given is None and labeled is not False and chosen is not None:
        labels = _labels(cells, reading, chosen, required=bool(labeled))
    if wanted is not None and known:
        reading.notes.extend(_left_out([names[j] for j in left if j != chosen], wanted))
    else:
        called = [names[j] for j in bins]
        found = suspects(called, rows, labels, _kept(cells, reading, bins))
        check_bins(reading, cells.source, called, found)
    return Split(rows, labels, bins)


def _group_column(cells: Cells, reading: Reading) -> set[int]:
    """Find the column of the groups, if there is one."""
    if reading.groups is None:
        return set()
    name = reading.spell("groups")
    return {find_column(reading.groups, cells.names, cells.source, name)}


def groups_of(cells: Cells, reading: Reading) -> NDArray[Any] | None:
    """Return the group of each histogram, as written, if a column has them."""
    for j in _group_column(cells, reading):
        given = cells.columns[j]
        column = np.array(given)
        missing = column == "" if isinstance(given, list) else ~np.isfinite(column)
        if missing.any():
            raise cells.refusal(int(np.argmax(missing)), j, "no group")
        if isinstance(given, list):
            return column
        large = np.abs(column) >= EXACT
        if large.any():
            row = int(np.argmax(large))
            text = f"{column[row]:g} is too large for a group; write a letter before it"
            raise cells.refusal(row, j, text)
        return column.astype(np.int64) if (column == np.round(column)).all() else column
    return None


def _if_valid(given: NDArray[Any] | None, n: int) -> NDArray[Any] | None:
    """Return labels of n rows, or None if they are bad: the caller rejects them."""
    if given is None:
        return None
    try:
        labels = validation.as_labels(given)
    except ValueError:
        return None
    return labels if len(labels) == n else None


def _label_column(
    cells: Cells,
    reading: Reading,
    left: Sequence[int],
    *,
    labeled: bool | None,
    known: bool,
) -> int | None:
    """Find the column of the labels, among those left unless it is named."""
    if reading.label is not None:
        return find_column(
            reading.label, cells.names, cells.source, reading.spell("label")
        )
    if labeled or not known:
        return _guess(cells, reading, left, labeled=labeled is not False)
    text = [j for j in left if _is_text(cells.columns[j])]
    return text[0] if labeled is None and len(text) == 1 else None


def _kept(cells: Cells, reading: Reading, bins: list[int]) -> list[int]:
    """Find which bins are to be kept, counted among the bins."""
    found, keep = [], reading.spell("keep")
    for name in reading.keep:
        j = find_column(name, cells.names, cells.source, keep)
        if j not in bins:
            raise ValueError(f"{keep} is {name!r}, which holds labels or is left out.")
        found.append(bins.index(j))
    return found


def _look_up(cells: Cells, wanted: Bins) -> list[int]:
    """Find the columns of bins that have names."""
    places = {name: j for j, name in enumerate(cells.names)}
    for name in wanted.names:
        if name not in places:
            raise ValueError(
                f"{cells.source} has no column {name!r}, which {wanted.of}."
            )
    return [places[name] for name in wanted.names]


def _guess(
    cells: Cells, reading: Reading, left: Sequence[int], *, labeled: bool
) -> int | None:
    """Choose the only text column, and note it."""
    text = [j for j in left if _is_text(cells.columns[j])]
    if len(text) > 1:
        names = " and ".join(repr(cells.names[j]) for j in text[:3])
        raise ValueError(
            f"{cells.source}: columns {names} are text; name the labels with "
            f"{reading.spell('label')} and leave the others out with "
            f"{reading.spell('ignore')}."
        )
    if not text:
        return None
    what = "labels" if labeled else "left out"
    name = cells.names[text[0]]
    reading.notes.append(f"{what}: column {name!r}, the only text column")
    return text[0]


def _left_out(names: Sequence[str], wanted: Bins) -> Iterator[str]:
    """Name the columns that are left out."""
    if names:
        what = "column" if len(names) == 1 else "columns"
        yield f"left out: {what} {listed(names)}, not among those that {wanted.of}"


def _is_text(cells: Floats | list[str]) -> bool:
    """Whether most cells are text; a few may be mistakes, or empty."""
    if not isinstance(cells, list):
        return False
    return 2 * sum(map(is_word, cells)) > sum(map(bool, cells))


def _labels(
    cells: Cells, reading: Reading, j: int, *, required: bool
) -> NDArray[Any] | None:
    try:
        return _valid_labels(cells, j, reading.warnings)
    except ValueError as error:
        if required:
            raise
        reading.notes.append(f"no labels: {error}")
        return None


def _valid_labels(cells: Cells, j: int, warnings: list[str]) -> NDArray[Any]:
    given = cells.columns[j]
    column = as_column(given)
    if column.dtype == object:
        missing = column == ""
    else:
        large = np.isfinite(column) & (np.abs(column) >= EXACT)
        if large.any():
            row = int(np.argmax(large))
            raise cells.refusal(
                row,
                j,
                f"{column[row]:g} is too large for a numeric label; write a letter "
                "before it",
            )
        missing = ~np.isfinite(column) & (not isinstance(given, list))
    if missing.any():
        raise cells.refusal(int(np.argmax(missing)), j, "no label")
    return as_labels(given, warnings)
