"""Figures for print, and their files."""

from __future__ import annotations

import io
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
from matplotlib.figure import Figure

from groundmetric import _files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CM = 1 / 2.54
# Figures are 13 cm wide, so 7 points match the size of a caption.
PAPER: dict[Any, Any] = {
    "axes.edgecolor": "0.3",
    "axes.labelsize": 7,
    "axes.linewidth": 0.6,
    "axes.titlelocation": "left",
    "axes.titlesize": 7,
    "figure.labelsize": 6.5,
    "figure.titlesize": 7.5,
    "figure.titleweight": "bold",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 7,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.title_fontsize": 6.5,
    "svg.fonttype": "none",  # keep text as text: smaller files that can be searched
    "svg.hashsalt": "groundmetric",  # the same ids in every run
    "xtick.labelsize": 6.5,
    "xtick.major.size": 2.5,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 6.5,
    "ytick.major.size": 0,
}
# No dates or versions: the same results give the same files.
METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": {"Creator": "groundmetric", "Date": None},
}
PNG_DPI = 200
LONG_NUMBER = re.compile(r"\d+\.\d{3,}")


@contextmanager
def paper(width: float, height: float) -> Iterator[Figure]:
    """Yield a figure for print, of a size in cm; draw it inside the context."""
    with mpl.rc_context({**mpl.rcParamsDefault, **PAPER}):
        yield Figure(figsize=(width * CM, height * CM), layout="constrained")


def save(figure: Figure, stem: Path) -> tuple[Path, ...]:
    """Write PNG and SVG files next to each other; return their paths."""
    _settle(figure)
    png, svg = (stem.with_name(f"{stem.name}.{suffix}") for suffix in METADATA)
    options: dict[str, Any] = {
        "metadata": METADATA["png"],
        "pil_kwargs": {"optimize": True},
    }
    _files.write_whole(
        png, lambda file: figure.savefig(file, format="png", dpi=PNG_DPI, **options)
    )
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata=METADATA["svg"])
    # Hundredths of a point are enough: half the size, and no rounding noise.
    _files.write_text(
        svg, LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", text.getvalue())
    )
    return png, svg


def _settle(figure: Figure) -> None:
    """Lay out once, and round: the layout solver varies in the last bits."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for ax in figure.axes:
        left, bottom, width, height = (round(x, 4) for x in ax.get_position().bounds)
        ax.set_position((left, bottom, width, height))
