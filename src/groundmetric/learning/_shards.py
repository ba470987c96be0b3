"""Criteria whose histograms are divided among the workers of a cluster.

Each part of the histograms is a shard, which finds the pairs (i, j) of its i, keeps
their trees while they are needed, and sums up. A metric goes out, and one d x d sum
comes back; with margins, the distances of the targets come back first, since the margin
depends on their median. Sums are added in the order of the parts, as on one machine, so
that the result is the same bit for bit; only a few are in memory at a time. If two
shards need the same pair, both solve it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._cluster import Shards
from ._criterion import Evaluation, Range, parts_of
from ._margin import MarginCriterion, Sums
from ._neighborhood import NeighborhoodCriterion
from ._pairs import Histograms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..similarity._weights import Weights

Floats = NDArray[np.float64]


class ShardedMargins(MarginCriterion):
    """L on a set of histograms; takes what :class:`MarginCriterion` takes."""

    def __init__(
        self,
        client: object,
        X: Floats,
        weights: Weights,
        n_targets: int,
        margin: float,
        *,
        n_threads: int = 1,
    ) -> None:
        super().__init__(X, weights, n_targets, margin, n_threads=n_threads)
        options = (MarginCriterion, (n_targets, margin), n_threads)
        self._shards = _shards(client, X, weights, options)

    def target_distances(self, metric: Floats) -> Floats:
        """Find the targets, and return their distances."""
        return np.concatenate(list(self._shards.call("target_distances", metric)))

    def sums(self, metric: Floats, margin: float) -> Iterator[Sums]:
        """Sum up triplets, gradients and the weights of targets, for each part."""
        return self._shards.call("sum_of_part", metric, margin)


class ShardedNeighborhood(NeighborhoodCriterion):
    """C_k on a set of histograms; takes what :class:`NeighborhoodCriterion` takes."""

    def __init__(
        self,
        client: object,
        X: Floats,
        weights: Weights,
        n_similar: int | None,
        n_dissimilar: int | None,
        *,
        n_threads: int = 1,
    ) -> None:
        super().__init__(X, weights, n_similar, n_dissimilar, n_threads=n_threads)
        options = (NeighborhoodCriterion, (n_similar, n_dissimilar), n_threads)
        self._shards = _shards(client, X, weights, options)

    def linearize(self, metric: Floats) -> Evaluation:
        """Evaluate S+."""
        return Evaluation.summed(self._shards.call("linearize", metric))

    def evaluate(self, metric: Floats) -> Evaluation:
        """Evaluate S-."""
        return Evaluation.summed(self._shards.call("evaluate", metric))


def _shards(client: object, X: Floats, weights: Weights, options: Any) -> Shards:
    shared = Histograms(X), weights, options
    return Shards(client, _shard, shared, parts_of(len(X)))


def _shard(shared: Any, within: Range) -> Any:
    """Make the criterion of a part, on the worker that keeps it."""
    histograms, weights, (criterion, counts, n_threads) = shared
    return criterion(histograms, weights, *counts, n_threads=n_threads, within=within)
