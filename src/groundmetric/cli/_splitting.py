"""How ``evaluate`` and ``report`` split DATA: the same way, for the same numbers."""

from typing import Any

import numpy as np

from .._words import count
from ..datasets import HistogramTable
from ..experiments.splits import draw
from ._console import note
from ._data import limited

LIMIT = 200
FEWEST_FOLDS = 2

Splitting = tuple[HistogramTable, dict[str, Any]]


def split(
    everything: HistogramTable, limit: int, drawing: dict[str, Any], *ways: str
) -> Splitting:
    """Return the rows to use, and the options of ``draw``.

    These are training sets of at most ``limit`` histograms, or folds of as many rows.
    There are other ways out if classes are too small for the folds.
    """
    n, n_classes = len(everything), len(np.unique(everything.y))
    folds = drawing["n_folds"]
    if n_classes <= limit < n and everything.smallest_class()[1] >= folds:
        sets = {"n_train": limit, **drawing}
        if draw(everything.y, **sets).kind == "disjoint":
            note(
                f"learning from {limit:,} of {n:,} histograms at a time, drawn class "
                "by class; --limit 0 uses all"
            )
            return everything, sets
    data = limited(everything, limit, drawing["seed"], "using")
    smallest, least = data.smallest_class()
    if least >= folds:
        return data, drawing
    is_drawn = len(data) < n
    others = [f"use --folds {least}"] if least >= FEWEST_FOLDS else []
    others += ["a larger --limit"] if is_drawn else []
    others += ["add rows of this class", "leave it out", *ways]
    raise ValueError(
        f"--folds is {folds}, but {data.source} has {count(least, 'histogram')} of "
        f"class {smallest}{' drawn' if is_drawn else ''}, and each fold needs one: "
        f"{', or '.join(others)}."
    )
