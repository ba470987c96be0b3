"""Minimization by L-BFGS, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from .._warnings import warn_not_converged

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]

CONVERGED, FAILED = 0, 2  # in SciPy; between them is the limit on steps


class Minimum(NamedTuple):
    """Where the steps ended.

    Attributes
    ----------
    x : ndarray
        The vector.
    losses : ndarray
        The loss before the first step, and after each.
    converged : bool
        Whether the relative improvement fell below the tolerance.
    """

    x: Floats
    losses: Floats
    converged: bool


def minimum_of(
    loss: Callable[[Floats], tuple[float, Floats]],
    start: Floats,
    *,
    tol: float,
    max_steps: int,
    name: str,
) -> Minimum:
    """Lower a function that returns its value and gradient; warn if a step fails.

    The warning is that of the estimator of this name.
    """

    def noted(x: Floats) -> tuple[float, Floats]:
        value, gradient = loss(x)
        evaluated.append(value)
        return value, gradient

    evaluated: list[float] = []
    losses = [noted(start)[0]]
    found = minimize(
        noted,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda _: losses.append(evaluated[-1]),  # a step ends there
        options={"maxiter": max_steps, "ftol": tol},
    )
    if found.status == FAILED:
        warn_not_converged(
            f"{name} has not converged: L-BFGS found no lower loss after step "
            f"{len(losses) - 1}."
        )
    return Minimum(found.x, np.array(losses), found.status == CONVERGED)
