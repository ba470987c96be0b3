"""Masses that the solver cannot represent: it counts in units of 2**-120 of the total.

They hardly ever matter, but if nothing else moves, and costs are high, the whole
distance may consist of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESOLUTION = 2.0**-120
ROUNDING = 1e-6  # relative, of a bound that a distance must not fall short of


def require_resolved(
    value: float, r: Floats, c: Floats, total: float, cost: Floats
) -> None:
    """Reject a distance that is too short, because of masses that count as zero.

    Such a mass has to pay at least its cheapest cost, if none is negative.
    """
    least = RESOLUTION * total
    if not (_has_lost(r, least) or _has_lost(c, least)) or cost.min() < 0:
        return
    for name, here, there, costs in (("r", r, c, cost), ("c", c, r, cost.T)):
        stays = there if len(here) == len(there) else np.zeros(len(here))
        for p in np.flatnonzero((here < least) & (here > stays)):
            others = there > 0
            if len(here) == len(there):
                others[p] = False
            bound = (here[p] - stays[p]) * float(costs[p, others].min(initial=np.inf))
            if np.isfinite(bound) and bound > (1 + ROUNDING) * value:
                raise ValueError(
                    f"{name}[{p}] is {here[p]}: masses below 2**-120 of the total "
                    f"count as zero, but this one alone costs at least {bound:.6g}. "
                    "Make the masses less different."
                )


def _has_lost(masses: Floats, least: float) -> bool:
    """Whether some mass is positive, but too small; quick, for single pairs."""
    small = masses[masses < least]
    return small.size > 0 and bool(small.any())
