r"""How near bins are to each other, by one set of points or several.

Each set s of points is centered, with a mean square length of 1. The features of the
bins have the kernel

.. math:: K_{pq} = \frac1S \sum_s x^s_p{}' x^s_q \qquad\text{or}\qquad
          K_{pq} = \frac1S \sum_s e^{-2 |x^s_p - x^s_q|^2 / \mathrm{med}_s},

with the median squared distance of each set. A mean of kernels is again one: sets need
not be comparable, and a poor one among good ones does little harm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from .. import validation
from ..learning._axes import named_sets, scaled
from ..learning._maps import LARGEST
from ..learning._parameters import standardized

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]

KERNELS = ("rbf", "linear")
MOST_NEAR = 2000  # bins up to which nearness is the default
NARROWING = 2.0  # of the kernel, relative to the median squared distance
NEGLIGIBLE = 1e-10  # parts of the kernel, relative to the largest


def known_sets(points: Any, d: int) -> list[Floats]:
    """Validate sets of points of d bins: centered, with a mean square length of 1."""
    return [
        standardized(scaled(each, d, name)[0], name)
        for name, each in named_sets(points).items()
    ]


def side_by_side(sets: Sequence[Floats]) -> Floats:
    """Join sets, so that squared distances are the means of those of the sets."""
    found: Floats = np.hstack(sets) / np.sqrt(len(sets))
    return found


def features_of_bins(sets: Sequence[Floats], kernel: str) -> Floats:
    """Return coordinates whose products are the kernel, in rows: at most d."""
    if kernel == "linear":
        points = side_by_side(sets)
        if points.shape[1] <= len(points):
            return points
        nearness = points @ points.T
    else:
        nearness = np.mean([_gaussian(each) for each in sets], axis=0)
    values, axes = np.linalg.eigh(nearness)
    kept = values > NEGLIGIBLE * values[-1]
    found: Floats = axes[:, kept] * np.sqrt(values[kept])
    return found


def _gaussian(points: Floats) -> Floats:
    """Return the kernel of one set."""
    squares = pdist(points, "sqeuclidean")
    median = float(np.median(squares[squares > 0]))
    with np.errstate(over="ignore"):  # next to a tiny median, others are infinite
        ratios = squareform(squares) / median
    found: Floats = np.exp(-NARROWING * ratios)
    return found


def valid_kernel(kernel: Any, d: int) -> str:
    """Choose the kernel: "rbf" needs a d x d matrix, which many bins forbid."""
    if kernel is None:
        return "rbf" if d <= MOST_NEAR else "linear"
    validation.require_one_of(kernel, "kernel", KERNELS)
    if kernel == "rbf" and d > LARGEST:
        raise ValueError(
            f"kernel is 'rbf', which needs a {d} x {d} matrix of all bins; choose "
            f"'linear' above {LARGEST:,} bins."
        )
    return str(kernel)
