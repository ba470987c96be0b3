"""Folds of whole groups, such as all samples of a patient."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import check_random_state

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Sequence

Indices = NDArray[np.int64]
Labels = NDArray[Any]
Split = tuple[Indices, Indices]

MOST_SEEDS = 2**31


def as_groups(groups: Any, n: int, name: str = "groups") -> Labels:
    """Check the group of each of n histograms."""
    found = validation.as_labels(groups, name)
    if len(found) != n:
        raise ValueError(f"{name} has {len(found)} entries for {n} histograms.")
    return found


def fewest_groups(labels: Labels, groups: Labels) -> tuple[Any, int]:
    """Return the class that is in the fewest groups, and in how many it is.

    >>> import numpy as np
    >>> fewest_groups(np.array(["a", "a", "b", "b"]), np.array([1, 2, 3, 3]))
    ('b', 1)
    """
    counts = {
        label: len(np.unique(groups[labels == label]))
        for label in np.unique(labels).tolist()
    }
    return min(counts.items(), key=lambda each: each[1])


def folds_of_groups(
    labels: Labels,
    groups: Labels,
    n_folds: int,
    *,
    n_repeats: int = 1,
    random_state: Any = 0,
    name: str = "n_folds",
) -> list[Split]:
    """Divide histograms into folds of whole groups, with classes in proportion."""
    label, fewest = fewest_groups(labels, groups)
    if fewest < n_folds:
        few = f"{fewest} groups" if fewest > 1 else "a single group"
        raise ValueError(
            f"{name} is {n_folds}, but class {label!s} is in {few} only: each fold "
            "needs a group of every class."
        )
    rng = check_random_state(random_state)
    found = []
    for _ in range(n_repeats):
        folding = StratifiedGroupKFold(
            n_folds, shuffle=True, random_state=int(rng.randint(MOST_SEEDS))
        )
        for train, test in folding.split(labels[:, None], labels, groups):
            _require_all_classes(labels, train, test, f"{name} is {n_folds}")
            found.append((train.astype(np.int64), test.astype(np.int64)))
    return found


def _require_all_classes(
    labels: Labels, train: Indices, test: Indices, setting: str
) -> None:
    """Reject folds that groups of very unequal size or mixed classes made useless."""
    for label in np.unique(labels).tolist():
        if label not in labels[train]:
            raise ValueError(
                f"{setting}, but groups is so uneven that a fold would have nothing of "
                f"class {label!s} to learn from; use other folds, or smaller groups."
            )
    if not len(test):
        raise ValueError(
            f"{setting}, but groups is so uneven that a fold would be empty; use fewer."
        )


def require_apart(
    splits: Sequence[tuple[Any, Any]], groups: Labels, name: str = "cv"
) -> None:
    """Reject splits with rows of one group on both sides."""
    for k, (train, test) in enumerate(splits):
        common = np.intersect1d(groups[train], groups[test])
        if len(common):
            raise ValueError(
                f"{name}[{k}] has group {common.tolist()[0]!r} both to learn from and "
                "to test; groups must not be divided."
            )
