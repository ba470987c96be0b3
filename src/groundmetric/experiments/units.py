"""What is drawn at random: test histograms, or groups of them, such as patients.

Histograms of a group are alike, and so are their errors: a hundred samples of ten
patients say little more than ten. With groups, the unit that varies is the group. For
values v with mean m, and S_g the sum of those of the n_g histograms of group g,

    u_g = m + (S_g - n_g m) G / n

has the mean m, too, and the variance of m is that of a mean of G independent u_g: the
usual one of a ratio of sums over clusters.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Sequence

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["Moments", "crossed", "mean_of_units", "of_each_test", "of_groups"]


class Moments(NamedTuple):
    """Center and variance of a mean, and their degrees of freedom."""

    center: float
    variance: float
    freedom: float


def of_groups(values: Floats, groups: Indices | None) -> Floats:
    """Return a value for each group of the last axis, with the same mean.

    Without groups, values stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.units import of_groups
    >>> of_groups(np.array([1.0, 1.0, 0.0, 0.0]), np.array([7, 7, 7, 8]))
    array([0.75, 0.25])
    """
    if groups is None:
        return values
    _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    mean = values.mean(axis=-1, keepdims=True)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(codes, kind="stable")
    sums = np.add.reduceat(values[..., order], starts, axis=-1)
    found: Floats = mean + (sums - sizes * mean) * (len(sizes) / len(codes))
    return found


def of_each_test(tests: Sequence[Indices], rows: Sequence[Floats]) -> Floats:
    """Mean value of each histogram that was tested, over its splits.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.units import of_each_test
    >>> tests = [np.array([3, 4]), np.array([4, 5])]
    >>> of_each_test(tests, [np.array([1.0, 1.0]), np.array([0.0, 0.0])])
    array([1. , 0.5, 0. ])
    """
    _, place = np.unique(np.concatenate(tests), return_inverse=True)
    sums = np.bincount(place, weights=np.concatenate(rows))
    means: Floats = sums / np.bincount(place)
    return means


def mean_of_units(values: Floats, padding: Sequence[float], *, few: bool) -> Moments:
    """Mean of units, after adding some with extreme values: adjusted Wald.

    Few units, such as groups, get Student's degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.units import mean_of_units
    >>> mean_of_units(np.zeros(8), [-1.0, 1.0], few=False).variance  # 2 / 10 / 10
    0.02
    """
    padded = np.concatenate([values, padding])
    n = len(padded)
    freedom = max(len(values) - 1, 1) if few else math.inf
    return Moments(float(padded.mean()), float(padded.var()) / n, freedom)


def crossed(means: Floats, matrix: Floats, within: float) -> tuple[float, float]:
    """Variance of the mean of random rows and columns, and its degrees of freedom.

    ``means`` are those of rows, one for each training set; ``within`` is the variance
    of the mean over the columns, one for each unit that is tested. Of a single row
    it is all there is.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.units import crossed
    >>> crossed(np.array([1.0, 0.0]), np.array([[1.0, 1.0, 1.0], [0, 0, 0]]), 0.0)
    (0.25, 1.0)
    """
    n_rows, n_units = matrix.shape
    if n_rows == 1:
        return within, max(n_units - 1.0, 1.0)
    freedom = n_rows - 1
    rest = matrix - means[:, None] - matrix.mean(axis=0) + matrix.mean()
    noise = float((rest**2).sum()) / (freedom * (n_units - 1) * matrix.size)
    between = float(means.var(ddof=1)) / n_rows
    variance = max(between - noise, 0.0) + max(within - noise, 0.0) + noise
    parts = between**2 / freedom + within**2 / (n_units - 1)
    return variance, max(variance**2 / parts, 1.0) if parts else float(freedom)
