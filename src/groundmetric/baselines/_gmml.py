r"""Geometric mean metric learning: a Mahalanobis distance in closed form.

.. math:: A = S^{-1} \#_t D, \quad X \#_t Y = X^{1/2} (X^{-1/2} Y X^{-1/2})^t X^{1/2}

S and D are the mean outer products of differences within pairs of the same class and
within the other pairs. At t = 1/2, A minimizes tr(A S) + tr(A^-1 D) (Zadeh, Hosseini &
Sra, ICML 2016, equations 6 and 13). Towards a prior A_0, S becomes S + lambda A_0^-1
and D becomes D + lambda A_0 (equation 16).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh

from .. import validation
from ..base._blas import one_blas_thread
from ._linear import Mahalanobis

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

SINGULAR = 1e-12  # smallest eigenvalue, relative to the largest


class GMML(Mahalanobis):
    """Geometric mean metric learning (Zadeh et al.), in closed form.

    Makes distances within classes small and those between classes large, in the mean
    over all pairs.

    Parameters
    ----------
    t : float, default=0.5
        From 0, where only pairs of the same class count, to 1, where only those of
        different classes do.
    regularization : float, default=0.1
        Weight of the prior, lambda, relative to the mean eigenvalue of the scatter of
        all pairs. It has to be positive if histograms are fewer than bins.
    prior : array-like of shape (d, d), optional
        Symmetric and positive definite; the Euclidean distance by default. Its entries
        belong to rows as the learner sees them, square roots by default, scaled so that
        their median distance is 1.
    hellinger : bool, default=True
        Learn on square roots of histograms.
    offset : float or "auto", optional
        Learn on logarithms instead, log(r + offset); "auto" is 1 / d.

    Examples
    --------
    >>> from groundmetric.baselines import GMML
    >>> X = [[4, 1, 1], [3, 2, 1], [1, 1, 4], [1, 2, 3]]
    >>> GMML().fit(X, [0, 0, 1, 1]).pairwise(X).shape
    (4, 4)
    """

    def __init__(
        self,
        *,
        t: float = 0.5,
        regularization: float = 0.1,
        prior: ArrayLike | None = None,
        hellinger: bool = True,
        offset: float | str | None = None,
    ) -> None:
        self.t = t
        self.regularization = regularization
        self.prior = prior
        self.hellinger = hellinger
        self.offset = offset

    def _learn(self, rows: Floats, labels: Labels) -> Floats:
        t = validation.as_number(self.t, "t", low=0.0, high=1.0)
        share = validation.as_factor(self.regularization, "regularization")
        prior, inverse = self._prior(rows.shape[1])
        if (rows == rows[0]).all():
            raise ValueError(
                "X has no two histograms that differ; GMML needs some that do."
            )
        with one_blas_thread():
            S, D = scatters(rows, labels)
            weight = share * np.trace(S + D) / (2 * len(S))
            return self._root_of_mean(S + weight * inverse, D + weight * prior, t)

    def _prior(self, d: int) -> tuple[Floats, Floats]:
        """Validate the prior; return it and its inverse."""
        if self.prior is None:
            return np.eye(d), np.eye(d)
        prior = validation.as_square(self.prior, "prior", d)
        if not np.allclose(prior, prior.T):
            i, j = np.unravel_index(np.abs(prior - prior.T).argmax(), prior.shape)
            raise ValueError(
                f"prior is not symmetric: prior[{i}, {j}] is {prior[i, j]}, but "
                f"prior[{j}, {i}] is {prior[j, i]}."
            )
        values, vectors = eigh(prior)
        if values[0] <= SINGULAR * values[-1]:
            raise ValueError(
                f"prior is not positive definite: its smallest eigenvalue is "
                f"{values[0]:.3g}."
            )
        if values[0] < np.finfo(float).tiny:
            raise ValueError(
                "prior is too small: the inverse of its smallest eigenvalue, "
                f"{values[0]:.3g}, is infinite."
            )
        return prior, (vectors / values) @ vectors.T

    def _root_of_mean(self, S: Floats, D: Floats, t: float) -> Floats:
        """Return L such that L'L = S^-1 #_t D.

        With S = C C', S^-1 is C^-T C^-1 and D is C^-T (C' D C) C^-1, so their mean is
        C^-T (C' D C)^t C^-1.
        """
        values, vectors = eigh(S)
        if values[0] <= SINGULAR * values[-1]:
            raise ValueError(
                f"regularization is {self.regularization}, but the scatter of pairs of "
                "the same class is singular; a larger one is needed."
            )
        roots = np.sqrt(values)
        C = vectors * roots
        powers, axes = eigh(C.T @ D @ C)
        L: Floats = (np.maximum(powers, 0.0) ** (t / 2) * axes).T @ (vectors / roots).T
        return L


def scatters(rows: Floats, labels: Labels) -> tuple[Floats, Floats]:
    r"""Return S and D from sums over classes, without forming pairs.

    With W_c the scatter of class c around its mean m_c, m the mean of all rows:

    .. math:: \sum_{similar} v v' = \sum_c n_c W_c, \quad
              \sum_{others} v v' = \sum_c (n - n_c) W_c + n \, n_c (m_c - m)(m_c - m)'
    """
    n, sizes = len(rows), np.bincount(labels)
    means = np.array([rows[labels == c].mean(axis=0) for c in range(len(sizes))])
    within = rows - means[labels]
    between = (means - rows.mean(axis=0)) * np.sqrt(n * sizes)[:, None]
    of_class = sizes[labels].astype(float)[:, None]
    n_similar = float((sizes * (sizes - 1)).sum()) / 2
    if n_similar == 0:
        raise ValueError("y has no two histograms of one class; GMML needs some.")
    S = within.T @ (of_class * within)
    D = within.T @ ((n - of_class) * within) + between.T @ between
    return S / n_similar, D / (n * (n - 1) / 2 - n_similar)
