"""Norms, and the projection of a metric onto a ball."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ._triangle import closure

Floats = NDArray[np.float64]


def into_ball(metric: Floats, radius: float, threads: int) -> Floats:
    """Project a metric onto the ball, along its ray: this is exact.

    Scaling rounds, and may break tight triangles by as much; the closure repairs them.
    """
    largest, relative = scaled_norm(metric)
    if largest * relative <= radius:
        return metric
    rounding = 4 * np.finfo(float).eps
    return closure(metric / largest * (radius / relative * (1 - rounding)), threads)


def norm(matrix: Floats) -> float:
    """Frobenius norm, of any size."""
    largest, relative = scaled_norm(matrix)
    return largest * relative


def scaled_norm(matrix: Floats) -> tuple[float, float]:
    """Largest entry, and the Frobenius norm divided by it: their product may overflow.

    Without BLAS, whose threads take longer to wake up than this takes.
    """
    largest = float(np.abs(matrix).max())
    scaled = matrix / (largest or 1.0)
    return largest, float(np.sqrt(np.square(scaled).sum()))


def unit_of(matrix: Floats) -> float:
    """Return a power of two: divided by it, the largest entry is in [1, 2)."""
    return math.ldexp(1.0, math.frexp(float(np.abs(matrix).max()))[1] - 1)
