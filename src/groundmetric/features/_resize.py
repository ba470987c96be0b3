"""Resize images by linear interpolation, averaging where they shrink."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


def resize(image: Floats, size: int) -> Floats:
    """Stretch a (height, width) image to (size, size), without cropping."""
    height, width = image.shape
    rows: Floats = _weights(height, size) @ image  # (size, width)
    return np.ascontiguousarray((_weights(width, size) @ rows.T).T)


@lru_cache(maxsize=64)
def _weights(n_in: int, n_out: int) -> sparse.csr_array:
    """Weights of old pixels (columns) in new pixels (rows); rows sum to 1.

    Each new pixel has a triangular kernel around its center. Its half-width is one
    pixel: a new one when shrinking, an old one when enlarging.
    """
    ratio = n_in / n_out
    centers = (np.arange(n_out) + 0.5) * ratio
    distances = np.abs(np.arange(n_in) + 0.5 - centers[:, None])  # (n_out, n_in)
    weights = np.maximum(0.0, 1.0 - distances / max(ratio, 1.0))
    return sparse.csr_array(weights / weights.sum(axis=1, keepdims=True))
