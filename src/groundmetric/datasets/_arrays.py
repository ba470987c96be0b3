"""Arrays in numpy files, which are never unpickled, and files of labels."""

import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from .. import _files
from ._cells import as_labels
from ._text import Text

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
            f"{path} does not hold a plain array: {_why(error)}."
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
        raise ValueError(f"{path} has no arrays X and y: {_why(error)}.") from error
    if y is None or names is None:
        return X, y
    try:
        if y.dtype.kind == "i" and (y < 0).any():
            raise IndexError("a number is negative")  # noqa: TRY301 - as if too large
        return X, names[y]
    except IndexError as error:
        raise ValueError(f"{path}: y does not index class_names: {error}.") from error


def _why(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__


def load_labels(path: Path, warnings: list[str]) -> NDArray[Any]:
    """Read labels from a numpy file, or from text with one label per line."""
    if path.suffix == ".npy":
        return load_npy(str(path))
    text = Text(str(path))
    if len(text.first) > 1:
        raise ValueError(f"{path} has {len(text.first)} columns; it must have one.")
    return as_labels([row[0] for _, row in text.rows()], warnings)
