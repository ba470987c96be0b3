"""The inputs of estimators: histograms in rows, and labels.

scikit-learn records the number and names of features, and checks types and shapes. If
an entry is wrong, our message says where, followed by scikit-learn's, which its
estimator checks look for.
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
from ._model import ORIGIN, SavedMixin

if TYPE_CHECKING:
    from ..validation import Table

Floats = NDArray[np.float64]
Validator = Callable[[Any, "Table"], Floats]
Fit = TypeVar("Fit", bound=Callable[..., Any])


def all_or_nothing(fit: Fit) -> Fit:
    """Leave an estimator unchanged if its fit fails."""

    @wraps(fit)
    def safe(self: object, *args: Any, **options: Any) -> Any:
        before = dict(vars(self))
        vars(self).pop(ORIGIN, None)  # of an earlier fit
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
    validate: Validator = validation.as_distributions,
    *,
    reset: bool,
    min_samples: int = 1,
    empty: str | None = None,
) -> Floats:
    """Validate X; return rows of mass 1, or what ``validate`` makes of them.

    With a rule about empty rows, they are rejected ("error") or become uniform; who
    compares them by the rule "nan" asks :func:`validation.are_empty` which they are.
    """
    table = validation.Table.of(X, "X")
    X = validation.unmasked(X, table)
    _require_distinct(X)
    if reset:
        validation.require_known_alike(estimator, X)
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
        _say_where(error, X, validate, table)
        raise
    if empty is not None:
        which = validation.are_empty(checked)
        if empty == "error":
            validation.refuse_empty(which, table)
        checked = validation.with_uniform(checked, which)
    return validate(checked, table)


def as_sparse_rows(estimator: object, X: ArrayLike, **options: Any) -> Any:
    """Validate X; return sparse rows of mass 1."""
    validate: Any = validation.as_sparse_distributions
    return as_rows(estimator, X, validate, **options)


def _require_distinct(X: object) -> None:
    """Reject a frame with two columns of the same name."""
    names = [name for name in getattr(X, "columns", ()) if isinstance(name, str)]
    for name in names if len(set(names)) < len(names) else ():
        if names.count(name) > 1:
            raise ValueError(f"X has two columns {name!r}.")


def _say_where(
    error: ValueError, X: ArrayLike, validate: Validator, table: Table
) -> None:
    """Raise our own error if scikit-learn's is about an entry."""
    given = X
    if not hasattr(X, "toarray"):  # sparse rows may be too many to make them dense
        try:
            given = validation.as_float_array(X, table, 2)
        except ValueError:
            return
    try:
        validate(given, table)
    except ValueError as ours:
        general = str(error).splitlines()[0].rstrip(".")
        raise ValueError(f"{ours} ({general}.)") from None


def n_among(rows: Any, *others: Any) -> int:
    """Count the rows, dense or sparse, that are also among others, up to rounding."""

    def as_bytes(each: Any) -> list[bytes]:
        # Sums of sparse rows are rounded in another way.
        dense = each.toarray() if hasattr(each, "toarray") else each
        return [row.tobytes() for row in dense.astype("f4")]

    seen = {row for each in others for row in as_bytes(each)}
    return sum(row in seen for row in as_bytes(rows))


def as_classes(y: ArrayLike, n: int) -> NDArray[Any]:
    """Validate one class label per histogram; a column gives a warning.

    Numbers that are not integers are rejected.
    """
    if y is None:
        raise ValueError("This requires y to be passed, but the target y is None.")
    y = validation.unmasked(y, "y")
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
    """An estimator whose X holds histograms or counts in rows, dense or sparse."""

    _min_samples = 1  # to fit

    def _keeps_sparse(self, *, reset: bool) -> bool:  # noqa: ARG002 - of subclasses
        """Whether rows stay sparse: in a fit (reset), or as it was fitted."""
        return False

    def _as_rows(self, X: ArrayLike, *, reset: bool) -> Any:
        """Rows of mass 1, dense or sparse; empty ones as :meth:`_empty_rule` says."""
        least = self._min_samples if reset else 1
        make: Any = as_sparse_rows if self._keeps_sparse(reset=reset) else as_rows
        rule = self._empty_rule()
        return make(self, X, reset=reset, min_samples=least, empty=rule)

    def _empty_rule(self) -> str | None:
        """Return the rule about empty rows, of a fit or a parameter, if any."""
        own = vars(self)
        rule = own.get("_empty", own.get("empty"))
        return None if rule is None else validation.as_empty_rule(rule)

    def _incomparable(self, X: ArrayLike, n: int) -> NDArray[np.bool_]:
        """Mark those of n rows whose distances are NaN; :meth:`_as_rows` took them."""
        if self._empty_rule() != "nan":
            return np.zeros(n, dtype=bool)
        return validation.are_empty(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]  # of the class mixed with
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        return tags


# scikit-learn has no type annotations.
class HistogramTransformer(
    SavedMixin,
    HistogramsMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    BaseEstimator,
):
    """A transformer of histograms, with output names, ``set_output`` and files."""
