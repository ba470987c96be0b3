r"""Metrics between bins with coordinates: distances after a linear map.

.. math:: M_{pq} = |A (x_p - x_q)|, \qquad
          \nabla_A \langle P, M \rangle
          = \sum_{pq} P_{pq}\, A (x_p - x_q) (x_p - x_q)' / M_{pq}

A metric of 5,000 bins has 12.5 million entries; A has r s of them, one row for each of
r dimensions and one column for each of s coordinates. Every A gives a metric, so that a
step needs no projection. Plans and costs are those between the non-empty bins of pairs
of histograms: nothing has d^2 entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .. import _core, validation
from ..transport._batch import TransportBatch
from ..transport._points import as_masses
from ._checkpoint import identify
from ._space import Moved, norm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from .._files import Arrays
    from ..similarity._weights import Weights

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Found = tuple[Indices, Indices, Floats]  # starts, second histograms, distances

PAIRS = 2**13  # whose plans are summed up at a time
COLLAPSED = 1e-9  # size of a map, relative to the last, that rounding explains

# Bins up to which the matrix of all distances between them is made: 800 MB.
LARGEST = 10_000


class LinearMaps:
    """Maps A of points, from one on, scaled to a mean squared distance of 1.

    Parameters
    ----------
    points : ndarray of shape (d, s)
        Centered coordinates of the bins.
    start : ndarray of shape (r, s)
        The first map.
    """

    def __init__(self, points: Floats, start: Floats) -> None:
        self._covariance = points.T @ points / len(points)  # (s, s)
        self.metric = self._scaled(start)

    def _scaled(self, A: Floats) -> Floats:
        """Scale a map; criteria are homogeneous, only its direction counts."""
        A = A / (np.abs(A).max() or 1.0)
        spread = 2 * float(((A @ self._covariance) * A).sum())  # mean |A(x_p - x_q)|^2
        scaled: Floats = A / (np.sqrt(max(spread, 0.0)) or 1.0)
        return scaled

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Go t0 / sqrt(t) |A| / |g| against g, and scale again."""
        size, length = norm(self.metric), norm(gradient)
        moved = self.metric - (step_size * size / length) * gradient
        if norm(moved) <= COLLAPSED * size:
            return Moved(is_stuck=True)
        self.metric = self._scaled(moved)
        return Moved()

    def tidied(self, metric: Floats) -> Floats:
        """Means of maps are maps."""
        return metric

    def require(self, metric: Floats, name: str) -> None:
        """Reject what is not a map of these points."""
        A = validation.as_float_array(metric, name, 2)
        if A.shape != self.metric.shape:
            raise ValueError(f"{name} has shape {A.shape}")
        validation.require_finite(A, name)

    def state(self) -> Arrays:
        """Return the map."""
        return {"map": self.metric}

    def set_state(self, state: Arrays) -> None:
        """Continue from there."""
        self.require(state["map"], "map")
        self.metric = state["map"]


class MappedSearch:
    """The similar pairs or the dissimilar ones of sparse histograms, near ones first.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Histograms of mass 1.
    points : ndarray of shape (d, s)
        Coordinates of the bins.
    weights : Weights
        Weights of pairs; those of weight zero do not count.
    similar : bool
        Which pairs.
    n_threads : int
        Threads over histograms.
    """

    def __init__(
        self,
        X: csr_array,
        points: Floats,
        weights: Weights,
        *,
        similar: bool,
        n_threads: int = 1,
    ) -> None:
        self.X, self.points = X, points
        self._masses = as_masses(X, 1.0)
        self._candidates = weights.candidates(similar=similar)
        self.n_threads = n_threads

    def find(
        self, metric: Floats, k: int | None = None, radii: Floats | None = None
    ) -> MappedPairs:
        """Find the k nearest of each histogram within its radius, under a map."""
        n = self.X.shape[0]
        positions = self.points @ metric.T  # (d, r)
        search = _core.PointSearch(self._masses, _core.Points(positions))
        if radii is None:
            radii = np.full(n, np.inf)
        starts, distances, j, work = search.find_among(
            n if k is None else k,
            radii,
            **self._candidates,
            once=k is None,
            n_threads=self.n_threads,
        )
        found = starts, j, distances
        if k is None:  # each pair was found once
            found = _from_both_ends(found, radii)
        return MappedPairs(self, positions, found, work)

    def identity(self) -> Iterator[str]:
        """Return a fingerprint of the points."""
        yield f"map {self.points.shape} {identify(self.points)}"

    def state(self) -> Arrays:
        """Return nothing: searches do not depend on earlier ones."""
        return {}

    def set_state(self, state: Arrays) -> None:
        """Continue as the search that this state is of."""


