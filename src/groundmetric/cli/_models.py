"""Model files: of learners, with or without cross-validation, and of classifiers."""

from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .. import (
    EMDClassifier,
    GroundMetricLearning,
    MappedMetricLearning,
    MetricLearningCV,
)
from ..base._model import load_model
from ._console import note

N_NEIGHBORS = 3
Learner: TypeAlias = GroundMetricLearning | MappedMetricLearning


def load_learner(path: Path) -> Learner:
    """Read a learner, or that of a classifier."""
    return _load(path)[0]


def _load(path: Path) -> tuple[Learner, EMDClassifier | None]:
    """Read a learner, and the classifier that it belongs to, if any."""
    # Models of theirs are known once they are imported.
    from .. import baselines, smoothed  # noqa: F401, PLC0415 - takes long

    model: Any = load_model(path)
    classifier = model if isinstance(model, EMDClassifier) else None
    if classifier is not None:
        model = classifier.learner_
        if hasattr(classifier, "feature_names_in_"):
            model.feature_names_in_ = classifier.feature_names_in_
    if isinstance(model, MetricLearningCV):
        model = model.best_estimator_
    if not isinstance(model, (GroundMetricLearning, MappedMetricLearning)):
        raise ValueError(
            f"{path} is a model of {type(model).__name__}; one of EMDClassifier, "
            "GroundMetricLearning, MappedMetricLearning or MetricLearningCV is needed."
        )
    return model, classifier


class Voters(NamedTuple):
    """Histograms as a metric sees them, dense or sparse, and their labels."""

    histograms: Any
    labels: NDArray[Any]
    n_neighbors: int = N_NEIGHBORS  # how many of them to ask, unless told otherwise


def load_voters(path: Path) -> tuple[Learner, Voters]:
    """Read a learner, and the histograms that vote.

    A classifier has all histograms that it was fitted on; a learner of its own has
    those that it learned from, which may be a sample.
    """
    learner, classifier = _load(path)
    kept = {} if classifier is None else vars(classifier)
    n_neighbors = kept.get("n_neighbors", N_NEIGHBORS)
    if "_histograms" in kept:
        labels = kept["classes_"][kept["_y"]]
        return learner, Voters(kept["_histograms"], labels, n_neighbors)
    histograms: Any = learner._histograms  # noqa: SLF001 - no public name
    if hasattr(learner, "sample_indices_"):
        note(
            f"the {histograms.shape[0]:,} histograms that the model was learned from "
            "vote, a sample drawn by max_samples; an EMDClassifier around this learner "
            "keeps them all"
        )
    return learner, Voters(histograms, _labels_of(learner, path), n_neighbors)


def _labels_of(learner: Learner, path: Path) -> NDArray[Any]:
    labels = getattr(learner, "_labels", None)
    if labels is None:
        raise ValueError(
            f"{path} has no labels: it was learned from similarities, or written by an "
            "older version; fit it again."
        )
    return np.asarray(labels)


def ground_of(learner: Learner) -> dict[str, Any]:
    """Return what distances are computed from, as an argument: a metric, or points."""
    if hasattr(learner, "embedding_"):
        return {"points": learner.embedding_}
    return {"metric": learner.metric_}
