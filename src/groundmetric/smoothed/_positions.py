r"""Positions of the bins, between which squared distances are the costs.

.. math:: M_{pq} = |a_p - a_q|^2, \qquad
          \nabla_A L = 4\, (diag(G 1) - G)\, A \quad \text{with } G = \nabla_M L.

Any such M is of negative type, so that smoothed distances are never negative, and a
step needs no projection. A has one row for each bin; moving or turning all of them
together changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..base._blas import one_blas_thread, product
from ..learning._axes import principal_axes
from ..learning._space import Moved, norm

if TYPE_CHECKING:
    from .._files import Arrays

Floats = NDArray[np.float64]

COLLAPSED = 1e-9  # size of positions, relative to the last, that rounding explains


class Positions:
    """Positions of bins, from some on: centered, and scaled to a mean cost of 1."""

    def __init__(self, positions: Floats, *, n_threads: int = 1) -> None:
        self._threads = n_threads
        self.positions = scaled_positions(positions)
        self.metric = squared_distances(self.positions, n_threads)

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Go t0 / sqrt(t) |A| / |g| against g, the gradient in A, and scale again.

        Criteria are homogeneous: only the direction of A counts.
        """
        g = position_gradient(gradient, self.positions, self._threads)
        length = norm(g)
        if length == 0:
            return Moved(is_stuck=True)
        moved = self.positions - (step_size * norm(self.positions) / length) * g
        if norm(moved) <= COLLAPSED * norm(self.positions):
            return Moved(is_stuck=True)
        self.positions = scaled_positions(moved)
        self.metric = squared_distances(self.positions, self._threads)
        return Moved()

    def tidied(self, metric: Floats) -> Floats:
        """Means of squared distances are squared distances, in more dimensions."""
        return metric

    def require(self, metric: Floats, name: str) -> None:
        """Reject what is not a cost; that there are positions is not checked."""
        validation.as_cost(metric, len(self.positions), name)
        validation.require_dissimilarity(metric, name)

    def state(self) -> Arrays:
        """Return the positions."""
        return {"positions": self.positions}

    def set_state(self, state: Arrays) -> None:
        """Continue from there."""
        positions = validation.as_float_array(state["positions"], "positions", 2)
        if positions.shape != self.positions.shape:
            raise ValueError(f"its positions have shape {positions.shape}")
        self.positions = positions
        self.metric = squared_distances(positions, self._threads)


def squared_distances(A: Floats, n_threads: int = 1) -> Floats:
    """Costs between all bins."""
    squares = np.square(A).sum(axis=1)
    M: Floats = np.maximum(
        squares[:, None] + squares - 2 * product(A, A.T, n_threads), 0.0
    )
    np.fill_diagonal(M, 0.0)
    return (M + M.T) / 2


def position_gradient(G: Floats, A: Floats, n_threads: int = 1) -> Floats:
    """Gradient in the positions of a function whose gradient in the costs is G."""
    forces = product(G, A, n_threads)
    gradient: Floats = 4 * (G.sum(axis=1, keepdims=True) * A - forces)
    return gradient


def scaled_positions(A: Floats) -> Floats:
    """Center the positions, and scale them so that the mean cost is 1."""
    A = A - A.mean(axis=0)
    A = A / (np.abs(A).max() or 1.0)  # so that squares neither over- nor underflow
    scaled: Floats = A / (np.sqrt(2 * np.square(A).sum() / len(A)) or 1.0)
    return scaled


def on_principal_axes(A: Floats) -> Floats:
    """Turn positions so that the first coordinates vary most; centered ones stay so."""
    turned: Floats = product(A, _axes(A).T)
    return turned


def starting_positions(
    points: ArrayLike | None, n_components: int | None, rows: Floats
) -> Floats:
    """Positions before the first step.

    All bins are equally far from each other, or lie at their points. With fewer
    components than that, positions are projected onto principal axes: of the points if
    there are any, otherwise of the histograms, since energy distances of the identity's
    projection onto them are nearest to those of the identity itself.
    """
    d = rows.shape[1]
    A = np.eye(d) if points is None else validation.as_points(points, d)
    if n_components is None:
        return A
    limit = A.shape[1]
    r = validation.as_count(n_components, "n_components", low=1, high=limit)
    if r == limit:
        return A
    axes = _axes(rows if points is None else A)
    start: Floats = product(A, axes[:r].T)
    return start


def _axes(A: Floats) -> Floats:
    """Principal axes in rows; A varies most along the first ones."""
    with one_blas_thread():
        return principal_axes(A - A.mean(axis=0))
