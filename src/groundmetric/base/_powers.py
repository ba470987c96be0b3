"""Powers of histograms, bin by bin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def raised(rows: Floats, power: float) -> Floats:
    """Raise histograms to a power, and scale them to mass 1 again."""
    if power == 1:
        return rows
    if not isinstance(rows, np.ndarray):
        return _raised_sparse(rows, power)
    powers = (rows / rows.max(axis=1, keepdims=True)) ** power
    scaled: Floats = powers / powers.sum(axis=1, keepdims=True)
    return scaled


def _raised_sparse(rows: Any, power: float) -> Any:
    """Do the same to sparse histograms."""
    sizes = np.diff(rows.indptr)
    largest = np.maximum.reduceat(rows.data, rows.indptr[:-1])
    powers = rows.copy()
    powers.data = (rows.data / np.repeat(largest, sizes)) ** power
    sums = np.add.reduceat(powers.data, rows.indptr[:-1])
    powers.data /= np.repeat(sums, sizes)
    return powers
