"""What all panels share: markers, bands, and axes over kappa."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from .style import Style

STEP = 5  # mark kappa = 1 and all multiples of this
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
    """Shade the interval, in percent."""
    if not np.isnan(low).all():  # a single task has no interval
        ax.fill_between(
            kappas, 100 * low, 100 * high, color=color, alpha=OPACITY, linewidth=0
        )


def finish(ax: Axes, kappas: NDArray[np.int64], ylabel: str) -> None:
    """Label the axes and remove clutter."""
    ax.set_ylabel(ylabel)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="0.9", linewidth=0.5)
    ax.set_axisbelow(True)
    ax.set_xlabel("κ, number of neighbors")
    ax.set_xticks(kappas[marked(kappas)])


def marked(kappas: NDArray[np.int64]) -> list[int]:
    """Positions of 1, 5, 10, ..."""
    return [i for i, kappa in enumerate(kappas) if kappa == 1 or kappa % STEP == 0]
