"""The return type of every loader, and the handwritten digits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LabeledHistograms:
    """Histograms with labels.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Histograms of mass 1, in rows.
    y : ndarray of shape (n,)
        Their labels.
    feature_shape : tuple of int
        Shape of the bins, in C order: ``X[i].reshape(feature_shape)``.

    Examples
    --------
    >>> from groundmetric.datasets import load_digits_histograms
    >>> digits = load_digits_histograms([4, 9])
    >>> digits.X.shape, digits.y[:5], digits.feature_shape
    ((361, 64), array([4, 9, 4, 9, 4]), (8, 8))
    """

    X: Floats
    y: NDArray[Any]
    feature_shape: tuple[int, ...]


def load_digits_histograms(
    classes: Iterable[int] | None = None,
) -> LabeledHistograms:
    """Handwritten digits as histograms of ink over 8 x 8 pixels.

    The 1,797 digits of scikit-learn, with the ink of each normalized to mass 1.

    Parameters
    ----------
    classes : iterable of int, optional
        Which digits to load; by default all ten.

    Returns
    -------
    LabeledHistograms
        In scikit-learn's order; bins are rows and columns of pixels.

    Examples
    --------
    >>> from groundmetric.datasets import load_digits_histograms
    >>> load_digits_histograms().X.shape
    (1797, 64)
    """
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    keep = np.ones(len(labels), bool)
    if classes is not None:
        chosen = list(classes)
        known = set(range(10))
        for i, digit in enumerate(chosen):
            if digit not in known:
                raise ValueError(f"classes[{i}] is {digit!r}; a digit is needed.")
        if not chosen:
            raise ValueError("classes is empty: at least one digit is needed.")
        keep = np.isin(labels, chosen)
    ink = images[keep]
    return LabeledHistograms(ink / ink.sum(axis=1, keepdims=True), labels[keep], (8, 8))
