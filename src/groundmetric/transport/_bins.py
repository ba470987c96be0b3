"""Bins that are not empty; most of them may be."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Bins(NamedTuple):
    """The bins that are not empty, of all rows of X and of Y."""

    rows: NDArray[np.int64]
    cols: NDArray[np.int64]

    @classmethod
    def of(cls, X: Floats, Y: Floats) -> Bins | None:
        """Find them, the same for both if X and Y may have common bins.

        None if these are most bins, so that leaving out the others is not worth it.
        """
        rows, cols = X.any(axis=0), Y.any(axis=0)
        if rows.size == cols.size:
            rows = cols = rows | cols
        if 2 * (rows.sum() + cols.sum()) > rows.size + cols.size:
            return None
        return cls(np.flatnonzero(rows), np.flatnonzero(cols))


def columns_of(X: Floats, bins: NDArray[np.int64] | None) -> Floats:
    return X if bins is None else np.ascontiguousarray(X[:, bins])
