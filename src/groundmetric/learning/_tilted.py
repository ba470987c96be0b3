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

from ._entries import entries_of

if TYPE_CHECKING:
    from ..base._arrays import Array
    from ._parameters import Parameters

Floats = NDArray[Any]  # float32 or float64
Indices = NDArray[np.int64]


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
    entries : Entries or DeviceEntries
        The weighted histograms, of mass 1, on these bins.
    positions : array of shape (n_used, r)
        Positions of these bins.
    """

    def __init__(self, rows: csr_array, parameters: Parameters) -> None:
        self._parameters = parameters
        is_used = np.zeros(rows.shape[1], bool)
        is_used[rows.indices] = True
        self.bins: Indices = np.flatnonzero(is_used)
        place = np.zeros(rows.shape[1], np.int32)
        place[self.bins] = np.arange(len(self.bins))
        masses = rows.data.astype(parameters.dtype)
        shape = rows.shape[0], len(self.bins)
        own = csr_array((masses, place[rows.indices], rows.indptr), shape=shape)
        self.entries: Any = entries_of(own, masses, parameters.arrays)
        self._used = self.bins  # where the parameters are
        if parameters.arrays.xp is not np:
            self._used = parameters.arrays.put(self.bins)
        self.positions: Array = np.empty((0, 0))

    @property
    def rows(self) -> csr_array:
        """The weighted histograms, on the processor."""
        rows: csr_array = self.entries.rows
        return rows

    def weigh(self, theta: Array) -> None:
        """Compute masses and positions at a vector of parameters."""
        self.entries.weigh(self._parameters.log_weights(theta)[self._used])
        self.positions = self._parameters.positions(theta, self._used)

    def assemble(self, in_positions: Array, in_log_weights: Array) -> Array:
        """Gradient in the flat vector, from that in positions and weights of bins."""
        return self._parameters.gradient(self._used, in_positions, in_log_weights)

    def gradient(self, in_positions: Floats, in_masses: Floats) -> Floats:
        """Gradient in the flat vector, from that in positions and in mass entries.

        Those in masses, in the order of the entries of the rows, count up to a number
        for each row.
        """
        starts, data = self.rows.indptr[:-1], self.rows.data
        sizes = np.diff(self.rows.indptr)
        means = np.add.reduceat(data * in_masses, starts)
        in_logs = np.bincount(
            self.rows.indices,
            data * (in_masses - np.repeat(means, sizes)),
            len(self.bins),
        )
        found: Floats = self.assemble(in_positions, in_logs)
        return found
