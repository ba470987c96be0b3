"""Histograms without mass, such as empty documents: what an estimator makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .arrays import as_float_array, require_one_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .places import Table

EMPTY = ("error", "uniform", "nan")


def as_empty_rule(empty: str) -> str:
    """Validate what to do with histograms of zero mass."""
    require_one_of(empty, "empty", EMPTY)
    return empty


def are_empty(X: Any) -> NDArray[np.bool_]:
    """Mark the rows of zero mass among those that are valid otherwise."""
    rows = X if hasattr(X, "toarray") else as_float_array(np.asarray(X), "X", 2)
    found: NDArray[np.bool_] = np.asarray(rows.sum(axis=1)).ravel() == 0.0
    return found


def with_uniform(rows: Any, empty: NDArray[np.bool_]) -> Any:
    """Replace some rows, dense or sparse, by the uniform histogram."""
    if not empty.any():
        return rows
    if not hasattr(rows, "toarray"):
        rows = rows.copy()
        rows[empty] = 1.0 / rows.shape[1]
        return rows
    from scipy.sparse import csr_array

    chosen, d = np.flatnonzero(empty), rows.shape[1]
    where = np.repeat(chosen, d), np.tile(np.arange(d), len(chosen))
    filled = csr_array((np.full(len(where[0]), 1.0 / d), where), shape=rows.shape)
    return csr_array(rows) + filled


def refuse_empty(
    empty: NDArray[np.bool_], table: Table, ways: str = "empty='uniform' or 'nan'"
) -> None:
    """Raise an error that names the first row of zero mass, and the ways out."""
    n = int(np.count_nonzero(empty))
    if n == 0:
        return
    others = "" if n == 1 else f", as {n} rows have"
    raise ValueError(
        f"{table.whole_row(int(np.argmax(empty)))} has zero mass: histograms need "
        f"positive mass{others}; {ways} accepts such rows."
    )
