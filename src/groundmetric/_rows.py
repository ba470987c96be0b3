"""What estimators take: histograms in rows, judged as scikit-learn does, then as we do.

scikit-learn's judgment comes first, for it keeps the number and the names of features
and words its messages as its own tests expect them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_non_negative, validate_data

from . import _validation

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

Floats = NDArray[np.float64]


def as_rows(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    reset: bool,
    min_samples: int = 1,
) -> Any:  # noqa: ANN401 - an array, or a sparse matrix
    """Check X, and y if there is one; non-negative finite rows, not normalized yet."""
    options: dict[str, Any] = {
        "accept_sparse": "csr",
        "dtype": np.float64,
        "ensure_min_samples": min_samples,
        "reset": reset,
    }
    if y is None:
        checked = validate_data(estimator, X, **options)
    else:
        checked, _ = validate_data(estimator, X, y, **options)
    check_non_negative(checked, type(estimator).__name__)
    return checked


def as_histogram_rows(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    reset: bool,
    min_samples: int = 1,
) -> Floats:
    """Check X, and y if there is one; rows of mass 1."""
    rows = as_rows(estimator, X, y, reset=reset, min_samples=min_samples)
    return _validation.as_distributions(rows, "X")
