"""How ``evaluate`` and ``report`` split DATA: the same way, for the same numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._words import count
from ..experiments.splits import draw
from ._console import note
from ._data import Data, limited, smallest_class

LIMIT = 200
FEWEST_FOLDS = 2


class Splitting(NamedTuple):
    """Rows to use, and options of ``draw``."""

    data: Data
    n_train: int | None
    n_folds: int
    n_repeats: int
    seed: int

    @property
    def options(self) -> dict[str, Any]:
        """The options of ``draw``."""
        return {
            "n_train": self.n_train,
            "n_folds": self.n_folds,
            "n_repeats": self.n_repeats,
            "seed": self.seed,
        }


def split(
    everything: Data,
    *,
    limit: int,
    folds: int,
    repeats: int,
    seed: int,
    ways: Sequence[str] = (),
) -> Splitting:
    """Use training sets of at most ``limit`` histograms, or folds of as many rows.

    There are other ways out if classes are too small for the folds.
    """
    options = {"n_folds": folds, "n_repeats": repeats, "seed": seed}
    n, n_classes = len(everything.X), len(np.unique(everything.y))
    if n_classes <= limit < n and smallest_class(everything)[1] >= folds:
        design = draw(everything.y, n_train=limit, **options)
        if design.kind == "disjoint":
            note(
                f"learning from {limit:,} of {n:,} histograms at a time, drawn class "
                "by class; --limit 0 uses all"
            )
            return Splitting(everything, limit, folds, repeats, seed)
    data = limited(everything, limit, seed, "using")
    _require_folds(data, folds, ways, drawn=len(data.X) < n)
    return Splitting(data, None, folds, repeats, seed)


def _require_folds(
    data: Data, folds: int, others: Sequence[str], *, drawn: bool
) -> None:
    """Reject classes that are too small, and say what to do."""
    smallest, least = smallest_class(data)
    if least >= folds:
        return
    ways = [f"use --folds {least}"] if least >= FEWEST_FOLDS else []
    ways += ["a larger --limit"] if drawn else []
    ways += ["add rows of this class", "leave it out", *others]
    raise ValueError(
        f"--folds is {folds}, but {data.source} has {count(least, 'histogram')} of "
        f"class {smallest}{' drawn' if drawn else ''}, and each fold needs one: "
        f"{', or '.join(ways)}."
    )
