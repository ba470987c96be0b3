r"""Distances between histograms of different masses (section 2.2 of the paper).

Partial plans move as much mass as both histograms have,

.. math:: P(r, c) = \{X \ge 0 : X 1 \le r, X' 1 \le c, 1'X 1 = \min(|r|, |c|)\},

and leave the surplus where it is. Both distances use the same solver as
:func:`~groundmetric.emd`: an extra bin takes the surplus. The cost between this bin and
the others is at least half the largest cost L. Since L/2 + L/2 is no less than any
direct cost, no mass passes through the extra bin; and if the costs are a metric, they
remain one with the extra bin, so that common mass can stay where it is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from .._progress import progress_bar

Floats = NDArray[np.float64]


def emd_hat(
    r: ArrayLike, c: ArrayLike, metric: ArrayLike, penalty: float | None = None
) -> float:
    r"""Earth mover's distance between histograms of any masses, with a penalty.

    .. math:: \widehat d(r, c) = \min_{X \in P(r, c)} \langle M, X \rangle
              + \bigl| |r| - |c| \bigr| \cdot \mathrm{penalty}

    after Pele & Werman, *A Linear Time Histogram Metric for Improved SIFT Matching*,
    2008. P(r, c) is the set of plans that move as much mass as both histograms have.

    It is a metric on histograms of any masses if ``metric`` is one and the penalty is
    positive and at least half its largest entry; with a smaller penalty the triangle
    inequality fails. For equal masses it is the EMD, whatever the penalty.

    Parameters
    ----------
    r, c : array-like of shape (d,)
        Non-negative histograms. A histogram may be zero everywhere; its distance to
        c is penalty * \|c|. Unlike ``emd``, this function never rescales masses,
        however small their difference.
    metric : array-like of shape (d, d)
        Cost of moving a unit of mass from bin p to bin q; any real matrix.
    penalty : float, optional
        Price of a unit of surplus, zero or more; the largest entry of ``metric`` if
        None (zero if that is negative).

    Returns
    -------
    float

    Examples
    --------
    >>> from groundmetric import emd_hat
    >>> emd_hat([3, 0], [0, 1], [[0, 2], [2, 0]])  # 2 for one moved, 2 * 2 for the rest
    6.0
    >>> emd_hat([3, 0], [0, 1], [[0, 2], [2, 0]], penalty=1)
    4.0
    >>> emd_hat([0, 0], [1, 1], [[0, 2], [2, 0]])
    4.0
    """
    validation.require_named_alike(r, c, metric=metric, names=("r", "c"))
    left = validation.as_histograms(r, "r", ndim=1, may_be_zero=True, n_added=1)
    right = validation.as_histograms(c, "c", ndim=1, may_be_zero=True, n_added=1)
    validation.require_same_bins(left, right)
    cost = validation.as_cost(metric, left.values.size)
    price = _as_penalty(penalty, cost)
    surplus = abs(left.first_mass - right.first_mass)
    value = _partial_cost(left.values, right.values, cost) + surplus * price
    validation.require_in_range(value)
    return value


def emd_partial(r: ArrayLike, c: ArrayLike, metric: ArrayLike) -> float:
    r"""Cost per unit of mass of the cheapest partial match of two histograms.

    .. math:: \min_{X \in P(r, c)} \langle M, X \rangle \,/\, \min(|r|, |c|)

    the EMD of Rubner, Tomasi & Guibas, 2000. Matches the smaller histogram with the
    part of the larger one that suits it best and ignores the rest: useful to find a
    part in a whole.

    This is not a metric on histograms of different masses: it is zero between a
    histogram and any part of it, and the triangle inequality fails. Use :func:`emd_hat`
    where a metric is needed. For equal masses it is the EMD divided by the mass.

    Parameters
    ----------
    r, c : array-like of shape (d,)
        Non-negative histograms of positive mass.
    metric : array-like of shape (d, d)
        Cost of moving a unit of mass from bin p to bin q; any real matrix.

    Returns
    -------
    float

    Examples
    --------
    >>> from groundmetric import emd_partial
    >>> M = [[0, 1, 4], [1, 0, 3], [4, 3, 0]]
    >>> emd_partial([0, 2, 0], [1, 1, 5], M)  # one stays in bin 1, one comes from bin 0
    0.5
    >>> emd_partial([1, 0, 1], [1, 1, 5], M)  # part of the other
    0.0
    """
    validation.require_named_alike(r, c, metric=metric, names=("r", "c"))
    left = validation.as_histograms(r, "r", ndim=1, n_added=1)
    right = validation.as_histograms(c, "c", ndim=1, n_added=1)
    validation.require_same_bins(left, right)
    cost = validation.as_cost(metric, left.values.size)
    # Dividing by a power of two is exact, and keeps masses times costs in range.
    unit = 2.0 ** math.frexp(min(left.first_mass, right.first_mass))[1]
    value = _partial_cost(left.values / unit, right.values / unit, cost)
    validation.require_in_range(value)
    return value / (min(left.first_mass, right.first_mass) / unit)


def pairwise_emd_hat(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    metric: ArrayLike,
    penalty: float | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """Distances :func:`emd_hat` between all rows of X and all rows of Y.

    An extra bin gives all histograms the same mass; they are then solved as by
    :func:`~groundmetric.pairwise_emd`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Non-negative histograms of any masses, in rows; rows may be zero everywhere.
    Y : array-like or sparse matrix of shape (m, d), optional
        Other histograms; X itself if None.
    metric : array-like of shape (d, d)
        Cost of moving a unit of mass between bins; any real matrix.
    penalty : float, optional
        Price of a unit of surplus; the largest entry of ``metric`` if None. Below half
        the largest entry, distances are computed as differences of larger numbers, and
        are accurate to the rounding of the surplus times the largest entry.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    ndarray of shape (n, m)

    Notes
    -----
    Masses are rounded to 2**-120 of the largest: a histogram with at least 1e-20 of the
    mass of another keeps all its digits.

    Examples
    --------
    >>> from groundmetric import pairwise_emd_hat
    >>> pairwise_emd_hat([[3, 0], [0, 1], [0, 0]], metric=[[0, 2], [2, 0]])
    array([[0., 6., 6.],
           [6., 0., 2.],
           [6., 2., 0.]])
    """
    validation.require_named_alike(X, Y, metric=metric)
    left = validation.as_histograms(X, "X", may_be_zero=True, n_added=1)
    right = left
    if Y is not None:
        right = validation.as_histograms(Y, "Y", may_be_zero=True, n_added=1)
        validation.require_same_bins(left, right)
    cost = validation.as_cost(metric, left.values.shape[1])
    price = _as_penalty(penalty, cost)
    threads = validation.n_threads(n_jobs)
    x, y = left.values, right.values
    total = max(left.high_mass, right.high_mass)
    if total == 0.0:
        return np.zeros((len(x), len(y)))
    enough = max(price, cost.max() / 2)
    bridge = _core.CostMatrix(_with_bin(cost, enough))
    symmetric = Y is None and np.array_equal(cost, cost.T)
    a = _core.Masses(_filled(x, total), total)
    b = a if Y is None else _core.Masses(_filled(y, total), total)
    with progress_bar(len(x) * len(y), label="emd_hat", show=verbose > 0) as report:
        values = _core.pairwise_dense(a, b, bridge, symmetric, threads, report)
    if enough > price:
        n, m = x.sum(axis=1)[:, None], y.sum(axis=1)[None, :]
        surplus = np.abs(n - m)
        least = np.minimum(n, m) * cost.min()  # lower bound of the cost of moving
        values = np.maximum(values - surplus * enough, least) + surplus * price
    validation.require_in_range(values)
    return values


def _as_penalty(penalty: float | None, cost: Floats) -> float:
    if penalty is None:
        return max(float(cost.max()), 0.0)
    return validation.as_number(penalty, "penalty", low=0.0)


def _with_bin(cost: Floats, price: float) -> Floats:
    """Costs with an extra bin at this price from all others."""
    out = np.pad(cost, (0, 1), constant_values=price)
    out[-1, -1] = 0.0
    return out


def _filled(x: Floats, total: float) -> Floats:
    """Rows of x with an extra bin that fills them up to the same mass."""
    rest = np.maximum(total - x.sum(axis=-1, keepdims=True), 0.0)
    return np.ascontiguousarray(np.concatenate([x, rest], axis=-1))


def _partial_cost(r: Floats, c: Floats, cost: Floats) -> float:
    """Least cost of moving min(|r|, |c|).

    No bin sends or receives more than that, so bins are cut to it first: a small
    histogram keeps its digits beside a large one. The cost is summed over the arcs
    between real bins only, so that the surplus cancels nothing.
    """
    moved = min(r.sum(), c.sum())
    if moved == 0.0:
        return 0.0
    r, c = np.minimum(r, moved), np.minimum(c, moved)
    total = float(max(r.sum(), c.sum()))
    bridge = _with_bin(cost, float(cost.max()) / 2)
    solved = _core.transport(_filled(r, total), _filled(c, total), total, bridge)
    rows, columns, d = solved.rows, solved.columns, len(r)
    inside = (rows < d) & (columns < d)
    with np.errstate(over="ignore", invalid="ignore"):  # checked by the caller
        return float(cost[rows[inside], columns[inside]] @ solved.flow[inside])
