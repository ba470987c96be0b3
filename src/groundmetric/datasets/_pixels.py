"""The only place that knows Pillow: from the bytes of a file to an array of pixels."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

LARGEST = 65535  # of 16 bits


def require_pillow() -> None:
    """Say what to install, before any file is read."""
    try:
        import PIL  # noqa: F401, PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError(
            "Reading images needs Pillow: pip install 'groundmetric[images]'."
        ) from error


def decode(data: bytes) -> NDArray[Any]:
    """Pixels as they are to be seen, (h, w) or (h, w, 3).

    Bytes, or fractions for files with 16 bits. The camera's orientation is applied;
    what is transparent is put on white. Of an animation, the first picture.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError  # noqa: PLC0415

    try:
        with Image.open(BytesIO(data)) as file:
            file.load()
            return _as_pixels(ImageOps.exif_transpose(file))
    except UnidentifiedImageError as error:
        # Pillow's message has an address in memory, which differs every time.
        raise ValueError("it is not an image of a known kind") from error


def _as_pixels(image: Any) -> NDArray[Any]:  # noqa: ANN401 - Pillow's
    from PIL import Image  # noqa: PLC0415 - an optional dependency

    if image.mode == "F":
        raise ValueError("it has real numbers, whose range is unknown")
    if image.mode.startswith("I"):
        return np.asarray(image) / LARGEST
    if image.has_transparency_data:
        seen = image.convert("RGBA")
        white = Image.new("RGBA", seen.size, "white")
        return np.asarray(Image.alpha_composite(white, seen).convert("RGB"))
    return np.asarray(image.convert("L" if image.mode in {"1", "L"} else "RGB"))
