"""Arrays in numpy files, which are never unpickled, matrices and files of labels."""

import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _files
from ._cells import Floats, as_labels, read_csv, require_distinct
from ._text import Text, are_names

# zipfile raises RuntimeError for archives with a password, and numpy TokenError for
# headers that do not end.
BROKEN = (
    *(AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError),
)


def load_npy(path: str) -> NDArray[Any]:
    """Read one array."""
    try:
        return _files.load_array(path)
    except BROKEN as error:
        raise ValueError(
            f"{path} does not hold a plain array: {_said(error)}."
        ) from error


def load_npz(path: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Read X and y; where there are class_names, y holds their numbers."""
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} is not an .npz file, despite its name; numpy.savez writes them."
        )
    try:
        found = _files.load_arrays(path, "X", "y", "class_names")
        X, y, names = found["X"], found.get("y"), found.get("class_names")
    except _files.TooLargeError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path} has no arrays X and y: {_said(error)}.") from error
    if y is None or names is None:
        return X, y
    try:
        if y.dtype.kind == "i" and (y < 0).any():
            raise IndexError("a number is negative")  # noqa: TRY301 - as if too large
        return X, names[y]
    except IndexError as error:
        raise ValueError(f"{path}: y does not index class_names: {error}.") from error


def _said(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__


def load_labels(path: Path) -> NDArray[Any]:
    """Read labels from a numpy file, or from text with one label per line."""
    if path.suffix == ".npy":
        return load_npy(str(path))
    text = Text(str(path))
    if len(text.first) > 1:
        raise ValueError(f"{path} has {len(text.first)} columns; it must have one.")
    return as_labels([row[0] for _, row in text.rows()])


class Named(NamedTuple):
    """A matrix, and the names of its columns and rows, if any."""

    values: NDArray[Any]
    columns: list[str] | None = None
    rows: list[str] | None = None


def load_metric(path: str) -> Named:
    """Read a matrix between bins, whose rows and columns have the same names."""
    given = load_matrix(path)
    for row, column in zip(given.rows or (), given.columns or (), strict=False):
        if row != column:
            raise ValueError(
                f"{path} has row {row!r} where column {column!r} is; rows and columns "
                "must be the same bins in the same order."
            )
    return given


def in_order_of(names: list[str] | None, given: Named, path: str, of: str) -> Floats:
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


def load_matrix(path: str) -> Named:
    """Read a numpy matrix, or CSV with or without names of rows and columns."""
    if path.endswith(".npy"):
        return Named(load_npy(path))
    text = Text(path)
    named = are_names(text.first)
    cells = read_csv(text, header=named, label=text.first[0] if named else None)
    bins, rows = range(len(cells.names)), None
    if named and len(bins) == len(cells.columns[0]) + 1:  # row names, too
        bins, rows = bins[1:], [str(cell) for cell in cells.columns[0]]
    columns = [cells.names[j] for j in bins] if named else None
    require_distinct(columns or (), text.source)
    return Named(cells.numbers(bins), columns, rows)
