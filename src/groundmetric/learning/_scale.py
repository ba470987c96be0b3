"""The unit of learned distances: their median between training histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SCALED_BY = 100  # histograms
SMALLEST = 1e-9  # of such a unit: below, histograms are equal but for rounding


def some_of(histograms: Any) -> Any:
    """Draw the histograms whose distances give the unit."""
    n = histograms.shape[0]
    return histograms[np.sort(np.random.default_rng(0).permutation(n)[:SCALED_BY])]


def median_distance(between: Floats) -> float:
    """Median of all distances, or if that is 0, of those above 0; 1 if all are 0."""
    values = between[np.triu_indices_from(between, 1)]
    for some in (values, values[values > 0]):
        if some.size and (median := float(np.median(some))) > SMALLEST:
            return median
    return 1.0
