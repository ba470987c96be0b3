"""The histograms to search in, and the bounds that their bins allow.

Under a matrix of costs, histograms are dense, and bounds are those of ``cpp/query.h``.
If bins have coordinates, histograms are sparse, and bounds are those of the search for
word mover's distances (``cpp/relaxed.h``): the distance between centroids, and every
bin sending its mass to the nearest bin of the other histogram.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..transport._points import as_masses

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from .._progress import Report

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Found = tuple[Indices, Floats, Indices]  # counts, distances, indices: query by query


class Base(Protocol):
    """Histograms of mass 1 to search in."""

    def find(
        self,
        queries: Floats | csr_array | None,
        n_neighbors: int,
        radius: float,
        threads: int,
        report: Report | None,
    ) -> Found:
        """Find the nearest of each query within the radius; None: of each histogram."""

    @property
    def n_solves(self) -> int:
        """EMDs that the simplex started in the last search."""


class MatrixBase:
    """Histograms on bins with a matrix of costs."""

    def __init__(self, histograms: Floats, metric: Floats) -> None:
        self._n = len(histograms)
        self._search = _core.PrunedSearch(
            _core.Masses(histograms, 1.0), _core.CostMatrix(metric)
        )

    def find(
        self,
        queries: Floats | None,
        n_neighbors: int,
        radius: float,
        threads: int,
        report: Report | None,
    ) -> Found:
        """Find neighbors."""
        masses = None if queries is None else _core.Masses(queries, 1.0)
        n = self._n if queries is None else len(queries)
        found = self._search.find(
            masses,
            n_neighbors,
            np.full(n, radius),
            n_threads=threads,
            progress=report,
        )
        return np.diff(found.starts), found.distances, found.indices

    @property
    def n_solves(self) -> int:
        """EMDs that the simplex started."""
        return self._search.n_solves


class PointBase:
    """Sparse histograms on bins with coordinates."""

    def __init__(self, histograms: csr_array, points: Floats) -> None:
        self._search = _core.PointSearch(
            as_masses(histograms, 1.0), _core.Points(points)
        )

    def find(
        self,
        queries: csr_array | None,
        n_neighbors: int,
        radius: float,
        threads: int,
        report: Report | None,
    ) -> Found:
        """Find neighbors."""
        masses = None if queries is None else as_masses(queries, 1.0)
        starts, distances, indices = self._search.find(
            masses, n_neighbors, radius, threads, report
        )
        return np.diff(starts), distances, indices

    @property
    def n_solves(self) -> int:
        """EMDs that the simplex started."""
        return self._search.n_solves
