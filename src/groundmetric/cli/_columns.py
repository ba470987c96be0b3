"""Which column has the labels, and which are the bins."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._cells import EXACT, Cells, find_column, require_distinct, told_apart
from ._console import note
from ._text import is_word

Floats = NDArray[np.float64]
FEW = 3  # rows that may be in steps of one by chance


class Bins(NamedTuple):
    """Bins that are needed, because a metric has them; in this order."""

    number: int
    names: Sequence[str] = ()
    of: str = "the model was learned from"  # columns of these names


def split_columns(
    cells: Cells,
    *,
    label: str | None,
    ignore: Sequence[str],
    labeled: bool,
    wanted: Bins | None = None,
) -> tuple[Floats, NDArray[Any] | None, list[int]]:
    """Return histograms, labels and the columns that are bins.

    Bins with names are looked up. Otherwise all columns are bins but that of the
    labels; without labels wanted, a column of text is left out all the same.
    """
    ignored = {
        find_column(name, cells.names, cells.source, "--ignore") for name in ignore
    }
    if "" in cells.names and len(cells.names) > 1:
        note("left out: the column without a name")
        ignored |= {j for j, name in enumerate(cells.names) if not name}
    used = [j for j in range(len(cells.names)) if j not in ignored]
    require_distinct([cells.names[j] for j in used], cells.source)
    known = [] if wanted is None else _look_up(cells, wanted)
    left = [j for j in used if j not in known]
    chosen = None
    if label is not None:
        chosen = find_column(label, cells.names, cells.source, "--label")
        if chosen in ignored:
            raise ValueError(f"--label and --ignore both name {label!r}.")
    elif labeled or not known:
        chosen = _guess(cells, left, labeled=labeled)
    bins = known or [j for j in left if j != chosen]
    if not bins:
        raise ValueError(f"{cells.source} has no column left for the histograms.")
    rows = cells.numbers(bins)
    if not known:
        _warn_of_numbering(cells, bins, rows)
    if chosen is None or not labeled:
        return rows, None, bins
    return rows, _labels(cells, chosen), bins


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
    """Choose the only column of text, and say so."""
    text = [j for j in left if _is_text(cells.spelled(j))]
    if len(text) > 1:
        names = " and ".join(repr(cells.names[j]) for j in text[:3])
        raise ValueError(
            f"{cells.source}: columns {names} are text; name the labels with --label "
            "and leave the others out with --ignore."
        )
    if not text:
        return None
    what = "labels" if labeled else "left out"
    note(f"{what}: column {cells.names[text[0]]!r}, the only one of text")
    return text[0]


def _warn_of_numbering(cells: Cells, bins: Sequence[int], rows: Floats) -> None:
    """Point to a column that numbers the rows: it is no bin, as a rule."""
    for j, column in zip(bins, rows.T, strict=True):
        if len(rows) > FEW and (np.diff(column) == 1).all():
            name = cells.names[j]
            note(
                f"warning: column {name!r} numbers the rows, and is taken for a bin; "
                f"leave it out with --ignore {name}"
            )


def _is_text(cells: list[str] | None) -> bool:
    """Whether most cells are text; a few may be mistakes, or empty."""
    return cells is not None and 2 * sum(map(is_word, cells)) > sum(map(bool, cells))


def _labels(cells: Cells, j: int) -> NDArray[Any]:
    column = cells.column(j)
    if column.dtype != object:
        large = np.isfinite(column) & (np.abs(column) >= EXACT)
        if large.any():
            row = int(np.argmax(large))
            raise cells.refusal(
                row,
                j,
                f"{column[row]:g} is too large for a label that is a number; write a "
                "letter before it",
            )
        column = told_apart(cells.spelled(j), column)
    missing = column == "" if column.dtype == object else ~np.isfinite(column)
    if missing.any():
        raise cells.refusal(int(np.argmax(missing)), j, "no label")
    if column.dtype == object or (column != np.round(column)).any():
        return column.astype(str)
    return column.astype(np.int64)
