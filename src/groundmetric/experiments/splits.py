"""Split your data: disjoint training sets if there is room, folds otherwise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from .. import validation
from .design import Design
from .measures import class_sizes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["Data", "draw", "given", "split_data"]

FEWEST_SETS = 5  # training sets in which a variance can be seen
FEWEST_TESTS = 100
MOST_TESTS = 250  # more would cost time, and narrow the interval little


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
        return Data(rows, labels, draw(labels, **drawing), len(rows))
    test = validation.as_distributions(X_test, "X_test")
    if test.shape[1] != rows.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} bins, but X_test has {test.shape[1]}.")
    validation.require_length(y_test, len(test), "y_test")
    validation.require_same_kind(y, y_test)
    both = np.concatenate([labels, np.asarray(y_test)])
    both = validation.as_labels(both, "y with y_test")
    design = given(labels, np.asarray(y_test))
    return Data(np.concatenate([rows, test]), both, design, len(rows))


def given(y: ArrayLike, y_test: ArrayLike) -> Design:
    """Learn from the first rows and test on the others, which were given for that.

    Examples
    --------
    >>> from groundmetric.experiments.splits import given
    >>> given(["a", "b"], ["b", "b", "a"]).splits
    [(array([0, 1]), array([2, 3, 4]))]
    """
    both = np.concatenate([np.asarray(y), np.asarray(y_test)])
    codes = np.unique(both, return_inverse=True)[1]
    train, test = np.split(np.arange(len(both)), [len(np.asarray(y))])
    return Design("given", codes, [(train, test)])


def draw(
    y: ArrayLike,
    *,
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
    if n_train is not None:
        size = validation.as_count(n_train, "n_train", low=len(classes))
        apart = _disjoint(codes, sizes, size, folds * repeats, seed)
        if apart is not None:
            return apart
    if sizes.min() < folds:
        raise ValueError(
            f"n_folds is {folds}, but y has {sizes.min()} of class "
            f"{classes[sizes.argmin()]!s}: each fold needs one."
        )
    folding = RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=seed
    )
    splits = [
        (train.astype(np.int64), test.astype(np.int64))
        for train, test in folding.split(codes[:, None], codes)
    ]
    return Design("folds", codes, splits)


def _disjoint(
    codes: Indices, sizes: Indices, n_train: int, most: int, seed: int
) -> Design | None:
    """Draw training sets without a common histogram; none if there is no room."""
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
    return Design("disjoint", codes, [(train, test) for train in trains])


def shares_of(sizes: Indices, n: int) -> Indices:
    """Divide n among classes in proportion to their sizes; at least one for each."""
    exact = n * sizes / sizes.sum()
    found = np.maximum(np.floor(exact), 1.0)
    order = np.argsort(found - exact, kind="stable")  # the largest remainders first
    while found.sum() < n:
        found[order[: int(n - found.sum())]] += 1.0
    while found.sum() > n:
        found[found.argmax()] -= 1.0
    shares: Indices = found.astype(np.int64)
    return shares
