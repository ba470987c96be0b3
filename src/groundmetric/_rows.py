"""What estimators take: histograms in rows, judged as scikit-learn does, then as we do.

scikit-learn's judgment comes first, for it keeps the number and the names of features
and words its messages as its own tests expect them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_non_negative, validate_data

from . import _validation

Floats = NDArray[np.float64]


def as_rows(
    estimator: object,
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
    _require_distinct(X)
    if y is None:
        checked = validate_data(estimator, X, **options)
    else:
        checked, _ = validate_data(estimator, X, y, **options)
    check_non_negative(checked, type(estimator).__name__)
    return checked


def _require_distinct(X: object) -> None:
    """Refuse a frame with two columns of one name, since columns go by name."""
    names = [name for name in getattr(X, "columns", ()) if isinstance(name, str)]
    for name in names if len(set(names)) < len(names) else ():
        if names.count(name) > 1:
            raise ValueError(f"X has two columns {name!r}.")


def as_histogram_rows(
    estimator: object,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    reset: bool,
    min_samples: int = 1,
) -> Floats:
    """Check X, and y if there is one; rows of mass 1."""
    rows = as_rows(estimator, X, y, reset=reset, min_samples=min_samples)
    return _validation.as_distributions(rows, "X")


class HistogramsMixin:
    """An estimator whose X is histograms or counts in rows, dense or sparse."""

    _min_samples = 1  # to fit

    def _as_rows(
        self, X: ArrayLike, y: ArrayLike | None = None, *, reset: bool
    ) -> Floats:
        """Rows of mass 1."""
        least = self._min_samples if reset else 1
        return as_histogram_rows(self, X, y, reset=reset, min_samples=least)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class mixed with
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags
