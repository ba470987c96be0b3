"""Means of rows within classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]

COLUMNS = 256  # whose means are subtracted at a time


class Classes:
    """The classes of n rows.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        The class of each row, from 0.
    counts : ndarray of shape (c,)
        Rows of each class.
    """

    def __init__(self, labels: ArrayLike) -> None:
        _, self.codes, self.counts = np.unique(
            np.asarray(labels), return_inverse=True, return_counts=True
        )
        n = len(self.codes)
        parts = np.ones(n), (self.codes, np.arange(n))
        self._members = csr_array(parts, shape=(len(self.counts), n))

    def means(self, rows: Any) -> Floats:
        """Means of dense or sparse rows, one row for each class."""
        sums = self._members @ rows
        dense = sums if isinstance(sums, np.ndarray) else sums.toarray()
        found: Floats = dense / self.counts[:, None]
        return found

    def within(self, rows: Floats) -> Floats:
        """Subtract the mean of its class from each row."""
        found: Floats = rows - self.means(rows)[self.codes]
        return found

    def subtract_means(self, rows: Floats) -> None:
        """Do the same in place."""
        for first in range(0, rows.shape[1], COLUMNS):
            some = slice(first, first + COLUMNS)
            rows[:, some] = self.within(rows[:, some])

    def contrasts(self) -> Floats:
        r"""Return B, (c, n), which takes class means less the mean of all rows.

        Each is multiplied by :math:`\sqrt{n_c / n}`.
        """
        n = len(self.codes)
        found: Floats = self._members.toarray() / self.counts[:, None] - 1 / n
        found *= np.sqrt(self.counts / n)[:, None]
        return found
