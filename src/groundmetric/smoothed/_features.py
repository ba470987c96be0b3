"""Features of bins and histograms: the bins themselves, and their points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._fisher import ROUNDING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from ._classes import Classes

Floats = NDArray[np.float64]

BLOCK = 2**24  # bytes of the features of some histograms
DENSE = 0.1  # share of entries from which dense products are faster


@dataclass(frozen=True, eq=False)
class Features:
    r"""The features :math:`(\alpha e_p, \gamma x_p)`, without the d unit vectors.

    Attributes
    ----------
    rows : csr_array of shape (n, d)
        Histograms.
    own : float
        :math:`\alpha`; 0 if positions are a map of the points only.
    points : ndarray of shape (d, s)
        Coordinates of the bins, times gamma; s may be 0.
    means : ndarray of shape (n, s)
        Those of the histograms.
    """

    rows: csr_array
    own: float
    points: Floats
    means: Floats

    @classmethod
    def of(
        cls, rows: csr_array, classes: Classes, points: Floats | None, trust: float
    ) -> Features:
        r"""Choose :math:`\gamma` such that bins and points count.

        For a trust of 1, their scatters within classes are as large. If it is infinite,
        only the points count.
        """
        if points is None or trust == 0:
            n, d = rows.shape
            return cls(rows, 1.0, np.empty((d, 0)), np.empty((n, 0)))
        means = rows @ points
        if np.isinf(trust):
            return cls(rows, 0.0, points, means)
        square = _total(np.square(rows.data), classes.points, np.diff(rows.indptr))
        own = square - _squares_of_means(rows, classes)
        spread = np.square(classes.within(means))
        theirs = _total(spread.ravel(), classes.points, spread.shape[1])
        limit = ROUNDING * float(np.square(means).sum())
        is_spread = own > ROUNDING * square and theirs > limit
        ratio = np.sqrt(own / theirs) if is_spread else 1.0
        # Only the ratio of alpha and gamma counts: neither is large.
        gamma = min(trust, 1.0) * ratio
        return cls(rows, 1.0 / max(trust, 1.0), gamma * points, gamma * means)

    @property
    def n_features(self) -> int:
        """Number of features, m."""
        d, s = self.points.shape
        return int(s + d if self.own else s)

    @property
    def n_dimensions(self) -> int:
        """Dimension that those of d bins can have."""
        return min(self.n_features, len(self.points))

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Yield the features of some histograms at a time, in rows."""
        size = max(1, BLOCK // (8 * self.n_features))
        for first in range(0, len(self.means), size):
            some = slice(first, first + size)
            parts = [self.means[some]]
            if self.own:
                parts.insert(0, self.own * self.rows[some].toarray())
            yield some, np.hstack(parts)

    def class_means(self, classes: Classes) -> Floats:
        """Means of the features of each class, (c, m)."""
        parts = [classes.means(self.means)]
        if self.own:
            parts.insert(0, self.own * classes.means(self.rows))
        return np.hstack(parts)

    def products(self) -> Floats:
        """Inner products of the features of histograms, (n, n), in blocks of rows."""
        n, d = self.rows.shape
        found = np.zeros((n, n))
        is_dense = self.rows.nnz > DENSE * n * d
        rows = self.rows.toarray() if is_dense else self.rows
        size = max(1, BLOCK // (8 * n))
        for first in range(0, n, size):
            some = slice(first, first + size)
            if self.own:
                block = rows[some] @ rows.T
                found[some] = block if is_dense else block.toarray()
                found[some] *= self.own**2
            found[some] += self.means[some] @ self.means.T
        return found

    def of_bins(self, W: Floats) -> Floats:
        """Positions of the bins for directions in the features, (m, r)."""
        d = len(self.points) if self.own else 0
        found: Floats = self.points @ W[d:]
        return found + self.own * W[:d] if self.own else found

    def of_bins_by_histograms(self, C: Floats) -> Floats:
        """Positions of the bins for directions that are sums of histograms, (n, r)."""
        found: Floats = self.points @ (self.means.T @ C)
        return found + self.own**2 * (self.rows.T @ C) if self.own else found


def _total(squares: Floats, points: Floats | None, sizes: Any) -> float:
    """Sum up the numbers of rows of these sizes, by the weights of rows if any."""
    if points is not None:
        squares = squares * np.repeat(points, sizes)
    return float(squares.sum())


def _squares_of_means(rows: csr_array, classes: Classes) -> float:
    """Sum the squared lengths of class means, once for each member."""
    return float(classes.counts @ np.square(classes.means(rows)).sum(axis=1))
