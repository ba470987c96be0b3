"""Which column has the labels, and which are the bins."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._cells import EXACT, Cells, is_number, told_apart
from ._console import LAST, note

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
    labels; without labels wanted, a column of text is left out all the same, and so is
    the last one if there is one more than the bins that are needed.
    """
    ignored = {cells.find(name, "--ignore") for name in ignore}
    if "" in cells.names and len(cells.names) > 1:
        note("left out: the column without a name")
        ignored.add(cells.position(""))
    known = [] if wanted is None else _look_up(cells, wanted)
    left = [j for j in range(len(cells.names)) if j not in {*ignored, *known}]
    chosen = None if label is None else cells.find(label, "--label")
    if chosen in ignored:
        raise ValueError(f"--label and --ignore both name {label!r}.")
    if chosen is None and (labeled or not known):
        n_bins = None if wanted is None else wanted.number
        chosen = _guess(cells, left, labeled=labeled, n_bins=n_bins)
    bins = known or [j for j in left if j != chosen]
    if not bins:
        raise ValueError(f"{cells.source} has no column left for the histograms.")
    rows = np.column_stack([_numbers(cells, j) for j in bins])
    if not known:
        _warn_of_numbering(cells, bins, rows)
    if chosen is None or not labeled:
        return rows, None, bins
    return rows, _labels(cells, chosen, guessed=label is None), bins


def _look_up(cells: Cells, wanted: Bins) -> list[int]:
    """Find the columns of bins that have names."""
    missing = [name for name in wanted.names if name not in cells.names]
    if missing:
        raise ValueError(
            f"{cells.source} has no column {missing[0]!r}, which {wanted.of}."
        )
    return [cells.position(name) for name in wanted.names]


def _guess(
    cells: Cells, left: Sequence[int], *, labeled: bool, n_bins: int | None
) -> int | None:
    """Choose the only column of text, or else the last one; and say so."""
    text = [j for j in left if _is_text(cells.columns[j])]
    if len(text) > 1:
        names = " and ".join(repr(cells.names[j]) for j in text[:3])
        raise ValueError(
            f"{cells.source}: columns {names} are text; name the labels with --label "
            "and leave the others out with --ignore."
        )
    what = "labels" if labeled else "left out"
    if text:
        note(f"{what}: column {cells.names[text[0]]!r}, the only one of text")
        return text[0]
    if not left or not (labeled or n_bins == len(left) - 1):
        return None
    note(f"{what}: column {cells.names[left[-1]]!r}, {LAST}")
    return left[-1]


def _warn_of_numbering(cells: Cells, bins: Sequence[int], rows: Floats) -> None:
    """Point to a column that numbers the rows: it is no bin, as a rule."""
    steps = np.diff(rows, axis=0)
    for j, counted in zip(bins, (steps == 1).all(axis=0), strict=True):
        if counted and len(rows) > FEW:
            name = cells.names[j]
            note(
                f"warning: column {name!r} numbers the rows, and is taken for a bin; "
                f"leave it out with --ignore {name}"
            )


def _is_text(column: NDArray[Any]) -> bool:
    """Whether most cells are no numbers; a few may be mistakes."""
    if column.dtype != object:
        return False
    return 2 * sum(not is_number(cell) for cell in column if cell) > len(column)


def _numbers(cells: Cells, j: int) -> Floats:
    column = cells.columns[j]
    if column.dtype != object:
        return column
    row = next(i for i, cell in enumerate(column) if not is_number(cell))
    what = f"{column[row]!r} is no number" if column[row] else "the cell is empty"
    raise ValueError(f"{cells.source}, {cells.where(row, j)}: {what}.")


def _labels(cells: Cells, j: int, *, guessed: bool) -> NDArray[Any]:
    column, spelled = cells.columns[j], cells.spelled[j]
    if column.dtype != object:
        _require_labels(cells, j, guessed=guessed)
        column = column if spelled is None else told_apart(spelled, column)
    missing = column == "" if column.dtype == object else ~np.isfinite(column)
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(f"{cells.source}, {cells.where(row, j)}: no label.")
    if column.dtype == object or (column != np.round(column)).any():
        return column.astype(str)
    return column.astype(np.int64)


def _require_labels(cells: Cells, j: int, *, guessed: bool) -> None:
    """Refuse numbers that are no labels, or not surely if the column was guessed."""
    column = cells.columns[j]
    finite = np.isfinite(column)
    for bad, why in (
        (
            finite & (np.abs(column) >= EXACT),
            "is too large for a label that is a number; write a letter before it.",
        ),
        (
            guessed & finite & (column != np.round(column)),
            "does not look like a label; name the column of labels with --label.",
        ),
        (
            guessed & ~finite & finite.any(),
            "beside numbers is no label; if it is one, name the column with --label.",
        ),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            where = f"{cells.source}, {cells.where(row, j)}"
            raise ValueError(f"{where}: {column[row]:g} {why}")
