"""Costs between bins, from a matrix or from the coordinates of bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..transport._points import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Bins = NDArray[np.int32]

ROUNDING = 1e-12


class CostsOfBins(NamedTuple):
    """Costs between two lists of bins, and their mean over all pairs of bins."""

    block: Callable[[Bins, Bins], Floats]
    mean: float

    @classmethod
    def of(cls, metric: Any, points: ArrayLike | None, d: int) -> CostsOfBins:
        """Validate a matrix, or points and a metric between them."""
        if points is None:
            M = as_dissimilarity(metric, d)
            largest = float(M.max()) or 1.0  # the sum may be out of range
            return cls(lambda p, q: M[np.ix_(p, q)], (M / largest).mean() * largest)
        ground = validation.as_ground_cost(metric)
        coordinates, k = validation.as_coordinates(points, d), 0
        if metric == "euclidean":  # whose squares may be out of range
            k = int(np.frexp(np.abs(coordinates).max())[1])
            coordinates = np.ldexp(coordinates, -k)

        def block(p: Bins, q: Bins) -> Floats:
            costs = ground(coordinates[p], coordinates[q])
            costs = np.ldexp(costs, k) if k else costs
            return validation.as_block_of_costs(costs, p, q)

        return cls(block, _mean_cost(coordinates, metric, block))


def as_dissimilarity(metric: ArrayLike, d: int) -> Floats:
    """Symmetric to rounding, non-negative, zero on the diagonal."""
    M = validation.as_cost(metric, d)
    validation.require_dissimilarity(M, "metric", rounding=1e-12)
    return M / 2 + M.T / 2


def _mean_cost(
    points: Floats,
    metric: str | validation.GroundCost,
    block: Callable[[Bins, Bins], Floats],
) -> float:
    """Mean of the costs between all pairs of bins, block by block.

    That of squared Euclidean distances is known: twice the variance of the points.
    Costs that are not symmetric, negative, or not zero on the diagonal are rejected.
    """
    if metric == "sqeuclidean":
        return float(2 * np.square(points - points.mean(axis=0)).sum() / len(points))
    d = len(points)
    starts = range(0, d, BLOCK)
    parts = [np.arange(at, min(at + BLOCK, d), dtype=np.int32) for at in starts]
    total = 0.0
    for i, p in enumerate(parts):
        for q in parts[i:]:
            costs = block(p, q)
            if p is q:
                noise = np.abs(costs) <= ROUNDING * costs.max()  # cosines have some
                own = np.where(noise, 0.0, costs)
                validation.require_dissimilarity(own, "metric", rounding=ROUNDING)
            elif not isinstance(metric, str):
                _require_symmetric(costs, block(q, p).T, p, q)
            share = len(p) * len(q) / d / d
            total += float(costs.mean()) * share * (1 if p is q else 2)
    return total


def _require_symmetric(there: Floats, back: Floats, p: Bins, q: Bins) -> None:
    bad = (np.abs(there - back) > ROUNDING * np.abs(there).max()) | (there < 0)
    if bad.any():
        i, j = np.argwhere(bad)[0]
        raise ValueError(
            f"metric is {there[i, j]} from point {p[i]} to {q[j]}, and {back[i, j]} "
            "back: costs must be symmetric, and not negative."
        )
