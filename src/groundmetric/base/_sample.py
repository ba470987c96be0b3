"""Samples of labeled histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.random import Generator, RandomState
    from numpy.typing import NDArray


def drawn_by_class(
    labels: NDArray[Any], n: int, rng: Generator | RandomState
) -> NDArray[np.intp]:
    """Draw the positions of n histograms, class by class, in rising order."""
    classes, codes = np.unique(labels, return_inverse=True)
    if n < len(classes):
        raise ValueError(f"max_samples is {n}, but there are {len(classes)} classes.")
    # The r-th of a class comes after the share r / size of it: the first of each class
    # are first, and all classes are used up at the same pace.
    share = np.empty(len(codes))
    for code, size in enumerate(np.bincount(codes)):
        share[codes == code] = rng.permutation(size) / size
    return np.sort(np.argsort(share, kind="stable")[:n])
