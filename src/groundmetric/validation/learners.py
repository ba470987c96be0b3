"""Fitted learners in place of a metric.

A learned metric belongs to histograms raised to the learner's power. Functions that
take ``metric=`` accept the learner itself, and then apply both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def is_learner(metric: object) -> bool:
    """Return whether this is a learner of a metric, fitted or not."""
    return hasattr(type(metric), "_ground")


def require_learned(learner: Any, points: ArrayLike | None = None) -> None:
    """Reject learners that are not fitted, and points beside them."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(learner, "path_")
    if points is not None:
        raise ValueError(
            "metric is a learner, but points are given as well: the learner knows "
            "where its bins are; leave points out."
        )


def require_bins(learner: Any, d: int, name: str = "metric") -> None:
    """Reject histograms on other bins than those learned from."""
    if d != learner.n_features_in_:
        raise ValueError(
            f"X has {d} bins, but {name} was learned on {learner.n_features_in_}."
        )


def seen_by(
    learner: Any,
    X: ArrayLike,
    Y: ArrayLike | None = None,
    points: ArrayLike | None = None,
) -> tuple[Any, Any, dict[str, Any]]:
    """Return histograms raised to the learner's power, and its metric or points."""
    require_learned(learner, points)
    ground: dict[str, Any] = learner._ground()
    seen = [None if rows is None else learner.histograms(rows) for rows in (X, Y)]
    return seen[0], seen[1], ground
