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

from typing import TYPE_CHECKING

from ..learning._tilted import Tilted

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..base._arrays import Array, Arrays
    from ..learning._parameters import Parameters


class MeanDistances:
    """Squared distances between the mean positions of some histograms.

    Attributes
    ----------
    distances : array of shape (n, n)
        At the last parameters.
    n_inexact : int
        0: these distances are not iterated.
    """

    n_inexact = 0

    def __init__(self, rows: csr_array, parameters: Parameters) -> None:
        self._tilted = Tilted(rows, parameters)
        self._arrays = parameters.arrays

    def solve(self, theta: Array) -> None:
        """Compute the distances."""
        tilted, xp = self._tilted, self._arrays.xp
        tilted.weigh(theta)
        means = tilted.entries.product(tilted.positions)
        self._center = xp.mean(means, axis=0)
        self._means = means - self._center  # their squares cancel less
        self.distances = squared(self._means, self._means, self._arrays)
        diagonal = self._arrays.positions(len(means))
        self.distances[diagonal, diagonal] = 0.0

    def gradient(self, weights: Array) -> Array:
        """Gradient of the sum of distances, weighted by an (n, n) matrix."""
        means, tilted, xp = self._means, self._tilted, self._arrays.xp
        sums = xp.sum(weights, axis=0) + xp.sum(weights, axis=1)
        g = 2 * (sums[:, None] * means - weights @ means - weights.T @ means)
        in_positions = tilted.entries.back(g)
        positions = tilted.positions - self._center
        in_logs = xp.einsum("pk,pk->p", in_positions, positions)
        in_means = xp.einsum("ik,ik->i", g, means)
        in_logs -= tilted.entries.back(in_means[:, None])[:, 0]
        return tilted.assemble(in_positions, in_logs)


def squared(left: Array, right: Array, arrays: Arrays, n_threads: int = 1) -> Array:
    """Squared distances between rows, multiplied out."""
    between = _squares(left, arrays)[:, None] + _squares(right, arrays)
    product = arrays.product(left, right.T, n_threads)
    product *= 2
    between -= product  # symmetric if both are the same
    return arrays.xp.clip(between, 0, None)


def _squares(rows: Array, arrays: Arrays) -> Array:
    return arrays.xp.einsum("ik,ik->i", rows, rows)
