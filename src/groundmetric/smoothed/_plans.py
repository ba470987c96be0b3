r"""Sinkhorn divergences of weighted histograms, and gradients in positions and masses.

With optimal plans P and potentials f, g of two histograms, and costs
:math:`|a_p - a_q|^2`,

.. math:: \nabla_{a_p} OT_\epsilon = 2 \sum_q P_{pq} (a_p - a_q), \qquad
          \nabla_{\tilde r} OT_\epsilon = f, \qquad
          \nabla_{\tilde c} OT_\epsilon = g,

and likewise for the terms of each histogram with itself, which count -1/2. Each pair is
solved between its supports, and plans are summed up by bins as they come: time is that
of pairs times supports squared, and nothing has d x d entries.

eps is the smoothing times a fixed unit, not times the mean of the learned costs: that
would give every bin a gradient, even bins that no histogram uses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._arrays import find_arrays
from ..learning._tilted import Tilted
from ._batch import warn_of_errors
from ._problems import valid_limits
from ._sinkhorn import alternate, scaled
from ._supports import Ground, SparseProblems, SparseSolver

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..base._arrays import Array
    from ..learning._parameters import Parameters
    from ._supports import Chunk

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]


class PlanDistances:
    """Sinkhorn divergences between some histograms.

    Parameters
    ----------
    rows : csr_array of shape (n, d)
        Histograms of positive mass.
    parameters : Parameters
        What the vectors mean.
    eps : float
        The smoothing, in units of squared distances between positions.
    options : dict
        tol, max_iter, n_jobs, device and dtype, see
        :func:`~groundmetric.sinkhorn_divergence`.

    Attributes
    ----------
    distances : ndarray of shape (n, n)
        At the last parameters.
    n_inexact : int
        How many of them have not converged.
    """

    def __init__(
        self,
        rows: csr_array,
        parameters: Parameters,
        eps: float,
        options: dict[str, Any],
    ) -> None:
        self._tilted = Tilted(rows, parameters)
        self._problems = WeightedProblems(self._tilted.rows, options)
        self._eps = eps
        self._pairs = np.column_stack(np.triu_indices(rows.shape[0], 1))

    def solve(self, theta: Floats) -> None:
        """Compute the distances."""
        self._tilted.weigh(theta)
        positions = self._tilted.positions.astype(np.float64)
        self._problems.set_masses(self._tilted.rows.data)
        self._solver = PlanSolver(self._problems, positions, self._eps)
        values, error = self._solver.solve_pairs(self._pairs)
        off = ~(error <= self._problems.tol)
        self.n_inexact = int(np.count_nonzero(off))
        warn_of_errors(self.n_inexact, error.max(initial=0.0), self._problems)
        n = len(self._problems)
        self.distances = np.zeros((n, n))
        i, j = self._pairs.T
        self.distances[i, j] = self.distances[j, i] = np.maximum(values, 0.0)

    def gradient(self, weights: Floats) -> Floats:
        """Gradient of the sum of distances, weighted by an (n, n) matrix."""
        both = weights.astype(np.float64)
        both = both + both.T
        i, j = self._pairs.T
        forces = self._solver.forces(self._pairs, both[i, j])
        return self._tilted.gradient(forces.in_positions, forces.in_masses)


class WeightedProblems(SparseProblems):
    """Histograms of mass 1 on the bins that they use, whose masses change."""

    def __init__(self, rows: csr_array, options: dict[str, Any]) -> None:
        limits = options["dtype"], options["tol"], options["max_iter"]
        precision, self.tol, self.max_iter = valid_limits(*limits)
        self.n_threads = validation.n_threads(options["n_jobs"])
        self.mass = 1.0
        self.n, self.d = rows.shape
        self.first_of_y = 0
        self._bins = rows.indices.astype(np.int32)
        self._starts = rows.indptr.astype(np.int64)
        self._sizes = np.diff(self._starts)
        self.arrays = find_arrays(rows, options["device"], precision)

    def entries_of(self, row: int) -> slice:
        """Return where the entries of a histogram are."""
        return slice(*self._starts[row : row + 2])

    def set_masses(self, masses: Floats) -> None:
        """Replace the masses of all entries; those of each histogram sum to 1."""
        self._masses = masses.astype(np.float64)
        sums = np.add.reduceat(self._masses, self._starts[:-1])
        self._masses /= np.repeat(sums, self._sizes)


class Forces(NamedTuple):
    """Gradients in the positions of bins, and in the masses of all entries."""

    in_positions: Floats  # (d, r)
    in_masses: Floats  # (n_entries,)
    masses: Floats  # (d,), of plans at each bin, from and to

    @classmethod
    def nothing(cls, positions: Floats, n_entries: int) -> Forces:
        """Return zeros."""
        d = len(positions)
        return cls(np.zeros_like(positions), np.zeros(n_entries), np.zeros(d))


class PlanSolver(SparseSolver):
    """Solves pairs for one set of positions, and keeps their potentials."""

    _problems: WeightedProblems

    def __init__(
        self, problems: WeightedProblems, positions: Floats, eps: float
    ) -> None:
        centered = positions - positions.mean(axis=0)  # whose squares cancel less
        A = self._positions = centered.astype(problems.arrays.dtype)
        self._eps = eps
        squares = np.einsum("pk,pk->p", A, A)

        def block(p: NDArray[np.int32], q: NDArray[np.int32]) -> Floats:
            costs: Floats = A[p] @ (-2 * A[q]).T
            costs += squares[p][:, None]
            costs += squares[q]
            np.maximum(costs, 0.0, out=costs)
            _, rows, columns = np.intersect1d(
                p, q, assume_unique=True, return_indices=True
            )
            costs[rows, columns] = 0.0
            return costs

        super().__init__(problems, Ground(block, 1.0, eps))
        self._kept: dict[int, Kept] = {}  # by the first pair of a chunk

    def solve_pairs(self, pairs: Indices) -> tuple[Floats, Floats]:
        """S of pairs, and the errors of their marginals."""
        problems, get = self._problems, self._problems.arrays.get
        values, error = np.empty((2, len(pairs)))

        def solve(which: Indices) -> tuple[Floats, Floats, Kept]:
            _, loaded = self._loaded(pairs[which], self._eps)
            k, r, c, _ = loaded
            fit = self._iterated(alternate, loaded)
            f = k.to_potentials(scaled(k, r, c, fit.g)[2])
            found = k.xp.sum(f * r, axis=1) + k.xp.sum(fit.g * c, axis=1)
            return get(found), get(fit.error), Kept(f, fit.g)

        for which, (found, off, kept) in problems.each_chunk(solve, pairs):
            values[which], error[which] = found, off
            self._kept[int(which[0])] = kept
        own, (i, j) = self._of_own, pairs.T
        values -= (own.values[i] + own.values[j]) / 2
        return values, np.maximum(error, np.maximum(own.error[i], own.error[j]))

    def forces(self, pairs: Indices, weights: Floats) -> Forces:
        """Gradient of the weighted sum of S of all pairs that were solved."""
        n = len(self._problems)
        out = Forces.nothing(self._positions, self._problems.n_entries)
        halves = np.bincount(pairs.ravel(), np.repeat(weights / 2, 2), n)
        self._add(pairs, weights, self._kept, out)
        self._add(self._own, -halves, None, out)
        out.in_positions[...] += 2 * out.masses[:, None] * self._positions
        return out

    def _add(
        self,
        pairs: Indices,
        weights: Floats,
        all_kept: dict[int, Kept] | None,
        out: Forces,
    ) -> None:
        """Add what pairs contribute; potentials are kept, or those of one histogram."""

        def task(which: Indices) -> _Pulled | None:
            some = np.flatnonzero(weights[which])
            if len(some) == 0:
                return None
            chunk, (k, r, c, g) = self._loaded(pairs[which[some]], self._eps)
            if all_kept is None:
                f = k.to_potentials(scaled(k, r, c, g)[2])
            else:
                f, g = (k.arrays.rows(part, some) for part in all_kept[int(which[0])])
                g = g[:, : c.shape[1]]
            u, v = k.from_potentials(f), k.from_potentials(g)
            k.divide(k.encode(r), u, out=u)
            k.divide(k.encode(c), v, out=v)
            w, get = weights[which[some]], k.arrays.get
            plans = k.summed(u, v, w)
            masses = w @ get(f), w[:, None] * get(g)
            return _Pulled(pairs[which[0], 0], chunk, plans, *masses)

        for _, pulled in self._problems.each_chunk(task, pairs):
            if pulled is not None:
                self._pull(pulled, out)

    def _pull(self, pulled: _Pulled, out: Forces) -> None:
        chunk, A = pulled.chunk, self._positions
        first, others = chunk.bins
        P = pulled.plans.astype(A.dtype, copy=False)
        out.masses[first] += P.sum(axis=0)
        out.masses[others] += P.sum(axis=1)
        out.in_positions[first] -= 2 * (P.T @ A[others])
        out.in_positions[others] -= P @ (2 * A[first])
        out.in_masses[self._problems.entries_of(pulled.row)] += pulled.f
        is_real = chunk.c > 0  # padding repeats an entry
        np.add.at(out.in_masses, chunk.entries[is_real], pulled.g[is_real])


class Kept(NamedTuple):
    """Potentials of the pairs of a chunk."""

    f: Array  # (b, k)
    g: Array  # (b, l)


class _Pulled(NamedTuple):
    """Plans of pairs of one histogram, and its sum of potentials, all weighted."""

    row: int
    chunk: Chunk
    plans: Floats  # (m, k), their sum
    f: Floats  # (k,)
    g: Floats  # (b, l)
