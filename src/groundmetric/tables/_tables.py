r"""Representative tables of the transport polytope (section 5.3 of the paper).

A table at the center of U(r, c) makes the distance linear in the metric:
:math:`d_M(r, c) \approx \langle M, \Xi \rangle`. There are two such tables:

- the *independence* table :math:`r c'`, which maximizes the entropy;
- the *typical* table of Barvinok, which maximizes
  :math:`g(X) = \sum (X_{pq} + 1) \ln(X_{pq} + 1) - X_{pq} \ln X_{pq}`, and near which
  most tables lie.
"""

from __future__ import annotations

import math
import numbers

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from .._warnings import warn_not_converged

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Warn if a margin of a typical table is off by more than this, relatively.
MARGIN_TOLERANCE = 1e-10


def independence_table(r: ArrayLike, c: ArrayLike) -> Floats:
    """Independence table of two histograms: the outer product, of the same mass.

    Parameters
    ----------
    r, c : array-like of shape (d,)
        Non-negative histograms of equal mass.

    Returns
    -------
    ndarray of shape (d, d)
        Row sums are r, column sums are c.

    Examples
    --------
    >>> from groundmetric import independence_table
    >>> independence_table([0.5, 0.5], [0.25, 0.75])
    array([[0.125, 0.375],
           [0.125, 0.375]])
    """
    left, right, mass = _as_pair(r, c)
    return np.outer(left, right * mass)


def typical_table(r: ArrayLike, c: ArrayLike, *, total: float = 1.0) -> Floats:
    """Typical table of two histograms.

    The maximizer of g over U(total * r, total * c), divided by total. For small totals
    it is close to the independence table,
    ``T = rc' [1 + N (r_p - |r|^2)(c_q - |c|^2)] + O(N^2)``, with N = total and
    histograms of mass 1. As the total grows, more mass moves to where both bins are
    heavy, or both light, and the table tends to a limit.

    Parameters
    ----------
    r, c : array-like of shape (d,)
        Non-negative histograms of equal mass. Empty bins give zero rows and columns,
        and so do bins of less than 1e-100 of the mass.
    total : float, default=1.0
        1.0 is the paper's choice. ``math.inf`` gives the analytic center of U(r, c),
        which maximizes the product of all entries.

    Returns
    -------
    ndarray of shape (d, d)
        Row sums are r, column sums are c.

    Examples
    --------
    >>> import math
    >>> from groundmetric import typical_table
    >>> typical_table([0.5, 0.5], [0.25, 0.75]).round(4)
    array([[0.125, 0.375],
           [0.125, 0.375]])
    >>> typical_table([0.25, 0.75], [0.25, 0.75]).round(4)
    array([[0.0691, 0.1809],
           [0.1809, 0.5691]])
    >>> typical_table([0.25, 0.75], [0.25, 0.75], total=math.inf).round(4)
    array([[0.0915, 0.1585],
           [0.1585, 0.5915]])
    """
    left, right, mass = _as_pair(r, c)
    return mass * typical_sum(
        np.stack([left, right]),
        np.array([[0, 1]]),
        np.ones(1),
        total=as_total(total) * mass,
    )


def _as_pair(r: ArrayLike, c: ArrayLike) -> tuple[Floats, Floats, float]:
    """Both histograms scaled to mass 1, and their mass."""
    validation.require_named_alike(r, c, names=("r", "c"))
    left = validation.as_histograms(r, "r", ndim=1)
    right = validation.as_histograms(c, "c", ndim=1)
    validation.require_same_bins(left, right)
    mass = validation.common_mass(left, right)
    return left.values / left.first_mass, right.values / right.first_mass, mass


def as_total(total: float) -> float:
    """Validate the total mass of a typical table: positive, or infinity."""
    if not isinstance(total, numbers.Real) or isinstance(total, bool) or not total > 0:
        raise ValueError(
            f"total is {validation.spelled(total)}; a positive number or infinity is "
            "needed."
        )
    try:
        return float(total)
    except OverflowError:
        return math.inf


def independence_sum(X: Floats, weights: Floats) -> Floats:
    """Sum of weights[i, j] * x_i x_j' over all pairs: two matrix products."""
    return X.T @ weights @ X  # (d, n) (n, n) (n, d)


def typical_sum(
    X: Floats, pairs: Indices, weights: Floats, *, total: float, n_threads: int = 1
) -> Floats:
    """Sum of weights[k] * typical table of pair k, for rows of X of mass 1."""
    sums, error = _core.typical_sum(X, pairs, weights, total, n_threads, None)
    if not error <= MARGIN_TOLERANCE:
        warn_not_converged(
            f"A margin of a typical table has a relative error of {error:.1e}."
        )
    return sums
