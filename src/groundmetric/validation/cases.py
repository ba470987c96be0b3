"""The three cases of a transport problem, and which of them a call is.

- *dense*: histograms on all bins, and a matrix of costs between these;
- *sparse*: the non-empty bins of each histogram, its support, and a matrix;
- *points*: supports, and the coordinates of the bins.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from .supports import are_clouds

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Sparse histograms with more bins stay sparse under a matrix of costs.
WIDE = 2048


class Case(Enum):
    """The form in which histograms and costs are given."""

    DENSE = "dense"
    SPARSE = "sparse"
    POINTS = "points"

    def accept(self, metric: Any) -> Any:
        """Return the metric, which None is with points, if it is of this case.

        With points it is a name or a function, otherwise a matrix.
        """
        is_matrix = not (metric is None or isinstance(metric, str) or callable(metric))
        if self is Case.POINTS and is_matrix:
            raise ValueError(
                "metric is a matrix, but points are given as well: with points, metric "
                "is the name of a metric between them, a function, or None."
            )
        if self is not Case.POINTS and not is_matrix:
            raise ValueError(
                f"metric is {metric!r}, but there are no points, and X is not a list "
                "of point clouds (masses, coordinates): a matrix of costs is needed."
            )
        return "euclidean" if metric is None else metric


def case_of(
    X: ArrayLike, Y: ArrayLike | None = None, points: ArrayLike | None = None
) -> Case:
    """Return the case of these histograms; point clouds include their points."""
    if points is not None or are_clouds(X):
        return Case.POINTS
    return Case.SPARSE if are_sparse(X, Y) and np.shape(X)[-1] > WIDE else Case.DENSE


def are_sparse(X: ArrayLike, Y: ArrayLike | None) -> bool:
    """Return whether both are sparse, on the same bins."""
    both = (X,) if Y is None else (X, Y)
    return (
        all(hasattr(rows, "toarray") for rows in both)
        and len({np.shape(rows)[-1] for rows in both}) == 1
    )
