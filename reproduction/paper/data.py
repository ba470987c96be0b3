"""The histograms of an experiment, and their labels."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from groundmetric import validation
from groundmetric.datasets import load_digits_histograms

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["Data", "load"]


class Data(NamedTuple):
    """Histograms of mass 1, in rows, their labels, and where they come from."""

    source: str
    stem: str  # for the names of experiments
    X: NDArray[np.float64]
    y: NDArray[Any]


def load(path: Path | None) -> Data:
    """Read X and y from an .npz file; without a path, take scikit-learn's digits.

    With ``class_names``, y holds their numbers.

    Examples
    --------
    >>> from paper.data import load
    >>> digits = load(None)
    >>> digits.stem, digits.X.shape
    ('digits', (1797, 64))
    """
    if path is None:
        digits = load_digits_histograms()
        return Data("scikit-learn's digits", "digits", digits.X, digits.y)
    try:
        with np.load(path, allow_pickle=False) as file:
            X, y = file["X"], file["y"]
            names = file.get("class_names")
    except (EOFError, LookupError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"{path} is not an .npz file with arrays X and y: {error}."
        ) from error
    X = validation.as_distributions(X, f"{path}: X")
    labels = validation.as_labels(y, f"{path}: y")
    validation.require_length(labels, len(X), f"{path}: y")
    if names is not None:
        if labels.dtype.kind not in "iu" or labels.min() < 0:
            raise ValueError(f"{path}: y does not index class_names.")
        if labels.max() >= len(names):
            raise ValueError(
                f"{path}: y has {labels.max()}, but there are {len(names)} class_names."
            )
        labels = names[labels]
    return Data(str(path), path.stem, X, labels)