def _from_both_ends(found: Found, radii: Floats) -> Found:
    """Add the pairs (j, i) to pairs (i, j), where they are within the radius of j."""
    starts, j, distances = found
    i = np.repeat(np.arange(len(radii)), np.diff(starts))
    back = distances <= radii[j]
    i, j = np.concatenate([i, j[back]]), np.concatenate([j, i[back]])
    distances = np.concatenate([distances, distances[back]])
    order = np.lexsort((j, distances, i))
    starts = np.searchsorted(i[order], np.arange(len(radii) + 1))
    return starts, j[order], distances[order]


class MappedPairs:
    """Pairs (i, j) that a search found, by i and then by distance."""

    def __init__(
        self,
        search: MappedSearch,
        positions: Floats,
        found: Found,
        work: tuple[int, int, int, int],
    ) -> None:
        self._search, self._positions, self._work = search, positions, work
        self.starts, self.j, self.distances = found
        n = len(self.starts) - 1
        self.i: Indices = np.repeat(np.arange(n), np.diff(self.starts))

    def plan_sum(self, weights: Floats) -> Floats:
        """Gradient in the map of the weighted sum of the distances, (r, s)."""
        used = np.flatnonzero(weights)
        i, j, n = self.i[used], self.j[used], len(self.starts) - 1
        # Both directions of a pair have the same distance, and so the same gradient.
        keys, which = np.unique(
            np.minimum(i, j) * n + np.maximum(i, j), return_inverse=True
        )
        pairs = np.column_stack(np.divmod(keys, n))
        total = np.bincount(which, weights[used], len(keys))
        gradient = np.zeros_like(self._positions)
        for first in range(0, len(pairs), PAIRS):  # sums of all plans may not be sparse
            part = slice(first, first + PAIRS)
            batch = TransportBatch(
                self._search.X,
                pairs[part],
                points=self._positions,
                n_jobs=self._search.n_threads,
            )
            plans = batch.solve().plan_sum(total[part])
            gradient += position_gradient(plans, self._positions)
        in_map: Floats = gradient.T @ self._search.points
        return in_map

    def work(self) -> dict[str, int]:
        """Count what it took, as an evaluation has it."""
        n_solved, n_stopped, n_bounded, n_pivots = self._work
        return {
            "n_solves": n_solved + n_stopped,
            "n_stopped": n_stopped,
            "n_bounded": n_bounded,
            "n_pivots": n_pivots,
        }


def position_gradient(plans: csr_array, positions: Floats) -> Floats:
    """Gradient of <P, M> in positions z, where M_pq = |z_p - z_q|: rows of z.

    Mass that moves between bins in the same place adds nothing.
    """
    from scipy.sparse import csr_array

    arcs = plans.tocoo()
    p, q = arcs.coords
    away = positions[p] - positions[q]
    lengths = np.sqrt(np.square(away).sum(axis=1))
    share = arcs.data / np.where(lengths > 0, lengths, 1.0)
    force = csr_array((share, (p, q)), shape=plans.shape)
    pull = np.asarray(force.sum(axis=1)).ravel() + np.asarray(force.sum(axis=0)).ravel()
    gradient: Floats = pull[:, None] * positions - force @ positions
    gradient -= force.T @ positions
    return gradient


def all_distances(positions: Floats, name: str) -> Floats:
    """Compute the matrix of distances between all bins, if there are not too many."""
    d = len(positions)
    if d > LARGEST:
        raise ValueError(
            f"{name.replace('embedding', 'metric')} would have {d} x {d} entries; use "
            f"{name} instead, for instance in pairwise_emd(points=learner.{name})."
        )
    metric: Floats = cdist(positions, positions)
    return metric


def of_unscaled(A: Floats, k: int) -> Floats:
    """Turn a map of points divided by 2^k into one of the points themselves."""
    with np.errstate(over="ignore"):
        components: Floats = np.ldexp(A, -k)
    if not np.isfinite(components).all():
        raise ValueError(
            f"points are less than 2^{k} in absolute value: a map to distances of "
            "about 1 exceeds the range of double precision; scale them up."
        )
    return components
