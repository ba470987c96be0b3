"""Layouts of features that make a metric between them visible.

Optimal leaf ordering (Bar-Joseph, Gifford & Jaakkola, 2001) for heat maps, and metric
multidimensional scaling by majorization (SMACOF; de Leeuw, 1977) for maps in the plane.
Both are deterministic, and used by displays and reports.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import cdist, squareform

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Optimal leaf ordering takes cubic time: skip it for more features than this.
LARGEST_OPTIMAL = 600
# Majorization never separates coinciding points; a little noise does.
JITTER = 1e-3


@dataclass(frozen=True)
class PlanarMap:
    """Features as points in the plane.

    Attributes
    ----------
    positions : ndarray of shape (d, 2)
        Points whose distances approximate those of the metric.
    stress : float
        Kruskal's stress-1: the root of the squared errors of the distances over the
        squared distances in the plane. 0 is perfect; above 0.2 the map is poor.
    n_iter : int
        Number of iterations of the majorization.
    """

    positions: Floats
    stress: float
    n_iter: int


def leaf_order(M: Floats) -> Indices:
    """Order features so that close ones are next to each other.

    Leaves of average linkage, flipped to minimize the sum of the distances between
    successive features.
    """
    if len(M) < 3:  # noqa: PLR2004 - fewer have one order only
        return np.arange(len(M))
    condensed = squareform(M, checks=False)
    tree = linkage(condensed, "average")
    if len(M) <= LARGEST_OPTIMAL:
        tree = optimal_leaf_ordering(tree, condensed)
    return np.asarray(leaves_list(tree), dtype=np.int64)


def planar_map(M: Floats, *, max_iter: int = 300, tol: float = 1e-5) -> PlanarMap:
    """Metric multidimensional scaling in the plane, starting from classical scaling."""
    positions = _classical_scaling(M)
    between = cdist(positions, positions)
    raw, n_iter = _raw_stress(M, between), 0
    for n_iter in range(1, max_iter + 1):  # noqa: B007 - returned below
        positions = _guttman(M, positions, between)
        between = cdist(positions, positions)
        last, raw = raw, _raw_stress(M, between)
        if last - raw <= tol * last:
            break
    squares = float((between**2).sum())
    stress = float(np.sqrt(raw / squares)) if squares > 0.0 else 0.0
    return PlanarMap(positions, stress, n_iter)


def placed(positions: Floats, distances: Floats, *, n_iter: int = 30) -> Floats:
    """Add features to a map whose own features stay where they are.

    Distances are (added, features of the map). The majorization is that of
    :func:`planar_map`, for each added point alone.
    """
    closeness = 1.0 / (distances + JITTER * float(distances.max() or 1.0)) ** 2
    found: Floats = closeness @ positions / closeness.sum(axis=1, keepdims=True)
    for _ in range(n_iter):
        apart = cdist(found, positions)
        ratio = np.divide(distances, apart, out=np.zeros_like(apart), where=apart > 0.0)
        pulled = found * ratio.mean(axis=1, keepdims=True)
        found = positions.mean(axis=0) + pulled - ratio @ positions / len(positions)
    return found


def extreme_pairs(M: Floats, n_pairs: int, *, farthest: bool = False) -> Indices:
    """Rows (p, q), p < q, of the closest pairs of features, or of the farthest."""
    p, q = np.triu_indices(len(M), 1)
    values = -M[p, q] if farthest else M[p, q]
    first = np.argsort(values, kind="stable")[:n_pairs]
    return np.column_stack([p[first], q[first]])


def _classical_scaling(M: Floats) -> Floats:
    """Principal coordinates of the doubly centered squares, plus a little noise."""
    d = len(M)
    squares = M**2
    centered = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None]
    values, vectors = np.linalg.eigh(-(centered + squares.mean()) / 2)
    axes = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    positions = np.zeros((d, 2))
    positions[:, : axes.shape[1]] = axes
    # Eigenvectors have no sign: make the largest coordinate positive.
    largest = np.abs(positions).argmax(axis=0)
    positions *= np.where(positions[largest, [0, 1]] < 0.0, -1.0, 1.0)
    shake = np.random.default_rng(0).standard_normal((d, 2))
    return positions + JITTER * float(M.max()) * shake


def _guttman(M: Floats, positions: Floats, between: Floats) -> Floats:
    """Minimize the quadratic that bounds the stress from above (Guttman transform)."""
    ratio = np.divide(M, between, out=np.zeros_like(M), where=between > 0.0)
    moved: Floats = ratio.sum(axis=1)[:, None] * positions - ratio @ positions
    return moved / len(M)


def _raw_stress(M: Floats, between: Floats) -> float:
    return float(((M - between) ** 2).sum())
