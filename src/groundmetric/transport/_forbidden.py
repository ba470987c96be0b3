"""Infinite costs: arcs that no plan may use.

The core gives them a finite price at which no more mass uses them than has to, see
``CostMatrix::forbidden`` in ``cpp/transport/cost.h``, and marks pairs without a plan by
NaN. Their distance is infinite, the least of no numbers. Of the mass, 2**-40 counts as
rounding, and may be left out of a plan.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import validation

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


def forbidden_in(cost: Floats) -> Mask | None:
    """Where arcs are forbidden; None if nowhere."""
    infinite = np.isinf(cost)
    return infinite if infinite.any() else None


def as_distances(values: Floats) -> Floats:
    """Check that no distance overflows; those of pairs without a plan are infinite."""
    if not np.isfinite(values).all():
        infeasible = np.isnan(values)
        validation.require_in_range(values[~infeasible])
        values[infeasible] = math.inf
    return values


def refuse_infeasible(
    who: str, moved: float | None = None, mass: float | None = None
) -> None:
    """Raise an error about a pair without a plan, and how much mass is to blame."""
    text = f"No plan from {who} avoids the arcs of infinite cost"
    if moved is None or mass is None:
        raise ValueError(f"{text}, which are forbidden.")
    raise ValueError(
        f"{text}: at least {moved:.3g} of the mass {mass:.6g} would have to move along "
        f"them.{_advice(moved, mass)}"
    )


def _advice(moved: float, mass: float) -> str:
    if moved > validation.MASS_TOLERANCE * mass:
        return ""
    return " That may be rounding: give masses in double precision, or as counts."


def small_where_unbound(potential: Floats) -> Floats:
    """Replace infinite potentials: where all arcs are forbidden, any number will do."""
    potential[np.isinf(potential)] = 0.0
    return potential


def without(forbidden: Mask | None, plan: Any) -> Any:
    """Remove what rounding left on forbidden arcs from a dense plan."""
    if forbidden is not None:
        plan[forbidden] = 0.0
    return plan
