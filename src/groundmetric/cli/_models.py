"""Model files: of learners, with or without cross-validation, and of classifiers."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import EMDClassifier, GroundMetricLearning
from ..base._model import load_model


def load_learner(path: Path) -> GroundMetricLearning:
    """Read a learner, or that of a classifier, with the labels of its histograms."""
    # Models of theirs are known once they are imported.
    from .. import baselines, smoothed  # noqa: F401, PLC0415 - takes long

    model: Any = load_model(path)
    if isinstance(model, EMDClassifier):
        learner = model.learner_
        if hasattr(model, "feature_names_in_"):
            learner.feature_names_in_ = model.feature_names_in_
        model = learner
    if not isinstance(model, GroundMetricLearning):
        raise ValueError(
            f"{path} is a model of {type(model).__name__}; one of GroundMetricLearning "
            "or EMDClassifier is needed."
        )
    return model


def labels_of(learner: GroundMetricLearning, path: Path) -> NDArray[Any]:
    """Return the labels of the histograms that a learner learned from."""
    labels = getattr(learner, "_labels", None)
    if labels is None:
        raise ValueError(
            f"{path} has no labels: it was learned from similarities, or written by an "
            "older version; fit it again."
        )
    return np.asarray(labels)


def ground_of(learner: GroundMetricLearning) -> dict[str, Any]:
    """Return what distances are computed from, as an argument: a metric, or points."""
    if hasattr(learner, "embedding_"):
        return {"points": learner.embedding_}
    return {"metric": learner.metric_}
