"""Images: arrays of intensities, gray or of three colors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .arrays import require_finite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Floats = NDArray[np.float64]

CHANNELS = 3
LARGEST_BYTE = 255


def each_image(
    images: Iterable[Any], name: str = "images"
) -> Iterator[tuple[str, Any]]:
    """Yield each image with the name to use for it in messages."""
    if isinstance(images, np.ndarray) and (
        images.ndim < 3 or (images.ndim == 3 and images.shape[2] == CHANNELS)  # noqa: PLR2004 - n, height, width
    ):
        raise ValueError(
            f"{name} has shape {images.shape}, but (n, height, width) or (n, height, "
            f"width, 3) is needed; for a single image, pass [image]."
        )
    try:
        found = iter(images)
    except TypeError as error:
        raise ValueError(f"{name} is not a series of images: {error}.") from error
    return ((f"{name}[{i}]", image) for i, image in enumerate(found))


def as_image(image: Any, name: str) -> Floats:
    """Validate finite intensities, (height, width) or (height, width, 3)."""
    array = _as_pixels(image, name).astype(np.float64)
    require_finite(array, name)
    return array


def as_color_image(image: Any, name: str) -> Floats:
    """Convert to intensities from 0 to 1, (height, width, 3); integers go to 255."""
    pixels = _as_pixels(image, name)
    array = pixels.astype(np.float64)
    require_finite(array, name)
    whole = pixels.dtype.kind in "iu"
    largest = LARGEST_BYTE if whole else 1
    outside = (array < 0) | (array > largest)
    if outside.any():
        where = [int(k) for k in np.argwhere(outside)[0]]
        kind = "whole" if whole else "real"
        raise ValueError(
            f"{name}{where} is {array[tuple(where)]}: colors in {kind} numbers must "
            f"be from 0 to {largest}."
        )
    if array.ndim < CHANNELS:
        array = np.repeat(array[..., None], CHANNELS, axis=2)
    return array / largest


def _as_pixels(image: Any, name: str) -> NDArray[Any]:
    try:
        array = np.asarray(image)
    except ValueError as error:
        raise ValueError(f"{name} is not an array of numbers: {error}.") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} is not an array of real numbers: {array.dtype}.")
    gray = array.ndim == 2  # noqa: PLR2004 - height and width
    color = array.ndim == 3 and array.shape[2] == CHANNELS  # noqa: PLR2004 - and colors
    if not (gray or color):
        raise ValueError(
            f"{name} has shape {array.shape}, but (height, width) or (height, width, "
            "3) is needed."
        )
    if array.size == 0:
        raise ValueError(f"{name} is empty: its shape is {array.shape}.")
    return array
