r"""Histograms whose bins have weights: the perturbation of Aitchison's geometry.

.. math:: \tilde r_p = \frac{w_p r_p}{\sum_q w_q r_q}, \qquad w = e^l, \qquad
          \frac{\partial L}{\partial l_p}
          = \tilde r_p \Big( h_p - \sum_q \tilde r_q h_q \Big)
          \quad\text{where } h = \frac{\partial L}{\partial \tilde r}.

Weights are relative to the largest in each histogram, so that masses are defined
however small all of its weights are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

if TYPE_CHECKING:
    from ._parameters import Parameters

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]

# Weights below this part of the largest in a histogram, in logarithms, count as this:
# masses stay positive, also in single precision.
LEAST = -60.0


class Tilted:
    """Some histograms with weighted bins, and the bins that they use.

    Parameters
    ----------
    rows : csr_array of shape (n, d)
        Histograms of positive mass; explicit entries are positive.
    parameters : Parameters
        What the vectors mean.

    Attributes
    ----------
    bins : ndarray of int
        Bins that are used, rising.
    rows : csr_array of shape (n, n_used)
        The weighted histograms, of mass 1, on these bins.
    positions : ndarray of shape (n_used, r)
        Positions of these bins.
    """

    def __init__(self, rows: csr_array, parameters: Parameters) -> None:
        self._parameters = parameters
        is_used = np.zeros(rows.shape[1], bool)
        is_used[rows.indices] = True
        self.bins: Indices = np.flatnonzero(is_used)
        place = np.zeros(rows.shape[1], np.int32)
        place[self.bins] = np.arange(len(self.bins))
        self._masses = rows.data.astype(parameters.dtype)
        self._sizes = np.diff(rows.indptr)
        self.rows = csr_array(
            (self._masses, place[rows.indices], rows.indptr),
            shape=(rows.shape[0], len(self.bins)),
        )
        self.positions: Floats = np.empty((0, 0))

    def weigh(self, theta: Floats) -> None:
        """Compute masses and positions at a vector of parameters."""
        logs = self._parameters.log_weights(theta)[self.bins]
        self.rows.data = weighted(self._masses, self.rows, logs)
        self.positions = self._parameters.positions(theta, self.bins)

    def gradient(self, in_positions: Floats, in_masses: Floats) -> Floats:
        """Gradient in the flat vector, from that in positions and in mass entries.

        Those in masses, in the order of the entries of the rows, count up to a number
        for each row.
        """
        starts, data = self.rows.indptr[:-1], self.rows.data
        means = np.add.reduceat(data * in_masses, starts)
        in_logs = np.bincount(
            self.rows.indices,
            data * (in_masses - np.repeat(means, self._sizes)),
            len(self.bins),
        )
        return self._parameters.gradient(self.bins, in_positions, in_logs)


def weighted(masses: Floats, rows: csr_array, log_weights: Floats) -> Floats:
    """Return the entries of rows, times the weights of their bins, of mass 1 again."""
    sizes, starts = np.diff(rows.indptr), rows.indptr[:-1]
    logs = log_weights[rows.indices]
    logs -= np.repeat(np.maximum.reduceat(logs, starts), sizes)
    found: Floats = masses * np.exp(np.maximum(logs, LEAST))
    found /= np.repeat(np.add.reduceat(found, starts), sizes)
    return found
