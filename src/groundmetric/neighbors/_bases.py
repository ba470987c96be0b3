"""The histograms to search in, and the bounds that their bins allow.

Under a matrix of costs, histograms are dense, and bounds are those of
``cpp/search/dense_query.h``. If bins have coordinates, histograms are sparse, and
bounds are those of the search for word mover's distances
(``cpp/search/point_search.h``): the distance between centroids, a sum over the bins of
one histogram, and every bin sending its mass to the nearest bin of the other. If costs
between them are not Euclidean, see ``_blocks.py``. On a line, all distances are
computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from .. import _core
from .._cluster import completed
from ..base._learner import distances_to
from ..transport._points import as_masses

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from .._progress import Report
    from ..transport._line import Line

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Range = tuple[int, int]  # first, end

# Queries of a task.
QUERIES = 64


class Asked(NamedTuple):
    """A request: how many neighbors of which histograms, and how near."""

    queries: Any  # dense or sparse rows; None: histograms of the base itself
    n_neighbors: int
    radius: float
    threads: int
    report: Report | None = None
    within: Range | None = None  # which of the base; all if None


class Found(NamedTuple):
    """How many neighbors each query has, their distances and indices."""

    counts: Indices
    distances: Floats
    indices: Indices
    n_solves: int  # EMDs that the simplex started

    def without(
        self, hidden: NDArray[np.bool_], alone: NDArray[np.bool_], most: int
    ) -> Found:
        """Leave out hidden histograms and all neighbors of some queries.

        Keeps the nearest ``most`` neighbors of each query.
        """
        query = np.repeat(np.arange(len(self.counts)), self.counts)
        kept = np.flatnonzero(~hidden[self.indices] & ~alone[query])
        starts = np.searchsorted(query[kept], np.arange(len(self.counts)))
        kept = kept[np.arange(len(kept)) - starts[query[kept]] < most]
        counts = np.bincount(query[kept], minlength=len(self.counts))
        return self._replace(
            counts=counts, distances=self.distances[kept], indices=self.indices[kept]
        )

    def require_any(self) -> None:
        """Reject queries that cannot be compared."""
        if not self.counts.all():
            raise ValueError(
                f"X[{int(np.argmin(self.counts))}] has zero mass, so that it has no "
                "nearest neighbors; leave it out, use radius_neighbors, or "
                "empty='uniform'."
            )

    def by_index(self) -> Found:
        """Sort the neighbors of each query by index."""
        query = np.repeat(np.arange(len(self.counts)), self.counts)
        order = np.lexsort((self.indices, query))
        return self._replace(
            distances=self.distances[order], indices=self.indices[order]
        )

    def lists(self) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return the distances and the indices of each query, whatever their number."""
        ends = np.cumsum(self.counts)[:-1]
        found = []
        for values in (self.distances, self.indices):
            objects = np.empty(len(self.counts), dtype=object)
            objects[:] = np.split(values, ends)
            found.append(objects)
        return found[0], found[1]

    def graph(self, n: int, *, distances: bool) -> csr_matrix:
        """Return a sparse matrix of distances to n histograms, or of ones."""
        data = self.distances if distances else np.ones(len(self.indices))
        starts = np.concatenate([[0], np.cumsum(self.counts)])
        return csr_matrix((data, self.indices, starts), shape=(len(self.counts), n))

    @classmethod
    def joined(cls, parts: list[Found]) -> Found:
        """Put some queries after others."""
        counts, distances, indices, n_solves = zip(*parts, strict=True)
        return cls(
            np.concatenate(counts),
            np.concatenate(distances),
            np.concatenate(indices),
            sum(n_solves),
        )


class Base(Protocol):
    """Histograms of mass 1 to search in."""

    n_solves: int  # in the last search, here or elsewhere

    def find(self, asked: Asked) -> Found:
        """Find the nearest of each query within the radius."""


class DenseBase:
    """Histograms on bins with a matrix of costs."""

    def __init__(self, histograms: Floats, metric: Floats) -> None:
        self.n_solves = 0
        self._n = len(histograms)
        self._search = _core.DenseSearch(
            _core.Masses(histograms, 1.0), _core.CostMatrix(metric)
        )

    def find(self, asked: Asked) -> Found:
        """Find neighbors."""
        queries, n_neighbors, radius, threads, report, within = asked
        masses = None if queries is None else _core.Masses(queries, 1.0)
        n = self._n if queries is None else len(queries)
        first, end = within or (0, n)
        radii = np.full(n, -1.0)  # nowhere
        radii[first:end] = radius
        found = self._search.find(
            masses,
            n_neighbors,
            radii,
            within=within,
            n_threads=threads,
            progress=report,
        )
        n_solves = found.n_solved + found.n_stopped
        counts = np.diff(found.starts)[first:end]
        return Found(counts, found.distances, found.indices, n_solves)


