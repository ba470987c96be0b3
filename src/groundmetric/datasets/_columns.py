"""Which column holds the labels, which the ids, and which are the bins."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import validation
from ._cells import (
    Cells,
    Floats,
    Gap,
    find_column,
    require_distinct,
)
from ._ids import described, groups_of, id_column, ids_of, is_distinct
from ._labels import labels_of, named_label, transpose_hint
from ._missing import fill
from ._reading import Bins, Reading, listed
from ._spelling import is_text
from ._suspects import check_bins, suspects

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from ._label_file import LabelFile


class Known(NamedTuple):
    """What is known of rows, besides their histograms."""

    labels: NDArray[Any] | None
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None


class Split(NamedTuple):
    """A table, split: histograms, what is known of them, and the columns of bins."""

    X: Floats
    labels: NDArray[Any] | None
    ids: NDArray[Any] | None
    groups: NDArray[Any] | None
    bins: list[int]
    rows: NDArray[np.int64]  # where they are


FEWEST_GROUPS = 4  # from which a column of text may name groups


def split_columns(
    cells: Cells,
    reading: Reading,
    given: LabelFile | None = None,
    *,
    wanted: Bins | None,
) -> Split:
    """Separate histograms, labels, ids and columns that are none of these.

    Bins with names are looked up. Otherwise every column is a bin except labels and
    ids; a text column is left out even where no labels are needed. Labels that are
    given come first.
    """
    names = cells.names
    group = _group_column(cells, reading)
    used = [j for j in _used(cells, reading) if j != group]
    known = [] if wanted is None else _look_up(cells, wanted, reading)
    left = [j for j in used if j not in known]
    named = named_label(cells, reading, given)
    if named is not None and named not in used:
        other = reading.spell("groups" if named == group else "ignore")
        label = reading.spell("label")
        raise ValueError(f"{label} and {other} both name {reading.label!r}.")
    kept = _kept_columns(cells, reading)
    free = [j for j in left if j not in (named, *kept)]
    at = id_column(cells, reading, free, free=bool(known))
    left = _without_index(cells, [j for j in left if j != at], kept, reading)
    chosen = named
    if named is None:
        chosen = _guessed(cells, reading, left, given, known=bool(known))
    bins = known or _without_text(cells, left, chosen, reading)
    if not bins:
        raise ValueError(f"{cells.source} has no column left for the histograms.")
    X, gaps = cells.numbers(bins)
    ids, groups = ids_of(cells, at), groups_of(cells, group, reading.warnings)
    labels = labels_of(cells, reading, chosen, given, ids)
    X, there = _filled(X, gaps, cells, reading, bins)
    labels, ids, groups = (_taken(part, there) for part in (labels, ids, groups))
    if known and wanted is not None:
        reading.notes.extend(_left_out([names[j] for j in left if j != chosen], wanted))
    else:
        called = [names[j] for j in bins]
        valid = _if_valid(labels, len(X))
        found = suspects(called, X, valid, _kept(cells, reading, bins))
        check_bins(reading, cells.source, called, found)
    return Split(X, labels, ids, groups, bins, cells.rows[there])


def known_of_rows(about: Cells, reading: Reading, given: LabelFile | None) -> Known:
    """Return labels, ids and groups of rows whose bins are elsewhere."""
    named = named_label(about, reading, given)
    group = _group_column(about, reading)
    left = [j for j in range(len(about.names)) if j not in (named, group)]
    at = id_column(about, reading, left, free=True)
    ids = ids_of(about, at)
    chosen = named
    if chosen is None:
        others = _without_index(about, [j for j in left if j != at], (), reading)
        chosen = _guessed(about, reading, others, given, known=True)
    labels = labels_of(about, reading, chosen, given, ids)
    return Known(labels, ids, groups_of(about, group, reading.warnings))


def _group_column(cells: Cells, reading: Reading) -> int | None:
    """Find the column of the groups, if one is named."""
    if reading.groups is None:
        return None
    groups = reading.spell("groups")
    return find_column(reading.groups, cells.names, cells.source, groups)


def _used(cells: Cells, reading: Reading) -> list[int]:
    """List the columns that are not ignored, which have different names."""
    names, spell = cells.names, reading.spell
    ignored = {
        find_column(name, names, cells.source, spell("ignore"))
        for name in reading.ignore
    }
    used = [j for j in range(len(names)) if j not in ignored]
    require_distinct([names[j] for j in used if names[j]], cells.source)
    return used


def _if_valid(given: NDArray[Any] | None, n: int) -> NDArray[Any] | None:
    """Return labels of n rows, or None if they are bad: the caller rejects them."""
    if given is None:
        return None
    try:
        labels = validation.as_labels(given)
    except ValueError:
        return None
    return labels if len(labels) == n else None


def _guessed(
    cells: Cells,
    reading: Reading,
    left: Sequence[int],
    given: LabelFile | None,
    *,
    known: bool,
) -> int | None:
    """Choose the only text column as that of the labels, and note it.

    Without a need for labels, text columns are left out later.
    """
    text = [j for j in left if _is_text(cells.columns[j])]
    if given is not None or reading.labeled is False:
        return None
    if len(text) > 1 and not (known and reading.labeled is None):
        names = " and ".join(repr(cells.names[j]) for j in text[:3])
        raise ValueError(
            f"{cells.source}: columns {names} are text; name the labels with "
            f"{reading.spell('label')}, the ids with {reading.spell('id')}, and leave "
            f"others out with {reading.spell('ignore')}."
        )
    if len(text) != 1:
        return None
    if not known or reading.labeled:
        name = cells.names[text[0]]
        reading.notes.append(f"labels: column {name!r}, the only text column")
    return text[0]


def _without_text(
    cells: Cells, left: Sequence[int], chosen: int | None, reading: Reading
) -> list[int]:
    """Leave out text, which no bin is."""
    others = [j for j in left if j != chosen]
    text = [j for j in others if _is_text(cells.columns[j])]
    if text:
        what = "column" if len(text) == 1 else "columns"
        names = listed([cells.names[j] for j in text])
        repeat = [j for j in text if _may_be_groups(cells.spelled(j))]
        hint = ""
        if repeat:
            name = cells.names[repeat[0]]
            way = reading.spell("groups", name)
            hint = f"; if it names patients, say, keep their rows together with {way}"
        reading.notes.append(f"left out: {what} {names}, which {_are(text)} text{hint}")
    return [j for j in others if j not in text]


def _may_be_groups(values: Sequence[str]) -> bool:
    """Tell whether there are many values, and each is in two rows or more.

    Examples
    --------
    >>> from groundmetric.datasets._columns import _may_be_groups
    >>> _may_be_groups(list("aabbccdd")), _may_be_groups(list("aabbbbbb"))
    (True, False)
    """
    counts = Counter(values).values()
    return len(counts) >= FEWEST_GROUPS and min(counts) > 1


def _are(some: Sequence[int]) -> str:
    return "is" if len(some) == 1 else "are"


def _without_index(
    cells: Cells, left: Sequence[int], kept: Sequence[int], reading: Reading
) -> list[int]:
    """Leave out an index, and columns without a name, that are no ids."""
    found = []
    for j in left:
        name = cells.names[j]
        if j in kept or (name and j not in cells.index) or len(cells.names) == 1:
            found.append(j)
        else:
            why = ""
            if j in cells.index and not is_distinct(cells.spelled(j)):
                why = ", where some are empty or the same"
            reading.notes.append(f"left out: {described(cells, j)}{why}")
    return found


def _kept_columns(cells: Cells, reading: Reading) -> list[int]:
    keep = reading.spell("keep")
    return [find_column(x, cells.names, cells.source, keep) for x in reading.keep]


def _kept(cells: Cells, reading: Reading, bins: list[int]) -> list[int]:
    """Find which bins are to be kept, counted among the bins."""
    found, keep = [], reading.spell("keep")
    for name, j in zip(reading.keep, _kept_columns(cells, reading), strict=True):
        if j not in bins:
            raise ValueError(f"{keep} is {name!r}, which holds labels or is left out.")
        found.append(bins.index(j))
    return found


def _look_up(cells: Cells, wanted: Bins, reading: Reading) -> list[int]:
    """Find the columns of bins that have names."""
    places = {name: j for j, name in enumerate(cells.names)}
    for name in wanted.names:
        if name not in places:
            raise ValueError(
                f"{cells.source} has no column {name!r}, which {wanted.of}."
                f"{transpose_hint(cells, wanted.names, reading)}"
            )
    return [places[name] for name in wanted.names]


def _left_out(names: Sequence[str], wanted: Bins) -> Iterator[str]:
    """Name the columns that are left out."""
    if names:
        what = "column" if len(names) == 1 else "columns"
        yield f"left out: {what} {listed(names)}, not among those that {wanted.of}"


def _is_text(cells: Floats | list[str]) -> bool:
    return isinstance(cells, list) and is_text(cells)


def _taken(part: NDArray[Any] | None, there: NDArray[np.bool_]) -> Any:
    """Select rows; a part of another length is wrong, which the caller says."""
    return part if part is None or len(part) != len(there) else part[there]


def _filled(
    X: Floats, gaps: Sequence[Gap], cells: Cells, reading: Reading, bins: Sequence[int]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Treat missing cells as asked for; return the rows that are left, and which."""

    def place(gap: Gap) -> str:
        name = cells.names[bins[gap.column]]
        return f"{cells.unit} {cells.rows[gap.row]}, {cells.across} {name!r}"

    return fill(X, gaps, reading, cells.source, place)
