"""Near pairs of a set of histograms by Sinkhorn divergence, for criteria to count.

The exact search proves most pairs too far without solving them. Here all pairs share
one matrix product, and solving them costs less than bounding them: all distances are
computed at once, and the near ones are chosen. Each pair starts from the potentials of
its second histogram with itself, so that an evaluation depends on the metric alone. The
potentials of the last step would gain little: two iterations lead to a marginal error
of 1e-3 from either for a smoothing of 1 or more, and two instead of four for 0.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..learning._batches import Draws
from ._distances import distances_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ..similarity._weights import Weights
    from ._distances import Distances

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class SmoothedPairs:
    """All pairs of a set of histograms, or those of one batch of them after another.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Histograms of mass 1.
    weights : Weights
        Weights of pairs; those of weight zero do not count.
    smoothing : float
        Above 0; may be infinite.
    batch_size : int, optional
        Histograms in a batch, one of which is drawn for each evaluation. All of them if
        None.
    seed : int
        Draws the batches.
    options : dict
        n_jobs, device and dtype, see :func:`~groundmetric.sinkhorn_divergence`.
    """

    def __init__(
        self,
        X: Floats,
        weights: Weights,
        smoothing: float,
        *,
        batch_size: int | None = None,
        seed: int = 0,
        options: dict[str, Any],
    ) -> None:
        self.X, self.weights = X, weights
        self._smoothing, self._options = smoothing, options
        self.draws = Draws(len(X), len(X) if batch_size is None else batch_size, seed)
        self._metric: Floats | None = None
        self._members = np.arange(len(X))
        self._is_whole = self.draws.size == len(X)
        self._solver = self._solver_of(X) if self._is_whole else None

    @property
    def searches(self) -> tuple[SmoothedSearch, SmoothedSearch]:
        """The similar pairs, and the dissimilar ones."""
        return SmoothedSearch(self, similar=True), SmoothedSearch(self, similar=False)

    def solved_for(self, metric: Floats, *, fresh: bool) -> tuple[Distances, Indices]:
        """Distances under a metric, and which histograms they are between.

        Draws the next batch, even if the metric has not changed.
        """
        solver = self._solver
        if (
            metric is not self._metric
            or solver is None
            or (fresh and not self._is_whole)
        ):
            if not self._is_whole:
                self._members = self.draws.draw()
                solver = None
            solver = solver or self._solver_of(self.X[self._members])
            solver.solve(metric)
            self._metric, self._solver = metric, solver
        return solver, self._members

    def _solver_of(self, X: Floats) -> Distances:
        return distances_of(X, self._smoothing, self._options)

    def identity(self) -> Iterator[str]:
        """Return what distances depend on, but for histograms and weights."""
        yield f"smoothed {self._smoothing} {self.draws.size} {self._options['dtype']}"


class SmoothedSearch:
    """The similar pairs or the dissimilar ones."""

    def __init__(self, pairs: SmoothedPairs, *, similar: bool) -> None:
        self._pairs, self._similar = pairs, similar

    def find(
        self, metric: Floats, k: int | None = None, radii: Floats | None = None
    ) -> NearPairs:
        """Find the k nearest of each histogram within its radius; all if None.

        In a batch, k shrinks in proportion to its share of all histograms. Similar
        pairs are searched first, and draw the batch.
        """
        solver, members = self._pairs.solved_for(metric, fresh=self._similar)
        omega = self._pairs.weights.of(members[:, None], members)
        counts = omega > 0 if self._similar else omega < 0
        np.fill_diagonal(counts, val=False)
        n_solves = int(np.count_nonzero(counts)) // 2
        if radii is not None:
            counts &= solver.distances <= radii[:, None]
        if k is not None:
            k = self._pairs.draws.share(k)
            counts = _nearest(np.where(counts, solver.distances, np.inf), k)
        i, j = np.nonzero(counts)
        distances = solver.distances[i, j]
        if k is not None:  # sorting all pairs would take longer than their distances
            order = np.lexsort((distances, i))
            i, j, distances = i[order], j[order], distances[order]
        starts = np.searchsorted(i, np.arange(len(members) + 1))
        found = starts, members[i], members[j], distances
        # Both searches share the solver: count pairs that have not converged once.
        n_inexact = solver.n_inexact if self._similar else 0
        return NearPairs(*found, i, j, solver, n_solves, n_inexact)

    def identity(self) -> Iterator[str]:
        """Return what distances depend on, but for histograms and weights."""
        return self._pairs.identity()

    def state(self) -> Arrays:
        """Return what searches leave behind for later ones."""
        return self._pairs.draws.state()

    def set_state(self, state: Arrays) -> None:
        """Continue as the search that this state is of."""
        self._pairs.draws.set_state(state)


@dataclass(frozen=True, eq=False)
class NearPairs:
    """Pairs (i, j), by i, and where they are in their batch.

    Those of a limited number are sorted by distance, too.
    """

    starts: Indices
    i: Indices
    j: Indices
    distances: Floats
    row: Indices
    column: Indices
    solver: Distances
    n_solves: int
    n_inexact: int

    def plan_sum(self, weights: Floats) -> Floats:
        """Gradient of the weighted sum of the distances."""
        return self.solver.gradient(self.row, self.column, weights)

    def work(self) -> dict[str, int]:
        """Count the distances, and those that have not converged."""
        return {"n_solves": self.n_solves, "n_inexact": self.n_inexact}


def _nearest(distances: Floats, k: int) -> NDArray[np.bool_]:
    """Mark the k nearest in each row, among those at a finite distance."""
    n = len(distances)
    if k >= n:
        near = np.ones_like(distances, dtype=bool)
    else:
        near = np.zeros_like(distances, dtype=bool)
        chosen = np.argpartition(distances, k - 1, axis=1)[:, :k]
        np.put_along_axis(near, chosen, values=True, axis=1)
    return near & np.isfinite(distances)
