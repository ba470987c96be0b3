"""Shapes of grids, such as 8x8, quoted in errors as they were written."""

import math
import re

from .. import validation

SHAPE = r"\s*[1-9]\d*\s*(x\s*[1-9]\d*\s*){1,2}"


def as_shape(text: str, d: int) -> tuple[int, int, int]:
    """Return channels, rows and columns of d features, which text says."""
    plain = text.lower().replace("\N{MULTIPLICATION SIGN}", "x")
    if not re.fullmatch(SHAPE, plain, re.ASCII):
        raise ValueError(
            f"--shape is {text}; rows and columns such as 8x8 are needed, or "
            "channels, rows and columns such as 3x8x8."
        )
    sizes = [int(size) for size in plain.split("x")]
    if math.prod(sizes) != d:
        raise ValueError(
            f"--shape is {text}, that is {math.prod(sizes)} features, but there are "
            f"{d}."
        )
    return validation.as_grid(sizes, d, "--shape")
