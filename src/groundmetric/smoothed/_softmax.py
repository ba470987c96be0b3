r"""Softmax over neighbors: the probability of a neighbor of the same class.

.. math:: L = - \frac{1}{|I|} \sum_{i \in I} \log
          \frac{\sum_{j \in S_i} v_{ij}\, e^{-d_{ij} / \tau}}
               {\sum_{l \in S_i \cup D_i} v_{il}\, e^{-d_{il} / \tau}}

S_i are the histograms similar to i and D_i those dissimilar to it, v the weights of
pairs relative to the largest of their kind, and I the histograms that have both. With
labels, v is 1, and this is the loss of neighborhood components analysis, the sum over
neighbors inside the logarithm. In d_ij the gradient is the difference of two softmaxes,
:math:`(p^S_{ij} - p_{ij}) / (\tau |I|)`. If histograms have weights, that of j
multiplies v_ij, and that of i its logarithm and what it counts in |I|.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..base._arrays import numpy_arrays
from ..learning._criterion import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from .. import _files
    from ..base._arrays import Array, Arrays
    from ._batches import Batches

# tau, as a share of the first median distance.
TEMPERATURE = 0.2
# Sums below this, relative to the largest term of all, are added up by themselves.
SMALL = 1e-20
# Rows at a time, so that their exponentials stay in the processor's cache.
BLOCK = 128


class Softmax(NamedTuple):
    """The loss, and its derivative in each distance."""

    value: float
    weights: Array


class SoftmaxCriterion:
    """L on one batch of histograms after another.

    Parameters
    ----------
    batches : Batches
        Draws them, and computes their distances.
    temperature : float
        tau, as a share of the median distance at the start.
    tau : float, optional
        The temperature itself.
    """

    def __init__(
        self,
        batches: Batches,
        tau: float | None = None,
        temperature: float = TEMPERATURE,
    ) -> None:
        self._batches = batches
        # Devices agree on it, and on tau to rounding.
        self._given = f"temperature {temperature}" if tau is None else f"tau {tau}"
        self.tau = temperature * batches.first_median() if tau is None else tau

    def linearize(self, theta: Array) -> Evaluation:
        """Return zero: no part of L is concave."""
        return Evaluation.nothing(theta)

    def evaluate(self, theta: Array) -> Evaluation:
        """Value and gradient in the parameters, on the next batch."""
        solver, members = self._batches.next_solved(theta)
        weights = self._batches.relative_weights(members)
        points = self._batches.points_of(members)
        found = softmax(
            solver.distances, weights, self.tau, self._batches.arrays, points
        )
        gradient = solver.gradient(found.weights)
        n = len(found.weights)
        return Evaluation(
            found.value,
            gradient,
            n_solves=n * (n - 1) // 2,
            n_inexact=solver.n_inexact,
        )

    def identity(self) -> Iterator[Any]:
        """Return what the criterion depends on, but for the histograms."""
        yield f"softmax {self._given}"
        yield from self._batches.weights.parts()
        yield from self._batches.identity()

    def state(self) -> _files.Arrays:
        """Return where the draws are."""
        return self._batches.state()

    def set_state(self, state: _files.Arrays) -> None:
        """Continue these draws."""
        self._batches.set_state(state)


def softmax(
    D: Array,
    weights: Callable[[slice], Array],
    tau: float,
    arrays: Arrays | None = None,
    points: Array | None = None,
) -> Softmax:
    """Evaluate L, some rows at a time.

    Weights of pairs, (rows, n), are relative: positive for similar ones, negative for
    dissimilar ones; those of points, (n,), are 1 if there are none.
    """
    arrays = numpy_arrays(D.dtype) if arrays is None else arrays
    derivative, total, n_members = arrays.xp.empty_like(D), 0.0, 0.0
    size = BLOCK if arrays.xp is np else len(D)
    for first in range(0, len(D), size):
        rows = slice(first, min(first + size, len(D)))
        v, k = weights(rows), arrays.positions(rows.stop - first)
        v[k, k + first] = 0.0
        own = None if points is None else points[rows]
        found = _of_rows(D[rows] * (-1 / tau), v, arrays.xp, own)
        derivative[rows] = found.weights
        total += found.value
        n_members += found.n_members
    derivative /= tau * (n_members or 1)
    return Softmax(total / (n_members or 1), derivative)


class _Rows(NamedTuple):
    value: float  # sum of the logarithms
    weights: Array  # differences of shares, (rows, n)
    n_members: float  # or their total weight


def _of_rows(logits: Array, v: Array, xp: ModuleType, own: Array | None) -> _Rows:
    """Sum up the logarithms of some rows; those without similar ones do not count."""
    similar, sizes = v > 0, xp.abs(v)
    logits[v == 0] = -math.inf
    members = xp.any(similar, axis=1)
    everyone = _Terms.of(logits, sizes, xp)
    near = everyone.part(similar, xp)
    small = members & (near.sums < SMALL)  # all similar ones are far away
    if xp.any(small):
        far = logits[small]
        far[~similar[small]] = -math.inf
        near.replace(small, _Terms.of(far, sizes[small], xp))
    logs = everyone.logs(members, xp) - near.logs(members, xp)
    weights = near.shares(members, xp)
    weights -= everyone.shares(members, xp)
    if own is None:
        return _Rows(float(xp.sum(logs)), weights, float(xp.sum(members)))
    weights *= own[:, None]
    counted = own[members]
    return _Rows(float(xp.sum(logs * counted)), weights, float(xp.sum(counted)))


class _Terms(NamedTuple):
    """Exponentials, relative to the largest of their row."""

    terms: Array  # (rows, n)
    sums: Array  # (rows,)
    largest: Array  # (rows,), of the logits

    @classmethod
    def of(cls, logits: Array, sizes: Array, xp: ModuleType) -> _Terms:
        largest = xp.max(logits, axis=1)
        largest[xp.isinf(largest)] = 0.0  # of a row without pairs
        terms = xp.exp(logits - largest[:, None])
        terms *= sizes
        return cls(terms, xp.sum(terms, axis=1), largest)

    def part(self, which: Array, xp: ModuleType) -> _Terms:
        """Those of some pairs."""
        terms = self.terms * which
        largest = xp.asarray(self.largest, copy=True)
        return _Terms(terms, xp.sum(terms, axis=1), largest)

    def replace(self, rows: Array, others: _Terms) -> None:
        """Put others in place of some rows."""
        for own, new in zip(self, others, strict=True):
            own[rows] = new

    def logs(self, rows: Array, xp: ModuleType) -> Array:
        """Logarithms of the sums of some rows."""
        return xp.log(self.sums[rows]) + self.largest[rows]

    def shares(self, rows: Array, xp: ModuleType) -> Array:
        """Divide by the sums; other rows are zero."""
        scale = xp.zeros_like(self.sums)
        scale[rows] = 1 / self.sums[rows]
        return self.terms * scale[:, None]
