r"""Pairs of sparse histograms whose bins a map moves, and the gradient of distances.

.. math:: M_{pq} = |z_p - z_q|, \quad z_p = A x_p, \qquad
          \nabla_{z_p} \langle P, M \rangle = \sum_q (P_{pq} + P_{qp})
          \frac{z_p - z_q}{M_{pq}}, \qquad
          \nabla_r\, d_M(r, c) = f, \quad \nabla_c\, d_M(r, c) = -f .

f is an optimal potential: 1-Lipschitz, such that f'(r - c) is the distance. It tells
how distances change with the masses, and so with the weights of bins (``_tilted.py``).
Plans and costs are those between the non-empty bins of pairs of histograms: nothing
has d^2 entries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..transport._batch import TransportBatch
from ..transport._points import as_masses
from ._checkpoint import identify
from ._tilted import Tilted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scipy.sparse import csr_array

    from .._files import Arrays
    from ..similarity._weights import Weights
    from ..transport._plans import SparsePlans
    from ._parameters import Parameters

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Found = tuple[Indices, Indices, Floats]  # starts, second histograms, distances

PAIRS = 2**13  # whose plans are summed up at a time
ARCS = 2**12  # of plans, whose lengths are computed at a time


class MappedHistograms:
    """Sparse histograms, of which any part can be searched for near pairs.

    Parameters
    ----------
    X, parameters, n_threads
        As :class:`MappedSearch` takes them.
    """

    def __init__(
        self, X: csr_array, parameters: Parameters, *, n_threads: int = 1
    ) -> None:
        self._X, self._parameters, self._threads = X, parameters, n_threads

    def __call__(
        self, members: Indices, weights: Weights
    ) -> tuple[MappedSearch, MappedSearch]:
        """Search for similar pairs of these histograms, and for dissimilar ones."""
        X = self._X[members]
        similar, dissimilar = (
            MappedSearch(
                X, self._parameters, weights, similar=kind, n_threads=self._threads
            )
            for kind in (True, False)
        )
        return similar, dissimilar

    def identity(self) -> Iterator[str]:
        """Return a fingerprint of what vectors mean."""
        for part in self._parameters.identity():
            yield part if isinstance(part, str) else identify(part)


class MappedSearch:
    """The similar pairs or the dissimilar ones of sparse histograms, near ones first.

    Parameters
    ----------
    X : csr_array of shape (n, d)
        Histograms of mass 1.
    parameters : Parameters
        What a vector means: a map of the bins' points, and weights of bins.
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
        parameters: Parameters,
        weights: Weights,
        *,
        similar: bool,
        n_threads: int = 1,
    ) -> None:
        self.X, self.parameters = X, parameters
        self._candidates = weights.candidates(similar=similar)
        self.n_threads = n_threads

    def find(
        self, metric: Floats, k: int | None = None, radii: Floats | None = None
    ) -> MappedPairs:
        """Find the k nearest of each histogram within its radius, at a vector."""
        n = self.X.shape[0]
        tilted = Tilted(self.X, self.parameters)
        tilted.weigh(metric)
        masses = as_masses(tilted.rows, 1.0)
        search = _core.PointSearch(masses, _core.Points(tilted.positions))
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
        return MappedPairs(self, tilted, found, work)

    def identity(self) -> Iterator[str]:
        """Return a fingerprint of what vectors mean."""
        return MappedHistograms(self.X, self.parameters).identity()

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
        tilted: Tilted,
        found: Found,
        work: tuple[int, int, int, int],
    ) -> None:
        self._search, self._tilted, self._work = search, tilted, work
        self.starts, self.j, self.distances = found
        n = len(self.starts) - 1
        self.i: Indices = np.repeat(np.arange(n), np.diff(self.starts))

    def plan_sum(self, weights: Floats) -> Floats:
        """Gradient of the weighted sum of the distances, in the flat vector."""
        used = np.flatnonzero(weights)
        i, j, n = self.i[used], self.j[used], len(self.starts) - 1
        # Both directions of a pair have the same distance, and so the same gradient.
        keys, which = np.unique(
            np.minimum(i, j) * n + np.maximum(i, j), return_inverse=True
        )
        pairs = np.column_stack(np.divmod(keys, n))
        total = np.asarray(np.bincount(which, weights[used], len(keys)), np.float64)
        rows, positions = self._tilted.rows, self._tilted.positions
        in_positions, in_masses = np.zeros_like(positions), np.zeros_like(rows.data)
        learns_weights = "weights" in self._search.parameters.slices
        for first in range(0, len(pairs), PAIRS):  # sums of all plans may not be sparse
            part = slice(first, first + PAIRS)
            batch = TransportBatch(
                rows, pairs[part], points=positions, n_jobs=self._search.n_threads
            )
            found = batch.solve()
            in_positions += position_gradient(found.plan_sum(total[part]), positions)
            if learns_weights:
                plans = cast("SparsePlans", found._plans)
                in_masses += plans.mass_gradient(rows, pairs[part], total[part])
        return self._tilted.gradient(in_positions, in_masses)

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
    share = np.zeros_like(arcs.data)
    for first in range(0, len(share), ARCS):  # whose coordinates stay in the cache
        part = slice(first, first + ARCS)
        away = positions[p[part]] - positions[q[part]]
        lengths = np.sqrt(np.einsum("ij,ij->i", away, away))
        np.divide(arcs.data[part], lengths, out=share[part], where=lengths > 0)
    force = csr_array((share, (p, q)), shape=plans.shape)
    pull = np.asarray(force.sum(axis=1)).ravel() + np.asarray(force.sum(axis=0)).ravel()
    gradient: Floats = pull[:, None] * positions - force @ positions
    gradient -= force.T @ positions
    return gradient
