r"""The paper's criterion C_k (section 3 and Algorithm 1).

.. math:: C_k(M) = S^+_k(M) + S^-_k(M), \quad
          S^\pm_k(M) = \sum_i \sum_{j \in N^\pm_{ik}} \omega_{ij}\, d_M(r_i, r_j),

where N+ (N-) are the k nearest of the histograms that are similar (dissimilar) to r_i;
here each side may have a k of its own. If histograms have weights, those of both
multiply omega.
S+ is concave and S- convex in M, and sums of optimal plans are their subgradients.
(The paper's text exchanges the two neighborhoods in its sums of plans; Algorithm 1 has
them right.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..similarity._weights import MatrixWeights, Weights
from ._criterion import Evaluation, parts_of
from ._pairs import Histograms, Pairs, PairSearch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ._criterion import Range

Floats = NDArray[np.float64]


class Side:
    """S+ or S-: a weighted sum of the distances to the k nearest.

    Takes what :class:`PairSearch` takes, and k; None for all pairs.
    """

    def __init__(
        self,
        X: Floats | Histograms,
        weights: Weights,
        n_neighbors: int | None,
        *,
        similar: bool,
        n_threads: int = 1,
        within: Range | None = None,
    ) -> None:
        self._weights = weights
        self._k = n_neighbors
        self._parts = [within] if within else parts_of(len(X))
        self.search = PairSearch(
            X, weights, similar=similar, n_threads=n_threads, within=within
        )

    def neighbors(self, metric: Floats) -> Pairs:
        """Find the neighborhoods N_ik."""
        return self.search.find(metric, self._k)

    def evaluate(self, metric: Floats) -> Evaluation:
        """Algorithm 1: value and subgradient at a metric; <gradient, M> = value."""
        return Evaluation.summed(self._sums(self.neighbors(metric)))

    def _sums(self, found: Pairs) -> Iterator[Evaluation]:
        """Sum up the pairs of each part."""
        work = found.work()
        for part in self._parts:
            pairs = found.part(part)
            weights = self._weights.of(pairs.i, pairs.j)
            if (points := self._weights.points) is not None:
                weights = weights * points[pairs.i] * points[pairs.j]
            value = float((weights * pairs.distances).sum())
            yield Evaluation(value, pairs.plan_sum(weights), **work)
            work = {}  # counts once


class NeighborhoodCriterion:
    """C_k on a set of histograms: its concave side S+ and its convex side S-.

    Takes what :class:`Side` takes, weights also as a matrix, and the number of similar
    and of dissimilar neighbors: the paper's k, twice.
    """

    def __init__(
        self,
        X: Floats | Histograms,
        weights: Weights | Floats,
        n_similar: int | None,
        n_dissimilar: int | None,
        *,
        n_threads: int = 1,
        within: Range | None = None,
    ) -> None:
        if isinstance(weights, np.ndarray):
            weights = MatrixWeights(weights)
        self._weights, self._counts = weights, (n_similar, n_dissimilar)
        shared = Histograms.of(X)
        options: Any = {"n_threads": n_threads, "within": within}
        self.similar = Side(shared, weights, n_similar, similar=True, **options)
        self.dissimilar = Side(shared, weights, n_dissimilar, similar=False, **options)

    def linearize(self, metric: Floats) -> Evaluation:
        """Evaluate S+."""
        return self.similar.evaluate(metric)

    def evaluate(self, metric: Floats) -> Evaluation:
        """Evaluate S-."""
        return self.dissimilar.evaluate(metric)

    def value(self, metric: Floats) -> float:
        """C_k at a metric."""
        return self.linearize(metric).value + self.evaluate(metric).value

    def identity(self) -> Iterator[Floats | str]:
        """Return weights and numbers of neighbors."""
        yield from self._weights.parts()
        yield f"neighborhood {self._counts}"

    def state(self) -> Arrays:
        """Return the last neighbors of both sides."""
        return {
            f"{name}.{key}": array
            for name in ("similar", "dissimilar")
            for key, array in getattr(self, name).search.state().items()
        }

    def set_state(self, state: Arrays) -> None:
        """Continue from these neighbors."""
        for name in ("similar", "dissimilar"):
            prefix = f"{name}."
            part = {
                key.removeprefix(prefix): array
                for key, array in state.items()
                if key.startswith(prefix)
            }
            getattr(self, name).search.set_state(part)
