"""Estimators that may be given a fitted learner as their metric."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import clone

from .. import validation

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# What scikit-learn's clone keeps besides the parameters.
KEPT = ("_metadata_request", "_sklearn_output_config")


def own_distances(learner: Any) -> Callable[..., NDArray[np.float64]]:
    """Return what computes a learner's distances between rows as it sees them."""
    between: Callable[..., NDArray[np.float64]] = learner._distances(learner._learned)
    return between


def distances_to(learner: Any, base: Any) -> Callable[[Any], NDArray[np.float64]]:
    """Return what computes a learner's distances to rows as it sees them."""
    if hasattr(learner, "_distances_to"):
        to_base: Callable[[Any], NDArray[np.float64]] = learner._distances_to(base)
        return to_base
    between = own_distances(learner)
    return lambda rows: between(rows, base)


class KeepsLearner:
    """An estimator whose clones share a learner that is a parameter, still fitted."""

    _learner_parameter: ClassVar[str] = "metric"

    def __sklearn_clone__(self) -> Any:
        kept = self._learner_parameter
        value = getattr(self, kept)
        several = value if isinstance(value, (list, tuple)) else [value]
        if not any(map(validation.is_learner, several)):
            return super().__sklearn_clone__()  # type: ignore[misc]
        given: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        params = {
            name: value if name == kept else clone(value, safe=False)
            for name, value in given.items()
        }
        other = type(self)(**params)
        for name in KEPT:
            if hasattr(self, name):
                setattr(other, name, deepcopy(getattr(self, name)))
        return other
