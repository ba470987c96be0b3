"""New axes; matplotlib is imported when something is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes() -> Axes:
    """Return axes in a new pyplot figure."""
    try:
        import matplotlib.pyplot as plt  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise ImportError(
            "Figures need matplotlib: pip install 'groundmetric[plot]'."
        ) from error
    axes: Axes = plt.subplots()[1]
    return axes
