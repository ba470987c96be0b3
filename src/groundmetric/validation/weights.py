"""How much histograms and classes count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .arrays import as_float_array, as_positive_number, refuse, require_finite
from .places import spelled

Floats = NDArray[np.float64]


def as_sample_weight(sample_weight: ArrayLike | None, n: int) -> Floats:
    """Validate one weight per histogram, not all zero; all 1 if there are none."""
    if sample_weight is None:
        return np.ones(n)
    weights = as_float_array(sample_weight, "sample_weight", 1)
    if len(weights) != n:
        raise ValueError(
            f"sample_weight has {len(weights)} entries for {n} histograms."
        )
    require_finite(weights, "sample_weight")
    refuse(weights, weights < 0, "sample_weight", "weights must not be negative")
    if not weights.any():
        raise ValueError(
            "sample_weight is zero for all histograms: there is nothing to learn from."
        )
    return weights


def as_shares(weights: ArrayLike | None, n: int) -> Floats:
    """Validate weights of n histograms, or several rows of them; scale each to sum 1.

    If there are none, all histograms count the same.
    """
    if weights is None:
        return np.full(n, 1.0 / n)
    ndim = 2 if np.ndim(weights) == 2 else 1  # noqa: PLR2004 - a row per barycenter
    array = as_float_array(weights, "weights", ndim)
    if array.size == 0 or array.shape[-1] != n:
        raise ValueError(f"weights have shape {array.shape} for {n} histograms.")
    require_finite(array, "weights")
    refuse(array, array < 0, "weights", "weights must not be negative")
    largest = array.max(axis=-1, keepdims=True)
    if not largest.all():
        where = f"[{int(np.argmin(largest))}]" if ndim > 1 else ""
        raise ValueError(f"weights{where} are all zero: one histogram must count.")
    scaled = array / largest  # sums of large numbers may be out of range
    shares: Floats = scaled / scaled.sum(axis=-1, keepdims=True)
    return shares


def as_class_weight(class_weight: Any, classes: Any, counts: Any) -> Floats:
    """Validate the weights of classes, given their labels and numbers of histograms.

    "balanced" is n / (c * counts), as in scikit-learn: classes count equally.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str) and class_weight == "balanced":
        balanced: Floats = np.sum(counts) / (len(classes) * np.asarray(counts, float))
        return balanced
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight is {class_weight!r}; 'balanced' or a dict from labels to "
            "positive numbers is needed."
        )
    known = np.asarray(classes).tolist()
    strange = [label for label in class_weight if label not in known]
    if strange:
        raise ValueError(
            f"class_weight has {spelled(strange[0])}, which is not a label of y; they "
            f"are such as {spelled(known[0])}."
        )
    found = np.ones(len(known))
    for label, weight in class_weight.items():
        found[known.index(label)] = as_positive_number(
            weight, f"class_weight[{spelled(label)}]"
        )
    return found
