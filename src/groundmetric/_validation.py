"""The only place where inputs are judged.

Every function takes what a user gave and the name of the argument, and returns a
float64 (or int64) C-contiguous array, or raises a ``ValueError`` that names the
argument, what is wrong and where. Inside the package nothing is checked again.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

# Masses that differ by less than this, relatively, are taken as equal.
MASS_TOLERANCE = 1e-6
# A smaller mass cannot be cut into 2**61 parts in double precision.
SMALLEST_MASS = 1e-280
LARGEST_DIMENSION = _core.MAX_NODES // 2

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


def as_float_array(x: ArrayLike, name: str, ndim: int) -> Floats:
    """Convert lists, frames, sparse matrices and arrays of real numbers."""
    given: Any = x
    if hasattr(given, "toarray"):  # scipy.sparse, without importing it
        given = given.toarray()
        if ndim == 1 and 1 in given.shape:
            given = given.ravel()
    if np.ma.isMaskedArray(given):
        raise ValueError(f"{name} is a masked array; fill in what is missing first.")
    try:
        array = np.asarray(given)
        if array.dtype.kind != "c":
            array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}.") from error
    if array.dtype.kind == "c":
        raise ValueError(f"{name} is complex; real numbers are needed.")
    if array.ndim != ndim or np.ndim(given) == 0:
        wanted = "one dimension" if ndim == 1 else f"{ndim} dimensions"
        shape = np.shape(given)
        raise ValueError(f"{name} has shape {shape}, but {wanted} are needed.")
    return array


def require_finite(array: Floats, name: str) -> None:
    """Refuse NaN and infinity."""
    finite = np.isfinite(array)
    if not finite.all():
        where = tuple(int(k) for k in np.argwhere(~finite)[0])
        raise ValueError(
            f"{name}{list(where)} is {array[where]}: entries must be finite."
        )


class Histograms(NamedTuple):
    """Histograms that were found good: one (1-D) or rows of them."""

    values: Floats
    name: str
    first_mass: float
    low_mass: float
    high_mass: float

    def which(self, row: int) -> str:
        """Name the row in a message."""
        return self.name if self.values.ndim == 1 else f"{self.name}[{row}]"


def as_histograms(X: ArrayLike, name: str, ndim: int = 2) -> Histograms:
    """Non-negative finite histograms of positive mass, in rows (or just one)."""
    array = as_float_array(X, name, ndim)
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}.")
    if array.shape[-1] > LARGEST_DIMENSION:
        raise ValueError(
            f"{name} has {array.shape[-1]} bins; at most {LARGEST_DIMENSION} are "
            "supported."
        )
    # In one pass; masses are finite only if all entries are.
    smallest, first, low, high = _core.summarize(np.atleast_2d(array))
    found = Histograms(array, name, first, low, high)
    if not (math.isfinite(low) and math.isfinite(high)):
        require_finite(array, name)
    if smallest < 0.0:
        where = tuple(int(k) for k in np.argwhere(array < 0.0)[0])
        raise ValueError(
            f"{name}{list(where)} is {array[where]}: histograms must not have "
            "negative entries."
        )
    if not SMALLEST_MASS <= low <= high < math.inf:
        with np.errstate(over="ignore"):
            masses = np.atleast_1d(array.sum(axis=-1))
        row = int(np.argmax((masses < SMALLEST_MASS) | (masses == np.inf)))
        what = "zero mass" if masses[row] == 0.0 else f"mass {masses[row]}"
        raise ValueError(
            f"{found.which(row)} has {what}: histograms need positive, finite mass."
        )
    return found


def common_mass(*histograms: Histograms) -> float:
    """Check that all histograms have one mass, and return it."""
    first = histograms[0]
    total = first.first_mass
    slack = MASS_TOLERANCE * total
    for found in histograms:
        if found.low_mass < total - slack or found.high_mass > total + slack:
            masses = np.atleast_1d(found.values.sum(axis=-1))
            row = int(np.argmax(np.abs(masses - total) > slack))
            raise ValueError(
                f"{found.which(row)} has mass {masses[row]}, but {first.which(0)} has "
                f"mass {total}: histograms must have equal masses. Normalize them "
                "first, for instance X / X.sum(axis=-1, keepdims=True)."
            )
    return total


def require_same_bins(a: Histograms, b: Histograms) -> None:
    """Refuse histograms over different numbers of bins."""
    if a.values.shape[-1] != b.values.shape[-1]:
        raise ValueError(
            f"{a.name} has {a.values.shape[-1]} bins, but {b.name} has "
            f"{b.values.shape[-1]}."
        )


def as_cost(metric: ArrayLike, d: int, name: str = "metric") -> Floats:
    """Any finite real d x d matrix."""
    array = as_float_array(metric, name, 2)
    if array.shape != (d, d):
        raise ValueError(
            f"{name} has shape {array.shape}, but the histograms have {d} bins: "
            f"shape ({d}, {d}) is needed."
        )
    require_finite(array, name)
    return array


def as_indices(values: ArrayLike, name: str, ndim: int) -> Indices:
    """Whole numbers."""
    array = np.asarray(values)
    if array.size == 0 and array.ndim <= ndim:
        return np.empty((0, 2)[:ndim], np.int64)
    if array.dtype.kind not in "iu" or array.ndim != ndim:
        wanted = "one dimension" if ndim == 1 else f"{ndim} dimensions"
        raise ValueError(
            f"{name} must be whole numbers in {wanted}, not {array.dtype} of shape "
            f"{array.shape}."
        )
    return np.ascontiguousarray(array, dtype=np.int64)


def as_pairs(pairs: ArrayLike, n: int, m: int) -> Indices:
    """Rows (i, j) with 0 <= i < n and 0 <= j < m."""
    array = as_indices(pairs, "pairs", 2)
    if array.shape[1] != 2:  # noqa: PLR2004 - a pair is two
        raise ValueError(f"pairs has shape {array.shape}, but (n_pairs, 2) is needed.")
    for column, size in ((0, n), (1, m)):
        _require_range(array[:, column], size, "pairs", f", {column}")
    return array


def as_choice(pairs: ArrayLike | None, n_pairs: int) -> Indices:
    """Distinct positions in a list of pairs; None for all, or a boolean mask."""
    if pairs is None:
        return np.arange(n_pairs)
    given = np.asarray(pairs)
    if given.dtype == bool and given.shape == (n_pairs,):
        return np.flatnonzero(given).astype(np.int64)
    array = as_indices(given, "pairs", 1)
    _require_range(array, n_pairs, "pairs", "")
    if np.unique(array).size != array.size:
        raise ValueError("pairs names the same pair twice; each may be solved once.")
    return array


def _require_range(values: Indices, size: int, name: str, column: str) -> None:
    off = (values < 0) | (values >= size)
    if off.any():
        k = int(np.argmax(off))
        raise ValueError(
            f"{name}[{k}{column}] is {values[k]}, but it must be at least 0 and less "
            f"than {size}."
        )


def as_weights(weights: ArrayLike, n: int) -> Floats:
    """One finite number for each pair."""
    array = as_float_array(weights, "weights", 1)
    if array.shape != (n,):
        raise ValueError(f"weights has {array.size} entries for {n} pairs.")
    require_finite(array, "weights")
    return array


def n_threads(n_jobs: int | None) -> int:
    """Count threads as scikit-learn counts jobs: None is 1, -1 all processors."""
    if n_jobs is not None and (
        not isinstance(n_jobs, numbers.Integral) or isinstance(n_jobs, bool)
    ):
        raise ValueError(f"n_jobs is {n_jobs!r}; None or a whole number is needed.")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0; use None or 1 for one thread, -1 for all.")
    from joblib import effective_n_jobs  # noqa: PLC0415 - slow, and emd() needs none

    return max(1, int(effective_n_jobs(n_jobs)))
