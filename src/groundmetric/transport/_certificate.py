"""An optimal plan and its proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .. import _core

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Transport:
    """An optimal plan between two histograms, and the proof that it is optimal.

    Attributes
    ----------
    value : float
        The distance, <metric, plan>.
    rows, cols : ndarray of int, shape (n_arcs,)
        The bins between which mass moves, sorted; mass that stays has rows == cols.
    flow : ndarray, shape (n_arcs,)
        How much mass moves. Row sums are r, column sums are c.
    potentials : tuple of two ndarrays of shape (m,) and (n,)
        (u, v) with u[p] + v[q] <= metric[p, q] for all bins p of r and q of c.
    n_pivots : int
        Number of pivots of the simplex.
    duality_gap : float
        value - (u @ r + v @ c), zero up to rounding. No plan costs less than
        value - duality_gap.

    Examples
    --------
    >>> from groundmetric import transport
    >>> t = transport([1, 0], [0, 1], [[0, 3], [3, 0]])
    >>> t
    Transport(value=3.0, n_pivots=0, duality_gap=0.0)
    >>> t.rows, t.cols, t.flow
    (array([0], dtype=int32), array([1], dtype=int32), array([1.]))
    """

    value: float
    rows: NDArray[np.int32] = field(repr=False)
    cols: NDArray[np.int32] = field(repr=False)
    flow: Floats = field(repr=False)
    potentials: tuple[Floats, Floats] = field(repr=False)
    n_pivots: int
    duality_gap: float

    @property
    def plan(self) -> Floats:
        """The plan as a dense array: bins of r in rows, bins of c in columns."""
        u, v = self.potentials
        plan = np.zeros((u.size, v.size))
        plan[self.rows, self.cols] = self.flow
        return plan


def as_transport(certificate: _core.Certificate) -> Transport:
    """Copy the core's certificate."""
    return Transport(
        value=certificate.value,
        rows=certificate.rows,
        cols=certificate.columns,
        flow=certificate.flow,
        potentials=(certificate.u, certificate.v),
        n_pivots=certificate.n_pivots,
        duality_gap=certificate.value - certificate.dual_value,
    )
