"""Nearest neighbors under any costs between bins with coordinates.

Costs are computed between the bins of some queries and of some histograms at a time, as
:func:`pairwise_emd` does. Nothing is known of them, except that one of their bounds
holds for any: every bin sends its mass to the nearest bin of the other histogram. Of
the histograms looked at so far, each query keeps only its nearest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _core, validation
from ..transport._points import METRICS, as_masses, bins_of, costs_between, groups_of
from ._bases import Found

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ._bases import Asked

Floats = NDArray[np.float64]


class Part(NamedTuple):
    """Some histograms, and which bins they use."""

    first: int  # its index in the base
    masses: _core.SparseMasses
    bins: NDArray[np.int32]


class PointsBase:
    """Sparse histograms on bins with coordinates, under any costs."""

    def __init__(
        self,
        histograms: csr_array,
        points: Floats,
        metric: str | validation.GroundCost,
    ) -> None:
        self.n_solves = 0
        self._histograms = histograms
        self._points = points
        self._ground = validation.as_ground_cost(metric)
        self._is_symmetric = isinstance(metric, str)
        self._is_metric = metric in METRICS
        self._parts = [
            _part(histograms[rows], rows.start) for rows in groups_of(histograms)
        ]

    def find(self, asked: Asked) -> Found:
        """Find neighbors."""
        queries = asked.queries
        first = None  # index of the first query in the base
        if queries is None:
            first, end = asked.within or (0, self._histograms.shape[0])
            queries = self._histograms[first:end]
        found = []
        for rows in groups_of(queries):
            own = None if first is None else first + rows.start
            found.append(self._find_of(queries[rows], own, asked))
            if asked.report is not None:
                asked.report(rows.stop)
        return Found.joined(found)

    def _find_of(self, queries: csr_array, own: int | None, asked: Asked) -> Found:
        """Find the neighbors of a few queries, in one part of the base at a time."""
        n = queries.shape[0]
        these = _part(queries, -n if own is None else own)
        nearest = Found(np.zeros(n, np.int64), np.empty(0), np.empty(0, np.int64), 0)
        radii = np.full(n, asked.radius)
        for part in self._parts:
            costs = costs_between(self._ground, self._points, these.bins, part.bins)
            starts, distances, indices, n_solves = _core.nearest_sparse(
                these.masses,
                part.masses,
                _core.CostMatrix(costs),
                these.bins,
                part.bins,
                asked.n_neighbors,
                radii,
                first=these.first - part.first,
                symmetric=self._is_symmetric,
                reduced=self._is_metric,
                n_threads=asked.threads,
            )
            found = Found(np.diff(starts), distances, indices + part.first, n_solves)
            nearest = _nearest_of(nearest, found, asked.n_neighbors)
            full = nearest.counts == asked.n_neighbors
            radii[full] = nearest.distances[np.cumsum(nearest.counts)[full] - 1]
        return nearest


def _part(rows: csr_array, first: int) -> Part:
    return Part(first, as_masses(rows, 1.0), bins_of(rows))


def _nearest_of(left: Found, right: Found, n_neighbors: int) -> Found:
    """Keep the nearest of two lists for each query, by distance, then by index."""
    n = len(left.counts)
    query = np.concatenate(
        [np.repeat(np.arange(n), part.counts) for part in (left, right)]
    )
    distances = np.concatenate([left.distances, right.distances])
    indices = np.concatenate([left.indices, right.indices])
    order = np.lexsort((indices, distances, query))
    counts = left.counts + right.counts
    starts = np.cumsum(counts) - counts
    rank = np.arange(len(order)) - np.repeat(starts, counts)
    kept = order[rank < n_neighbors]
    return Found(
        np.minimum(counts, n_neighbors),
        distances[kept],
        indices[kept],
        left.n_solves + right.n_solves,
    )
