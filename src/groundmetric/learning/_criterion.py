r"""The criterion C_k and its subgradients (section 3 and Algorithm 1 of the paper).

.. math:: C_k(M) = S^+_k(M) + S^-_k(M), \quad
          S^\pm_k(M) = \sum_i \sum_{j \in N^\pm_{ik}} \omega_{ij}\, d_M(r_i, r_j),

where N+ (N-) are the k nearest of the histograms that are similar (dissimilar) to r_i;
here each side may have a k of its own.
S+ is concave and S- convex in M, and sums of optimal plans are their subgradients.
(The paper's text exchanges the two neighborhoods in its sums of plans; Algorithm 1 has
them right.)

The pruned search (``cpp/search.h``) finds the neighborhoods; most distances are never
solved. Each pair starts from its greedy tree, so an evaluation depends on the metric
alone: not on earlier ones, on threads, or on what was pruned. Starting from the trees
of the last evaluation saves a tenth of the pivots with k = 3 and half of them if all
similar pairs count, but only a tenth of the time: plans change almost completely from
step to step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..similarity._weights import MatrixWeights, Weights

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Pairs that are summed up at a time, for the sake of memory.
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Evaluation:
    """One side of the criterion at a metric.

    Attributes
    ----------
    value : float
        S+ or S-.
    gradient : ndarray of shape (d, d)
        A subgradient: symmetric, zero on the diagonal, <gradient, M> = value.
    rows, neighbors : ndarray of int
        The pairs that count: neighbors[k] is in N_ik of i = rows[k].
    n_solves, n_stopped, n_bounded, n_pivots : int
        Pairs that the simplex looked at; those of them that it left early, as proved
        too far; pairs that bounds ruled out without a look; and its pivots.
    """

    value: float
    gradient: Floats
    rows: Indices
    neighbors: Indices
    n_solves: int
    n_stopped: int
    n_bounded: int
    n_pivots: int


class Side:
    """The similar pairs or the dissimilar ones, and how to sum over them.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Histograms of mass 1.
    weights : Weights
        Weights of pairs.
    n_neighbors : int or None
        k; None for all pairs.
    similar : bool
        Which side.
    n_threads : int
        Threads over histograms.
    """

    def __init__(
        self,
        X: Floats,
        weights: Weights,
        n_neighbors: int | None,
        *,
        similar: bool,
        n_threads: int = 1,
    ) -> None:
        self._X = X
        self._masses = _core.Masses(X, 1.0)
        self._weights = weights
        self._candidates = weights.candidates(similar=similar)
        self._k = len(X) if n_neighbors is None else n_neighbors
        self._radii = np.full(len(X), np.inf)
        self._threads = n_threads
        # The last neighbors, tried first the next time.
        self._hints: tuple[Indices, NDArray[np.int32]] | None = None

    def evaluate(self, metric: Floats) -> Evaluation:
        """Algorithm 1: value and subgradient at a metric."""
        found = _core.PrunedSearch(self._masses, _core.CostMatrix(metric)).find(
            None,
            self._k,
            self._radii,
            **self._candidates,
            hints=self._hints,
            keep_trees=True,
            n_threads=self._threads,
        )
        starts, j = found.starts, found.indices
        self._hints = starts, j.astype(np.int32)
        i = np.repeat(np.arange(len(self._X)), np.diff(starts))
        weights = self._weights.of(i, j)
        if is_uniform(metric):
            plans = spread_plan_sum(self._X, i, j, weights)
        else:
            plans = found.plan_sum(weights)
        gradient = (plans + plans.T) / 2
        np.fill_diagonal(gradient, 0.0)
        return Evaluation(
            float((weights * found.distances).sum()),
            gradient,
            i,
            j,
            n_solves=found.n_solved + found.n_stopped,
            n_stopped=found.n_stopped,
            n_bounded=found.n_bounded,
            n_pivots=found.n_pivots,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what evaluations leave behind for later ones."""
        if self._hints is None:
            return {}
        return {"starts": self._hints[0], "neighbors": self._hints[1]}

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on as the side that this state is of."""
        if not state:
            return
        starts, neighbors = state["starts"], state["neighbors"]
        lists = starts.shape == (len(self._X) + 1,) and (np.diff(starts) >= 0).all()
        if not lists or starts[0] != 0 or starts[-1] != len(neighbors):
            raise ValueError("its neighbors are not those of these histograms")
        if ((neighbors < 0) | (neighbors >= len(self._X))).any():
            raise ValueError("its neighbors are out of range")
        self._hints = starts, neighbors


def is_uniform(metric: Floats) -> bool:
    """Tell whether all bins are equally far apart."""
    largest = metric.max()
    return bool((metric + largest * np.eye(len(metric)) == largest).all())


def spread_plan_sum(X: Floats, i: Indices, j: Indices, weights: Floats) -> Floats:
    """Sum up plans that are optimal for the uniform metric, and as spread as they can.

    Under it a plan is optimal if common mass stays. The simplex would take one of these
    by the order of the bins, which means nothing; here, what has to move moves
    independently of where it comes from: (r - c)+ (c - r)+' / mass.
    """
    total = np.zeros((X.shape[1], X.shape[1]))
    for first in range(0, len(i), BLOCK):
        block = slice(first, first + BLOCK)
        difference = X[i[block]] - X[j[block]]
        sent, received = np.maximum(difference, 0.0), np.maximum(-difference, 0.0)
        mass = sent.sum(axis=1, keepdims=True)
        share = weights[block, None] / np.where(mass > 0, mass, 1.0)
        total += sent.T @ (received * share)
    return total


class Criterion:
    """C_k on a set of histograms: its concave side S+ and its convex side S-.

    Takes what :class:`Side` takes, weights also as a matrix, and the number of similar
    and of dissimilar neighbors: the paper's k, twice.
    """

    def __init__(
        self,
        X: Floats,
        weights: Weights | Floats,
        n_similar: int | None,
        n_dissimilar: int | None,
        *,
        n_threads: int = 1,
    ) -> None:
        if isinstance(weights, np.ndarray):
            weights = MatrixWeights(weights)
        self.similar = Side(X, weights, n_similar, similar=True, n_threads=n_threads)
        self.dissimilar = Side(
            X, weights, n_dissimilar, similar=False, n_threads=n_threads
        )

    def value(self, metric: Floats) -> float:
        """C_k at a metric."""
        return (
            self.similar.evaluate(metric).value + self.dissimilar.evaluate(metric).value
        )
