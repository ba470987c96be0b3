"""Your data, and how they are split to find out whether learning helps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import validation
from .splits import draw, given

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from .design import Design

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

__all__ = ["Data", "split_data"]


@dataclass(frozen=True)
class Data:
    """Histograms of mass 1 with labels, and the splits of a design.

    ``y`` and ``z`` are the labels of the training and the test histograms of the first
    split, as positions in ``classes``.

    Examples
    --------
    >>> from groundmetric.experiments.data import split_data
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
    **drawing: Any,  # noqa: ANN401 - options of draw
) -> Data:
    """Check histograms and labels; draw splits if there is no test set.

    Examples
    --------
    >>> from groundmetric.experiments.data import split_data
    >>> split_data([[4, 1], [1, 4]] * 2, [0, 1] * 2, n_folds=2).design.n_splits
    4
    """
    rows = validation.as_distributions(X, "X")
    validation.require_length(y, len(rows), "y")
    labels = np.asarray(y)
    if (X_test is None) != (y_test is None):
        raise ValueError("X_test and y_test must be given together.")
    if X_test is None or y_test is None:
        return Data(rows, labels, draw(labels, **drawing), len(rows))
    test = validation.as_distributions(X_test, "X_test")
    if test.shape[1] != rows.shape[1]:
        raise ValueError(f"X has {rows.shape[1]} bins, but X_test has {test.shape[1]}.")
    validation.require_length(y_test, len(test), "y_test")
    both = np.concatenate([labels, np.asarray(y_test)])
    both = validation.as_labels(both, "y with y_test")
    design = given(labels, np.asarray(y_test))
    return Data(np.concatenate([rows, test]), both, design, len(rows))
