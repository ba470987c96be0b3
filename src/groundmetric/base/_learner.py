"""Estimators that may be given a fitted learner as their metric."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from sklearn.base import clone

from .. import validation

# What scikit-learn's clone keeps besides the parameters.
KEPT = ("_metadata_request", "_sklearn_output_config")


class KeepsLearner:
    """An estimator whose clones share a learner given as ``metric``, still fitted."""

    metric: Any

    def __sklearn_clone__(self) -> Any:  # noqa: ANN401 - of the same class
        if not validation.is_learner(self.metric):
            return super().__sklearn_clone__()  # type: ignore[misc]
        given: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        params = {
            name: value if name == "metric" else clone(value, safe=False)
            for name, value in given.items()
        }
        other = type(self)(**params)
        for name in KEPT:
            if hasattr(self, name):
                setattr(other, name, deepcopy(getattr(self, name)))
        return other
