"""Shapes of grids, such as 8x8, quoted in errors as they were written."""

import math
from collections.abc import Sequence

from .. import validation

LENGTHS = (2, 3)  # without channels, or with them


def as_shape(text: str, sizes: Sequence[int], d: int) -> tuple[int, int, int]:
    """Return channels, rows and columns of d features, which text says."""
    if len(sizes) not in LENGTHS or min(sizes) == 0:
        raise ValueError(
            f"--shape is {text}; rows and columns such as 8x8 are needed, or "
            "channels, rows and columns such as 3x8x8."
        )
    if math.prod(sizes) != d:
        raise ValueError(
            f"--shape is {text}, that is {math.prod(sizes)} features, but there are "
            f"{d}."
        )
    return validation.as_grid(sizes, d, "--shape")
