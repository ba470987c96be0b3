"""Images brought to one size, by linear interpolation that averages when it shrinks."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


def resize(image: Floats, size: int) -> Floats:
    """Stretch a (height, width) image to (size, size); nothing is cut off."""
    height, width = image.shape
    rows: Floats = _weights(height, size) @ image  # (size, width)
    return np.ascontiguousarray((_weights(width, size) @ rows.T).T)


@lru_cache(maxsize=64)
def _weights(n_in: int, n_out: int) -> sparse.csr_array:
    """Weights of the old pixels, in columns, in the new ones; rows sum to 1.

    A triangle around the center of each new pixel, as wide as a pixel on either side:
    the new one if there are fewer, the old one if there are more.
    """
    ratio = n_in / n_out
    centers = (np.arange(n_out) + 0.5) * ratio
    distances = np.abs(np.arange(n_in) + 0.5 - centers[:, None])  # (n_out, n_in)
    weights = np.maximum(0.0, 1.0 - distances / max(ratio, 1.0))
    return sparse.csr_array(weights / weights.sum(axis=1, keepdims=True))
