"""Features: their names, their positions on a grid, and their order."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

GRID = r"\s*[1-9]\d*\s*(x\s*[1-9]\d*\s*){1,2}"


def as_names(names: object, d: int, name: str = "feature_names") -> list[str]:
    """Validate one name per feature; "feature 0" and so on if there are none."""
    if names is None:
        return [f"feature {k}" for k in range(d)]
    given: Any = names
    if isinstance(given, str):
        raise ValueError(f"{name} is the string {given!r}; a list of names is needed.")
    try:
        found = [str(each) for each in given]
    except TypeError as error:
        raise ValueError(f"{name} is {names!r}; a list of names is needed.") from error
    if len(found) != d:
        raise ValueError(f"{name} has {len(found)} names for {d} features.")
    return found


def as_grid(shape: object, d: int, name: str = "feature_shape") -> tuple[int, int, int]:
    """Validate (rows, columns) or (channels, rows, columns) of d features."""
    given: Any = shape
    whole = isinstance(given, Sequence) and all(
        isinstance(size, numbers.Integral) and int(size) >= 1 for size in given
    )
    if not whole or len(given) not in (2, 3):
        raise ValueError(
            f"{name} is {shape!r}; (rows, columns) or (channels, rows, columns) in "
            "whole numbers above 0 is needed."
        )
    sizes = (1,) * (3 - len(given)) + tuple(int(size) for size in given)
    if int(np.prod(sizes)) != d:
        raise ValueError(
            f"{name} is {tuple(given)}, that is {int(np.prod(sizes))} features, but "
            f"there are {d}."
        )
    return sizes[0], sizes[1], sizes[2]


def as_written_grid(text: str, d: int, name: str) -> tuple[int, int, int]:
    """Validate a grid of d features written as 8x8 or 3x8x8, quoted as it stands."""
    plain = text.lower().replace("\N{MULTIPLICATION SIGN}", "x")
    if not re.fullmatch(GRID, plain, re.ASCII):
        raise ValueError(
            f"{name} is {text}; rows and columns such as 8x8 are needed, or "
            "channels, rows and columns such as 3x8x8."
        )
    sizes = [int(size) for size in plain.split("x")]
    if math.prod(sizes) != d:
        raise ValueError(
            f"{name} is {text}, that is {math.prod(sizes)} features, but there are {d}."
        )
    return as_grid(sizes, d, name)


def as_order(order: ArrayLike, d: int, name: str = "order") -> NDArray[np.int64]:
    """Validate a permutation of 0 to d - 1."""
    array = np.asarray(order)
    if array.dtype.kind not in "iu" or array.shape != (d,):
        raise ValueError(
            f"{name} is {order!r}; 'leaves', or the numbers from 0 to {d - 1} in some "
            "order, are needed."
        )
    missing = np.setdiff1d(np.arange(d), array)
    if missing.size:
        raise ValueError(
            f"{name} must have each number from 0 to {d - 1} once, but {missing[0]} is "
            "missing."
        )
    return array.astype(np.int64)
