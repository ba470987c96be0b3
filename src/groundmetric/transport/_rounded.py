"""A warning about metrics that rounding has broken, which make solving slower.

If the cost is a metric, mass that both histograms have stays where it is, and a problem
has a quarter of the arcs. A metric in single precision, or of four digits, breaks
triangles by as much as it is rounded. It is solved as it is, exactly, on all bins; the
metric just below it is several times as fast, and as good for most purposes.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from .. import validation

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Arcs of all problems together; fewer take less than a second.
WORTH_A_WARNING = 10**7


def warn_if_rounded(
    cost: NDArray[np.float64], n_solves: int, n_threads: int, *, stacklevel: int
) -> bool:
    """Warn if a cost that is not a metric is nearly one; return whether it did."""
    d = len(cost)
    if n_solves * d**2 < WORTH_A_WARNING or cost.shape != (d, d) or n_solves < d / 8:
        return False
    if np.isinf(cost).any():
        return False  # it has forbidden arcs
    cost = cost.astype(np.float64, copy=False)  # it may be in single precision
    rounding = validation.rounding_of_metric(cost, n_threads)
    if rounding is None:
        return False
    from sklearn.exceptions import EfficiencyWarning

    amount = validation.broken_triangles(cost, n_threads=n_threads)[0].amount
    warnings.warn(
        f"metric is almost a metric: it breaks triangle inequalities by {amount:.1g} "
        "or less. Distances are exact, but take several times as long. If rounding is "
        "the cause, pass metric_closure(metric) instead: they fall by "
        f"{rounding:.1g} or less for each unit of mass that moves.",
        EfficiencyWarning,
        stacklevel=stacklevel,
    )
    return True
