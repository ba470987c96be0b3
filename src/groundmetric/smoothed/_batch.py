r"""Sinkhorn divergences of many pairs of histograms, and their gradient in the cost.

.. math:: S(r, c) = OT_\epsilon(r, c) - OT_\epsilon(r, r)/2 - OT_\epsilon(c, c)/2,
          \qquad \epsilon = \rho\, mean(M).

With optimal plans P, the derivative of S in M is P(r, c) - P(r, r)/2 - P(c, c)/2 as
long as eps is held fixed. S is homogeneous in M if eps follows, <M, dS/dM> = S, and
eps depends on mean(M) alone: the same number is missing in every entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .._warnings import warn_not_converged
from ..base._arrays import full_device_in_words
from ._costs import as_dissimilarity
from ._problems import DenseProblems, Solved
from ._scalings import Scalings, scalings_for

if TYPE_CHECKING:
    from ..base._arrays import Array
    from ._supports import SparseProblems

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MAX_ITER = 10_000
# Above this the closed form of infinity is closer to the truth than the iteration is:
# rounding grows with the smoothing, and the difference of the two shrinks with it.
LARGEST_SMOOTHING = {np.dtype(np.float64): 3e7, np.dtype(np.float32): 1e3}


class Potentials(NamedTuple):
    """The state to start from again; on the device, in units of mean(M).

    Attributes
    ----------
    pairs : array of shape (n_kept, d)
        g of each pair, or of the first ones.
    own : array of shape (n_used, d)
        g of each histogram that occurs in a pair, with itself.
    """

    pairs: Array
    own: Array


class Ground(NamedTuple):
    """A cost in units of its mean, which is 1 if it is zero; no kernel: closed form."""

    M: Floats
    unit: float
    k: Scalings | None


def prepare(problems: DenseProblems, M: Floats, smoothing: float) -> Ground:
    """Scale the cost, and make the kernel. Zeros need no iteration either."""
    largest = float(M.max()) or 1.0
    with np.errstate(over="ignore"):
        validation.require_in_range(largest * np.float64(problems.mass))
    unit = float((M / largest).mean()) * largest or 1.0  # the sum may be out of range
    M = M / unit
    if smoothing > LARGEST_SMOOTHING[problems.arrays.dtype] or not M.any():
        return Ground(M, unit, None)
    return Ground(M, unit, scalings_for(M, smoothing, problems.arrays))


def debiased(pairs: Indices, between: Solved, own: Solved) -> Solved:
    """S of each pair; an error is the largest of its three."""
    i, j = pairs.T
    values = between.values - own.values[i] / 2 - own.values[j] / 2
    error = np.maximum(between.error, np.maximum(own.error[i], own.error[j]))
    return between._replace(values=values, error=error)


def warn_of_errors(
    n_off: int, worst: float, problems: DenseProblems | SparseProblems
) -> None:
    """Warn if marginals of some pairs are off by more than the tolerance."""
    if n_off:
        warn_not_converged(
            f"{n_off} pairs did not converge in max_iter={problems.max_iter} "
            f"iterations: marginals are off by up to {worst:.1e}, and tol is "
            f"{problems.tol:g}. Increase max_iter, tol or smoothing."
        )


class SinkhornBatch:
    """Pairs of histograms whose divergences are needed again and again.

    Keeps the histograms on the device; potentials, d numbers a pair, are handed back,
    to start from again when the cost has changed a little.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms of equal mass, in rows. If it is an array of PyTorch or CuPy and
        device is None, the work is done where it lies.
    pairs : array-like of int, shape (n_pairs, 2)
        Pairs (i, j): row i of X with row j of Y.
    Y : array-like or sparse matrix of shape (m, d), optional
        X itself if None.
    max_bytes : int, optional
        Keep potentials of as many pairs as fit in here, of all if None; the others are
        solved again for a gradient.
    tol, max_iter, n_jobs, device, dtype
        See :func:`~groundmetric.sinkhorn_divergence`.
    """

    def __init__(
        self,
        X: ArrayLike,
        pairs: ArrayLike,
        *,
        Y: ArrayLike | None = None,
        max_bytes: int | None = None,
        tol: float | None = None,
        max_iter: int = MAX_ITER,
        n_jobs: int | None = None,
        device: str | None = None,
        dtype: str = "float64",
    ) -> None:
        self._problems = DenseProblems(
            X,
            Y,
            tol=tol,
            max_iter=max_iter,
            n_jobs=n_jobs,
            device=device,
            dtype=dtype,
        )
        n, n_y = self._problems.n, len(self._problems) - self._problems.first_of_y
        self.pairs = validation.as_pairs(pairs, n, n_y)
        rows = self.pairs + np.array([0, self._problems.first_of_y])
        # Other histograms need not be solved with themselves.
        used = np.unique(rows)
        self._rows = np.searchsorted(used, rows)
        self._problems.rows = self._problems.rows[self._problems.arrays.put(used)]
        self.n_kept = len(self.pairs)
        if max_bytes is not None:
            a_pair = self._problems.d * self._problems.arrays.dtype.itemsize
            self.n_kept = min(self.n_kept, max(1, max_bytes // a_pair))

    def __len__(self) -> int:
        return len(self.pairs)

    def solve(
        self,
        metric: ArrayLike,
        smoothing: float = 1.0,
        potentials: Potentials | None = None,
    ) -> SinkhornSolution:
        """Solve all pairs for a cost.

        Parameters
        ----------
        metric : array-like of shape (d, d)
            Symmetric, non-negative, zero on the diagonal.
        smoothing : float, default=1.0
            Above 0; may be infinite.
        potentials : Potentials, optional
            Those of an earlier solution of this batch.

        Returns
        -------
        SinkhornSolution
        """
        smoothing = validation.as_smoothing(smoothing)
        if smoothing == 0.0:
            raise ValueError("smoothing is 0; use TransportBatch for the exact EMD.")
        problems = self._problems
        self._validate(potentials)
        M = as_dissimilarity(metric, problems.d)
        ground = prepare(problems, M, smoothing)
        with full_device_in_words(len(self), problems.d):
            found, state = self._solve(ground, potentials)
        converged = found.error <= problems.tol
        warn_of_errors(
            int(np.sum(~converged)), np.max(found.error, initial=0), problems
        )
        return SinkhornSolution(
            values=found.values * (ground.unit * problems.mass),
            converged=converged,
            marginal_error=found.error,
            n_iter=found.n_iter,
            potentials=state,
            _batch=self,
            _ground=ground,
        )

    def _solve(
        self, ground: Ground, start: Potentials | None
    ) -> tuple[Solved, Potentials | None]:
        problems, pairs = self._problems, self._rows
        if ground.k is None:
            return problems.energies(ground.M, pairs), None
        own, own_g = problems.solve_own(ground.k, start and start.own)
        g = problems.arrays.empty(self.n_kept, problems.d)
        first, rest = pairs[: self.n_kept], pairs[self.n_kept :]
        between = problems.solve_pairs(ground.k, first, own_g, start and start.pairs, g)
        if len(rest):
            others = problems.solve_pairs(ground.k, rest, own_g)
            both = zip(between, others, strict=True)
            between = Solved(*(np.concatenate(parts) for parts in both))
        return debiased(pairs, between, own), Potentials(g, own_g)

    def plan_sum(self, k: Scalings, potentials: Potentials, w: Floats) -> Floats:
        """Weighted sum of plans, including pairs without potentials."""
        problems, pairs, n = self._problems, self._rows, self.n_kept
        G = problems.plan_sum(k, pairs[:n], potentials.pairs, w[:n])
        rest = n + np.flatnonzero(w[n:])
        for start in range(0, len(rest), max(n, 1)):
            some = rest[start : start + n]
            g = problems.arrays.empty(len(some), problems.d)
            problems.solve_pairs(k, pairs[some], potentials.own, None, g)
            G += problems.plan_sum(k, pairs[some], g, w[some])
        return G

    def _validate(self, potentials: Potentials | None) -> None:
        if potentials is None:
            return
        d = self._problems.d
        for name, size in (("pairs", self.n_kept), ("own", len(self._problems))):
            shape = tuple(getattr(potentials, name).shape)
            if shape != (size, d):
                raise ValueError(
                    f"potentials.{name} has shape {shape}, but ({size}, {d}) is needed."
                )


@dataclass(frozen=True, eq=False)
class SinkhornSolution:
    """The divergences of a batch for one cost.

    Attributes
    ----------
    values : ndarray of shape (n_pairs,)
        S of each pair.
    converged : ndarray of bool, shape (n_pairs,)
        Whether the marginals are within tol.
    marginal_error : ndarray of shape (n_pairs,)
        l1 distance of the marginals of the plans, of mass 1, from the histograms: the
        largest of the pair's three problems. The error of a gradient is of this order;
        that of a value is of the order of its square.
    n_iter : ndarray of int, shape (n_pairs,)
        Iterations that each pair took.
    potentials : Potentials or None
        The state to start from again; None if smoothing is infinite.
    """

    values: Floats
    converged: NDArray[np.bool_]
    marginal_error: Floats
    n_iter: Indices
    potentials: Potentials | None = field(repr=False)
    _batch: SinkhornBatch = field(repr=False)
    _ground: Ground = field(repr=False)

    def plan_sum(self, weights: ArrayLike, *, eps_fixed: bool = False) -> Floats:
        """Gradient of the weighted sum of the values in the metric.

        Parameters
        ----------
        weights : array-like of shape (n_pairs,)
            A number for each pair.
        eps_fixed : bool, default=False
            Whether eps = smoothing * mean(metric) is held fixed: the result is then
            the sum of the plans, including the debiasing terms. By default eps
            follows the metric, which adds the same number to every entry.

        Returns
        -------
        ndarray of shape (d, d)
        """
        w = validation.as_weights(weights, self.values.size)
        problems, (M, unit, k) = self._batch._problems, self._ground
        pairs = self._batch._rows
        with full_device_in_words(len(w), problems.d):
            if k is None or self.potentials is None:
                return problems.mass * problems.energy_gradient(pairs, w)
            G = self._batch.plan_sum(k, self.potentials, w)
            own = np.repeat(np.arange(len(problems))[:, None], 2, axis=1)
            halves = np.bincount(pairs.ravel(), np.repeat(w / 2, 2), len(problems))
            G -= problems.plan_sum(k, own, self.potentials.own, halves.astype(float))
        G *= problems.mass
        if not eps_fixed:
            G += (w @ (self.values / unit) - (M * G).sum()) / M.sum()
        return G
