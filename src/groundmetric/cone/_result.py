"""The result of a projection."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._warnings import warn_not_converged
from ._ball import norm

if TYPE_CHECKING:
    from ._capped import Found

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Projection:
    """The metric nearest to a matrix, with a bound on the error of the result.

    Attributes
    ----------
    metric : ndarray of shape (d, d)
        An exact metric in floating point.
    n_iter : int
        Number of rounds, each of which looks for broken triangles once.
    n_sweeps : int
        Passes over the triangles of the working set, summed over all rounds.
    violation : float
        How much the last iterate violated the triangle inequality before the repair.
    residual : float
        Bound from the duality gap, in the weighted norm: the distance to the true
        projection is at most this times the norm of the metric (or times a thousandth
        of the norm of the input, if that is larger).
    distance : float
        Frobenius norm of the difference from the input.
    converged : bool
        Whether the residual is within the tolerance.

    Examples
    --------
    >>> from groundmetric import project_metric
    >>> project_metric([[0, 1], [3, 0]])
    Projection(n_iter=1, n_sweeps=0, ...distance=1.41..., converged=True)
    """

    metric: Floats = field(repr=False)
    n_iter: int
    n_sweeps: int
    violation: float
    residual: float
    distance: float
    converged: bool


def result_of(
    found: Found, metric: Floats, matrix: Floats, max_iter: int
) -> Projection:
    """Make the result of a projection, with a metric that may have moved on."""
    if not found.converged:
        limit = (
            f"max_iter={max_iter} rounds"
            if found.n_iter >= max_iter
            else f"{found.n_iter} rounds, at the limit of its precision"
        )
        warn_not_converged(
            f"The projection stopped after {limit}; its relative distance to the true "
            f"projection is at most {found.residual:.1e}."
        )
    distance = norm(metric - matrix)
    return Projection(metric, *found[1:-1], distance, found.converged)
