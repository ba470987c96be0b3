r"""Distances at infinite smoothing: squared distances of mean positions.

.. math:: S_\infty(r, c) = |\bar a(r) - \bar a(c)|^2, \qquad
          \bar a(r) = \sum_p \tilde r_p a_p.

They cost a product of the sparse histograms and the positions, and one between the
means. With weights W of the distances, :math:`L = \sum_{ij} W_{ij} S_{ij}` and
:math:`V = W + W'`, the gradients are

.. math:: \nabla_{\bar a_i} = 2 \sum_j V_{ij} (\bar a_i - \bar a_j), \qquad
          \nabla_{a_p} = \sum_i \tilde r_{ip} \nabla_{\bar a_i}, \qquad
          \nabla_{l_p} = a_p \cdot \nabla_{a_p}
            - \sum_i \tilde r_{ip}\, \bar a_i \cdot \nabla_{\bar a_i}.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..learning._tilted import Tilted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..learning._parameters import Parameters

Floats = NDArray[Any]  # float32 or float64


class MeanDistances:
    """Squared distances between the mean positions of some histograms.

    Attributes
    ----------
    distances : ndarray of shape (n, n)
        At the last parameters.
    n_inexact : int
        0: these distances are not iterated.
    """

    n_inexact = 0

    def __init__(self, rows: csr_array, parameters: Parameters) -> None:
        self._tilted = Tilted(rows, parameters)
        self._parameters = parameters

    def solve(self, theta: Floats) -> None:
        """Compute the distances."""
        self._tilted.weigh(theta)
        means: Floats = self._tilted.rows @ self._tilted.positions
        self._means = means - means.mean(axis=0)  # their squares cancel less
        self._center = means.mean(axis=0)
        self.distances = squared(self._means, self._means)
        np.fill_diagonal(self.distances, 0.0)

    def gradient(self, weights: Floats) -> Floats:
        """Gradient of the sum of distances, weighted by an (n, n) matrix."""
        means, tilted = self._means, self._tilted
        sums = weights.sum(axis=0) + weights.sum(axis=1)
        g = 2 * (sums[:, None] * means - weights @ means - weights.T @ means)
        in_positions = tilted.rows.T @ g
        positions = tilted.positions - self._center
        in_logs = np.einsum("pk,pk->p", in_positions, positions)
        in_logs -= tilted.rows.T @ np.einsum("ik,ik->i", g, means)
        return self._parameters.gradient(tilted.bins, in_positions, in_logs)


def squared(left: Floats, right: Floats) -> Floats:
    """Squared distances between rows, multiplied out."""
    between: Floats = np.add.outer(_squares(left), _squares(right))
    product = left @ right.T
    product *= 2
    between -= product  # symmetric if both are the same
    np.maximum(between, 0, out=between)
    return between


def _squares(rows: Floats) -> Floats:
    squares: Floats = np.einsum("ik,ik->i", rows, rows)
    return squares
