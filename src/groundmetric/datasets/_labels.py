"""Labels of histograms: of a column, or of another file, checked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import validation
from .._words import count
from ._cells import EXACT, Cells, as_column, as_labels, find_column
from ._label_file import LabelFile, labels_for
from ._reading import TRANSPOSE, Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ._histogram_table import HistogramTable


def named_label(cells: Cells, reading: Reading, given: LabelFile | None) -> int | None:
    """Find the column of labels that is named, if it is one of this file."""
    label = reading.label
    if label is None:
        return None
    is_elsewhere = given is not None or (reading.is_second and not reading.labeled)
    if is_elsewhere and label not in cells.names:
        return None
    try:
        return find_column(label, cells.names, cells.source, reading.spell("label"))
    except ValueError as error:
        raise ValueError(f"{error}{transpose_hint(cells, [label], reading)}") from None


def transpose_hint(cells: Cells, wanted: Sequence[str], reading: Reading) -> str:
    """Point to samples in columns, if the first column has the names of columns."""
    first = () if reading.transpose else frozenset(cells.spelled(0))
    name = next((name for name in wanted if name in first), None)
    if name is None:
        return ""
    return (
        f" Its first column has {name!r}: if samples are in columns, add "
        f"{reading.spell(*TRANSPOSE)}."
    )


def labels_of(
    cells: Cells,
    reading: Reading,
    j: int | None,
    given: LabelFile | None,
    ids: NDArray[Any] | None,
) -> NDArray[Any] | None:
    """Return labels, from the file that is given, or of column j."""
    if given is not None:
        n, names = len(cells.rows), cells.names
        return labels_for(given, n, ids, reading, of=cells.source, columns=names)
    if j is None or reading.labeled is False:
        return None
    try:
        return _valid_labels(cells, j, reading.warnings)
    except ValueError as error:
        if reading.labeled:
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


def labels_in(found: HistogramTable, reading: Reading) -> Any:
    """Return valid labels, one for each histogram, or None if none are needed."""
    y, labels = found.y, reading.labels
    where = found.source if labels is None else str(labels)
    if labels is None and reading.labeled is False:
        return None
    if y is None:
        if not reading.labeled:
            return None
        raise ValueError(
            f"{where} has no labels; give them with {reading.spell('labels', 'FILE')}."
        )
    try:
        if len(y) != len(found):
            raise ValueError(  # noqa: TRY301 - handled like other labels that are bad
                f"{where} has {count(len(y), 'label')} for "
                f"{count(len(found), 'histogram')}{_hint(found, len(y), reading)}."
            )
        return validation.as_labels(y, f"{where}: y")
    except ValueError as error:
        if reading.labeled is not None:
            raise
        reading.notes.append(f"no labels: {error}")
        return None


def _hint(found: HistogramTable, n_labels: int, reading: Reading) -> str:
    """Point to samples in columns, if there are as many columns as labels."""
    if reading.transpose or n_labels not in (found.X.shape[1], found.X.shape[1] + 1):
        return ""
    return (
        f", but it fits the {found.X.shape[1]:,} columns of {found.source}: if samples "
        f"are in columns, add {reading.spell(*TRANSPOSE)}"
    )
