"""Names for the bins of color histograms, after the color at the center of each.

Modifiers such as "pale" and "dark grayish" are those of Kelly & Judd, *Color: Universal
Language and Dictionary of Names* (NBS Special Publication 440, 1976), where they stand
for ranges of lightness and saturation, too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from .color import SPACES, bins_in, cells_of, hsv

if TYPE_CHECKING:
    from collections.abc import Sequence

HUES = {  # in degrees
    "red": 0,
    "red-orange": 20,
    "orange": 34,
    "orange-yellow": 47,
    "yellow": 60,
    "yellow-green": 74,
    "leaf green": 95,
    "green": 120,
    "sea green": 143,
    "blue-green": 162,
    "cyan": 180,
    "azure": 208,
    "blue": 240,
    "violet": 270,
    "purple": 290,
    "magenta": 305,
    "pink": 322,
    "rose": 340,
}
GRAYS = ("black", "dark gray", "gray", "light gray", "white")  # of rising value
# Rows of rising value, columns of rising saturation; less saturated are the grays.
MODIFIERS = (
    ("blackish", "very dark", "very deep"),
    ("dark grayish", "dark", "deep"),
    ("grayish", "moderate", "strong"),
    ("pale", "light", "vivid"),
)
LEVELS = len(MODIFIERS)


def color_names(
    space: str = "hsv", n_bins: int | Sequence[int] | None = None
) -> list[str]:
    """Name the bins of ``color_histogram`` with these options, each differently.

    If two bins would have the same name, each also gets the color at its center, as in
    "vivid red #e61919", or its number if that does not distinguish them.
    """
    shape = bins_in(space, n_bins)
    chosen = SPACES[space]
    low, high = np.array(chosen.low), np.array(chosen.high)
    parts = (np.indices(shape).reshape(3, -1).T + 0.5) / shape
    colors = np.clip(chosen.colors(low + parts * (high - low)), 0.0, 1.0)
    ramp = np.repeat(np.linspace(0.0, 1.0, 256)[:, None], 3, axis=1)
    neutral = set(cells_of(chosen, ramp, shape).tolist())
    names = [
        _name(*coordinates, is_gray=k in neutral)
        for k, coordinates in enumerate(hsv(colors).tolist())
    ]
    codes = ["#" + bytes(row).hex() for row in np.rint(255 * colors).astype(np.uint8)]
    names = _told_apart(names, codes)
    return _told_apart(names, [f"({k})" for k in range(len(names))])


def _name(hue: float, saturation: float, value: float, *, is_gray: bool) -> str:
    gray = GRAYS[_level(value, len(GRAYS))]
    if is_gray:
        return gray
    tone = min(HUES, key=lambda name: abs((360 * hue - HUES[name] + 180) % 360 - 180))
    column = _level(saturation, LEVELS)
    if column == 0:
        return f"{tone}-tinted {gray}"
    return f"{MODIFIERS[_level(value, LEVELS)][column - 1]} {tone}"


def _level(share: float, n: int) -> int:
    return min(int(n * share), n - 1)


def _told_apart(names: list[str], marks: list[str]) -> list[str]:
    """Add its mark to every name that occurs more than once."""
    counts = Counter(names)
    return [
        f"{name} {mark}" if counts[name] > 1 else name
        for name, mark in zip(names, marks, strict=True)
    ]
