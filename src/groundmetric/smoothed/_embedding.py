r"""Histograms as points, and their nearest neighbors by products of matrices.

At infinite smoothing, the distance of two histograms is the squared Euclidean distance
of their mean positions, :math:`\sum_p \tilde r_p a_p`. Any index of nearest neighbors
can use these vectors; this one is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._arrays import find_arrays
from ..learning._entries import weighted
from ._means import squared

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]

# Bytes of a block of distances.
BLOCK = 2**24
# Distances that are multiplied out are off by this part of the squared lengths.
ROUNDING = 1e-13


def embed(rows: csr_array, log_weights: Floats, positions: Floats) -> Floats:
    """Return the mean positions of histograms of positive mass, (n, r)."""
    tilted = rows.copy()
    tilted.data = weighted(rows.data, rows, log_weights)
    means: Floats = tilted @ positions
    return means


class Embedded:
    """Points on a device, to compute squared distances to.

    Parameters
    ----------
    points : ndarray of shape (n, r)
        In rows.
    n_jobs, device, dtype
        See :func:`~groundmetric.sinkhorn_divergence`.
    """

    def __init__(
        self,
        points: Floats,
        *,
        n_jobs: int | None = None,
        device: str | None = None,
        dtype: str = "float64",
    ) -> None:
        self._arrays = find_arrays(points, device, np.dtype(dtype))
        self._threads = validation.n_threads(n_jobs)
        self._center = points.mean(axis=0)  # squares cancel less
        self._points = self._arrays.put(points - self._center)

    def distances(self, others: Floats | None = None) -> Floats:
        """Squared distances of other points to these, or of these to each other."""
        left = self._points
        if others is not None:
            left = self._arrays.put(others - self._center)
        between = squared(left, self._points, self._arrays, self._threads)
        found = self._arrays.get(between)
        if others is None:
            np.fill_diagonal(found, 0.0)
        return found


def nearest(base: Floats, queries: Floats, k: int) -> tuple[Floats, Indices]:
    """Return squared distances and indices of the k nearest rows of the base.

    Rows are sorted by distance; ties go to the first. Distances are multiplied out to
    find candidates, and those of the candidates are computed again from differences.
    """
    base, queries = (np.asarray(rows, np.float64) for rows in (base, queries))
    center = base.mean(axis=0)
    centered = base - center  # whose squares cancel less
    own = np.square(centered).sum(axis=1)
    k = min(k, len(base))
    found = np.empty((len(queries), k)), np.empty((len(queries), k), np.int64)
    size = max(1, BLOCK // (8 * len(base)))
    for first in range(0, len(queries), size):
        part = queries[first : first + size]
        moved = part - center
        between = own - 2 * (moved @ centered.T)  # less the query's own square
        limits = np.partition(between, k - 1, axis=1)[:, k - 1]
        limits += ROUNDING * (own.max() + np.square(moved).sum(axis=1))
        rows, candidates = np.nonzero(between <= limits[:, None])
        distances = np.square(part[rows] - base[candidates]).sum(axis=1)
        order = np.lexsort((candidates, distances, rows))
        starts = np.searchsorted(rows, np.arange(len(part)))
        chosen = order[starts[:, None] + np.arange(k)]
        block = slice(first, first + len(part))
        found[0][block], found[1][block] = distances[chosen], candidates[chosen]
    return found
