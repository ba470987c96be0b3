"""What estimators take: histograms in rows and labels, as scikit-learn does and we do.

scikit-learn keeps the number and the names of features, and judges kinds and shapes;
what is wrong with an entry is ours to say, with its place. scikit-learn's own words for
it, which its checks of estimators look for, come after that.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_non_negative, column_or_1d, validate_data

from .. import validation
from ._model import SavedMixin

if TYPE_CHECKING:
    from ..validation import Table

Floats = NDArray[np.float64]
Judge = Callable[[Any, "Table"], Floats]
Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Leave an estimator as it was if its fit fails."""

    @wraps(fit)
    def safe(self: object, *args: Any, **options: Any) -> Any:  # noqa: ANN401 - of fit
        before = dict(vars(self))
        try:
            return fit(self, *args, **options)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return safe  # type: ignore[return-value]


def as_rows(
    estimator: object,
    X: ArrayLike,
    judge: Judge = validation.as_distributions,
    *,
    reset: bool,
    min_samples: int = 1,
) -> Floats:
    """Check X; rows of mass 1, or what else the judge makes of them."""
    table = validation.Table.of(X, "X")
    _require_distinct(X)
    validation.require_no_text(X, table)
    try:
        checked = validate_data(
            estimator,
            X,
            accept_sparse="csr",
            dtype=np.float64,
            ensure_min_samples=min_samples,
            reset=reset,
        )
        check_non_negative(checked, type(estimator).__name__)
    except ValueError as error:
        _say_where(error, X, judge, table)
        raise
    return judge(checked, table)


def _require_distinct(X: object) -> None:
    """Refuse a frame with two columns of one name, since columns go by name."""
    names = [name for name in getattr(X, "columns", ()) if isinstance(name, str)]
    for name in names if len(set(names)) < len(names) else ():
        if names.count(name) > 1:
            raise ValueError(f"X has two columns {name!r}.")


def _say_where(error: ValueError, X: ArrayLike, judge: Judge, table: Table) -> None:
    """Raise our own error if the one of scikit-learn is about an entry."""
    try:
        array = validation.as_float_array(X, table, 2)
    except ValueError:
        return
    try:
        judge(array, table)
    except ValueError as ours:
        general = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"{ours} ({general}.)") from None


def as_classes(y: ArrayLike, n: int) -> NDArray[Any]:
    """One label of a class for each of n histograms; a column is taken with a warning.

    Numbers that are not whole are no classes.
    """
    if y is None:
        raise ValueError("This requires y to be passed, but the target y is None.")
    given: Any = np.asarray(y) if hasattr(y, "__array__") else y
    if np.shape(given)[1:] == (1,):
        given = column_or_1d(given, warn=True)
    labels = validation.as_labels(given)
    validation.require_length(labels, n, "y")
    try:
        check_classification_targets(labels)
    except ValueError as error:
        broken = labels.dtype.kind == "f" and labels != np.floor(labels)
        where = f" y[{np.argmax(broken)}] is {labels[np.argmax(broken)]}."
        raise ValueError(f"{error}{where if np.any(broken) else ''}") from None
    return labels


class HistogramsMixin:
    """An estimator whose X is histograms or counts in rows, dense or sparse."""

    _min_samples = 1  # to fit

    def _as_rows(self, X: ArrayLike, *, reset: bool) -> Floats:
        """Rows of mass 1."""
        least = self._min_samples if reset else 1
        return as_rows(self, X, reset=reset, min_samples=least)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class mixed with
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


# scikit-learn has no types of its own.
class HistogramTransformer(
    SavedMixin,
    HistogramsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """A transformer of histograms: names of its columns, ``set_output``, files."""
