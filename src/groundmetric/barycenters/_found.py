"""Barycenters, with the bound that proves how good they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Barycenters:
    """Histograms that minimize weighted sums of distances to others.

    Attributes
    ----------
    histograms : ndarray of shape (m, d)
        Of mass 1.
    gaps : ndarray of shape (m,)
        How far each weighted sum may be above its minimum, in units of mean(M).
    errors : ndarray of shape (m,)
        l1 distance of the marginals of smoothed plans, for mass 1; 0 if exact.
    n_iter : ndarray of int, shape (m,)
        Iterations, or linear programs if exact.
    """

    histograms: Floats
    gaps: Floats
    errors: Floats
    n_iter: NDArray[np.int64]

    @classmethod
    def unknown(cls, m: int, d: int) -> Barycenters:
        """Make room for some barycenters, which are exact until they are computed."""
        return cls(
            np.zeros((m, d)), np.zeros(m), np.zeros(m), np.zeros(m, dtype=np.int64)
        )

    @property
    def inaccuracy(self) -> Floats:
        """What the tolerance limits."""
        return inaccuracy(self.gaps, self.errors)


def inaccuracy(gaps: Floats, errors: Floats) -> Floats:
    """Bound gaps; errors of marginals change divergences by the order of their square.

    So a tolerance of 1e-5 allows marginals to be off by 1e-3.
    """
    found: Floats = np.maximum(gaps, 10.0 * np.square(errors))
    return found
