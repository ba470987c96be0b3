"""Frames name their bins: the same names in another order are a mistake.

Arrays are matched by position, and so are frames. If the rows of ``points`` are sorted
and the columns of X are not, every distance would be wrong without a word.
"""

from __future__ import annotations

from typing import Any


def names_along(given: Any, axis: str) -> list[str] | None:
    """Return names, such as the index or columns of a frame, if all are strings."""
    names: Any = getattr(given, axis, None)
    if callable(names) or not hasattr(names, "__len__"):  # a list has a method `index`
        return None
    listed = list(names)
    return listed if listed and all(isinstance(name, str) for name in listed) else None


def bins_of(histograms: Any) -> list[str] | None:
    """Return the names of bins: columns of a frame, or the index of a series."""
    axis = "index" if getattr(histograms, "ndim", 2) == 1 else "columns"
    return names_along(histograms, axis)


def require_same_order(
    bins: list[str] | None, name: str, others: list[str] | None, other: str
) -> None:
    """Reject names that are those of the bins in another order."""
    if bins is None or others is None or bins == others:
        return
    if len(bins) != len(others) or set(bins) != set(others):
        return  # names of another kind, or other bins
    at = next(k for k, bin_ in enumerate(bins) if bin_ != others[k])
    raise ValueError(
        f"{other} has the bins of {name} in another order: number {at} is "
        f"{bins[at]!r} in {name}, but {others[at]!r} in {other}. Bins are matched by "
        "position, so put both into the same order."
    )


def require_named_alike(
    left: Any,
    right: Any = None,
    *,
    metric: Any = None,
    points: Any = None,
    names: tuple[str, str] = ("X", "Y"),
) -> None:
    """Compare the names of bins: of histograms, and of what is known about bins."""
    rows = bins_of(left)
    columns = rows if right is None else bins_of(right)
    x, y = names[0], names[0] if right is None else names[1]
    across = names_along(metric, "columns")
    require_same_order(rows, x, names_along(metric, "index"), "metric")
    require_same_order(columns, y, across, "metric")
    require_same_order(rows, x, names_along(points, "index"), "points")
    learned = names_along(metric, "feature_names_in_")
    require_same_order(rows, x, learned, "what metric was fitted to")
    if across is None:  # otherwise both agree with the metric
        require_same_order(rows, x, columns, y)


def require_known_alike(estimator: Any, X: Any) -> None:
    """Compare the names of bins of X and of an estimator's parameters."""
    bins = bins_of(X)
    if bins is None:
        return
    for name in ("init", "metric", "distance", "points"):
        given = getattr(estimator, name, None)
        for axis in ("index", "columns")[: 1 if name == "points" else 2]:
            require_same_order(bins, "X", names_along(given, axis), name)
        learned = names_along(given, "feature_names_in_")
        require_same_order(bins, "X", learned, f"what {name} was fitted to")
    metrics = getattr(estimator, "metrics", None)
    for k, metric in enumerate(metrics if isinstance(metrics, list | tuple) else ()):
        require_same_order(bins, "X", names_along(metric, "index"), f"metrics[{k}]")
    for name in ("learner", "estimator"):
        inner = getattr(estimator, name, None)
        learned = names_along(inner, "feature_names_in_")
        require_same_order(bins, "X", learned, f"what {name} was fitted to")
        if hasattr(inner, "get_params"):
            require_known_alike(inner, X)
