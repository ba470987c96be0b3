r"""The criterion C_k and its subgradients (section 3 and Algorithm 1 of the paper).

.. math:: C_k(M) = S^+_k(M) + S^-_k(M), \quad
          S^\pm_k(M) = \sum_i \sum_{j \in N^\pm_{ik}} \omega_{ij}\, d_M(r_i, r_j),

where N+ (N-) are the k nearest of the histograms that are similar (dissimilar) to r_i;
here each side may have a k of its own.
S+ is concave and S- convex in M, and sums of optimal plans are their subgradients.
(The paper's text exchanges the two neighborhoods in its sums of plans; Algorithm 1 has
them right.)

Most distances need not be solved. A pair is nobody's neighbor if a lower bound of its
distance exceeds those of k others, at both ends. The bounds:

- one-sided: mass that leaves bin p goes at least min_q M_pq far; exact if M is uniform;
- |f'(r - c)| for a 1-Lipschitz function f, such as the potentials of any pair. They are
  strong near that pair, so those of pairs (i, j) bound the other pairs of i and of j;
  and stronger when the best of them is raised on the bins of the pair in question;
- the simplex itself: its potentials prove a pair to be too far well before its optimum.

The last one saves most of the pivots, the others save looks. Measured and left out, for
they saved no time: drift (what the distance was under the last metric, less what the
metric changed), potentials of the last evaluation made Lipschitz under the new metric,
and functions of all pairs for all pairs. Upper bounds from kept plans would help with
the last neighbors only, and these are solved first anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._nearest import nearest
from ._pruning import Search, one_sided_bounds

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]

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
    neighbors : ndarray of bool, shape (n, n)
        neighbors[i, j] tells whether j is in N_ik.
    n_solves, n_stopped, n_bounded, n_pivots : int
        Pairs that the simplex looked at; those of them that it left early, as nobody's
        neighbors; pairs that bounds ruled out without a look; and its pivots.
    """

    value: float
    gradient: Floats
    neighbors: Mask
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
    omega : ndarray of shape (n, n)
        Symmetric weights; pairs of weight zero are not of this side.
    n_neighbors : int or None
        k; None for all pairs.
    n_threads : int
        Threads over pairs.
    prune : bool
        False solves all pairs: the same result, for comparison.
    """

    def __init__(
        self,
        X: Floats,
        omega: Floats,
        n_neighbors: int | None,
        *,
        n_threads: int = 1,
        prune: bool = True,
    ) -> None:
        self._X = X
        self._omega = omega
        self._k = n_neighbors
        self._threads = n_threads
        self.candidates: Mask = omega != 0
        pairs = np.ascontiguousarray(np.argwhere(np.triu(self.candidates)))
        self.n_pairs = len(pairs)
        masses = _core.Masses(X, 1.0)
        self._batch = _core.Batch(masses, masses, pairs)
        self._pair_of = np.full(omega.shape, -1)
        self._pair_of[pairs[:, 0], pairs[:, 1]] = np.arange(len(pairs))
        self._pair_of = np.maximum(self._pair_of, self._pair_of.T)
        most = int(self.candidates.sum(axis=1).max(initial=0))
        self._prune = prune and n_neighbors is not None and n_neighbors < most
        self._pairs = pairs
        self._last: Mask | None = None  # neighbors of the last evaluation

    def evaluate(self, metric: Floats) -> Evaluation:
        """Algorithm 1: value and subgradient at a metric."""
        search = Search(metric, self.candidates.shape[0])
        if self._prune:
            self._find_neighbors(search, metric)
        else:
            self._solve(search, self.candidates)
        neighbors = nearest(search.distances, self.candidates, self._k)
        self._last = neighbors
        # A pair counts once for each of its ends that has the other as a neighbor.
        counted = self._omega * neighbors
        weights = np.triu(counted + counted.T)
        i, j = np.nonzero(weights)
        if is_uniform(metric):
            plans = spread_plan_sum(self._X[i], self._X[j], weights[i, j])
        else:
            plans = self._batch.plan_sum(
                0, self._pair_of[i, j], weights[i, j], metric.shape[0]
            )
        gradient = (plans + plans.T) / 2
        np.fill_diagonal(gradient, 0.0)
        value = float((counted[neighbors] * search.distances[neighbors]).sum())
        return Evaluation(
            value,
            gradient,
            neighbors,
            n_solves=search.n_solves,
            n_stopped=search.n_stopped,
            n_bounded=self.n_pairs - search.n_solves,
            n_pivots=search.n_pivots,
        )

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what evaluations leave behind for later ones."""
        reduced, pairs, solved, nodes = self._batch.trees()
        last = np.empty((0, 0), dtype=bool) if self._last is None else self._last
        return {
            "last": np.argwhere(last),
            "reduced": np.array(reduced),
            "pairs": pairs,
            "solved": solved,
            "nodes": nodes,
        }

    def set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Go on as the side that this state is of."""
        self._batch.set_trees(
            bool(state["reduced"]), state["pairs"], state["solved"], state["nodes"]
        )
        if len(state["last"]) > 0:
            i, j = state["last"].T
            if min(i.min(), j.min()) < 0 or not self.candidates[i, j].all():
                raise ValueError("its neighbors are no candidates")
            self._last = np.zeros_like(self.candidates)
            self._last[i, j] = True

    def _find_neighbors(self, search: Search, metric: Floats) -> None:
        """Solve pairs until the k nearest of every histogram are certain."""
        search.lower = one_sided_bounds(self._X, metric)
        wanted = self._first_guess(search)
        n_more = 1  # candidates for each histogram, next time
        while wanted.any():
            self._raise_lower(search, self._solve(search, wanted))
            undecided = search.undecided(self.candidates)
            wanted = nearest(search.lower, undecided, n_more)
            n_more *= 2

    def _first_guess(self, search: Search) -> Mask:
        """Last time's neighbors, or those with the smallest bounds."""
        if self._last is not None:
            return self._last
        return nearest(search.lower, self.candidates, self._k)

    def _raise_lower(self, search: Search, solved: Indices) -> None:
        """Bound the other pairs of both ends of each pair by its potentials."""
        functions = self._batch.lipschitz(search.cost, solved, self._threads)
        Z = functions @ self._X.T  # (n_functions, n)
        for ends in self._pairs[solved].T:
            _core.raise_lower(
                Z,
                np.ascontiguousarray(ends),
                len(search.functions),
                search.lower,
                search.best,
            )
        search.functions = np.concatenate([search.functions, functions])

    def _rule_out(self, search: Search, i: Indices, j: Indices) -> Mask:
        """Raise the best function of each pair on its own bins, and see what is far."""
        bounds = self._batch.bounds(
            search.cost,
            self._pair_of[i, j],
            search.functions,
            search.best[i, j],
            self._threads,
        )
        for a, b in ((i, j), (j, i)):
            search.lower[a, b] = np.maximum(search.lower[a, b], bounds)
        far: Mask = bounds > np.maximum(search.kth[i], search.kth[j])
        return far

    def _solve(self, search: Search, wanted: Mask) -> Indices:
        """Solve pairs, or prove them nobody's neighbors; return their numbers."""
        i, j = np.nonzero(np.triu(wanted | wanted.T) & np.isinf(search.distances))
        if len(search.functions) > 0:
            left = ~self._rule_out(search, i, j)
            i, j = i[left], j[left]
        chosen = self._pair_of[i, j]
        ceilings = np.maximum(search.kth[i], search.kth[j])
        _, values, n_pivots = self._batch.solve(
            search.cost, chosen, self._threads, None, ceilings
        )
        search.n_solves += i.size
        search.n_pivots += int(n_pivots.sum())
        above = values < 0
        search.n_stopped += int(above.sum())
        for a, b in ((i, j), (j, i)):
            search.lower[a, b] = np.abs(values)
            search.distances[a, b] = np.where(above, np.inf, values)
        search.lower_ceilings(self.candidates, self._k)
        return chosen


