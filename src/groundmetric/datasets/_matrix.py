"""Matrices between bins in files, with or without names of rows and columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ._arrays import load_npy
from ._cells import Floats, require_distinct
from ._read_rows import read_rows
from ._spelling import are_names
from ._text import Text


class NamedMatrix(NamedTuple):
    """A matrix, and the names of its columns and rows, if any."""

    values: NDArray[Any]
    columns: list[str] | None = None
    rows: list[str] | None = None


def load_metric(path: str) -> NamedMatrix:
    """Read a matrix between bins, whose rows and columns have the same names."""
    given = load_matrix(path)
    for row, column in zip(given.rows or (), given.columns or (), strict=False):
        if row != column:
            raise ValueError(
                f"{path} has row {row!r} where column {column!r} is; rows and columns "
                "must be the same bins in the same order."
            )
    return given


def load_square(path: str) -> NamedMatrix:
    """Read a square matrix of numbers."""
    given = load_matrix(path)
    try:
        return given._replace(values=validation.as_square(given.values, "the matrix"))
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def in_order_of(
    names: Sequence[str] | None, given: NamedMatrix, path: str, of: str
) -> Floats:
    """Reorder a metric read from path like the bins of data, if both have names."""
    known = given.columns
    if names is None or known is None or given.values.shape != 2 * (len(known),):
        return given.values
    for name in names:
        if name not in known:
            raise ValueError(f"{path} has no bin {name!r}, which {of} has.")
    for name in known:
        if name not in names:
            raise ValueError(f"{of} has no column {name!r}, which {path} has.")
    places = [known.index(name) for name in names]
    return given.values[np.ix_(places, places)]


def load_matrix(path: str) -> NamedMatrix:
    """Read a numpy matrix, or CSV with or without names of rows and columns."""
    if path.endswith(".npy"):
        return NamedMatrix(load_npy(path))
    text = Text(path)
    named = are_names(text.first)
    cells = read_rows(text, header=named, as_written=text.first[:1] if named else ())
    bins, rows = range(len(cells.names)), None
    if named and len(bins) == len(cells.columns[0]) + 1:  # row names, too
        bins, rows = bins[1:], [str(cell) for cell in cells.columns[0]]
    columns = [cells.names[j] for j in bins] if named else None
    require_distinct(columns or (), text.source)
    values, gaps = cells.numbers(bins)
    for gap in gaps:
        if gap.spelling.lower() != "nan":
            what = repr(gap.spelling) if gap.spelling else "the cell is empty"
            raise cells.refusal(
                gap.row, bins[gap.column], f"{what}; a number is needed"
            )
    return NamedMatrix(values, columns, rows)
