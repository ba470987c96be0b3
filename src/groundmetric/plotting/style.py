"""Sizes and fonts of figures in print."""

from __future__ import annotations

from typing import Any

from .. import validation

COLUMN = 3.3  # inches
PAGE = 6.9
TEXT, SMALL = 8.0, 7.0  # points


def column_style(n_columns: int = 1, *, height: float | None = None) -> dict[str, Any]:
    """Return settings of matplotlib for figures as wide as columns of a paper.

    Text has 7 to 8 points, parts do not overlap, and PDF files have real fonts, as
    journals ask. Save as ``.pdf`` or ``.svg``, without ``bbox_inches="tight"``, which
    changes the width.

    Parameters
    ----------
    n_columns : 1 or 2, default=1
        Figures are 3.3 inches wide for one column, 6.9 for two.
    height : float, optional
        In inches; by default 2.6 for one column, 3.2 for two.

    Returns
    -------
    dict
        For ``matplotlib.rc_context``, or ``matplotlib.rcParams.update``.

    Examples
    --------
    >>> import matplotlib as mpl
    >>> from groundmetric.plotting import MetricDisplay, column_style
    >>> square = [[0, 3, 5, 4], [3, 0, 4, 5], [5, 4, 0, 3], [4, 5, 3, 0]]
    >>> with mpl.rc_context(column_style()):
    ...     display = MetricDisplay.from_metric(square, names=list("abcd")).plot()
    ...     float(display.figure_.get_figwidth())
    3.3
    """
    n = validation.as_count(n_columns, "n_columns", low=1)
    if n > 2:  # noqa: PLR2004 - a page has no more
        raise ValueError(f"n_columns is {n}; it must be 1 or 2.")
    tall = (2.6, 3.2)[n - 1]
    if height is not None:
        tall = validation.as_positive_number(height, "height")
    return {
        "figure.figsize": ((COLUMN, PAGE)[n - 1], tall),
        "figure.constrained_layout.use": True,
        "figure.dpi": 150,
        "savefig.dpi": 300,  # of pixels inside vector files
        "savefig.bbox": None,
        "font.size": TEXT,
        "axes.titlesize": TEXT,
        "axes.labelsize": TEXT,
        "xtick.labelsize": SMALL,
        "ytick.labelsize": SMALL,
        "legend.fontsize": SMALL,
        "axes.linewidth": 0.6,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "lines.linewidth": 1.2,
        "lines.markersize": 4.0,
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
    }