def is_uniform(metric: Floats) -> bool:
    """Tell whether all bins are equally far apart."""
    largest = metric.max()
    return bool((metric + largest * np.eye(len(metric)) == largest).all())


def spread_plan_sum(R: Floats, C: Floats, weights: Floats) -> Floats:
    """Sum up plans that are optimal for the uniform metric, and as spread as they can.

    Under it a plan is optimal if common mass stays. The simplex would take one of these
    by the order of the bins, which means nothing; here, what has to move moves
    independently of where it comes from: (r - c)+ (c - r)+' / mass.
    """
    total = np.zeros((R.shape[1], R.shape[1]))
    for first in range(0, len(R), BLOCK):
        block = slice(first, first + BLOCK)
        difference = R[block] - C[block]
        sent, received = np.maximum(difference, 0.0), np.maximum(-difference, 0.0)
        mass = sent.sum(axis=1, keepdims=True)
        share = weights[block, None] / np.where(mass > 0, mass, 1.0)
        total += sent.T @ (received * share)
    return total


class Criterion:
    """C_k on a set of histograms: its concave side S+ and its convex side S-.

    Takes what :class:`Side` takes, with the weights of both sides in omega, and the
    number of similar and of dissimilar neighbors: the paper's k, twice.
    """

    def __init__(
        self,
        X: Floats,
        omega: Floats,
        n_similar: int | None,
        n_dissimilar: int | None,
        *,
        n_threads: int = 1,
        prune: bool = True,
    ) -> None:
        self.similar, self.dissimilar = (
            Side(X, part, k, n_threads=n_threads, prune=prune)
            for part, k in (
                (np.maximum(omega, 0.0), n_similar),
                (np.minimum(omega, 0.0), n_dissimilar),
            )
        )

    def value(self, metric: Floats) -> float:
        """C_k at a metric."""
        return (
            self.similar.evaluate(metric).value + self.dissimilar.evaluate(metric).value
        )
