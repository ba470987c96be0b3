"""Arrays in numpy files, which are never unpickled."""

import tokenize
import zipfile
import zlib
from typing import Any, NamedTuple

from numpy.typing import NDArray

from .. import _files

# zipfile raises RuntimeError for archives with a password, and numpy TokenError or
# SyntaxError for headers that do not end.
BROKEN = (
    *(AttributeError, EOFError, LookupError, RuntimeError, TypeError, ValueError),
    *(zipfile.BadZipFile, zlib.error, tokenize.TokenError, SyntaxError),
)


def load_npy(path: str) -> NDArray[Any]:
    """Read one array."""
    try:
        return _files.load_array(path)
    except BROKEN as error:
        raise ValueError(
            f"{path} does not hold a plain array: {_why(error)}."
        ) from error


class Arrays(NamedTuple):
    """Histograms; labels and ids, if there are any."""

    X: NDArray[Any]
    y: NDArray[Any] | None = None
    ids: NDArray[Any] | None = None


def load_npz(path: str) -> Arrays:
    """Read X, y and ids; where there are class_names, y holds their numbers."""
    if not zipfile.is_zipfile(path):
        raise ValueError(
            f"{path} is not an .npz file, despite its name; numpy.savez writes them."
        )
    try:
        found = _files.load_arrays(path, "X", "y", "class_names", "ids")
        X, y, names = found["X"], found.get("y"), found.get("class_names")
        ids = found.get("ids")
    except _files.TooLargeError:
        raise
    except BROKEN as error:
        raise ValueError(f"{path} has no arrays X and y: {_why(error)}.") from error
    if y is None or names is None:
        return Arrays(X, y, ids)
    try:
        if y.dtype.kind == "i" and (y < 0).any():
            raise IndexError("a number is negative")  # noqa: TRY301 - as if too large
        return Arrays(X, names[y], ids)
    except IndexError as error:
        raise ValueError(f"{path}: y does not index class_names: {error}.") from error


def _why(error: Exception) -> str:
    return str(error.args[0]) if error.args else type(error).__name__
