"""Sparse histograms whose masses change: products with them, on any device.

On the processor these are scipy's. On a device, histograms and their transpose are
sparse matrices of PyTorch, whose entries are sorted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from ..base._arrays import Array, Arrays

Floats = NDArray[Any]  # float32 or float64

# Weights below this part of the largest in a histogram, in logarithms, count as this:
# masses stay positive, also in single precision.
LEAST = -60.0


def weighted(masses: Floats, rows: csr_array, log_weights: Floats) -> Floats:
    """Return the entries of rows, times the weights of their bins, of mass 1 again."""
    sizes, starts = np.diff(rows.indptr), rows.indptr[:-1]
    logs = log_weights[rows.indices]
    logs -= np.repeat(np.maximum.reduceat(logs, starts), sizes)
    found: Floats = masses * np.exp(np.maximum(logs, LEAST))
    found /= np.repeat(np.add.reduceat(found, starts), sizes)
    return found


def weigh(rows: Any, log_weights: Floats) -> csr_array:
    """Weight the bins of histograms, and scale them to mass 1."""
    found = csr_array(rows, copy=True)
    found.data = weighted(found.data, found, log_weights)
    return found


class Entries:
    """Histograms of scipy, in rows."""

    def __init__(self, rows: csr_array, masses: Floats) -> None:
        self._masses = masses
        self.rows = csr_array((masses, rows.indices, rows.indptr), shape=rows.shape)

    def weigh(self, log_weights: Floats) -> None:
        """Multiply the masses given by the weights of their bins."""
        self.rows.data = weighted(self._masses, self.rows, log_weights)

    def product(self, right: Floats) -> Floats:
        """Multiply the histograms, (n, d), by a matrix."""
        found: Floats = self.rows @ right
        return found

    def back(self, right: Floats) -> Floats:
        """Multiply their transpose, (d, n), by a matrix."""
        found: Floats = self.rows.T @ right
        return found


class DeviceEntries:
    """Histograms of PyTorch, in rows."""

    def __init__(self, rows: csr_array, masses: Floats, arrays: Arrays) -> None:
        self._xp, put = arrays.xp, arrays.put
        self._shape = rows.shape
        sizes = np.diff(rows.indptr)
        row = np.repeat(np.arange(len(sizes)), sizes)
        by_bin = np.lexsort((row, rows.indices))
        column = rows.indices.astype(np.int64)
        self._sizes, self._row = put(sizes.astype(np.int64)), put(row)
        self._column, self._by_bin = put(column), put(by_bin)
        self._at = put(np.stack([row, column]))
        self._at_of_bins = put(np.stack([column[by_bin], row[by_bin]]))
        self._data = self._masses = put(masses)

    def weigh(self, log_weights: Array) -> None:
        """Multiply the masses given by the weights of their bins."""
        xp = self._xp
        logs = log_weights[self._column]
        logs -= xp.segment_reduce(logs, "max", lengths=self._sizes)[self._row]
        found = self._masses * xp.exp(xp.clip(logs, LEAST, None))
        found /= xp.segment_reduce(found, "sum", lengths=self._sizes)[self._row]
        self._data = found

    def product(self, right: Array) -> Array:
        """Multiply the histograms, (n, d), by a matrix."""
        return self._sparse(self._at, self._data, self._shape) @ right

    def back(self, right: Array) -> Array:
        """Multiply their transpose, (d, n), by a matrix."""
        data = self._data[self._by_bin]
        return self._sparse(self._at_of_bins, data, self._shape[::-1]) @ right

    def _sparse(self, at: Array, data: Array, shape: tuple[int, ...]) -> Array:
        return self._xp.sparse_coo_tensor(
            at, data, shape, check_invariants=False, is_coalesced=True
        )


def entries_of(
    rows: csr_array, masses: Floats, arrays: Arrays
) -> Entries | DeviceEntries:
    """Keep histograms where they are multiplied."""
    if arrays.xp is np:
        return Entries(rows, masses)
    return DeviceEntries(rows, masses, arrays)
