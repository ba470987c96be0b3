"""Which column holds the labels, and which are the bins."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._cells import (
    EXACT,
    Cells,
    Floats,
    as_column,
    as_labels,
    find_column,
    listed,
    require_distinct,
)
from ._console import note
from ._options import Source
from ._suspects import judge_bins
from ._text import is_word


class Bins(NamedTuple):
    """The bins that a metric is about, in this order."""

    number: int
    names: Sequence[str] = ()
    of: str = "the model was learned from"  # columns of these names


def split_columns(
    cells: Cells, source: Source, *, labeled: bool | None, wanted: Bins | None = None
) -> tuple[Floats, NDArray[Any] | None, list[int]]:
    """Return histograms, labels and the columns that are bins.

    Bins with names are looked up. Otherwise every column is a bin except the labels;
    a text column is left out even where no labels are needed. If ``labeled`` is None,
    labels are read if there are any.
    """
    names = cells.names
    ignored = {
        find_column(name, names, cells.source, "--ignore")
        for name in source.ignore or ()
    }
    if "" in names and len(names) > 1:
        note("left out: the column without a name")
        ignored |= {j for j, name in enumerate(names) if not name}
    used = [j for j in range(len(names)) if j not in ignored]
    require_distinct([names[j] for j in used], cells.source)
    known = [] if wanted is None else _look_up(cells, wanted)
    left = [j for j in used if j not in known]
    chosen = None
    if source.label is not None:
        chosen = find_column(source.label, names, cells.source, "--label")
        if chosen in ignored:
            raise ValueError(f"--label and --ignore both name {source.label!r}.")
    elif labeled or not known:
        chosen = _guess(cells, left, labeled=labeled is not False)
    elif labeled is None:
        text = [j for j in left if _is_text(cells.columns[j])]
        chosen = text[0] if len(text) == 1 else None
    bins = known or [j for j in left if j != chosen]
    if not bins:
        raise ValueError(f"{cells.source} has no column left for the histograms.")
    rows = cells.numbers(bins)
    labels = None
    if labeled is not False and chosen is not None:
        labels = _labels(cells, chosen, required=bool(labeled))
    if wanted is not None and known:
        _say_left_out([names[j] for j in left if j != chosen], wanted)
    else:
        kept = _kept(cells, source, bins)
        judge_bins(cells.source, [names[j] for j in bins], rows, labels, kept)
    return rows, labels, bins


def _kept(cells: Cells, source: Source, bins: list[int]) -> list[int]:
    """Find which bins --keep names, counted among the bins."""
    found = []
    for name in source.keep or ():
        j = find_column(name, cells.names, cells.source, "--keep")
        if j not in bins:
            raise ValueError(f"--keep is {name!r}, which holds labels or is left out.")
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


def _guess(cells: Cells, left: Sequence[int], *, labeled: bool) -> int | None:
    """Choose the only text column, and say so."""
    text = [j for j in left if _is_text(cells.columns[j])]
    if len(text) > 1:
        names = " and ".join(repr(cells.names[j]) for j in text[:3])
        raise ValueError(
            f"{cells.source}: columns {names} are text; name the labels with --label "
            "and leave the others out with --ignore."
        )
    if not text:
        return None
    what = "labels" if labeled else "left out"
    note(f"{what}: column {cells.names[text[0]]!r}, the only text column")
    return text[0]


def _say_left_out(names: Sequence[str], wanted: Bins) -> None:
    """Name the columns that a metric is not about."""
    if names:
        what = "column" if len(names) == 1 else "columns"
        note(f"left out: {what} {listed(names)}, not among those that {wanted.of}")


def _is_text(cells: Floats | list[str]) -> bool:
    """Whether most cells are text; a few may be mistakes, or empty."""
    if not isinstance(cells, list):
        return False
    return 2 * sum(map(is_word, cells)) > sum(map(bool, cells))


def _labels(cells: Cells, j: int, *, required: bool) -> NDArray[Any] | None:
    try:
        return _judged_labels(cells, j)
    except ValueError as error:
        if required:
            raise
        note(f"no labels: {error}")
        return None


def _judged_labels(cells: Cells, j: int) -> NDArray[Any]:
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
    return as_labels(given)
