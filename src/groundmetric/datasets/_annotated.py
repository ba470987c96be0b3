"""AnnData files (.h5ad): the matrix, its rows and columns; needs h5py.

The format is that of https://anndata.readthedocs.io/en/stable/fileformat-prose.html,
of which only X, obs and the names in var are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._cells import Cells, Floats

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

BROKEN = (AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
SPARSE = {"csr_matrix": "csr_array", "csc_matrix": "csc_array"}


def read_annotated(path: str) -> tuple[Any, list[str], Cells]:
    """Return X, the names of its columns, and what is known of its rows."""
    try:
        import h5py
    except ImportError as error:
        raise ImportError(
            "Reading .h5ad needs h5py: pip install 'groundmetric[h5ad]'."
        ) from error
    try:
        with h5py.File(path, "r") as file:
            X = _matrix(file["X"])
            names = _column(file["var"][_index_of(file["var"])])
            rows = _frame(path, file["obs"])
    except BROKEN as error:
        raise ValueError(
            f"{path} is damaged, or not an AnnData file: {error}."
        ) from error
    wanted = (len(rows.rows), len(names))
    if X.shape != wanted:
        raise ValueError(f"{path}: X has shape {X.shape}, but obs and var {wanted}.")
    return X, _as_text(names), rows


def _matrix(stored: Any) -> Any:
    """Read a dense or sparse matrix; sparse ones become CSR."""
    kind = stored.attrs.get("encoding-type", "array")
    if not hasattr(stored, "keys"):
        return np.asarray(stored[()], dtype=float)
    if kind not in SPARSE:
        raise ValueError(f"X is stored as {kind}")
    import scipy.sparse

    parts = tuple(stored[part][()] for part in ("data", "indices", "indptr"))
    make = getattr(scipy.sparse, SPARSE[kind])
    found = make(parts, shape=tuple(map(int, stored.attrs["shape"])))
    found.check_format()
    return scipy.sparse.csr_array(found, dtype=float)


def _index_of(frame: Any) -> str:
    name = frame.attrs["_index"]
    return name.decode() if isinstance(name, bytes) else str(name)


def _frame(path: str, frame: Any) -> Cells:
    """Read a frame of annotations; the index comes first."""
    index = _index_of(frame)
    names = [index, *(name for name in frame if name not in (index, "__categories"))]
    columns = [_column(frame[name]) for name in names]
    columns[0] = _as_text(columns[0])
    n = len(columns[0])
    if any(len(column) != n for column in columns):
        raise ValueError("columns of obs have different lengths")
    names[0] = "" if index in ("_index", "index") else index
    return Cells(path, names, columns, np.arange(n), index=(0,))


def _column(stored: Any) -> Floats | list[str]:
    """Read a column: numbers, text or categories; missing values are empty."""
    if not hasattr(stored, "keys"):
        return _plain(stored[()])
    if "categories" in stored:
        categories = _as_text(_plain(stored["categories"][()]))
        return [categories[k] if k >= 0 else "" for k in stored["codes"][()]]
    values, mask = _plain(stored["values"][()]), stored["mask"][()]
    if isinstance(values, list):
        return ["" if gone else x for x, gone in zip(values, mask, strict=True)]
    return np.where(mask, np.nan, values)


def _plain(values: NDArray[Any]) -> Floats | list[str]:
    if values.ndim != 1:
        raise ValueError("a column has more than one dimension")
    if values.dtype.kind in "biuf":
        return values.astype(float)
    return [x.decode() if isinstance(x, bytes) else str(x) for x in values.tolist()]


def _as_text(column: Floats | list[str] | Iterable[Any]) -> list[str]:
    if isinstance(column, np.ndarray):
        return [str(int(x)) if x == int(x) else str(x) for x in column.tolist()]
    return [str(x) for x in column]
