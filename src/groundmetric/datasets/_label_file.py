"""Labels in a file of their own: by line, or by id if both files have ids."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._words import count
from ._arrays import load_npy
from ._cells import as_labels, find_column
from ._formats import read_written
from ._reading import TRANSPOSE, listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ._reading import Reading

Ids = NDArray[np.str_]


class LabelFile(NamedTuple):
    """What is in a file of labels: an array, or rows of cells."""

    source: str
    array: NDArray[Any] | None = None
    rows: Sequence[list[str]] = ()

    @property
    def has_ids(self) -> bool:
        """Whether there is more than one column."""
        return self.array is None and len(self.rows[0]) > 1


def load_labels(path: Path, notes: list[str]) -> LabelFile:
    """Read a numpy file, or one or more columns of any table."""
    if path.suffix == ".npy":
        return LabelFile(str(path), load_npy(str(path)))
    rows = [cells for _, cells in read_written(str(path), notes).rows()]
    return LabelFile(str(path), None, rows)


def labels_for(
    given: LabelFile,
    n: int,
    ids: Ids | None,
    reading: Reading,
    *,
    of: str,
    columns: Sequence[str] = (),
) -> NDArray[Any]:
    """Return the labels of n histograms, matched by id if the file of labels has ids.

    Otherwise they are in order. Their number may be wrong, which the caller rejects.
    """
    if given.array is not None:
        return given.array
    if given.has_ids:
        return as_labels(_by_id(given, ids, reading, of, columns), reading.warnings)
    cells = [row[0] for row in given.rows]
    if len(cells) == n + 1 and cells[0] not in cells[1:]:
        reading.notes.append(f"labels: {given.source}, with header {cells[0]!r}")
        cells = cells[1:]
    if len(cells) == n and _is_header(cells):
        raise ValueError(
            f"{given.source}: its first line, {cells[0]!r}, is unlike all others, as a "
            f"header is; then there are {n - 1} labels for {n} histograms. If it is a "
            "label, write a header above it."
        )
    return as_labels(cells, reading.warnings)


def _is_header(cells: Sequence[str]) -> bool:
    """Tell whether a line occurs once, before labels that all occur again.

    Examples
    --------
    >>> from groundmetric.datasets._label_file import _is_header
    >>> _is_header(["status", "a", "b", "a", "b"]), _is_header(["a", "b", "b"])
    (True, False)
    """
    counts = Counter(cells[1:])
    alike = len(counts) > 1 and min(counts.values()) > 1
    return alike and cells[0] not in counts


def _by_id(
    given: LabelFile,
    ids: Ids | None,
    reading: Reading,
    of: str,
    columns: Sequence[str],
) -> list[str]:
    """Look up the label of each id."""
    label, second = reading.spell("labels"), reading.spell("id")
    if ids is None:
        raise ValueError(
            f"{label} is {given.source}, which has {len(given.rows[0])} columns: ids "
            f"and labels, matched by id; but {of} has no ids"
            f"{_hint(given, columns, reading)}. Name its column of ids with {second}, "
            "or give a file with one column, in the same order."
        )
    wanted = set(ids.tolist())
    at = _id_column(given, wanted, reading)
    if at is None:
        raise ValueError(
            f"no id of {of} ({listed(ids.tolist())}) is in {given.source}"
            f"{_hint(given, columns, reading)}."
        )
    header = None if given.rows[0][at] in wanted else given.rows[0]
    where = _label_column(given, header, at, reading)
    found: dict[str, str] = {}
    for row in given.rows[1:] if header else given.rows:
        if row[at] in found and row[at] in wanted:
            raise ValueError(f"{given.source} has two labels for id {row[at]!r}.")
        found[row[at]] = row[where]
    missing = [one for one in ids.tolist() if not found.get(one)]
    if missing:
        raise ValueError(
            f"{given.source} has no label for {count(len(missing), 'id')} of {of}: "
            f"{listed(missing)}."
        )
    extra = len(found.keys() - wanted)
    more = f"; {count(extra, 'other id')} not in {of}" if extra else ""
    name = repr(header[where]) if header else str(where)
    reading.notes.append(
        f"labels: column {name} of {given.source}, matched by id{more}"
    )
    return [found[one] for one in ids.tolist()]


def _id_column(given: LabelFile, wanted: set[str], reading: Reading) -> int | None:
    """Find the column with most of the ids, each once; None if there are none.

    Numbers may be both ids and labels, so it is not the column of labels that is named.
    """
    first, label = given.rows[0], reading.label
    named = first.index(label) if label in first and label not in wanted else None
    columns = [Counter(column) for column in zip(*given.rows)]  # noqa: B905
    matches = [
        (len(wanted & counts.keys()), sum(counts[one] == 1 for one in wanted))
        for counts in columns
    ]
    best = max(each for j, each in enumerate(matches) if j != named)
    places = [j for j, each in enumerate(matches) if each == best and j != named]
    if not best[0]:
        return None
    if len(places) > 1:
        raise ValueError(
            f"{given.source} has the ids in {len(places)} columns; name the labels "
            f"with {reading.spell('label')}: {listed([first[j] for j in places])}."
        )
    return places[0]


def _label_column(
    given: LabelFile, header: list[str] | None, at: int, reading: Reading
) -> int:
    """Find the column of the labels: the one named, or the only other one."""
    names = header or [str(j) for j in range(len(given.rows[0]))]
    if reading.label is not None:
        label = reading.spell("label")
        where = find_column(reading.label, names, given.source, label)
        if where == at:
            raise ValueError(
                f"{label} is {reading.label!r}, but that column of {given.source} has "
                "the ids."
            )
        return where
    if len(names) > 2:  # noqa: PLR2004 - ids and labels
        others = [name for j, name in enumerate(names) if j != at]
        raise ValueError(
            f"{given.source} has {len(names)} columns; name the labels with "
            f"{reading.spell('label')}: {listed(others)}."
        )
    return 1 - at


def _hint(given: LabelFile, columns: Sequence[str], reading: Reading) -> str:
    """Point to samples in columns, if the names of columns are ids of the labels."""
    known = {cell for row in given.rows for cell in row}
    n = len(known.intersection(columns))
    if not n or reading.transpose:
        return ""
    return (
        f", but {count(n, 'name')} of columns are: if samples are in columns, add "
        f"{reading.spell(*TRANSPOSE)}"
    )
