r"""Fisher's discriminant of histograms, as positions of their bins.

With the features :math:`f_p = (e_p, \gamma x_p)` of the bins, positions
:math:`a_p = W' f_p` are an offset of each bin and a map of its point, and a histogram
is at its mean features, :math:`\phi_i = \sum_p \tilde r_{ip} f_p`. The directions W
separate the classes most, in units of the spread within them:

.. math:: S_B w = \lambda \Sigma w, \quad w' \Sigma w = 1, \qquad
          \Sigma = (1 - \rho) S_W + \rho \mu I, \quad \mu = tr(S_W) / p,

where :math:`S_W = \frac1n \sum_i (\phi_i - \bar\phi_{y_i})(\phi_i - \bar\phi_{y_i})'`
is the scatter within classes, :math:`S_B = Q' Q` with the rows
:math:`\sqrt{n_c / n}\,(\bar\phi_c - \bar\phi)` that between them, and :math:`\rho`
shrinks the former towards a multiple of the identity. Features of histograms lie in
:math:`p = \min(d, n - 1)` dimensions, and not in more if these are features of points,
too. Hence

.. math:: W = \Sigma^{-1} Q' V \Lambda^{-1/2}, \qquad
          Q \Sigma^{-1} Q' = V \Lambda V',

which takes one system of linear equations: in the features, or if these outnumber the
histograms, in the histograms. With the features :math:`\Phi` of all histograms in rows,
:math:`Q = B \Phi`, and the matrix H that subtracts class means,

.. math:: \Sigma^{-1} Q' = \Phi' C, \qquad \rho \mu\, C = B' - (1 - \rho) H
          \left((1 - \rho) H \Phi \Phi' H + n \rho \mu I\right)^{-1} H \Phi \Phi' B'.

If histograms have weights, of mean 1, all sums and means over histograms are weighted.
The inner products are then those of histograms times the roots of their weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

if TYPE_CHECKING:
    from ._classes import Classes
    from ._features import Features

Floats = NDArray[np.float64]

LEAST_SHRINKAGE = 1e-4  # of an estimate, so that the equations have one solution
ROUNDING = 1e-12  # of a scatter, relative to the largest square: there is none
# Directions that separate less, relative to rounding and to the best, do not count.
NOTHING = 1e-14
NEGLIGIBLE = 1e-9


class Sides(NamedTuple):
    """The scatters, in the features or in the histograms.

    Attributes
    ----------
    within : ndarray of shape (m, m)
        S_W, or the inner products of histograms less their class means, over n: both
        have the same eigenvalues, except 0.
    squares : ndarray of shape (n,)
        Squared lengths of histograms less their class means.
    points : ndarray of shape (n,), optional
        Weights of the histograms.
    right : ndarray of shape (m, c)
        Q', or the inner products of the histograms with the rows of Q.
    largest : float
        Largest squared length of the features of a histogram.
    """

    within: Floats
    squares: Floats
    right: Floats
    largest: float
    points: Floats | None = None


def positions(
    features: Features, classes: Classes, shrinkage: float | None
) -> Floats | None:
    """Solve for the positions of the bins, (d, r); None if nothing tells classes apart.

    Without a shrinkage, it is the one that Ledoit & Wolf estimate.
    """
    n = len(classes.codes)
    by_histograms = features.n_features > n
    sides = (_in_histograms if by_histograms else _in_features)(features, classes)
    kept, shift = shrunk(sides, min(features.n_dimensions, n - 1), shrinkage)
    if by_histograms:
        right = kept / n * classes.rooted_within(classes.rooted(sides.right))
        solved = classes.rooted_within(_solved(sides.within, kept, shift, right))
        inverse = (classes.contrasts().T - classes.rooted(solved)) / shift  # (n, c)
    else:
        inverse = _solved(sides.within, kept, shift, sides.right)  # (m, c)
    separation = sides.right.T @ inverse
    values, vectors = np.linalg.eigh((separation + separation.T) / 2)
    least = max(NOTHING * sides.largest / shift, NEGLIGIBLE * values[-1])
    found = values > least
    if not found.any():
        return None
    W = inverse @ (vectors[:, found] / np.sqrt(values[found]))
    return features.of_bins_by_histograms(W) if by_histograms else features.of_bins(W)


def _in_features(features: Features, classes: Classes) -> Sides:
    """Add the scatters up, a block of histograms at a time."""
    means = features.class_means(classes)
    m, n = features.n_features, len(classes.codes)
    scatter, squares, largest = np.zeros((m, m)), np.empty(n), 0.0
    for some, block in features.blocks():
        largest = max(largest, float(np.square(block).sum(axis=1).max()))
        centered = block - means[classes.codes[some]]
        squares[some] = np.square(centered).sum(axis=1)
        if classes.points is not None:
            centered *= np.sqrt(classes.points[some])[:, None]
        scatter += centered.T @ centered
    shares = classes.counts / n
    between = np.sqrt(shares)[:, None] * (means - shares @ means)
    return Sides(scatter / n, squares, between.T, largest, classes.points)


def _in_histograms(features: Features, classes: Classes) -> Sides:
    """Center inner products in place: they may fill the memory."""
    products, n = features.products(), len(classes.codes)
    right, largest = products @ classes.contrasts().T, float(products.diagonal().max())
    if classes.points is not None:
        roots = np.sqrt(classes.points)
        products *= roots[:, None]
        products *= roots
    for view in (products, products.T):
        classes.subtract_means(view)
    squares = products.diagonal().copy()
    if classes.points is not None:
        squares /= classes.points
    products /= n
    return Sides(products, squares, right, largest, classes.points)


def shrunk(sides: Sides, p: int, shrinkage: float | None) -> tuple[float, float]:
    r"""Return :math:`1 - \rho` and :math:`\rho \mu`."""
    size = float(np.trace(sides.within))
    if size <= ROUNDING * sides.largest:  # equal within classes: all directions count
        return 0.0, (sides.largest or 1.0) / p
    rho = shrinkage
    if rho is None:
        rho = ledoit_wolf(sides.within, sides.squares, p, sides.points)
    return 1 - rho, rho * size / p


def _solved(scatter: Floats, kept: float, shift: float, right: Floats) -> Floats:
    """Solve (kept * scatter + shift * I) x = right, in the memory of the scatter."""
    scatter *= kept
    scatter[np.diag_indices_from(scatter)] += shift
    factor = cho_factor(scatter.T, overwrite_a=True, check_finite=False)
    found: Floats = cho_solve(factor, right, check_finite=False)
    return found


def ledoit_wolf(
    scatter: Floats, squares: Floats, p: int, points: Floats | None = None
) -> float:
    r"""Estimate the shrinkage of a scatter matrix S in p dimensions.

    .. math:: \rho = \frac{\min(\beta, \delta)}{\delta}, \qquad
              \delta = |S|^2 - \frac{tr(S)^2}{p}, \qquad
              \beta = \frac1n \left(\frac1n \sum_i |z_i|^4 - |S|^2\right)

    with the squared lengths :math:`|z_i|^2` of n centered rows. |S| and tr(S) are the
    same for the matrix of inner products of these rows, over n. If rows have weights,
    of mean 1, they count in the mean.
    """
    n, norm = len(squares), float(np.vdot(scatter, scatter))
    delta = norm - float(np.trace(scatter)) ** 2 / p
    fourth = np.square(squares) if points is None else points * np.square(squares)
    beta = (float(fourth.mean()) - norm) / n
    rho = beta / delta if 0 < beta < delta else float(beta > 0)
    return max(rho, LEAST_SHRINKAGE)
