"""Draw disjoint training sets, or folds; of whole groups if there are any."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from ..base._groups import fewest_groups, folds_of_groups

Indices = NDArray[np.int64]
Labels = NDArray[Any]
Split = tuple[Indices, Indices]

__all__ = ["disjoint_groups", "disjoint_sets", "folds_of", "shares_of"]

FEWEST_SETS = 5  # training sets in which a variance can be seen
FEWEST_TESTS = 100
MOST_TESTS = 250  # more would cost time, and narrow the interval little
FEWEST_TEST_GROUPS = 10  # as many as show how much groups vary


def folds_of(
    labels: Labels, groups: Labels | None, n_folds: int, n_repeats: int, seed: int
) -> list[Split]:
    """Draw folds with classes in proportion, of whole groups if there are any.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.drawing import folds_of
    >>> y, groups = np.array([0, 0, 1, 1, 0, 0, 1, 1]), np.arange(8) // 2
    >>> (train, test), _ = folds_of(y, groups, 2, 1, seed=0)
    >>> set(groups[train]).isdisjoint(groups[test])
    True
    """
    if groups is not None:
        drawing: Any = {"n_repeats": n_repeats, "random_state": seed}
        return folds_of_groups(labels, groups, n_folds, **drawing)
    folding = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=n_repeats, random_state=seed
    )
    return [
        (train.astype(np.int64), test.astype(np.int64))
        for train, test in folding.split(labels[:, None], labels)
    ]


def disjoint_groups(
    codes: Indices, groups: Labels, n_train: int, most: int, seed: int
) -> list[Split] | None:
    """Draw training sets of whole groups; none if there is no room.

    Histograms are divided into parts of about ``n_train``. Some of these are training
    sets, and the others are the test set.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.drawing import disjoint_groups
    >>> codes = np.arange(400) // 4 % 2
    >>> splits = disjoint_groups(codes, np.arange(400) // 4, 20, 10, seed=0)
    >>> len(splits), len(splits[0][0]), len(splits[0][1])
    (10, 20, 200)
    """
    n = len(codes)
    n_parts = n // n_train
    n_tested = int(np.ceil(FEWEST_TESTS / n_train))
    n_sets = min(most, n_parts - n_tested)
    if n_sets < FEWEST_SETS or fewest_groups(codes, groups)[1] < n_parts:
        return None
    try:
        parts = [
            test
            for _, test in folds_of_groups(codes, groups, n_parts, random_state=seed)
        ]
    except ValueError:  # groups are too uneven for as many parts
        return None
    test = np.sort(np.concatenate(parts[n_sets:]))
    n_classes = len(np.unique(codes))
    is_whole = all(len(np.unique(codes[part])) == n_classes for part in parts[:n_sets])
    if not is_whole or len(np.unique(groups[test])) < FEWEST_TEST_GROUPS:
        return None
    return [(part, test) for part in parts[:n_sets]]


def disjoint_sets(
    codes: Indices, sizes: Indices, n_train: int, most: int, seed: int
) -> list[Split] | None:
    """Draw training sets without a common histogram; none if there is no room.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.drawing import disjoint_sets
    >>> codes = np.arange(400) % 2
    >>> splits = disjoint_sets(codes, np.array([200, 200]), 20, 10, seed=0)
    >>> len(splits), len(splits[0][0]), len(splits[0][1])
    (10, 20, 200)
    """
    each = shares_of(sizes, n_train)
    most = min(most, (int(sizes.sum()) - FEWEST_TESTS) // n_train)
    most = min(most, int(((sizes - 1) // each).min()))  # leaves one to test
    if most < FEWEST_SETS:
        return None
    left = sizes - most * each
    tested = shares_of(left, min(MOST_TESTS, int(left.sum())))
    rng = np.random.default_rng(seed)
    sets: list[list[Any]] = [[] for _ in range(most)]
    tests = []
    for code, (mine, theirs) in enumerate(zip(each, tested, strict=True)):
        rows = rng.permutation(np.flatnonzero(codes == code))
        for k, chosen in enumerate(sets):
            chosen.append(rows[k * mine : (k + 1) * mine])
        tests.append(rows[most * mine : most * mine + theirs])
    test = np.sort(np.concatenate(tests)).astype(np.int64)
    trains = [np.sort(np.concatenate(each)).astype(np.int64) for each in sets]
    return [(train, test) for train in trains]


def shares_of(sizes: Indices, n: int) -> Indices:
    """Divide n among classes in proportion to their sizes; at least one for each.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.drawing import shares_of
    >>> shares_of(np.array([6, 3, 1]), 5)
    array([3, 1, 1])
    """
    exact = n * sizes / sizes.sum()
    found = np.maximum(np.floor(exact), 1.0)
    order = np.argsort(found - exact, kind="stable")  # the largest remainders first
    while found.sum() < n:
        found[order[: int(n - found.sum())]] += 1.0
    while found.sum() > n:
        found[found.argmax()] -= 1.0
    shares: Indices = found.astype(np.int64)
    return shares
