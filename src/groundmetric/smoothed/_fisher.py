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
shrinks the former towards a multiple of the identity. Hence

.. math:: W = \Sigma^{-1} Q' V \Lambda^{-1/2}, \qquad
          Q \Sigma^{-1} Q' = V \Lambda V',

which takes one system of linear equations: in the features, or if these outnumber the
histograms, in the histograms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Classes = NDArray[Any]

LEAST_SHRINKAGE = 1e-4  # so that the equations have one solution
ROUNDING = 1e-12  # relative size of a scatter, or of a separation, that is none


class Features(NamedTuple):
    """Features of bins and histograms, without the d unit vectors.

    Attributes
    ----------
    rows : csr_array of shape (n, d) or None
        Histograms; None if positions are a map of the points only.
    points : ndarray of shape (d, s) or None
        Coordinates of the bins, times gamma.
    means : ndarray of shape (n, s) or None
        Those of the histograms.
    """

    rows: csr_array | None
    points: Floats | None
    means: Floats | None

    @property
    def n_features(self) -> int:
        """Number of features, p."""
        parts = [x for x in (self.rows, self.means) if x is not None]
        return sum(x.shape[1] for x in parts)

    def matrix(self) -> Floats:
        """Features of the histograms, (n, p)."""
        parts = [] if self.rows is None else [self.rows.toarray()]
        return np.hstack(parts if self.means is None else [*parts, self.means])

    def products(self) -> Floats:
        """Inner products of the histograms' features, (n, n)."""
        found = np.zeros(1)
        if self.rows is not None:
            found = found + (self.rows @ self.rows.T).toarray()
        if self.means is not None:
            found = found + self.means @ self.means.T
        return found

    def of_bins(self, W: Floats) -> Floats:
        """Positions of the bins for directions in the features, (p, r)."""
        d = 0 if self.rows is None else self.rows.shape[1]
        own = W[:d] if self.rows is not None else np.zeros(1)
        return own if self.points is None else np.asarray(own + self.points @ W[d:])

    def of_bins_by_histograms(self, C: Floats) -> Floats:
        """Positions of the bins for directions that are sums of histograms, (n, r)."""
        own = 0.0 if self.rows is None else self.rows.T @ C
        if self.points is None or self.means is None:
            return np.asarray(own)
        found: Floats = own + self.points @ (self.means.T @ C)
        return found


def features_of(
    rows: csr_array, y: Classes, points: Floats | None, trust: float
) -> Features:
    r"""Make features of histograms, with :math:`\gamma` such that both parts count.

    Their scatters within classes are as large for a trust of 1; points alone count if
    it is infinite.
    """
    if points is None or trust == 0:
        return Features(rows, None, None)
    means = rows @ points
    if np.isinf(trust):
        return Features(None, points, means)
    own = (rows.data**2).sum() - _squares_of_means(rows, y)
    theirs = np.square(within(means, y)).sum()
    gamma = trust * np.sqrt(own / theirs) if theirs > 0 and own > 0 else trust
    return Features(rows, gamma * points, gamma * means)


def _squares_of_means(rows: csr_array, y: Classes) -> float:
    """Sum the squared lengths of class means, once for each member."""
    indicator = np.equal.outer(np.unique(y), y).astype(float)
    sums = indicator @ rows
    return float((np.square(sums).sum(axis=1) / indicator.sum(axis=1)).sum())


def positions(features: Features, y: Classes, shrinkage: float | None) -> Floats | None:
    """Solve for the positions of the bins, (d, r); None if nothing tells classes apart.

    Without a shrinkage, it is the one that Ledoit & Wolf estimate.
    """
    n = len(y)
    by_histograms = features.n_features > n
    if by_histograms:
        F, Q = features.products(), between(np.eye(n), y)
        scatter = within(within(F, y).T, y) / n  # (n, n), as large as S_W
    else:
        F = features.matrix()
        Q, centered = between(F, y), within(F, y)
        scatter = centered.T @ centered / n
    p, size = min(features.n_features, n - 1), float(np.trace(scatter))
    if size <= ROUNDING * np.abs(F).max():  # equal within classes: all directions count
        size, rho = 1.0, 1.0
    elif shrinkage is None:
        squares = np.diag(scatter) * n if by_histograms else np.square(centered).sum(1)
        rho = ledoit_wolf(scatter, squares, p)
    else:
        rho = shrinkage
    shift = rho * size / p
    shrunk = (1 - rho) * scatter
    shrunk[np.diag_indices_from(shrunk)] += shift
    if by_histograms:
        right = (1 - rho) / n * within(F @ Q.T, y)
        inverse = (Q.T - within(solve(shrunk, right, assume_a="pos"), y)) / shift
        separation = Q @ F @ inverse
    else:
        inverse = solve(shrunk, Q.T, assume_a="pos")
        separation = Q @ inverse
    values, vectors = np.linalg.eigh((separation + separation.T) / 2)
    kept = values > max(ROUNDING, 1e-9 * values[-1])
    if not kept.any():
        return None
    W = inverse @ (vectors[:, kept] / np.sqrt(values[kept]))
    return features.of_bins_by_histograms(W) if by_histograms else features.of_bins(W)


def within(F: Floats, y: Classes) -> Floats:
    """Subtract the mean of its class from each row."""
    found = F.copy()
    for label in np.unique(y):
        members = y == label
        found[members] -= F[members].mean(axis=0)
    return found


def between(F: Floats, y: Classes) -> Floats:
    """Return the means of classes less that of all, times the roots of their shares."""
    mean, rows = F.mean(axis=0), []
    for label in np.unique(y):
        members = y == label
        rows.append(np.sqrt(members.mean()) * (F[members].mean(axis=0) - mean))
    return np.array(rows)


def ledoit_wolf(scatter: Floats, squares: Floats, p: int) -> float:
    r"""Estimate the shrinkage of a scatter matrix S in p dimensions.

    .. math:: \rho = \frac{\min(\beta, \delta)}{\delta}, \qquad
              \delta = |S|^2 - \frac{tr(S)^2}{p}, \qquad
              \beta = \frac1n \left(\frac1n \sum_i |z_i|^4 - |S|^2\right)

    with the squared lengths :math:`|z_i|^2` of n centered rows. |S| and tr(S) are the
    same for the matrix of inner products of these rows.
    """
    n, norm = len(squares), float(np.square(scatter).sum())
    delta = norm - float(np.trace(scatter)) ** 2 / p
    beta = (float(np.square(squares).mean()) - norm) / n
    rho = beta / delta if 0 < beta < delta else float(beta > 0)
    return max(rho, LEAST_SHRINKAGE)
