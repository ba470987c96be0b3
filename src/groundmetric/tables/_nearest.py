"""Nearest neighbors among candidates (the sets N+ and N- of section 3.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def nearest(
    distances: NDArray[np.float64], candidates: Mask, n_neighbors: int | None
) -> Mask:
    """Mark in each row the n_neighbors nearest candidates, ties broken by index.

    Marks all of them if there are fewer, or if n_neighbors is None (k = infinity).
    """
    if n_neighbors is None or n_neighbors >= distances.shape[1]:
        return candidates.copy()
    ranked = np.where(candidates, distances, np.inf)
    order = np.argsort(ranked, axis=1, kind="stable")[:, :n_neighbors]
    chosen = np.zeros_like(candidates)
    np.put_along_axis(chosen, order, values=True, axis=1)
    return chosen & candidates
