"""Histograms and their masses."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core
from .arrays import as_float_array, refuse, require_finite
from .places import Table

Floats = NDArray[np.float64]

# Masses with a smaller relative difference count as equal.
MASS_TOLERANCE = 1e-6
# A mass that differs from 1 by no more than this is taken to be 1.
ROUNDING = 1e-12
# Double precision cannot divide a smaller mass into 2**120 parts.
SMALLEST_MASS = 1e-250
NEGATIVE = "histograms must not have negative entries"
LARGEST_DIMENSION = _core.MAX_NODES // 2


class Histograms(NamedTuple):
    """Valid histograms: a single one (1-D), or several in rows."""

    values: Floats
    name: Table
    first_mass: float
    low_mass: float
    high_mass: float

    @property
    def n_bins(self) -> int:
        """The number of bins."""
        return int(self.values.shape[-1])

    def which(self, row: int) -> str:
        """Name the row in a message."""
        return str(self.name) if self.values.ndim == 1 else self.name.whole_row(row)


def as_histograms(
    X: ArrayLike,
    name: str | Table,
    ndim: int = 2,
    *,
    may_be_zero: bool = False,
    n_added: int = 0,
) -> Histograms:
    """Validate non-negative finite histograms of positive mass: rows, or a single one.

    With ``may_be_zero``, zero mass is allowed as well. ``n_added`` is the number of
    bins that the caller will add.
    """
    name = Table.of(X, name)
    array = as_float_array(X, name, ndim)
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}.")
    if array.shape[-1] > LARGEST_DIMENSION - n_added:
        raise ValueError(
            f"{name} has {array.shape[-1]} bins; at most "
            f"{LARGEST_DIMENSION - n_added} are supported."
        )
    # One pass over the data: masses are finite only if all entries are.
    smallest, first, low, high = _core.summarize(array[None] if ndim == 1 else array)
    found = Histograms(array, name, first, low, high)
    if not (math.isfinite(low) and math.isfinite(high)):
        require_finite(array, name)
    if smallest < 0.0:
        refuse(array, array < 0.0, name, NEGATIVE)
    if not SMALLEST_MASS <= low <= high < math.inf:
        with np.errstate(over="ignore"):
            masses = np.atleast_1d(array.sum(axis=-1))
        bad = (masses < SMALLEST_MASS) | (masses == np.inf)
        if may_be_zero:
            bad &= masses != 0.0
            if not bad.any():
                return found
        row = int(np.argmax(bad))
        if masses[row] == 0.0:
            what = "zero mass: histograms need positive mass"
        else:
            what = f"mass {masses[row]}: histograms need positive, finite mass"
        raise ValueError(f"{found.which(row)} has {what}.")
    return found


def as_nonnegative(X: ArrayLike, name: str | Table) -> Floats:
    """Validate a matrix of finite, non-negative numbers."""
    table = Table.of(X, name)
    array = as_float_array(X, table, 2)
    require_finite(array, table)
    refuse(array, array < 0.0, table, "entries must not be negative")
    return array


def as_distributions(X: ArrayLike, name: str | Table) -> Floats:
    """Validate histograms or counts in rows, and scale them to mass 1."""
    rows = as_histograms(X, name).values
    masses = rows.sum(axis=1, keepdims=True)
    # Normalized rows stay as they are, to the last bit.
    masses[np.abs(masses - 1.0) <= ROUNDING] = 1.0
    return np.ascontiguousarray(rows / masses)


def common_mass(*histograms: Histograms) -> float:
    """Check that all histograms have the same mass, and return it."""
    first = histograms[0]
    total = first.first_mass
    if abs(total - 1.0) <= ROUNDING:
        total = 1.0
    slack = MASS_TOLERANCE * total
    for found in histograms:
        if found.low_mass < total - slack or found.high_mass > total + slack:
            masses = np.atleast_1d(found.values.sum(axis=-1))
            row = int(np.argmax(np.abs(masses - total) > slack))
            # Both also work with sparse rows.
            how = "r / r.sum()"
            if first.values.ndim > 1:
                how = "sklearn.preprocessing.normalize(X, norm='l1')"
            raise ValueError(
                f"{found.which(row)} has mass {masses[row]}, but {first.which(0)} has "
                f"mass {total}: histograms must have equal masses. Normalize them "
                f"first, for instance by {how}."
            )
    return total


def paired_masses(
    left: Histograms, right: Histograms, pairs: NDArray[np.int64]
) -> Floats:
    """Check that both histograms of each pair (i, j) have the same mass.

    Returns the mass of each of the first set.
    """
    masses, others = (
        np.asarray(found.values.sum(axis=-1)).ravel() for found in (left, right)
    )
    i, j = pairs.T
    bad = np.abs(others[j] - masses[i]) > MASS_TOLERANCE * masses[i]
    if bad.any():
        k = int(np.argmax(bad))
        raise ValueError(
            f"{right.which(j[k])} has mass {others[j[k]]}, but {left.which(i[k])} has "
            f"mass {masses[i[k]]}: the histograms of a pair must have equal masses. "
            "Normalize them first."
        )
    return masses


def require_same_bins(a: Histograms, b: Histograms) -> None:
    """Reject histograms with different numbers of bins."""
    if a.n_bins != b.n_bins:
        raise ValueError(f"{a.name} has {a.n_bins} bins, but {b.name} has {b.n_bins}.")
