r"""Margins: similar histograms nearer than dissimilar ones, by a margin.

.. math:: L(M) = \frac{1}{|T|} \sum_i \sum_{j \in T_i} \sum_l v_{ij} v_{il}
          \left[ m + d_M(r_i, r_j) - d_M(r_i, r_l) \right]_+

The targets T_i are the k nearest of the histograms similar to r_i, under M itself; the
impostors are the dissimilar r_l for which a bracket is positive. The margin m is a
share of the median distance of the targets, so that it scales with the metric; v are
the weights of pairs, relative to the largest. This is the loss of LMNN with the EMD in
place of a Mahalanobis distance. Any other distance will do as well. If histograms have
weights, that of r_i multiplies its triplets, and what it counts in |T|.

The weight of a distance is the sum of the active triplets it is in, with their signs,
and the gradient is the sum of plans with these weights. The margin is treated as
constant. Few pairs need a solve: impostors lie within d_ik + m of r_i, and the search
proves that all others are farther.

Distances are concave in M, as minima of linear functions. With fixed targets, L is a
difference of convex functions, because

.. math:: \left[ m + d_{ij} - d_{il} \right]_+
          = \max(m - d_{il}, -d_{ij}) - (-d_{ij}) .

A step follows a subgradient of the first minus one of the second: the gradient of L
where optimal plans are unique. There is no bound above L, so it may rise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._criterion import Evaluation, parts_of
from ._pairs import Histograms, Pairs, PairSearch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ..similarity._weights import Weights
    from ._criterion import FoundPairs, Range, Search, SomePairs

Floats = NDArray[np.float64]
Sums = tuple[Evaluation, float]  # of a part of the histograms, and its weight |T|


class MarginCriterion:
    """L on a set of histograms.

    Parameters
    ----------
    X : ndarray of shape (n, d), Histograms or None
        Histograms of mass 1; None with ``searches``, which have them.
    weights : Weights
        Weights of pairs.
    n_targets : int
        k, targets of each histogram; all similar ones if there are fewer. A histogram
        without any counts as an impostor only.
    margin : float
        The margin, as a share of the median distance of the targets.
    n_threads : int
        Threads over histograms.
    searches : tuple of Search, optional
        Find similar pairs, and dissimilar ones; by exact EMDs if None.
    within : (int, int), optional
        Sum over these histograms only, as one part.
    """

    def __init__(
        self,
        X: Floats | Histograms | None,
        weights: Weights,
        n_targets: int,
        margin: float,
        *,
        n_threads: int = 1,
        searches: tuple[Search, Search] | None = None,
        within: Range | None = None,
    ) -> None:
        self._weights = weights
        self._k = n_targets
        self._share = margin
        self._targets: tuple[Floats, FoundPairs] | None = None  # under a metric
        self._parts = [within] if within else parts_of(len(weights))
        if searches is None:
            shared = Histograms.of(X)  # type: ignore[arg-type]  # not None then
            options: Any = {"n_threads": n_threads, "within": within}
            similar, dissimilar = (
                PairSearch(shared, weights, similar=similar, **options)
                for similar in (True, False)
            )
            searches = similar, dissimilar
        else:  # their sums take as long for a part as for all
            self._parts = [(0, len(weights))]
        self._similar, self._dissimilar = searches

    def linearize(self, metric: Floats) -> Evaluation:
        """Return zero: d_ij, the concave part, is evaluated at every step as well."""
        return Evaluation.nothing(metric)

    def evaluate(self, metric: Floats) -> Evaluation:
        """Value and subgradient at a metric."""
        margin = self._share * _median(self.target_distances(metric))
        size = 0.0

        def parts() -> Iterator[Evaluation]:
            nonlocal size
            for part, weight in self.sums(metric, margin):
                size += weight
                yield part

        return Evaluation.summed(parts()).divided(size or 1.0)

    def target_distances(self, metric: Floats) -> Floats:
        """Find the targets, and return their distances."""
        return self._find_targets(metric).distances

    def _find_targets(self, metric: Floats) -> FoundPairs:
        if self._targets is None or not np.array_equal(self._targets[0], metric):
            self._targets = metric, self._similar.find(metric, self._k)
        return self._targets[1]

    def sums(self, metric: Floats, margin: float) -> Iterator[Sums]:
        """Sum up triplets, their gradients and the weights of targets, for each part.

        The targets are known already, unless the machine that found them was lost.
        """
        targets, self._targets = self._find_targets(metric), None
        impostors = self._dissimilar.find(metric, radii=_reach(targets, margin))
        work: dict[str, Any] = {
            name: count + impostors.work()[name]
            for name, count in targets.work().items()
        }
        for part in self._parts:
            near, far = _part_of(targets, part), _part_of(impostors, part)
            found, weight = self._triplets(near, far, margin)
            yield replace(found, **work), weight
            work = {}  # counts once

    def sum_of_part(self, metric: Floats, margin: float) -> Sums:
        """Return the sums of the only part."""
        (sums,) = self.sums(metric, margin)
        return sums

    def _triplets(
        self, targets: SomePairs, impostors: SomePairs, margin: float
    ) -> Sums:
        """Sum up the triplets of some histograms."""
        v = self._relative_weights(targets, similar=True)
        if self._weights.points is not None:
            v *= self._weights.points[targets.i]
        w = self._relative_weights(impostors, similar=False)
        total, n_triplets, n_clear = 0.0, 0, 0
        pull, push = np.zeros(len(v)), np.zeros(len(w))  # weights of distances in L
        for i in range(len(targets.starts) - 1):
            near = slice(*targets.starts[i : i + 2])
            far = slice(*impostors.starts[i : i + 2])
            slack = margin + np.subtract.outer(
                targets.distances[near], impostors.distances[far]
            )  # (targets, impostors) of r_i
            active = slack > 0
            triplets = np.multiply.outer(v[near], w[far]) * active
            total += float((triplets * slack).sum())
            pull[near], push[far] = triplets.sum(axis=1), triplets.sum(axis=0)
            n_triplets += int(active.sum())
            n_clear += not active.any()
        gradient = targets.plan_sum(pull) - impostors.plan_sum(push)
        counts = {"n_triplets": n_triplets, "n_clear": n_clear}
        return Evaluation(total, gradient, **counts), float(v.sum())

    def _relative_weights(self, pairs: SomePairs, *, similar: bool) -> Floats:
        weights = np.abs(self._weights.of(pairs.i, pairs.j))
        relative: Floats = weights / (self._weights.largest(similar=similar) or 1.0)
        return relative

    def identity(self) -> Iterator[Floats | str]:
        """Return weights, number of targets and margin."""
        yield from self._weights.parts()
        yield f"margin {self._k} {self._share}"
        yield from self._similar.identity()

    def state(self) -> Arrays:
        """Return the last targets."""
        return self._similar.state()

    def set_state(self, state: Arrays) -> None:
        """Continue from these targets."""
        self._similar.set_state(state)


def _part_of(pairs: FoundPairs, histograms: Range) -> SomePairs:
    """Return the pairs of some histograms; all, if they cannot be divided."""
    return pairs.part(histograms) if isinstance(pairs, Pairs) else pairs


def _median(distances: Floats) -> float:
    return float(np.median(distances)) if len(distances) > 0 else 0.0


def _reach(targets: FoundPairs, margin: float) -> Floats:
    """How far impostors may be: d_ik + m; no distance without a target."""
    ends = targets.starts[1:]
    has_any = ends > targets.starts[:-1]
    reach = np.full(len(ends), -1.0)
    reach[has_any] = targets.distances[ends[has_any] - 1] + margin
    return reach
