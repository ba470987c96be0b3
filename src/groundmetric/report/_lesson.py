"""What was learned: only what repeats on other draws of the data, or why it is unknown.

Draws are as large as the training sets of the evaluation, but halves of the data at
most, and take about as long as the evaluation at most.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base._groups import fewest_groups
from ..experiments import stability
from ..experiments.lesson import distinct

if TYPE_CHECKING:
    from ..experiments.splits import Data
    from ._evaluation import Evaluation

N_DRAWS = 30
FEWEST_DRAWS = 10  # of stability
# What is left out of a draw is half of these at least; searches of many take long.
N_TESTED, N_TESTED_OF_MANY, MANY = 60, 30, 100
LEAST_SECONDS = 10.0  # however fast the evaluation was
MANY_OF_CLASS = 10  # enough for folds that are not a number
HALF = 0.5  # of a fit's time, for half of the histograms


def with_stability(
    found: Evaluation, *, seed: int, n_jobs: int | None, verbose: int = 0
) -> Evaluation:
    """Learn on draws of the data, unless they are too small or take too long."""
    rows, labels, groups, n_train = _drawn_from(found.data)
    each = np.unique(labels, return_counts=True)[1].min() // 2
    if groups is not None:
        each = min(each, fewest_groups(labels, groups)[1] // 2)
    cv = getattr(found.learner, "cv", 1)
    least = 2 * cv if isinstance(cv, int) else MANY_OF_CLASS  # two in each fold
    if each < least:
        few = f"half of the data has {each} of a class, and {least} are needed"
        return replace(found, unknown=_unknown(few))
    allowed = max(found.seconds, LEAST_SECONDS)
    if HALF * FEWEST_DRAWS * _fit_seconds(found) > allowed:
        return replace(found, unknown=_unknown("fits take too long to repeat them"))
    drawn = stability(
        found.learner,
        rows,
        labels,
        groups=groups,
        n_draws=N_DRAWS,
        n_train=n_train,
        n_neighbors=min(found.n_neighbors, n_train),
        max_tested=N_TESTED if n_train <= MANY else N_TESTED_OF_MANY,
        max_seconds=allowed,
        random_state=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    return replace(found, stability=drawn)


def _drawn_from(data: Data) -> tuple[Any, Any, Any, int]:
    """Return the histograms to draw from, their groups, and the size of a draw.

    A test set that was given is not learned from.
    """
    kept = slice(None) if data.was_split else data.train_rows
    rows, labels = data.rows[kept], data.labels[kept]
    groups = None if data.design.groups is None else data.design.groups[kept]
    halves = int((np.unique(labels, return_counts=True)[1] // 2).sum())
    return rows, labels, groups, min(halves, data.design.n_train)


def _fit_seconds(found: Evaluation) -> float:
    """Time of a fit: as measured, or of the one that was given."""
    measured = found.verdict.learned.fit_seconds
    path = found.learner.path_
    return max([*measured, path[-1].seconds if path else 0.0])


def _unknown(why: str) -> str:
    return (
        f"Whether what was learned repeats on other data is unknown: {why}. Do not "
        "rely on single pairs of features."
    )


def moved(found: Evaluation) -> dict[str, list[tuple[int, int]]]:
    """Return the pairs that repeatedly moved most, without common features."""
    stable = found.stability
    lists = {
        "closest": stable.moved_together if stable else [],
        "farthest": stable.moved_apart if stable else [],
    }
    return {
        name: [(one.first, one.second) for one in distinct(pairs)]
        for name, pairs in lists.items()
    }
