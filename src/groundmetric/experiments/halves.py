"""Draw pairs of disjoint training sets, and say how sure a mean over them is.

Stability selection learns from halves of the data (Meinshausen & Bühlmann, *Stability
selection*, Journal of the Royal Statistical Society B 72, 2010), here in complementary
pairs (Shah & Samworth, *Variable selection with error control*, the same 75, 2013).

A result v_jt of set j and left-out histogram t is modeled as a_j + b_t + e_jt, fitted
by least squares. With m of n histograms in each of J sets, sets overlap, and the
variance of the mean of all results is

    A (1 / J + m / (n - m)) + B / T,   A = var(a_j),   B = var(b_t),

if the effect of a set is the sum of those of its members: over sets, it then varies by
m (1 - m / n) times their variance, and its mean over all sets by m^2 / n times. B
includes the noise e, A does not: Nadeau and Bengio's correction would put all variation
between sets for A, and most of it is e if a set leaves out few histograms.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .. import validation
from ..base._groups import fewest_groups, folds_of_groups
from .design import LEVEL, Estimate
from .drawing import shares_of
from .measures import class_sizes
from .units import of_groups

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Labels = NDArray[Any]

SINGULAR = 1e-9  # relative

__all__ = ["estimate_of_means", "estimate_over_draws", "pairs_of_groups"]
__all__ += ["pairs_of_sets", "sizes_of_sets"]


def sizes_of_sets(y: Labels, n_train: int | None) -> Indices:
    """Return how many histograms of each class a set has; two sets must fit.

    Examples
    --------
    >>> from groundmetric.experiments.halves import sizes_of_sets
    >>> sizes_of_sets([0, 0, 0, 0, 1, 1], None), sizes_of_sets([0, 0, 0, 0, 1, 1], 2)
    (array([2, 1]), array([1, 1]))
    """
    classes, sizes = class_sizes(y, "y")
    for label, size in zip(classes, sizes, strict=True):
        if size < 2:  # noqa: PLR2004 - one in each half
            raise ValueError(
                f"y has a single histogram of class {label!s}; both halves need one of "
                "each class."
            )
    most = sizes // 2
    if n_train is None:
        return most
    high = int(most.sum())
    n = validation.as_count(n_train, "n_train", low=len(classes), high=high)
    each: Indices = np.minimum(shares_of(sizes, n), most)
    return each


def pairs_of_sets(
    y: Labels, each: Indices, n_pairs: int, rng: np.random.RandomState
) -> Iterator[tuple[Indices, Indices]]:
    """Draw pairs of disjoint sets, each with this number of histograms of each class.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.halves import pairs_of_sets
    >>> rng = np.random.RandomState(0)
    >>> [(one, other)] = pairs_of_sets([0, 0, 1, 1], [1, 1], 1, rng)
    >>> np.sort([*one, *other])
    array([0, 1, 2, 3])
    """
    codes = np.unique(y, return_inverse=True)[1]
    members = [np.flatnonzero(codes == code) for code in range(len(each))]
    for _ in range(n_pairs):
        mixed = [rng.permutation(rows) for rows in members]
        parts = [
            [rows[k * m : (k + 1) * m] for rows, m in zip(mixed, each, strict=True)]
            for k in range(2)
        ]
        one, other = (np.sort(np.concatenate(part)).astype(np.int64) for part in parts)
        yield one, other


def pairs_of_groups(
    y: Labels, groups: Labels, n_train: int | None, n_pairs: int, rng: Any
) -> Iterator[tuple[Indices, Indices]]:
    """Draw pairs of disjoint sets of whole groups, of about this size; halves if None.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.halves import pairs_of_groups
    >>> rng, y = np.random.RandomState(0), np.array([0, 0, 1, 1, 0, 0, 1, 1])
    >>> [(one, other)] = pairs_of_groups(y, np.arange(8) // 2, None, 1, rng)
    >>> np.sort(y[one]), np.sort(y[other])
    (array([0, 0, 1, 1]), array([0, 0, 1, 1]))
    """
    label, fewest = fewest_groups(y, groups)
    if fewest < 2:  # noqa: PLR2004 - one in each half
        raise ValueError(
            f"groups has class {label!s} in a single group; both halves need one of "
            "each class."
        )
    n_parts = 2 if n_train is None else max(2, min(len(y) // n_train, fewest))
    for _ in range(n_pairs):
        parts = folds_of_groups(y, groups, n_parts, random_state=rng, name="halves")
        yield parts[0][1], parts[1][1]


def estimate_over_draws(
    values: Floats, share: float, groups: Labels | None = None
) -> Estimate:
    """Estimate a mean of results for left-out histograms, NaN where none was left out.

    ``values`` has a row for each draw and a column for each histogram; ``share`` is
    m / n, that of the histograms in a training set. With groups of the histograms,
    B / T is the variance over groups; see ``units.py``.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.halves import estimate_over_draws
    >>> one = [0.1, 0.2, np.nan, np.nan]
    >>> found = estimate_over_draws(np.array([one, one[::-1]] * 5), 0.5)
    >>> round(found.mean, 2), found.low < 0.15 < found.high
    (0.15, True)
    """
    seen = ~np.isnan(values).all(axis=0)
    values = values[:, seen]
    n_draws = len(values)
    of_draws, of_rows, noise = _fitted(values)
    spread = max(float((of_draws**2).sum()) / (n_draws - 1) - noise, 0.0)
    between = spread * (1.0 / n_draws + share / (1.0 - share))
    units = of_groups(of_rows, None if groups is None else groups[seen])
    n_units = len(units)
    within = float(units.var(ddof=1)) / n_units
    if between + within == 0.0:  # as if one histogram, or group, differed
        within = (float(np.abs(of_rows).max()) or 1.0) ** 2 / n_units**2
    variance = between + within
    return _estimate(float(np.nanmean(values)), variance, max(n_draws / 4, 1.0))


def _fitted(values: Floats) -> tuple[Floats, Floats, float]:
    """Fit a_j + b_t by least squares, the a_j with mean zero.

    Also returns how much the noise adds to the variance of the a_j.
    """
    seen = ~np.isnan(values)
    known = np.where(seen, values, 0.0)
    n_tests, n_times = seen.sum(axis=1), seen.sum(axis=0)
    # Without the b_t, which are means of what the a_j leave:
    weighted = seen / n_times
    normal = np.diag(n_tests) - weighted @ seen.T  # singular: constants are in b_t
    inverse = np.linalg.pinv(normal, rcond=SINGULAR, hermitian=True)
    of_draws = inverse @ (known.sum(axis=1) - weighted @ known.sum(axis=0))
    of_draws -= of_draws.mean()
    of_rows = ((known - of_draws[:, None]) * seen).sum(axis=0) / n_times
    rest = (known - of_draws[:, None] - of_rows) * seen
    freedom = max(int(seen.sum()) - len(n_tests) - len(n_times) + 1, 1)
    noise = float((rest**2).sum()) / freedom
    added = noise * float(np.trace(inverse)) / max(len(n_tests) - 1, 1)
    return of_draws, of_rows, added


def estimate_of_means(values: Floats, share: float) -> Estimate:
    """Estimate a mean of one result for each draw, which no histogram is left out for.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.halves import estimate_of_means
    >>> found = estimate_of_means(np.array([1.0, 3.0]), 0.5)
    >>> found.mean, found.low < 0 < found.high
    (2.0, True)
    """
    n = len(values)
    variance = float(values.var(ddof=1)) * (1.0 / n + share / (1.0 - share))
    return _estimate(float(values.mean()), variance, n // 2)


def _estimate(mean: float, variance: float, freedom: float) -> Estimate:
    if variance == 0.0:
        return Estimate(mean, mean, mean, 0.5 if mean == 0 else float(mean > 0))
    error = math.sqrt(variance)
    half = float(stats.t.ppf((1 + LEVEL) / 2, freedom)) * error
    return Estimate(
        mean, mean - half, mean + half, float(stats.t.cdf(mean / error, freedom))
    )
