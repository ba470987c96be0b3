"""Labels of histograms."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any

import numpy as np

from .places import spelled, unmasked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

# Kinds of dtypes whose values can be equal, such as 1, 1.0 and True.
NUMBERS = "biufc"


def as_labels(y: ArrayLike, name: str = "y") -> NDArray[Any]:
    """Validate one label per histogram, of any type that can be sorted."""
    y = unmasked(y, name)
    _require_one_kind(y, name)
    try:
        labels = np.asarray(y)
        missing = np.array([x is None or not bool(x == x) for x in labels.ravel()])  # noqa: PLR0124 - NaN
        np.unique(labels.ravel()[:0] if missing.any() else labels)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be labels of one kind, none of them missing: {error}."
        ) from error
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(
            f"{name} has shape {labels.shape}; one label per histogram is needed."
        )
    if missing.any():
        k = int(np.argmax(missing))
        label = labels.tolist()[k]
        raise ValueError(f"{name}[{k}] is {label!r}: labels must not be missing.")
    return labels


def _require_one_kind(y: ArrayLike, name: str) -> None:
    """Reject a mix of text and numbers, which numpy would convert or fail to sort."""
    given: Any = y
    if isinstance(given, np.ndarray) and given.dtype.kind == "O":
        given = given.tolist()
    if not isinstance(given, (list, tuple)):
        return
    kinds: dict[bool, int] = {}  # first label that is a number, first that is not
    for k, label in enumerate(given):
        if isinstance(label, (str, numbers.Number)) and label == label:  # noqa: PLR0124 - NaN
            kinds.setdefault(isinstance(label, numbers.Number), k)
    if len(kinds) > 1:
        first, second = sorted(kinds.values())
        raise ValueError(
            f"{name} must be labels of one kind, all numbers or all text, but "
            f"{name}[{first}] is {spelled(given[first])} and {name}[{second}] is "
            f"{spelled(given[second])}."
        )


def require_length(y: ArrayLike, n: int, name: str) -> None:
    """Require one label per histogram."""
    size = len(as_labels(y, name))
    if size != n:
        raise ValueError(f"{name} has {size} labels for {n} histograms.")


def require_same_kind(y_train: ArrayLike, y_test: ArrayLike) -> None:
    """Reject test labels that can never equal a training label, such as 1 and "1".

    If all labels are new but of the same kind, the task is hard, but not a mistake.
    """
    train, test = np.asarray(y_train), np.asarray(y_test)
    same = (train.dtype.kind in NUMBERS) == (test.dtype.kind in NUMBERS)
    if not same and set(train.tolist()).isdisjoint(test.tolist()):
        raise ValueError(
            f"y_test has labels such as {test.tolist()[0]!r}, but y_train such as "
            f"{train.tolist()[0]!r}: labels of one kind are needed."
        )


def require_classes(
    classes: Sequence[Any] | NDArray[Any], name: str = "y", where: str = ""
) -> None:
    """Reject distinct labels that are of a single class: all histograms are similar."""
    if len(classes) == 1:
        label = np.asarray(classes)[:1].tolist()[0]
        raise ValueError(
            f"{name} has one class only, {label!r}{where}; at least two are needed."
        )
