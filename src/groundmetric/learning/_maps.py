r"""Metrics between bins with coordinates: distances after a linear map.

.. math:: M_{pq} = |A (x_p - x_q)|, \qquad \tilde r_p \propto w_p r_p

A metric of 5,000 bins has 12.5 million entries; A has r s of them, one row for each of
r dimensions and one column for each of s coordinates. Every A gives a metric, so that a
step needs no projection. Bins may also have weights w by which histograms are
multiplied. What is learned stands in a flat vector (``_parameters.py``): the logarithms
of the weights, if they are learned, and A', column by column.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .. import validation
from ._adam import Adam
from ._parameters import Parameters, Prior
from ._space import Moved, norm

if TYPE_CHECKING:
    from .._files import Arrays

Floats = NDArray[np.float64]

COLLAPSED = 1e-9  # size of a map, relative to the last, that rounding explains
# First step of the logarithm of a weight, relative to that of the map to its norm.
WEIGHT_STEP = 0.5

# Bins up to which the matrix of all distances between them is made: 800 MB.
LARGEST = 10_000


class LinearMaps:
    """Maps A of points, scaled to a mean squared distance of 1, and weights of bins.

    Parameters
    ----------
    points : ndarray of shape (d, s)
        Centered coordinates of the bins.
    start : ndarray of shape (r, s)
        The first map.
    log_weights : ndarray of shape (d,), optional
        The logarithms of the first weights; all are 1, and stay so, if None.

    Attributes
    ----------
    parameters : Parameters
        What is learned, and where it stands in a vector.
    metric : ndarray
        The vector.
    """

    def __init__(
        self, points: Floats, start: Floats, log_weights: Floats | None = None
    ) -> None:
        self._covariance = points.T @ points / len(points)  # (s, s)
        learns_weights = log_weights is not None
        logs = log_weights if log_weights is not None else np.zeros(len(points))
        learned = ("weights", "map") if learns_weights else ("map",)
        prior = Prior(points, self._scaled(start.T), logs)
        self.parameters = Parameters(prior, learned, "float64")
        self.metric = self.parameters.start
        self._adam: Adam | None = None
        if learns_weights:
            self._adam = Adam(logs.copy(), [(slice(0, len(logs)), WEIGHT_STEP)])

    def _scaled(self, A: Floats) -> Floats:
        """Scale a map; criteria are homogeneous, only its direction counts."""
        A = A / (np.abs(A).max() or 1.0)
        spread = 2 * float(((self._covariance @ A) * A).sum())  # mean |A'(x_p - x_q)|^2
        scaled: Floats = A / (np.sqrt(max(spread, 0.0)) or 1.0)
        return scaled

    def move(self, gradient: Floats, step_size: float) -> Moved:
        """Go t0 / sqrt(t) |A| / |g| against g, and scale again; weights follow Adam."""
        slices, moved = self.parameters.slices, self.metric.copy()
        A, g = moved[slices["map"]], gradient[slices["map"]]
        size, length = norm(A), norm(g)
        if length > 0:
            A -= (step_size * size / length) * g
            if norm(A) <= COLLAPSED * size:
                return Moved(is_stuck=True)
            A[...] = self._scaled(A.reshape(self.parameters.shapes["map"])).ravel()
        if self._adam is not None:
            self._adam.move(gradient[slices["weights"]], step_size)
            moved[slices["weights"]] = self._adam.theta
        self.metric = moved
        return Moved()

    def tidied(self, metric: Floats) -> Floats:
        """Means of maps are maps."""
        return metric

    def require(self, metric: Floats, name: str) -> None:
        """Reject what is not a map of these points."""
        theta = validation.as_float_array(metric, name, 1)
        if theta.shape != self.metric.shape:
            raise ValueError(f"{name} has shape {theta.shape}")
        validation.require_finite(theta, name)

    def state(self) -> Arrays:
        """Return the map, and how weights move."""
        adam = {} if self._adam is None else self._adam.state()
        return {"vector": self.metric, **adam}

    def set_state(self, state: Arrays) -> None:
        """Continue from there."""
        self.require(state["vector"], "vector")
        if self._adam is not None:
            self._adam.set_state(state)
        self.metric = state["vector"]


def all_distances(positions: Floats, name: str) -> Floats:
    """Compute the matrix of distances between all bins, if there are not too many."""
    d = len(positions)
    if d > LARGEST:
        raise ValueError(
            f"{name.replace('embedding', 'metric')} would have {d} x {d} entries; use "
            f"{name} instead, for instance in pairwise_emd(points=learner.{name})."
        )
    metric: Floats = cdist(positions, positions)
    return metric


def of_unscaled(A: Floats, k: int) -> Floats:
    """Turn a map of points divided by 2^k into one of the points themselves."""
    with np.errstate(over="ignore"):
        components: Floats = np.ldexp(A, -k)
    if not np.isfinite(components).all():
        raise ValueError(
            f"points are less than 2^{k} in absolute value: a map to distances of "
            "about 1 exceeds the range of double precision; scale them up."
        )
    return components
