"""Decode image files to arrays of pixels; the only place that uses Pillow."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 65535  # 16 bits


def require_pillow() -> None:
    """Fail before any file is read if Pillow is missing."""
    try:
        import PIL  # noqa: F401 - an optional dependency
    except ImportError as error:
        raise ImportError(
            "Reading images needs Pillow: pip install 'groundmetric[images]'."
        ) from error


def decode(data: bytes) -> NDArray[Any]:
    """Decode pixels as displayed, (h, w) or (h, w, 3).

    Values are bytes, or fractions for 16-bit files. The camera's orientation is
    applied, transparent pixels are blended with white, and animations are reduced to
    their first frame.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data)) as file:
            file.load()
            return _as_pixels(ImageOps.exif_transpose(file))
    except UnidentifiedImageError as error:
        # Pillow's message contains a memory address, which differs every time.
        raise ValueError("it is not an image of a known kind") from error


def thumbnail(data: bytes, side: int) -> bytes:
    """Shrink an image file to a small JPEG, as displayed."""
    from PIL import Image

    pixels = decode(data)
    if pixels.dtype != np.uint8:
        pixels = np.rint(255 * pixels).astype(np.uint8)
    image = Image.fromarray(pixels)
    image.thumbnail((side, side))
    file = BytesIO()
    image.save(file, "JPEG", quality=80)
    return file.getvalue()


def _as_pixels(image: Any) -> NDArray[Any]:
    from PIL import Image

    if image.mode == "F":
        raise ValueError("it has real numbers, whose range is unknown")
    if image.mode.startswith("I"):
        return np.asarray(image) / LARGEST
    if image.has_transparency_data:
        seen = image.convert("RGBA")
        white = Image.new("RGBA", seen.size, "white")
        return np.asarray(Image.alpha_composite(white, seen).convert("RGB"))
    return np.asarray(image.convert("L" if image.mode in {"1", "L"} else "RGB"))
