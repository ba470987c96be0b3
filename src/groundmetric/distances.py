r"""Bin-to-bin distances between histograms (sections 6.1 and 7.3 of the paper).

They compare each bin with itself only and ignore how bins are related: a baseline for
the earth mover's distance. All normalize histograms or counts to mass 1 first, and all
are metrics. ``DISTANCES`` lists them by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import xlog1py
from sklearn.metrics.pairwise import additive_chi2_kernel

from . import validation

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]

__all__ = [
    "DISTANCES",
    "chi2",
    "fisher",
    "hellinger",
    "jensen_shannon",
    "l1",
    "l2",
    "pairwise",
]


def l1(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    r"""Sum of absolute differences, :math:`\sum_p |r_p - c_p|`; from 0 to 2.

    Twice the earth mover's distance under the uniform metric, and twice the total
    variation.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    Y : array-like or sparse matrix of shape (m, d), optional
        Other histograms; X itself if None.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from groundmetric.distances import l1
    >>> l1([[1, 1, 2]], [[2, 1, 1], [0, 0, 1]])
    array([[0.5, 1. ]])
    """
    return _between(lambda x, y: cdist(x, y, "cityblock"), X, Y)


def l2(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    r"""Euclidean distance, :math:`(\sum_p (r_p - c_p)^2)^{1/2}`; from 0 to sqrt(2).

    Parameters and return value as for :func:`l1`.

    Examples
    --------
    >>> from groundmetric.distances import l2
    >>> l2([[3, 1], [1, 3], [0, 4]]).round(3)
    array([[0.   , 0.707, 1.061],
           [0.707, 0.   , 0.354],
           [1.061, 0.354, 0.   ]])
    """
    return _between(lambda x, y: cdist(x, y, "euclidean"), X, Y)


def hellinger(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    r"""Distance of square roots, :math:`(\sum_p (\sqrt{r_p} - \sqrt{c_p})^2)^{1/2}`.

    From 0 to sqrt(2); as in the paper, without the common factor 1 / sqrt(2).
    Parameters and return value as for :func:`l1`.

    Examples
    --------
    >>> from groundmetric.distances import hellinger
    >>> hellinger([[1, 0]], [[9, 16], [0, 1]]).round(3)
    array([[0.894, 1.414]])
    """
    return _between(_hellinger, X, Y)


def chi2(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    r"""Root of the symmetric chi-squared, :math:`(\sum_p (r_p-c_p)^2/(r_p+c_p))^{1/2}`.

    From 0 to sqrt(2); bins that are empty in both histograms contribute 0. The root
    makes it a metric. Other definitions omit it or put 1 / 2 before the sum, which does
    not change neighbors. Parameters and return value as for :func:`l1`.

    Examples
    --------
    >>> from groundmetric.distances import chi2
    >>> chi2([[1, 1, 0]], [[1, 0, 0], [1, 3, 0], [0, 0, 1]]).round(3)
    array([[0.816, 0.365, 1.414]])
    """
    return _between(lambda x, y: np.sqrt(-additive_chi2_kernel(x, y)), X, Y)


def jensen_shannon(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    r"""Root of the Jensen-Shannon divergence, in nats; from 0 to sqrt(ln 2).

    .. math:: \Big(\tfrac12 \sum_p r_p \ln\frac{r_p}{m_p}
              + \tfrac12 \sum_p c_p \ln\frac{c_p}{m_p}\Big)^{1/2}, \quad
              m = \tfrac12 (r + c)

    with 0 ln 0 = 0. The root makes it a metric. Parameters and return value as for
    :func:`l1`.

    Examples
    --------
    >>> from groundmetric.distances import jensen_shannon
    >>> jensen_shannon([[1, 0]], [[1, 0], [1, 1], [0, 1]]).round(3)
    array([[0.   , 0.465, 0.833]])
    """
    return _between(_jensen_shannon, X, Y)


def fisher(X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
    r"""Geodesic distance of the Fisher metric, :math:`\arccos\sum_p\sqrt{r_p c_p}`.

    The angle between square roots, from 0 to pi / 2. (The length in the Fisher metric
    is twice this; the paper's section 6.3 omits the factor 2.) Parameters and return
    value as for :func:`l1`.

    Examples
    --------
    >>> from groundmetric.distances import fisher
    >>> fisher([[1, 0]], [[1, 0], [1, 1], [0, 1]]).round(3)
    array([[0.   , 0.785, 1.571]])
    """
    # sin(angle / 2) is half the chord. The arc cosine would lose half the digits of a
    # small angle, and be NaN where rounding makes a cosine exceed 1.
    return _between(lambda x, y: 2 * np.arcsin(_hellinger(x, y) / 2), X, Y)


#: The distances by name.
DISTANCES: dict[str, Callable[[ArrayLike, ArrayLike | None], Floats]] = {
    "l1": l1,
    "l2": l2,
    "hellinger": hellinger,
    "chi2": chi2,
    "jensen_shannon": jensen_shannon,
    "fisher": fisher,
}


def pairwise(
    X: ArrayLike, Y: ArrayLike | None = None, *, distance: str = "l1"
) -> Floats:
    """Distances between all rows of X and all rows of Y, by name.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    Y : array-like or sparse matrix of shape (m, d), optional
        Other histograms. X itself if None; then the result is exactly symmetric, with
        zeros on its diagonal.
    distance : {"l1", "l2", "hellinger", "chi2", "jensen_shannon", "fisher"}
        A name in ``DISTANCES``.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> from groundmetric import distances
    >>> distances.pairwise([[1, 0], [0, 2]], distance="l1")
    array([[0., 2.],
           [2., 0.]])
    """
    validation.require_one_of(distance, "distance", DISTANCES)
    return DISTANCES[distance](X, Y)


def _hellinger(x: Floats, y: Floats) -> Floats:
    found: Floats = cdist(np.sqrt(x), np.sqrt(y), "euclidean")
    return found


def _jensen_shannon(x: Floats, y: Floats) -> Floats:
    """Write r = m (1 + t) and c = m (1 - t), so that large terms do not cancel.

    scipy subtracts entropies, which is accurate to 1e-8 only near zero, and NaN where
    rounding makes the difference negative.
    """
    out = np.empty((len(x), len(y)))
    for i, row in enumerate(x):
        twice = row + y  # 2 m, shape (m, d)
        t = np.divide(row - y, twice, out=np.zeros_like(twice), where=twice > 0)
        terms = xlog1py(1 + t, t) + xlog1py(1 - t, -t)
        out[i] = np.sqrt((twice * np.maximum(terms, 0.0)).sum(axis=1)) / 2
    return out


def _between(
    formula: Callable[[Floats, Floats], Floats], X: ArrayLike, Y: ArrayLike | None
) -> Floats:
    """Check and normalize, then apply the formula to all pairs of rows."""
    x = validation.as_distributions(X, "X")
    if Y is None:
        upper = np.triu(formula(x, x), 1)
        return upper + upper.T
    y = validation.as_distributions(Y, "Y")
    if x.shape[1] != y.shape[1]:
        raise ValueError(f"X has {x.shape[1]} bins, but Y has {y.shape[1]}.")
    return formula(x, y)
