r"""Projection onto the cone of metrics (section 5.2, problems P3 and P4, of the paper).

.. math:: \min_M \|M - A\| \quad \text{subject to} \quad
          M_{ii} = 0, \; M_{ij} = M_{ji}, \; M_{ij} \le M_{ik} + M_{kj}

Also known as the metric nearness problem (Brickell, Dhillon, Sra & Tropp, 2008). There
are d^3 / 2 constraints, but few of them matter: the solver keeps a working set of
triangles, solves its dual by Hildreth's method and conjugate gradients, and finds the
triangles that are still broken by a min-plus product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from .._progress import progress_bar
from .._warnings import warn_not_converged
from ._triangle import closure

Floats = NDArray[np.float64]

MAX_ITER = 1000
SUBNORMAL = 1e-290
LEAST_WEIGHT = 1e-150


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


def project_metric(
    A: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    radius: float | None = None,
    tol: float = 1e-6,
    max_iter: int = MAX_ITER,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Projection:
    """Nearest metric to a matrix, in the Frobenius norm.

    Parameters
    ----------
    A : array-like of shape (d, d)
        Any real matrix; it may be asymmetric, and have negative entries and a non-zero
        diagonal.
    weights : array-like of shape (d, d), optional
        Symmetric and positive: minimize the sum of weights * (M - A)**2 instead. For
        missing entries of A, use a small weight such as 1e-6 and a value of typical
        size. Weights that span many more orders of magnitude take longer; with more
        than 64 bins they may not converge.
    radius : float, optional
        Project onto the metrics of at most this Frobenius norm. Cannot be combined
        with weights.
    tol : float, default=1e-6
        Tolerance for the residual, the relative distance to the true projection.
    max_iter : int, default=1000
        Maximum number of rounds; the result is a metric even if this limit is hit.
    n_jobs : int, optional
        Number of threads, as in scikit-learn. Results do not depend on it.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm), useful from about 500 bins on.

    Returns
    -------
    Projection

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` rounds do not reach the tolerance.

    Examples
    --------
    >>> from groundmetric import project_metric
    >>> project_metric([[0, 1, 7], [1, 0, 2], [7, 2, 0]]).metric.round(3)
    array([[0.   , 2.333, 5.667],
           [2.333, 0.   , 3.333],
           [5.667, 3.333, 0.   ]])
    """
    matrix = validation.as_square(A, "A")
    projector = MetricProjector(
        len(matrix), weights=weights, tol=tol, max_iter=max_iter, n_jobs=n_jobs
    )
    return projector.project(matrix, radius=radius, verbose=verbose)


class MetricProjector:
    """Project one matrix after another.

    Keeps its working set and multipliers between calls: if an input is close to the
    previous one, as in a descent, its projection takes only a few rounds.

    Parameters
    ----------
    d : int
        The size of the matrices.
    weights, tol, max_iter, n_jobs
        As for :func:`project_metric`.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import MetricProjector
    >>> A = np.array([[0, 1, 7], [1, 0, 2], [7, 2, 0]])
    >>> projector = MetricProjector(3)
    >>> projector.project(A).n_iter, projector.project(1.01 * A).n_iter
    (2, 1)
    """

    def __init__(
        self,
        d: int,
        *,
        weights: ArrayLike | None = None,
        tol: float = 1e-6,
        max_iter: int = MAX_ITER,
        n_jobs: int | None = None,
    ) -> None:
        self._d = validation.as_count(d, "d", low=1, high=validation.LARGEST_DIMENSION)
        self._weights, self._weight_unit = None, 1.0
        if weights is not None:
            self._weights, self._weight_unit = _scaled_weights(
                validation.as_positive(weights, "weights", d)
            )
        self._tol = validation.as_number(tol, "tol", low=0.0)
        self._max_iter = validation.as_count(
            max_iter, "max_iter", low=1, high=1_000_000_000
        )
        self._threads = validation.n_threads(n_jobs)
        self._core = _core.MetricProjector(self._d)

    @property
    def n_triangles(self) -> int:
        """Size of the working set."""
        return self._core.n_triangles

    def multipliers(self) -> tuple[NDArray[np.int32], Floats]:
        """Triangles (i, j, k) that push M[i, j] down, and their multipliers u.

        The KKT conditions: take the last input (made symmetric), subtract u at [i, j]
        and add u at [i, k] and [k, j], each divided by its weight; the result is the
        projection up to the tolerance.
        """
        triangles, duals, unit = self._core.triangles()
        active = duals > 0
        return triangles[active], duals[active] * unit * self._weight_unit

    def _state(self) -> dict[str, NDArray[Any]]:
        """Return what later projections start from."""
        triangles, duals, unit = self._core.triangles()
        return {"triangles": triangles, "duals": duals, "unit": np.array(unit)}

    def _set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from the state of another projector."""
        self._core.set_triangles(
            state["triangles"], state["duals"], float(state["unit"])
        )

    def forget(self) -> None:
        """Empty the working set, as in a new projector."""
        self._core.forget()

    def project(
        self, A: ArrayLike, *, radius: float | None = None, verbose: int = 0
    ) -> Projection:
        """Project a matrix; see :func:`project_metric`."""
        matrix = validation.as_square(A, "A", size=self._d)
        if radius is not None:
            radius = validation.as_number(radius, "radius", low=0.0)
            if self._weights is not None:
                raise ValueError("radius and weights cannot be combined.")
        # Halving first avoids overflow, but a symmetric matrix stays as it is.
        symmetric = np.where(matrix == matrix.T, matrix, matrix / 2 + matrix.T / 2)
        np.fill_diagonal(symmetric, 0.0)
        with progress_bar(
            None, label="project", unit="round", show=verbose > 0
        ) as report:
            metric, n_iter, n_sweeps, violation, residual, converged = (
                self._core.project(
                    symmetric,
                    self._weights,
                    self._tol,
                    self._max_iter,
                    self._threads,
                    report,
                )
            )
        if not converged:
            warn_not_converged(
                f"The projection stopped after max_iter={n_iter} rounds; its relative "
                f"distance to the true projection is at most {residual:.1e}."
            )
        if metric.max() < SUBNORMAL:  # scaling back may have rounded
            metric = closure(metric, self._threads)
        if radius is not None:
            metric = _into_ball(metric, radius, self._threads)
        distance = _norm(metric - matrix)
        return Projection(
            metric, n_iter, n_sweeps, violation, residual, distance, converged
        )


def _scaled_weights(weights: Floats) -> tuple[Floats, float]:
    """Divide weights by a power of two, so that the largest is in [1, 2).

    The projection does not depend on the scale, but sums of weights could overflow.
    Weights too small to matter are raised to the least whose inverse is finite.
    """
    np.fill_diagonal(weights, 0.0)
    unit = math.ldexp(1.0, math.frexp(float(weights.max()))[1] - 1)
    return np.maximum(weights / unit, LEAST_WEIGHT), unit


def _into_ball(metric: Floats, radius: float, threads: int) -> Floats:
    """Project a metric onto the ball, along its ray: this is exact.

    Scaling rounds, and may break tight triangles by as much; the closure repairs them.
    """
    largest, relative = _scaled_norm(metric)
    if largest * relative <= radius:
        return metric
    rounding = 4 * np.finfo(float).eps
    return closure(metric / largest * (radius / relative * (1 - rounding)), threads)


def _norm(matrix: Floats) -> float:
    largest, relative = _scaled_norm(matrix)
    return largest * relative


def _scaled_norm(matrix: Floats) -> tuple[float, float]:
    """Largest entry, and the Frobenius norm divided by it: their product may overflow.

    Without BLAS, whose threads take longer to wake up than this takes.
    """
    largest = float(np.abs(matrix).max())
    scaled = matrix / (largest or 1.0)
    return largest, float(np.sqrt(np.square(scaled).sum()))
