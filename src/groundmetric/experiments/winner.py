"""Which distance to take home: the simplest rule that a command can follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .choice import best_first
from .names import learns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .outcome import CrossValidation

__all__ = ["AUTO", "winner"]

AUTO = "auto"


def winner(found: Sequence[CrossValidation]) -> str | None:
    """Name the distance to use, by errors on the same splits.

    It is the one with the fewest errors, or one that learns nothing if no other has
    fewer. If AutoMetric was measured, it is preferred to learners that are not
    significantly better. None if no distance is better than guessing.

    Examples
    --------
    >>> from groundmetric.experiments import CrossValidation
    >>> from groundmetric.experiments.splits import given
    >>> from groundmetric.experiments.winner import winner
    >>> design = given([0, 1], [0, 1] * 20)
    >>> few, many = ([[k < n for k in range(40)]] for n in (3, 9))
    >>> found = {"nca-hellinger": few, "auto": few, "l1": many}
    >>> winner([CrossValidation(name, design, wrong) for name, wrong in found.items()])
    'auto'
    """
    by_name = {one.method: one for one in found if one.method != "initial"}
    errors = {name: float(np.mean(one.errors)) for name, one in by_name.items()}
    if not errors or min(errors.values()) >= found[0].design.guessing:
        return None
    best = best_first(errors)[0]
    if AUTO not in by_name or not learns(best):
        return best
    is_better = by_name[AUTO].saved_by(by_name[best]).low > 0.0
    return best if is_better else AUTO
