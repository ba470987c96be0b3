r"""Sinkhorn divergences of pairs of rows, and their gradients.

At the optimum the derivatives of the iterations do not count (the envelope theorem):
with plans P and potentials f, g of a pair, and of each histogram with itself,

.. math:: \nabla_M S = P_{rc} - (P_{rr} + P_{cc}) / 2, \quad
          \nabla_r S = f_{rc} - f_{rr}, \quad \nabla_c S = g_{rc} - f_{cc},

the latter two up to a number for all bins, since masses are equal. eps follows the mean
of M, which adds the same number to all entries of the first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._arrays import full_device_in_words, to_numpy
from ._batch import Potentials, SinkhornBatch, SinkhornSolution, prepare
from ._costs import as_dissimilarity
from ._distances import symmetric
from ._sinkhorn import scaled

if TYPE_CHECKING:
    from ..base._arrays import Array

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Gradients(NamedTuple):
    """Of a weighted sum of values: in both histograms of each pair, and the metric."""

    u: Array  # (n_pairs, d), centered
    v: Array
    metric: Floats  # (d, d)


class RowsInPairs:
    """Pairs (i, j) of rows of two arrays: row i of r with row j of c.

    Masses are equal in each pair. The work is done where the arrays lie.
    """

    def __init__(
        self, r: Array, c: Array, pairs: Indices, *, tol: float | None, max_iter: int
    ) -> None:
        left, right = (
            validation.as_histograms(to_numpy(rows), name)
            for name, rows in (("r", r), ("c", c))
        )
        validation.require_same_bins(left, right)
        masses = validation.paired_masses(left, right, pairs)
        self._masses = masses[pairs[:, 0]]
        self._batch = SinkhornBatch(
            r / r.sum(axis=1)[:, None],
            pairs,
            Y=c / c.sum(axis=1)[:, None],
            tol=tol,
            max_iter=max_iter,
            dtype=str(r.dtype).rpartition(".")[2],
        )

    def solve(
        self, metric: Floats, smoothing: float
    ) -> tuple[Floats, Potentials | None]:
        """Values, and the potentials of pairs and of all histograms; None at inf."""
        solution = self._batch.solve(metric, smoothing)
        values = solution.values * self._masses
        validation.require_in_range(values)
        return values, solution.potentials

    def gradients(
        self,
        metric: Floats,
        smoothing: float,
        values: Floats,
        potentials: Potentials | None,
        weights: Floats,
    ) -> Gradients:
        """Gradients at a solution; if a weight is not finite, NaN in the metric."""
        batch = self._batch
        problems = batch._problems
        ground = prepare(problems, as_dissimilarity(metric, problems.d), smoothing)
        solution = SinkhornSolution(
            values=values / self._masses,
            converged=np.ones(len(batch), bool),
            marginal_error=np.zeros(len(batch)),
            n_iter=np.zeros(len(batch), np.int64),
            potentials=potentials,
            _batch=batch,
            _ground=ground,
        )
        finite = np.isfinite(weights)
        G = solution.plan_sum(np.where(finite, weights, 0.0) * self._masses)
        if not finite.all():
            G[...] = np.nan  # eps follows the metric, so each pair is in each entry
        with full_device_in_words(len(batch), problems.d):
            if ground.k is None or potentials is None:
                u, v = self._of_energies(ground)
            else:
                u, v = self._of_potentials(ground, potentials)
        return Gradients(u, v, symmetric(G))

    def _of_potentials(self, ground: Any, potentials: Potentials) -> tuple[Array, ...]:
        """Potentials of each pair, less those of its histograms with themselves."""
        problems, rows, k = self._batch._problems, self._batch._rows, ground.k
        put = problems.arrays.put
        u, v = (problems.arrays.empty(len(rows), problems.d) for _ in range(2))

        def task(chunk: slice) -> None:
            r, c = problems.gather(rows[chunk])
            g = potentials.pairs[chunk]
            f = k.to_potentials(scaled(k, r, c, g)[2])
            i, j = (potentials.own[put(rows[chunk, side])] for side in (0, 1))
            u[chunk], v[chunk] = f - i, g - j

        for _ in problems.each_chunk(task, len(rows), k.bytes_a_pair):
            pass
        return tuple(self._centered(each, ground.unit) for each in (u, v))

    def _of_energies(self, ground: Any) -> tuple[Array, ...]:
        """-M (r - c), and M (r - c)."""
        problems = self._batch._problems
        r, c = problems.gather(self._batch._rows)
        v = problems.product(r - c, problems.arrays.put(ground.M))
        return tuple(self._centered(each, ground.unit) for each in (-v, v))

    def _centered(self, potentials: Array, unit: float) -> Array:
        """Sum to zero over all bins, in the units of the metric."""
        xp = self._batch._problems.arrays.xp
        return (potentials - xp.mean(potentials, axis=1)[:, None]) * unit
