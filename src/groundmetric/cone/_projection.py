r"""Projection onto the cone of metrics (section 5.2, problems P3 and P4, of the paper).

.. math:: \min_M \|M - A\| \quad \text{subject to} \quad
          M_{ii} = 0, \; M_{ij} = M_{ji}, \; M_{ij} \le M_{ik} + M_{kj}

Also known as the metric nearness problem (Brickell, Dhillon, Sra & Tropp, 2008). There
are d^3 / 2 constraints, but few of them matter: the solver keeps a working set of
triangles, solves its dual by Hildreth's method and conjugate gradients, and finds the
triangles that are still broken by a min-plus product. A largest entry (section 8.2) is
a triangle as well: see ``cpp/cone/projector.h``.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, validation
from .._progress import progress_bar
from ._ball import into_ball, unit_of
from ._capped import Found, Goal, into_capped_ball, of_norm, stretched
from ._result import Projection, result_of
from ._triangle import closure

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]

MAX_ITER = 1000
SUBNORMAL = 1e-290
LEAST_WEIGHT = 1e-150
NEAR = 5e-4  # to a norm, relatively
LONGEST = 2.0**20  # multiple of a matrix


def project_metric(
    A: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    cap: float | None = None,
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
    cap : float, optional
        Project onto the metrics without any entry above this. All entries that the cap
        holds down are equal, so that :func:`pairwise_emd` can take less time, as for
        :func:`threshold_metric`.
    radius : float, optional
        Project onto the metrics of at most this Frobenius norm. Cannot be combined
        with weights. With a cap, this takes a few projections.
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
    return projector.project(matrix, cap=cap, radius=radius, verbose=verbose)


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
        projection up to the tolerance. With a cap, k = d stands for M[i, j] <= cap, and
        only the entry at [i, j] changes. With a radius that is reached, they belong to
        a multiple of the input. With two bins, there are no triangles, and caps are not
        listed.
        """
        triangles, duals, unit = self._core.triangles()
        active = duals > 0
        return triangles[active], duals[active] * unit * self._weight_unit

    def _state(self) -> dict[str, NDArray[Any]]:
        """Return what later projections start from."""
        triangles, duals, unit = self._core.triangles()
        return {
            "triangles": triangles,
            "duals": duals,
            "unit": np.array(unit),
            "has_cap": np.array(self._core.has_center),
        }

    def _set_state(self, state: dict[str, NDArray[Any]]) -> None:
        """Continue from the state of another projector."""
        core = self._core_for(1.0 if state["has_cap"] else None)
        core.set_triangles(state["triangles"], state["duals"], float(state["unit"]))
        self._core = core

    def forget(self) -> None:
        """Empty the working set, as in a new projector."""
        self._core.forget()

    def project(
        self,
        A: ArrayLike,
        *,
        cap: float | None = None,
        radius: float | None = None,
        verbose: int = 0,
    ) -> Projection:
        """Project a matrix; see :func:`project_metric`."""
        matrix = validation.as_square(A, "A", size=self._d)
        if cap is not None:
            cap = validation.as_positive_number(cap, "cap")
        if radius is not None:
            radius = validation.as_number(radius, "radius", low=0.0)
            if self._weights is not None:
                raise ValueError("radius and weights cannot be combined.")
        core = self._core_for(cap)
        with progress_bar(
            None, label="project", unit="round", show=verbose > 0
        ) as report:
            solve = partial(self._solve, core=core, cap=cap, report=report)
            symmetric = _symmetric(matrix)
            if cap is None or radius is None:
                found = solve(symmetric, self._tol, self._max_iter)
            else:
                goal = Goal(cap, radius, self._tol, self._max_iter)
                with self._restored_after_errors():
                    found = into_capped_ball(solve, symmetric, goal, self._threads)
        self._core = core
        metric = found.metric
        if radius is not None and cap is None:
            metric = into_ball(metric, radius, self._threads)
        return result_of(found, metric, matrix, self._max_iter)

    def _project_to_norm(self, A: Floats, cap: float, size: float) -> Projection:
        """Project the multiple of a matrix whose projection has about this norm.

        The rest, at most a thousandth, is made up for by a multiple of the projection,
        cut off at the cap; so is all if it takes a very large multiple of the matrix.
        """
        core = self._core_for(cap)

        def solve(matrix: Floats, _tol: float, left: int) -> Found:
            return self._solve(matrix, self._tol, left, core=core, cap=cap, report=None)

        goal = Goal(cap, size * (1 - NEAR), NEAR, self._max_iter, LONGEST)
        with self._restored_after_errors():
            found, _ = of_norm(solve, A, goal, solve(A, NEAR, self._max_iter))
        self._core = core
        metric = stretched(found.metric, cap, size, self._threads)
        return result_of(found, metric, A, self._max_iter)

    @contextmanager
    def _restored_after_errors(self) -> Iterator[None]:
        """Undo what some solves of a search have changed, if the next one raises."""
        state = self._state()
        try:
            yield
        except BaseException:
            self._set_state(state)
            raise

    def _core_for(self, cap: float | None) -> _core.MetricProjector:
        """Return the core, or a new one if the last projection was of another kind."""
        has_center = cap is not None
        if self._core.has_center == has_center:
            return self._core
        return _core.MetricProjector(self._d, has_center)

    def _solve(
        self,
        matrix: Floats,
        tol: float,
        max_iter: int,
        *,
        core: _core.MetricProjector,
        cap: float | None,
        report: Any,
    ) -> Found:
        """Project onto the cone, or onto capped metrics."""
        found = Found(
            *core.project(
                matrix,
                self._weights,
                tol,
                max_iter,
                self._threads,
                report,
                cap or 0.0,
            )
        )
        if found.metric.max() < SUBNORMAL:  # scaling back may have rounded
            return found._replace(metric=closure(found.metric, self._threads))
        return found


def _symmetric(matrix: Floats) -> Floats:
    """Halve first, to avoid overflow; but a symmetric matrix stays as it is."""
    symmetric = np.where(matrix == matrix.T, matrix, matrix / 2 + matrix.T / 2)
    np.fill_diagonal(symmetric, 0.0)
    return symmetric


def _scaled_weights(weights: Floats) -> tuple[Floats, float]:
    """Divide weights by a power of two, so that the largest is in [1, 2).

    The projection does not depend on the scale, but sums of weights could overflow.
    Weights too small to matter are raised to the least whose inverse is finite.
    """
    np.fill_diagonal(weights, 0.0)
    unit = unit_of(weights)
    return np.maximum(weights / unit, LEAST_WEIGHT), unit
