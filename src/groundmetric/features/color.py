"""Joint color histograms, the classical input of the earth mover's distance.

Rubner, Tomasi & Guibas (IJCV 40, 2000) used them to compare images. Bins are equal
cells in one of three color spaces; see :func:`color_histogram`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Floats = NDArray[np.float64]

# IEC 61966-2-1: from linear red, green and blue to X, Y and Z under daylight D65.
TO_XYZ = np.array(
    [
        [0.4124, 0.3576, 0.1805],
        [0.2126, 0.7152, 0.0722],
        [0.0193, 0.1192, 0.9505],
    ]
)


def color_histogram(
    images: Iterable[Any],
    *,
    n_bins: int | Sequence[int] | None = None,
    space: str = "hsv",
) -> Floats:
    """Share of pixels of each color, as histograms of mass 1.

    Parameters
    ----------
    images : array of shape (n, h, w) or (n, h, w, 3), or iterable of 2-D or 3-D arrays
        sRGB colors or gray values, of any sizes. Integers range to 255, floats to 1.
    n_bins : int or three ints, optional
        Number of bins for each of the three coordinates, or one number for all. By
        default 8, 4, 4 in ``"hsv"``, since hue is most informative (as many bins as the
        paper's GIST), and 5, 5, 5 in the other spaces.
    space : {"hsv", "rgb", "lab"}
        Hue (a circle from red through green and blue back to red), saturation and
        value; red, green and blue; or CIE L*a*b* (D65), where Euclidean distances
        approximate perceived differences. L* ranges from 0 to 100, a* from -87 to 99
        and b* from -108 to 95, which just covers sRGB. Unsaturated colors have hue 0.

    Returns
    -------
    ndarray of shape (n, product of n_bins)
        Bin (i * n_bins[1] + j) * n_bins[2] + k for cells i, j, k of the coordinates.

    Examples
    --------
    A red pixel, and three blue ones:

    >>> from groundmetric.features import color_histogram
    >>> image = [[[255, 0, 0], [0, 0, 255]], [[0, 0, 255], [0, 0, 255]]]
    >>> color_histogram([image], n_bins=2, space="rgb")
    array([[0.  , 0.75, 0.  , 0.  , 0.25, 0.  , 0.  , 0.  ]])
    """
    validation.require_one_of(space, "space", SPACES)
    chosen = SPACES[space]
    shape = bins_in(space, n_bins)
    rows = [
        _counts(chosen, validation.as_color_image(image, name), shape)
        for name, image in validation.each_image(images)
    ]
    if not rows:
        raise ValueError("images is empty: at least one image is needed.")
    counts = np.stack(rows)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def bins_in(space: str, n_bins: int | Sequence[int] | None) -> tuple[int, int, int]:
    """Check the numbers of bins; by default those of the space."""
    if n_bins is None:
        return SPACES[space].n_bins
    if np.ndim(n_bins) == 0:
        count = validation.as_count(n_bins, "n_bins", low=1)  # type: ignore[arg-type]
        return count, count, count
    given = list(n_bins)  # type: ignore[arg-type]
    if len(given) != 3:  # noqa: PLR2004 - coordinates
        raise ValueError(f"n_bins is {n_bins!r}; one number, or three, are needed.")
    i, j, k = (
        validation.as_count(count, f"n_bins[{axis}]", low=1)
        for axis, count in enumerate(given)
    )
    return i, j, k


def _counts(space: Space, image: Floats, shape: tuple[int, int, int]) -> Floats:
    flat = cells_of(space, image.reshape(-1, 3), shape)
    return np.bincount(flat, minlength=math.prod(shape)).astype(np.float64)


def cells_of(
    space: Space, rgb: Floats, shape: tuple[int, int, int]
) -> NDArray[np.int64]:
    """Return the bin of each color."""
    low, high = np.array(space.low), np.array(space.high)
    parts = (space.coordinates(rgb) - low) / (high - low)
    # The last cell includes its upper end.
    cells = np.clip(np.floor(parts * shape).astype(np.int64), 0, np.array(shape) - 1)
    return np.asarray(np.ravel_multi_index(tuple(cells.T), shape))


def hsv(rgb: Floats) -> Floats:
    """Smith's hexcone model: value = max, saturation = (max - min) / max, and hue."""
    value = rgb.max(axis=1)
    chroma = value - rgb.min(axis=1)
    divisor = np.where(chroma > 0, chroma, 1.0)
    red, green, blue = rgb.T
    sixths = np.select(
        [value == red, value == green],
        [(green - blue) / divisor % 6, (blue - red) / divisor + 2],
        (red - green) / divisor + 4,
    )
    saturation = chroma / np.where(value > 0, value, 1.0)
    return np.column_stack([sixths / 6 % 1.0, saturation, value])


def _from_hsv(coordinates: Floats) -> Floats:
    hue, saturation, value = coordinates.T[:, :, None]
    sixths = (np.array([5, 3, 1]) + 6 * hue) % 6
    ramps = np.clip(np.minimum(sixths, 4 - sixths), 0.0, 1.0)
    return np.asarray(value * (1 - saturation * ramps))


def _lab(rgb: Floats) -> Floats:
    """CIE 1976, relative to the white (1, 1, 1)."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)  # noqa: PLR2004 - sRGB's
    relative = linear @ TO_XYZ.T / TO_XYZ.sum(axis=1)
    edge = 6 / 29
    roots = np.where(
        relative > edge**3,
        np.cbrt(relative),
        relative / (3 * edge**2) + 4 / 29,
    )
    x, y, z = roots.T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def _from_lab(coordinates: Floats) -> Floats:
    """Return colors; below 0 or above 1 outside of sRGB."""
    lightness, a, b = coordinates.T
    y = (lightness + 16) / 116
    roots = np.column_stack([y + a / 500, y, y - b / 200])
    edge = 6 / 29
    relative = np.where(roots > edge, roots**3, 3 * edge**2 * (roots - 4 / 29))
    linear: Floats = (relative * TO_XYZ.sum(axis=1)) @ np.linalg.inv(TO_XYZ).T
    curved: Floats = 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.04045 / 12.92, 12.92 * linear, curved)


class Space(NamedTuple):
    """Coordinates of sRGB colors, and back; their ranges; default numbers of bins."""

    coordinates: Callable[[Floats], Floats]
    colors: Callable[[Floats], Floats]
    low: tuple[float, float, float]
    high: tuple[float, float, float]
    n_bins: tuple[int, int, int]


SPACES = {
    "hsv": Space(hsv, _from_hsv, (0, 0, 0), (1, 1, 1), (8, 4, 4)),
    "rgb": Space(lambda rgb: rgb, lambda rgb: rgb, (0, 0, 0), (1, 1, 1), (5, 5, 5)),
    "lab": Space(_lab, _from_lab, (0, -87, -108), (100, 99, 95), (5, 5, 5)),
}
