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
        Rows of each class, or their total weight.
    points : ndarray of shape (n,), optional
        Weights of the rows, of mean 1; None if they are equal.
    """

    def __init__(self, labels: ArrayLike, points: Floats | None = None) -> None:
        _, self.codes, counts = np.unique(
            np.asarray(labels), return_inverse=True, return_counts=True
        )
        n, self.points = len(self.codes), points
        own = np.ones(n) if points is None else points
        self.counts = counts if points is None else np.bincount(self.codes, own)
        parts = own, (self.codes, np.arange(n))
        self._members = csr_array(parts, shape=(len(counts), n))

    def rooted(self, rows: Floats) -> Floats:
        """Multiply rows by the square roots of their weights."""
        if self.points is None:
            return rows
        found: Floats = np.sqrt(self.points)[:, None] * rows
        return found

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

    def rooted_within(self, rows: Floats) -> Floats:
        """Do the same to rows that have been multiplied by the roots of weights."""
        if self.points is None:
            return self.within(rows)
        roots = np.sqrt(self.points)[:, None]
        found: Floats = rows - roots * self.means(rows / roots)[self.codes]
        return found

    def subtract_means(self, rows: Floats) -> None:
        """Do so in place."""
        for first in range(0, rows.shape[1], COLUMNS):
            some = slice(first, first + COLUMNS)
            rows[:, some] = self.rooted_within(rows[:, some])

    def contrasts(self) -> Floats:
        r"""Return B, (c, n), which takes class means less the mean of all rows.

        Each is multiplied by :math:`\sqrt{n_c / n}`.
        """
        n = len(self.codes)
        own = 1.0 if self.points is None else self.points
        found: Floats = self._members.toarray() / self.counts[:, None] - own / n
        found *= np.sqrt(self.counts / n)[:, None]
        return found
