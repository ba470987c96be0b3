"""What all panels have in common: markers, bands, and axes over kappa."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .style import Style

STEP = 5  # between the kappas that are marked, after the first
OPACITY = 0.12  # of bands


def marker(style: Style) -> dict[str, Any]:
    """Options for the markers of a line."""
    return {
        "marker": style.marker,
        "markeredgecolor": style.color,
        "markerfacecolor": "white" if style.hollow else style.color,
        "markersize": 3.5,
    }


def band(
    ax: Axes,
    kappas: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    color: str,
) -> None:
    """Shade what lies between, in percent."""
    if not np.isnan(low).all():  # a single task has none
        ax.fill_between(
            kappas, 100 * low, 100 * high, color=color, alpha=OPACITY, linewidth=0
        )


def finish(ax: Axes, kappas: NDArray[np.int64]) -> None:
    """Leave what a reader needs, and nothing else."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.set_xlabel("κ, number of neighbors")
    ax.set_xticks(kappas[marked(kappas)])


def marked(kappas: NDArray[np.int64]) -> list[int]:
    """Positions of 1, 5, 10, ..."""
    return [i for i, kappa in enumerate(kappas) if kappa == 1 or kappa % STEP == 0]
