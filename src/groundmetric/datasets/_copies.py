"""Columns that repeat the labels, or a part of them.

A copy has one value for each class; an indicator has one value in one class, and
another in all others. In a few texts, words may look like this by chance, so a column
is suspected only if there are enough rows.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ._cells import Floats

ENOUGH = 5  # rows on either side, which hardly have two values by chance
MISTAKES = 0.1  # of the rows outside the largest class, in a copy that has its name


class Classes(NamedTuple):
    """A row of each class, the class of each row, and the number of rows of each."""

    first: NDArray[np.int64]
    codes: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @property
    def smaller(self) -> int:
        """How many rows are outside the largest class."""
        return int(self.sizes.sum() - self.sizes.max())


def as_classes(labels: NDArray[Any] | None) -> Classes | None:
    """Return the classes, unless there is only one or they have hardly any rows."""
    if labels is None:
        return None
    _, *found = np.unique(
        labels, return_index=True, return_inverse=True, return_counts=True
    )
    classes = Classes(*found)
    n_classes = len(classes.first)
    return classes if 1 < n_classes <= len(labels) / 2 else None


def repeats(column: Floats, classes: Classes | None) -> bool:
    """Whether a column has one value for each class, in enough rows."""
    if classes is None or classes.smaller < ENOUGH:
        return False
    values = column[classes.first]
    return len(np.unique(values)) == len(values) and _depends(column, classes)


def nearly_repeats(column: Floats, classes: Classes | None) -> str:
    """Say how a column repeats the labels, except for a few rows."""
    if classes is None:
        return ""
    n, n_classes = len(column), len(classes.first)
    allowed = int(MISTAKES * classes.smaller)
    values, codes = np.unique(column, return_inverse=True)
    if not n_classes - allowed <= len(values) <= n_classes + allowed:
        return ""
    table = np.zeros((n_classes, len(values)), dtype=np.int64)
    np.add.at(table, (classes.codes, codes), 1)
    n_same = int(table[linear_sum_assignment(table, maximize=True)].sum())
    if n - n_same > allowed:
        return ""
    return "it repeats the labels" + (f" in {n_same} of {n} rows" if n_same < n else "")


def indicated(column: Floats, classes: Classes | None) -> int | None:
    """Return the class, one of three or more, that a column sets apart."""
    if classes is None or len(classes.first) < 3:  # noqa: PLR2004 - two are a copy
        return None
    values = column[classes.first]
    _, codes, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if len(sizes) != 2 or sizes.min() != 1 or not _depends(column, classes):  # noqa: PLR2004
        return None
    return int(np.argmax(codes == np.argmin(sizes)))


def is_enough(indicator: int | None, classes: Classes | None) -> bool:
    """Whether a class has enough rows, and so have all others together."""
    if indicator is None or classes is None:
        return False
    size = classes.sizes[indicator]
    return bool(min(size, classes.sizes.sum() - size) >= ENOUGH)


def encoding(
    rows: Floats, classes: Classes | None, columns: Sequence[int]
) -> list[int]:
    """Find indicators of all classes, or of all but one, beside other columns.

    Only classes that have enough rows must have one.
    """
    if classes is None:
        return []
    found = {j: indicated(rows[:, j], classes) for j in columns}
    found = {j: one for j, one in found.items() if one is not None}
    n_large = int(np.sum(classes.sizes >= ENOUGH))
    n_indicated = len({one for one in found.values() if is_enough(one, classes)})
    is_whole = n_indicated >= max(2, n_large - 1)
    return [*found] if is_whole and len(found) < rows.shape[1] else []


def _depends(column: Floats, classes: Classes) -> bool:
    """Whether a column has the same value in all rows of a class."""
    return bool((column == column[classes.first][classes.codes]).all())
