"""How ``evaluate`` and ``report`` split DATA: the same way, for the same numbers."""

from typing import Any

import numpy as np

from .._words import count
from ..base._groups import fewest_groups
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
        if _is_disjoint(everything, sets):
            note(
                f"learning from {limit:,} of {n:,} histograms at a time, drawn class "
                "by class; --limit 0 uses all"
            )
            return everything, sets
    data = limited(everything, limit, drawing["seed"], "using")
    smallest, least = data.smallest_class()
    if least >= folds:
        _require_groups(data, folds)
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


def _is_disjoint(data: HistogramTable, sets: dict[str, Any]) -> bool:
    """Whether there is room for training sets without a common histogram, or group."""
    if (
        data.groups is not None
        and fewest_groups(data.y, data.groups)[1] < sets["n_folds"]
    ):
        return False  # for folds, which say why not
    return draw(data.y, groups=data.groups, **sets).kind == "disjoint"


def _require_groups(data: HistogramTable, folds: int) -> None:
    """Reject groups that are too few for the folds."""
    if data.groups is None:
        return
    label, fewest = fewest_groups(data.y, data.groups)
    if fewest < folds:
        ways = f"use --folds {fewest}, or " if fewest >= FEWEST_FOLDS else ""
        raise ValueError(
            f"--folds is {folds}, but {data.source} has class {label!s} in "
            f"{count(fewest, 'group')} only, and each fold needs one: {ways}add groups "
            "of this class."
        )
