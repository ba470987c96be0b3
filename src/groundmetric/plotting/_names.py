"""Names beside axes and points, in sizes and places where they do not overlap."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

SMALLEST = 5.0  # points; smaller names cannot be read on paper
LINE = 1.17  # height of a line, in font sizes
CHARACTER = 0.54  # mean width of a character, nearly
MOST_LINES = 3
PASSES = 3


def settle(axes: Axes) -> None:
    """Make the layout of the figure final, as far as it is known."""
    root: Any = axes.get_figure()
    while root is not getattr(root, "figure", root):
        root = root.figure
    root.draw_without_rendering()
    axes.apply_aspect()


def name_rows(
    axes: Axes, names: Sequence[str], *, widest: float = 0.4, leave_out: bool = False
) -> int:
    """Name the rows 0, 1, ... beside the y axis, without overlaps.

    Names take that share of the width of the figure at most: long ones are divided into
    lines, or smaller. If that does not suffice, only every k-th row has its name, if
    some may be left out. Return k.
    """
    size, every, lines = 1.0, 1, list(names)
    for _ in range(PASSES):  # names change the size of the axes
        settle(axes)
        cell = _points(axes.get_window_extent().height, axes) / len(names)
        room = widest * _points(axes.get_figure().bbox.width, axes)  # type: ignore[union-attr]
        size, every, lines = _fitted(names, cell, room, leave_out=leave_out)
        rows = range(0, len(names), every)
        axes.set_yticks(rows, [lines[k] for k in rows], size=size, linespacing=1.0)
    return every


def name_columns(axes: Axes, names: Sequence[str], every: int) -> None:
    """Name every k-th column below the x axis, upright, as small as its cell."""
    columns = range(0, len(names), every)
    axes.set_xticks(columns, [names[k] for k in columns], rotation=90)
    for _ in range(PASSES):
        settle(axes)
        cell = _points(axes.get_window_extent().width, axes) / len(columns)
        axes.tick_params("x", labelsize=min(_usual(), cell / LINE))


def _fitted(
    names: Sequence[str], cell: float, room: float, *, leave_out: bool
) -> tuple[float, int, list[str]]:
    """Choose the number of lines: the fewest names left out, then the largest size."""
    found = []
    for n in range(1, MOST_LINES + 1):
        wide, lines = _divided(names, n)
        size = min(_usual(), room / CHARACTER / wide)
        if size < SMALLEST and n < MOST_LINES:
            continue
        every = math.ceil(SMALLEST * LINE * n / cell) if leave_out else 1
        found.append((-every, min(size, every * cell / LINE / n), lines))
    every, size, lines = max(found, key=lambda each: each[:2])
    return size, -every, lines


def _usual() -> float:
    """Size of the names of ticks."""
    import matplotlib as mpl
    from matplotlib.font_manager import FontProperties

    return FontProperties(size=mpl.rcParams["ytick.labelsize"]).get_size_in_points()


def _points(pixels: float, axes: Axes) -> float:
    figure: Any = axes.get_figure()
    found: float = pixels * 72 / figure.dpi
    return found


def _divided(names: Sequence[str], n_lines: int) -> tuple[int, list[str]]:
    """Divide names into at most n_lines; return the length of the longest, too."""
    longest = max(map(len, names))
    width = max(math.ceil(longest / n_lines), 1)
    while True:
        lines = [textwrap.wrap(name, width) or [""] for name in names]
        if max(map(len, lines)) <= n_lines:
            break
        width += 1
    wide = max(len(line) for each in lines for line in each)
    return max(wide, 1), ["\n".join(each) for each in lines]


def from_outside(places: Any) -> Any:
    """Order points of the plane by their distance from the middle, farthest first."""
    apart = np.linalg.norm(places - places.mean(axis=0), axis=1)
    return np.argsort(-apart, kind="stable")
