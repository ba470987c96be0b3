r"""How near bins are to each other, by one set of points or several.

Each set s of points is centered, with a mean square length of 1. The features of the
bins have the kernel

.. math:: K_{pq} = \frac1S \sum_s x^s_p{}' x^s_q \qquad\text{or}\qquad
          K_{pq} = \frac1S \sum_s e^{-2 |x^s_p - x^s_q|^2 / \mathrm{med}_s},

with the median squared distance of each set. A mean of kernels is again one: sets need
not be comparable, and a poor one among good ones does little harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist, squareform

from .. import validation
from ..learning._axes import scaled
from ..learning._parameters import standardized

Floats = NDArray[np.float64]

KERNELS = ("rbf", "linear")
NARROWING = 2.0  # of the kernel, relative to the median squared distance
NEGLIGIBLE = 1e-10  # parts of the kernel, relative to the largest


def is_several(points: Any) -> bool:
    """Tell whether these are several sets of points: a list of matrices."""
    return (
        isinstance(points, Sequence)
        and len(points) > 0
        and all(np.ndim(each) == 2 for each in points)  # noqa: PLR2004 - matrices
    )


def known_sets(points: Any, d: int) -> list[Floats]:
    """Validate sets of points of d bins: centered, with a mean square length of 1."""
    if not is_several(points):
        return [standardized(scaled(points, d)[0])]
    return [
        standardized(scaled(validation.as_coordinates(each, d, f"points[{k}]"), d)[0])
        for k, each in enumerate(points)
    ]


def side_by_side(sets: Sequence[Floats]) -> Floats:
    """Join sets, so that squared distances are the means of those of the sets."""
    found: Floats = np.hstack(sets) / np.sqrt(len(sets))
    return found


def features_of_bins(sets: Sequence[Floats], kernel: str) -> Floats:
    """Return coordinates whose products are the kernel, in rows."""
    if kernel == "linear":
        return side_by_side(sets)
    nearness = np.mean([_gaussian(each) for each in sets], axis=0)
    values, axes = np.linalg.eigh(nearness)
    kept = values > NEGLIGIBLE * values[-1]
    found: Floats = axes[:, kept] * np.sqrt(values[kept])
    return found


def _gaussian(points: Floats) -> Floats:
    """Return the kernel of one set."""
    squares = pdist(points, "sqeuclidean")
    median = float(np.median(squares[squares > 0]))
    found: Floats = np.exp(-NARROWING / median * squareform(squares))
    return found


def valid_kernel(kernel: ArrayLike | str | None, d: int, most: int) -> str:
    """Choose the kernel: "rbf" needs a d x d matrix, which many bins forbid."""
    if kernel is None:
        return "rbf" if d <= most else "linear"
    validation.require_one_of(kernel, "kernel", KERNELS)
    return str(kernel)
