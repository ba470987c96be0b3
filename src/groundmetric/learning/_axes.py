"""Coordinates of bins: centered, in range, and their principal axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation

Floats = NDArray[np.float64]

# Variances and entries that differ by less, relative to the largest, are tied.
TIED = 1e-8


def require_two_bins(d: int) -> None:
    """Reject histograms of one bin; the words are those of scikit-learn's checks."""
    if d == 1:
        raise ValueError("X has 1 feature(s), but a metric needs two bins.")


def centered(points: ArrayLike, d: int) -> Floats:
    """Validate coordinates of d bins, and center them; distances stay as they are."""
    array = validation.as_coordinates(points, d)
    if (array == array[0]).all():
        raise ValueError("points are all the same: there is nothing to learn from.")
    moved: Floats = array - array.mean(axis=0)
    return moved


def named_sets(points: Any) -> dict[str, Any]:
    """Name sets of points: a list of matrices or an array (S, d, s) has several.

    Anything else is one set.
    """
    if isinstance(points, np.ndarray) and points.ndim == 3:  # noqa: PLR2004 - as above
        points = list(points)
    if isinstance(points, Sequence) and points and all(map(_is_matrix, points)):
        return {f"points[{k}]": each for k, each in enumerate(points)}
    return {"points": points}


def _is_matrix(values: Any) -> bool:
    """Tell whether these are rows, of whatever lengths, and not numbers."""
    if hasattr(values, "ndim"):
        return bool(values.ndim == 2)  # noqa: PLR2004 - rows and columns
    return (
        isinstance(values, Sequence)
        and len(values) > 0
        and all(np.iterable(row) and not isinstance(row, str) for row in values)
    )


def scaled(points: ArrayLike, d: int, name: str = "points") -> tuple[Floats, int]:
    """Divide coordinates by 2^k, so that their squares are in range; and return k."""
    array = validation.as_coordinates(points, d, name)
    _, k = np.frexp(np.abs(array).max())
    return np.ldexp(array, -k), int(k)


def starting_map(points: Floats, n_components: Any, varying: Floats) -> Floats:
    """Map points onto the axes along which centered rows, (., s), vary most."""
    s = points.shape[1]
    r = validation.as_count(n_components, "n_components", low=1, high=s)
    return np.eye(s) if r == s else principal_axes(varying)[:r]


def principal_axes(centered: Floats) -> Floats:
    """Return axes in rows; centered rows vary most along the first ones."""
    variances, axes = np.linalg.eigh(centered.T @ centered)
    order = np.argsort(-variances, kind="stable")
    variances, axes = variances[order], axes[:, order].T
    # Where variances are tied, any basis would do: rounding must not choose it.
    ends = np.flatnonzero(np.diff(variances) < -TIED * variances[0]) + 1
    for group in np.split(np.arange(len(variances)), ends):
        if len(group) > 1 and variances[group[0]] > TIED * variances[0]:
            axes[group] = _settled(centered @ axes[group].T) @ axes[group]
    first = _first_largest(np.abs(axes))
    largest = np.take_along_axis(axes, first[:, None], axis=1)
    signed: Floats = axes * np.where(largest < 0, -1.0, 1.0)  # the same everywhere
    return signed


def _settled(rows: Floats) -> Floats:
    """Choose an orthonormal basis from the rows, the longest first (Gram-Schmidt)."""
    left, basis = rows.copy(), np.empty((rows.shape[1],) * 2)
    for k in range(len(basis)):
        longest = left[_first_largest(np.linalg.norm(left, axis=1)[None])[0]]
        longest = longest - basis[:k].T @ (basis[:k] @ longest)
        basis[k] = longest / np.linalg.norm(longest)
        left -= np.outer(left @ basis[k], basis[k])
    return basis


def _first_largest(values: Floats) -> NDArray[np.intp]:
    """Find the first in each row that is as large as the largest, up to rounding."""
    found: NDArray[np.intp] = np.argmax(
        values >= (1 - TIED) * values.max(axis=1, keepdims=True), axis=1
    )
    return found
