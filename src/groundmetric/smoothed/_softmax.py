r"""Softmax over neighbors: the probability of a neighbor of the same class.

.. math:: L = - \frac{1}{|I|} \sum_{i \in I} \log
          \frac{\sum_{j \in S_i} v_{ij}\, e^{-d_{ij} / \tau}}
               {\sum_{l \in S_i \cup D_i} v_{il}\, e^{-d_{il} / \tau}}

S_i are the histograms similar to i and D_i those dissimilar to it, v the weights of
pairs relative to the largest of their kind, and I the histograms that have both. With
labels, v is 1, and this is the loss of neighborhood components analysis, the sum over
neighbors inside the logarithm. In d_ij the gradient is the difference of two softmaxes,
:math:`(p^S_{ij} - p_{ij}) / (\tau |I|)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..learning._criterion import Evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .._files import Arrays
    from ._batches import Batches

Floats = NDArray[Any]  # float32 or float64

# tau, as a share of the first median distance.
TEMPERATURE = 0.2
# Sums below this, relative to the largest term of all, are added up by themselves.
SMALL = 1e-20
# Rows at a time, so that their exponentials stay in the processor's cache.
BLOCK = 128


class Softmax(NamedTuple):
    """The loss, and its derivative in each distance."""

    value: float
    weights: Floats


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
        self.tau = temperature * batches.first_median() if tau is None else tau

    def linearize(self, theta: Floats) -> Evaluation:
        """Return zero: no part of L is concave."""
        return Evaluation.nothing(theta)

    def evaluate(self, theta: Floats) -> Evaluation:
        """Value and gradient in the parameters, on the next batch."""
        solver, members = self._batches.next_solved(theta)
        weights = self._batches.relative_weights(members)
        found = softmax(solver.distances, weights, self.tau)
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
        yield f"softmax {self.tau}"
        yield from self._batches.identity()

    def state(self) -> Arrays:
        """Return where the draws are."""
        return self._batches.state()

    def set_state(self, state: Arrays) -> None:
        """Continue these draws."""
        self._batches.set_state(state)


def softmax(D: Floats, weights: Callable[[slice], Floats], tau: float) -> Softmax:
    """Evaluate L, some rows at a time.

    Weights of pairs, (rows, n), are relative: positive for similar ones, negative for
    dissimilar ones.
    """
    derivative, total, n_members = np.empty_like(D), 0.0, 0
    for first in range(0, len(D), BLOCK):
        rows = slice(first, min(first + BLOCK, len(D)))
        v = weights(rows)
        v[np.arange(rows.stop - first), np.arange(first, rows.stop)] = 0.0
        found = _of_rows(D[rows] * (-1 / tau), v)
        derivative[rows] = found.weights
        total += found.value
        n_members += found.n_members
    derivative /= tau * (n_members or 1)
    return Softmax(total / (n_members or 1), derivative)


class _Rows(NamedTuple):
    value: float  # sum of the logarithms
    weights: Floats  # differences of shares, (rows, n)
    n_members: int


def _of_rows(logits: Floats, v: Floats) -> _Rows:
    """Sum up the logarithms of some rows; those without similar ones do not count."""
    similar, sizes = v > 0, np.abs(v)
    logits[v == 0] = -np.inf
    members = np.asarray(similar.any(axis=1))
    everyone = _Terms.of(logits, sizes)
    near = everyone.part(similar)
    small = members & (near.sums < SMALL)  # all similar ones are far away
    if small.any():
        far = np.where(similar[small], logits[small], -np.inf)
        near.replace(small, _Terms.of(far, sizes[small]))
    value = (everyone.logs(members) - near.logs(members)).sum(dtype=np.float64)
    weights = near.shares(members)
    weights -= everyone.shares(members)
    return _Rows(float(value), weights, int(members.sum()))


class _Terms(NamedTuple):
    """Exponentials, relative to the largest of their row."""

    terms: Floats  # (rows, n)
    sums: Floats  # (rows,)
    largest: Floats  # (rows,), of the logits

    @classmethod
    def of(cls, logits: Floats, sizes: Floats) -> _Terms:
        largest = logits.max(axis=1)
        largest[np.isinf(largest)] = 0.0  # of a row without pairs
        terms = np.exp(logits - largest[:, None])
        terms *= sizes
        return cls(terms, terms.sum(axis=1), largest)

    def part(self, which: NDArray[np.bool_]) -> _Terms:
        """Those of some pairs."""
        terms = self.terms * which
        return _Terms(terms, terms.sum(axis=1), self.largest.copy())

    def replace(self, rows: NDArray[np.bool_], others: _Terms) -> None:
        """Put others in place of some rows."""
        for own, new in zip(self, others, strict=True):
            own[rows] = new

    def logs(self, rows: NDArray[np.bool_]) -> Floats:
        """Logarithms of the sums of some rows."""
        found: Floats = np.log(self.sums[rows]) + self.largest[rows]
        return found

    def shares(self, rows: NDArray[np.bool_]) -> Floats:
        """Divide by the sums; other rows are zero."""
        scale = np.zeros_like(self.sums)
        scale[rows] = 1 / self.sums[rows]
        found: Floats = self.terms * scale[:, None]
        return found
