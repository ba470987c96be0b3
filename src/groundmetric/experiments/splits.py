"""Split your data: disjoint training sets if there is room, folds otherwise."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..base._groups import as_groups
from ..learning._folds import splits_of
from .design import Design
from .drawing import disjoint_groups, disjoint_sets, folds_of
from .measures import class_sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["Data", "draw", "given", "split_data"]


@dataclass(frozen=True)
class Data:
    """Histograms of mass 1 with labels, and the splits of a design.

    ``y`` and ``z`` are the labels of the training and the test histograms of the first
    split, as positions in ``classes``.

    Examples
    --------
    >>> from groundmetric.experiments.splits import split_data
    >>> data = split_data([[4, 1], [1, 4]], ["a", "b"], [[3, 2]], ["a"])
    >>> data.classes, data.train_rows, data.test_rows
    (['a', 'b'], array([0, 1]), array([0]))
    """

    rows: Floats = field(repr=False)
    labels: NDArray[Any] = field(repr=False)
    design: Design
    n_given: int  # of the rows; the others are a test set that was given

    @property
    def was_split(self) -> bool:
        """Whether there was no test set."""
        return self.design.kind != "given"

    @property
    def classes(self) -> list[str]:
        """Names of the classes."""
        return [str(label) for label in np.unique(self.labels)]

    @property
    def train(self) -> Floats:
        """Training histograms of the first split."""
        return self.rows[self.design.splits[0][0]]

    @property
    def test(self) -> Floats:
        """Test histograms of the first split."""
        return self.rows[self.design.splits[0][1]]

    @property
    def y(self) -> Indices:
        """Classes of the training histograms."""
        return self.design.y[self.design.splits[0][0]]

    @property
    def z(self) -> Indices:
        """Classes of the test histograms."""
        return self.design.y[self.design.splits[0][1]]

    @property
    def train_rows(self) -> Indices:
        """Positions of the training histograms in what was given."""
        return self.design.splits[0][0]

    @property
    def test_rows(self) -> Indices:
        """Positions of the test histograms in what was given."""
        rows = self.design.splits[0][1]
        return rows if self.was_split else rows - self.n_given


def split_data(
    X: ArrayLike,
    y: ArrayLike,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    *,
    groups: ArrayLike | None = None,
    groups_test: ArrayLike | None = None,
    cv: Any = None,
    **drawing: Any,
) -> Data:
    """Check histograms and labels; draw splits if there is no test set.

    Examples
    --------
    >>> from groundmetric.experiments.splits import split_data
    >>> split_data([[4, 1], [1, 4]] * 2, [0, 1] * 2, n_folds=2).design.n_splits
    4
    """
    rows = validation.as_distributions(X, "X")
    validation.require_length(y, len(rows), "y")
    labels = np.asarray(y)
    class_sizes(labels, "y")
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together.")
    if X_test is None or y_test is None:
        if groups_test is not None:
            raise ValueError("groups_test needs X_test and y_test.")
        if cv is None:
            design = draw(labels, groups=groups, **drawing)
        else:
            _require_no_size(drawing)
            design = custom(cv, rows, labels, groups)
        return Data(rows, labels, design, len(rows))
    if cv is not None:
        raise ValueError("cv cannot be combined with X_test, which is the only test.")
    test = validation.as_distributions(X_test, "X_test")
    if test.shape[1] != rows.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} bins, but X_test has {test.shape[1]}.")
    validation.require_length(y_test, len(test), "y_test")
    validation.require_same_kind(y, y_test)
    both = np.concatenate([labels, np.asarray(y_test)])
    both = validation.as_labels(both, "y with y_test")
    design = given(labels, np.asarray(y_test), groups, groups_test)
    return Data(np.concatenate([rows, test]), both, design, len(rows))


def _require_no_size(drawing: dict[str, Any]) -> None:
    if drawing.get("n_train") is not None:
        raise ValueError("cv and n_train cannot be combined: cv has the splits.")


def custom(
    cv: Any, rows: Floats, labels: NDArray[Any], groups: ArrayLike | None = None
) -> Design:
    """Take the splits of a splitter of scikit-learn, or pairs of training and test.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.splits import custom
    >>> X, y = np.eye(4), np.array([0, 1, 0, 1])
    >>> custom([([0, 1], [2, 3]), ([2, 3], [0, 1])], X, y).n_splits
    2
    """
    apart = None if groups is None else as_groups(groups, len(labels))
    codes = np.unique(labels, return_inverse=True)[1]
    if isinstance(cv, numbers.Number):
        raise ValueError(f"cv is {cv!r}; n_folds is the number of folds.")
    splits = splits_of(cv, rows, labels, None, apart)
    return Design("custom", codes, splits, _numbered(apart))


def _numbered(groups: NDArray[Any] | None) -> Indices | None:
    if groups is None:
        return None
    codes: Indices = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    return codes


def _joined(groups: NDArray[Any], tested: NDArray[Any]) -> Indices:
    """Give groups numbers; no group may be both learned from and tested."""
    common = set(groups.tolist()) & set(tested.tolist())
    if common:
        group = next(each for each in tested.tolist() if each in common)
        raise ValueError(
            f"groups and groups_test both have {group!r}; histograms of one group must "
            "not be both learned from and tested."
        )
    if len(np.unique(tested)) == 1:
        raise ValueError(
            "groups_test has a single group; an interval needs two or more."
        )
    own, theirs = (np.unique(each, return_inverse=True)[1] for each in (groups, tested))
    codes: Indices = np.concatenate([own, theirs + own.max() + 1]).astype(np.int64)
    return codes


def given(
    y: ArrayLike,
    y_test: ArrayLike,
    groups: ArrayLike | None = None,
    groups_test: ArrayLike | None = None,
) -> Design:
    """Learn from the first rows and test on the others, which were given for that.

    Examples
    --------
    >>> from groundmetric.experiments.splits import given
    >>> given(["a", "b"], ["b", "b", "a"]).splits
    [(array([0, 1]), array([2, 3, 4]))]
    """
    n, both = len(np.asarray(y)), np.concatenate([np.asarray(y), np.asarray(y_test)])
    codes = np.unique(both, return_inverse=True)[1]
    train, test = np.split(np.arange(len(both)), [n])
    if (groups is None) != (groups_test is None):
        raise ValueError("groups and groups_test must be given together.")
    if groups is None:
        return Design("given", codes, [(train, test)])
    parts = as_groups(groups, n), as_groups(groups_test, len(test), "groups_test")
    return Design("given", codes, [(train, test)], _joined(*parts))


def draw(
    y: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    n_train: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    seed: int = 0,
) -> Design:
    """Draw splits: disjoint training sets if there is room for five, otherwise folds.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels. All splits have the classes in proportion.
    groups : array-like of shape (n,), optional
        Group of each histogram, such as a patient or batch. No split divides a group;
        sizes are then about those asked for.
    n_train : int, optional
        Number of histograms to learn from. If there are many more, training sets of
        this size have no histogram in common, and are tested on the same others. By
        default, or with too few histograms for that, folds of all histograms.
    n_folds, n_repeats : int, default=5 and 2
        Number of folds, and how often to draw them; their product is the largest number
        of disjoint training sets, too.
    seed : int, default=0
        Seed for drawing.

    Returns
    -------
    Design

    Examples
    --------
    >>> from groundmetric.experiments.splits import draw
    >>> design = draw([0, 1] * 200, n_train=20)
    >>> design.kind, design.n_splits, design.n_train, design.n_test
    ('disjoint', 10, 20, 200)
    """
    folds = validation.as_count(n_folds, "n_folds", low=2)
    repeats = validation.as_count(n_repeats, "n_repeats", low=1)
    seed = validation.as_count(seed, "seed", low=0, high=2**32 - 1)
    classes, sizes = class_sizes(y, "y")
    codes = np.searchsorted(classes, np.asarray(y))
    apart = None if groups is None else as_groups(groups, len(codes))
    if n_train is not None:
        size = validation.as_count(n_train, "n_train", low=len(classes))
        if apart is None:
            found = disjoint_sets(codes, sizes, size, folds * repeats, seed)
        else:
            found = disjoint_groups(codes, apart, size, folds * repeats, seed)
        if found is not None:
            return Design("disjoint", codes, found, _numbered(apart))
    if sizes.min() < folds:
        raise ValueError(
            f"n_folds is {folds}, but y has {sizes.min()} of class "
            f"{classes[sizes.argmin()]!s}: each fold needs one."
        )
    labels = np.asarray(y)
    splits = folds_of(labels, apart, folds, repeats, seed)
    return Design("folds", codes, splits, _numbered(apart))
