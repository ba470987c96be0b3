"""Numbers, and arrays of them."""

from __future__ import annotations

import math
import numbers
from collections.abc import Hashable, Iterable
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .gradients import require_no_gradient
from .places import Table, spelled, unmasked
from .triangles import NEARLY, broken_triangles

Floats = NDArray[np.float64]

METRIC_ROUNDING = 1e-12
DOUBLE = np.dtype(np.float64)
SINGLE = np.dtype(np.float32)
LARGE = 1e100  # of factors: products of a few are still finite


def as_float_array(
    x: ArrayLike, name: str | Table, ndim: int, *, single: bool = False
) -> Floats:
    """Convert lists, frames, sparse matrices and arrays of real numbers.

    Arrays of single precision stay what they are if `single` is true.
    """
    if _is_ready(x, ndim, single=single):
        return cast("Floats", x)
    given: Any = x
    require_no_gradient(x, name)
    require_no_text(x, name)
    if hasattr(given, "toarray"):  # scipy.sparse, without importing it
        given = given.toarray()
        if ndim == 1 and 1 in given.shape:
            given = given.ravel()
    given = unmasked(given, name)
    try:
        array = np.asarray(given)
        if array.dtype.kind in "biufO" and given is not None:
            dtype = np.float32 if single and array.dtype == np.float32 else np.float64
            array = np.require(array, dtype, ["C", "ALIGNED"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}.") from error
    except OverflowError:
        _refuse_huge(given, Table.of(x, name))
        raise
    if array.dtype not in {DOUBLE, SINGLE}:
        what = type(given).__name__ if array.ndim == 0 else array.dtype
        raise ValueError(f"{name} is not an array of real numbers, but of {what}.")
    if np.ndim(given) != ndim:
        wanted = "one dimension is" if ndim == 1 else f"{ndim} dimensions are"
        raise ValueError(f"{name} has shape {np.shape(given)}, but {wanted} needed.")
    return array


def _refuse_huge(x: ArrayLike, table: Table) -> None:
    """Raise an error that names the first integer that no double can hold."""
    for where, value in np.ndenumerate(np.asarray(x, dtype=object)):
        if math.isinf(_as_float(value)):
            raise ValueError(
                f"{table.entry(where)} is {spelled(value)}: entries must be finite."
            )


def _as_float(value: Any) -> float:
    """Convert a number; integers that no double can hold become infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_ready(x: object, ndim: int, *, single: bool) -> bool:
    """Whether nothing is left to convert or to reject: quick, for single pairs."""
    return (
        type(x) is np.ndarray
        and x.ndim == ndim
        and (x.dtype == DOUBLE or (single and x.dtype == SINGLE))
        and x.flags.c_contiguous
        and x.flags.aligned
    )


def require_no_text(x: ArrayLike, name: str | Table) -> None:
    """Reject text among the entries of an array or a frame."""
    if not isinstance(x, np.ndarray) and not hasattr(x, "iloc"):
        return
    values = np.asarray(x)
    if values.dtype.kind != "O":
        return
    for where, value in np.ndenumerate(values):
        if isinstance(value, str) and not _is_number(value):
            raise ValueError(
                f"{Table.of(x, name).entry(where)} is {value!r}: numbers are needed."
            )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def require_finite(array: Floats, name: str | Table) -> None:
    """Reject NaN and infinity."""
    is_finite = np.isfinite(array)
    if not is_finite.all():
        refuse(array, ~is_finite, name, "entries must be finite")


def refuse(array: Floats, bad: NDArray[np.bool_], name: str | Table, what: str) -> None:
    """Raise an error that names the first bad entry and its value."""
    if bad.any():
        where = tuple(int(k) for k in np.argwhere(bad)[0])
        place = Table.of(array, name).entry(where)
        raise ValueError(f"{place} is {array[where]}: {what}.")


def require_in_range(values: Floats | float) -> None:
    """Reject distances that overflow their precision."""
    if not np.isfinite(values).all():
        kind = "single" if np.asarray(values).dtype == SINGLE else "double"
        raise ValueError(
            f"The distances exceed the range of {kind} precision: metric times mass is "
            "too large."
        )


def as_cost(
    metric: ArrayLike,
    d: int,
    name: str = "metric",
    *,
    n_columns: int | None = None,
    single: bool = False,
    may_forbid: bool = False,
) -> Floats:
    """Validate a finite real matrix of costs from d bins to n_columns (default: d).

    A matrix of single precision is not converted if `single` is true. If `may_forbid`,
    entries may be infinite: forbidden.
    """
    array = as_float_array(metric, name, 2, single=single)
    shape = (d, d if n_columns is None else n_columns)
    if array.shape != shape:
        bins = f"{d}" if shape == (d, d) else f"{d} and {n_columns}"
        raise ValueError(
            f"{name} has shape {array.shape}, but the histograms have {bins} bins: "
            f"shape {shape} is needed."
        )
    if not may_forbid:
        require_finite(array, name)
    elif not np.isfinite(array).all():
        bad = np.isnan(array) | np.isneginf(array)
        refuse(array, bad, name, "entries must be finite, or inf to forbid an arc")
    return array


def as_points(points: ArrayLike, d: int, name: str = "points") -> Floats:
    """Validate coordinates of d bins, in rows, that are not all the same."""
    array = as_float_array(points, name, 2)
    require_finite(array, name)
    if len(array) != d:
        raise ValueError(
            f"{name} has {len(array)} rows; one for each of {d} bins is needed."
        )
    if d > 1 and (array == array[0]).all():
        raise ValueError(f"{name} are all the same.")
    return array


def as_square(M: ArrayLike, name: str, size: int | None = None) -> Floats:
    """Validate a finite real square matrix, of the given size if any."""
    array = as_float_array(M, name, 2)
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}.")
    if array.shape[0] != array.shape[1]:
        raise ValueError(f"{name} has shape {array.shape}, but must be square.")
    if size is not None and len(array) != size:
        raise ValueError(
            f"{name} has shape {array.shape}, but ({size}, {size}) is needed."
        )
    require_finite(array, name)
    return array


def as_positive(M: ArrayLike, name: str, d: int) -> Floats:
    """Validate a symmetric d x d matrix, positive off its diagonal."""
    array = as_square(M, name, size=d).copy()
    broken = (
        (array <= 0, "entries must be positive"),
        (array != array.T, "the matrix must be symmetric"),
    )
    for where, what in broken:
        refuse(array, where & ~np.eye(d, dtype=bool), name, what)
    return array


def require_dissimilarity(array: Floats, name: str, *, rounding: float = 0.0) -> None:
    """Require a symmetric, non-negative matrix with a zero diagonal.

    The two halves may differ by ``rounding``, relative to the largest entry.
    """
    slack = rounding * array.max()
    broken = (
        (array < 0, "entries must not be negative"),
        (np.abs(array - array.T) > slack, "the matrix must be symmetric"),
        (np.diag(np.diag(array)) != 0, "the diagonal must be zero"),
    )
    for where, what in broken:
        refuse(array, where, name, what)


def require_metric(array: Floats, name: str) -> None:
    """Reject matrices that are not metrics; the message says where and by how much."""
    require_dissimilarity(array, name)
    worst = broken_triangles(array)
    # Scaling a metric rounds its entries: that much is accepted.
    if worst and worst[0].amount > METRIC_ROUNDING * array.max():
        i, j, k, amount = worst[0]
        is_near = amount <= NEARLY * array.max()
        repair = " metric_closure repairs what rounding has broken." if is_near else ""
        raise ValueError(
            f"{name} breaks the triangle inequality: {name}[{i}, {j}] exceeds "
            f"{name}[{i}, {k}] + {name}[{k}, {j}] by {amount}.{repair}"
        )


def as_number(value: float, name: str, *, low: float, high: float = math.inf) -> float:
    """Validate a finite real number between low and high."""
    if not isinstance(value, numbers.Real) or not low <= _as_float(value) <= high:
        wanted = f"at least {low}" if high == math.inf else f"from {low} to {high}"
        raise ValueError(f"{name} is {spelled(value)}; a number {wanted} is needed.")
    if math.isinf(_as_float(value)):
        raise ValueError(f"{name} is {spelled(value)}; it must be finite.")
    return float(value)


def as_positive_number(value: float, name: str) -> float:
    """Validate a finite real number above zero."""
    if not as_number(value, name, low=0.0) > 0.0:
        raise ValueError(f"{name} is {spelled(value)}; a number above 0 is needed.")
    return float(value)


def as_factor(value: float, name: str) -> float:
    """Validate a real number that is not negative, and whose square is finite."""
    return as_number(value, name, low=0.0, high=LARGE)


def as_smoothing(value: float, name: str = "smoothing") -> float:
    """Validate a real number that is not negative; infinity is fine."""
    if not isinstance(value, numbers.Real) or not value >= 0.0:
        raise ValueError(
            f"{name} is {spelled(value)}; a number from 0 to inf is needed."
        )
    return _as_float(value)


def as_precision(dtype: str, name: str = "dtype") -> str:
    """Validate a type of real numbers."""
    try:
        found = np.dtype(dtype).name
    except TypeError:
        found = None
    if dtype is None or found not in {"float64", "float32"}:
        raise ValueError(f"{name} is {dtype!r}; 'float64' or 'float32' is needed.")
    return found


def as_count(value: int, name: str, *, low: int, high: int | None = None) -> int:
    """Validate a whole number between low and high."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool):
        raise ValueError(f"{name} is {spelled(value)}; a whole number is needed.")
    if value < low:
        raise ValueError(f"{name} is {spelled(value)}; it must be at least {low}.")
    if high is not None and value > high:
        raise ValueError(f"{name} is {spelled(value)}; it must be at most {high}.")
    return int(value)


def as_position(value: int, name: str, size: int) -> int:
    """Validate a whole number from 0 to size - 1."""
    if as_count(value, name, low=0) >= size:
        raise ValueError(f"{name} is {value}, but it must be less than {size}.")
    return int(value)


def require_one_of(value: object, name: str, known: Iterable[object]) -> None:
    """Reject what is not among the known values."""
    choices = list(known)
    if not isinstance(value, Hashable) or value not in choices:
        wanted = ", ".join(map(str, choices))
        raise ValueError(f"{name} is {spelled(value)}; it must be one of {wanted}.")