class EuclideanBase:
    """Sparse histograms on bins with coordinates."""

    def __init__(self, histograms: csr_array, points: Floats) -> None:
        self.n_solves = 0
        self._histograms = histograms
        self._search = _core.PointSearch(
            as_masses(histograms, 1.0), _core.Points(points)
        )

    def find(self, asked: Asked) -> Found:
        """Find neighbors."""
        queries, n_neighbors, radius, threads, report, within = asked
        if within is not None:
            queries = self._histograms[slice(*within)]
        masses = None if queries is None else as_masses(queries, 1.0)
        starts, distances, indices, n_solves = self._search.find(
            masses,
            n_neighbors,
            radius,
            threads,
            report,
            first=-1 if within is None else within[0],
        )
        return Found(np.diff(starts), distances, indices, n_solves)


class LearnerBase:
    """Histograms under a learner's own distances, all of which are computed."""

    def __init__(self, histograms: Any, learner: Any) -> None:
        self.n_solves = 0
        self._histograms = histograms
        self._to_base = distances_to(learner, histograms)

    def find(self, asked: Asked) -> Found:
        """Find neighbors."""
        return _find_among_all(self._histograms, self._to_base, asked)


class LineBase:
    """Sparse histograms on bins on a line: distances are as cheap as bounds."""

    def __init__(self, histograms: csr_array, line: Line) -> None:
        self.n_solves = 0
        self._histograms = histograms
        self._line = line
        self._masses = line.rows(histograms, 1.0)

    def find(self, asked: Asked) -> Found:
        """Find neighbors."""

        def to_base(part: csr_array) -> Floats:
            x = self._line.rows(part, 1.0)
            found: Floats = self._line.core.pairwise(
                x, self._masses, symmetric=False, n_threads=asked.threads, progress=None
            )
            return found

        found = _find_among_all(self._histograms, to_base, asked)
        return found._replace(n_solves=0)


def _find_among_all(
    histograms: Any, to_base: Callable[[Any], Floats], asked: Asked
) -> Found:
    """Compute all distances of some queries at a time, and keep the smallest."""
    own = asked.queries is None
    first, end = asked.within or (0, histograms.shape[0])
    rows = histograms[first:end] if own else asked.queries
    parts = []
    for start in range(0, rows.shape[0], QUERIES):
        part = rows[start : start + QUERIES]
        n = part.shape[0]
        between = to_base(part)
        if own:
            k = np.arange(n)
            between[k, first + start + k] = np.inf
        parts.append(_nearest_in(between, asked))
        if asked.report is not None:
            asked.report(start + n)
    return Found.joined(parts)


def _nearest_in(between: Floats, asked: Asked) -> Found:
    """Choose the nearest of each row, by distance, then by index."""
    order = np.argsort(between, axis=1, kind="stable")[:, : asked.n_neighbors]
    near = np.take_along_axis(between, order, axis=1)
    kept = (near <= asked.radius) & np.isfinite(near)
    return Found(kept.sum(axis=1), near[kept], order[kept], between.size)


def find_there(client: object, search: Any, asked: Asked) -> Found:
    """Find neighbors on the workers of a Dask cluster, some queries at a time."""
    own = asked.queries is None
    n = search.n_samples_fit_ if own else asked.queries.shape[0]
    calls: list[tuple[object, ...]] = []
    for first in range(0, n, QUERIES):
        end = min(first + QUERIES, n)
        some = None if own else asked.queries[first:end]
        within = (first, end) if own else None
        calls.append((asked._replace(queries=some, within=within, report=None),))
    parts: dict[int, Found] = {}
    for k, part in completed(client, _found, search, calls):
        parts[k] = part
        if asked.report is not None:
            asked.report(sum(len(one.counts) for one in parts.values()))
    return Found.joined([parts[k] for k in range(len(calls))])


def _found(search: Any, asked: Asked) -> Found:
    found: Found = search._base.find(asked)
    return found
