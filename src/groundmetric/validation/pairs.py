"""Pairs of histograms, and weights on them.

Indices are copied: the compiled core keeps using them after they were validated, so a
caller must not be able to change them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import as_float_array, require_finite

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# How much the two halves of a similarity may differ, relative to its largest entry.
SYMMETRY = 1e-12


def as_indices(values: ArrayLike, name: str, ndim: int) -> Indices:
    """Validate whole numbers, and copy them to a read-only array."""
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}.") from error
    if array.size == 0 and array.ndim <= ndim:
        return np.empty((0, 2)[:ndim], np.int64)
    if array.dtype.kind not in "iu" or array.ndim != ndim:
        wanted = "one dimension" if ndim == 1 else f"{ndim} dimensions"
        raise ValueError(
            f"{name} must be whole numbers in {wanted}, not {array.dtype} of shape "
            f"{array.shape}."
        )
    if array.dtype == np.uint64:
        array = np.minimum(array, np.iinfo(np.int64).max)
    own = array.astype(np.int64, order="C", copy=True)
    own.setflags(write=False)
    return own


def as_pairs(pairs: ArrayLike, n: int, m: int, name: str = "pairs") -> Indices:
    """Validate rows (i, j) with 0 <= i < n and 0 <= j < m."""
    array = as_indices(pairs, name, 2)
    if array.shape[1] != 2:  # noqa: PLR2004 - a pair is two
        raise ValueError(f"{name} has shape {array.shape}, but (n_pairs, 2) is needed.")
    for column, size in ((0, n), (1, m)):
        _require_range(array[:, column], size, name, f", {column}")
    return array


def as_choice(pairs: ArrayLike | None, n_pairs: int) -> Indices:
    """Validate distinct positions in a list of pairs: None for all, or a mask."""
    if pairs is None:
        return as_indices(np.arange(n_pairs), "pairs", 1)
    array = as_members(pairs, n_pairs, "pairs", "pairs")
    if np.unique(array).size != array.size:
        raise ValueError("pairs lists the same pair twice; list each pair once.")
    return array


def as_members(values: ArrayLike, n: int, name: str, of: str) -> Indices:
    """Validate positions among n pairs or histograms, or a mask of these."""
    given = np.asarray(values)
    if given.dtype == bool:
        if given.shape != (n,):
            raise ValueError(f"{name} is a mask of shape {given.shape} for {n} {of}.")
        return as_indices(np.flatnonzero(given), name, 1)
    array = as_indices(given, name, 1)
    _require_range(array, n, name, "")
    return array


def _require_range(values: Indices, size: int, name: str, column: str) -> None:
    off = (values < 0) | (values >= size)
    if off.any():
        k = int(np.argmax(off))
        raise ValueError(
            f"{name}[{k}{column}] is {values[k]}, but it must be at least 0 and less "
            f"than {size}."
        )


def as_weights(weights: ArrayLike, n: int, name: str = "weights") -> Floats:
    """Validate one finite number per pair."""
    array = as_float_array(weights, name, 1)
    if array.shape != (n,):
        raise ValueError(f"{name} has {array.size} entries for {n} pairs.")
    require_finite(array, name)
    return array


def as_similarity(similarity: ArrayLike, n: int) -> Floats:
    """Validate symmetric n x n weights, not all zero, and clear their diagonal."""
    name = "similarity"
    array = as_float_array(similarity, name, 2)
    if array.shape != (n, n):
        raise ValueError(
            f"{name} has shape {array.shape} for {n} histograms: ({n}, {n}) is needed."
        )
    require_finite(array, name)
    off = np.abs(array - array.T) > SYMMETRY * np.abs(array).max()
    if off.any():
        i, j = (int(k) for k in np.argwhere(off)[0])
        raise ValueError(
            f"{name}[{i}, {j}] is {array[i, j]}, but {name}[{j}, {i}] is "
            f"{array[j, i]}: the weights must be symmetric."
        )
    out = array / 2 + array.T / 2
    np.fill_diagonal(out, 0.0)
    if not out.any():
        raise ValueError(
            f"{name} is zero for all pairs: there is nothing to learn from."
        )
    return out
