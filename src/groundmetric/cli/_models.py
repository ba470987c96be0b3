"""Model files: of learners, with or without cross-validation, and of classifiers."""

import math
from pathlib import Path
from typing import Any

from .. import EMDClassifier, GroundMetricLearning, MetricLearningCV, validation
from ..base._model import load_model
from ..datasets import HistogramTable
from ._console import note, shows_progress

STEPS = 100  # from a prior
BATCH = 1024  # histograms


def learner_for(data: HistogramTable, *, jobs: int, **options: Any) -> Any:
    """Make the learner that suits data, if nothing else was asked for.

    If bins have points, such as vectors of words, these are the prior.
    """
    options |= {"n_jobs": jobs, "verbose": int(shows_progress())}
    if data.points is None:
        return GroundMetricLearning(**options)
    from ..smoothed import SinkhornMetricLearning  # takes long

    note("learning from vectors of words: weights, a map and offsets of these")
    return SinkhornMetricLearning(
        points=data.points,
        criterion="softmax",
        bin_weights="idf",
        smoothing=math.inf,
        power=1.0,
        batch_size=BATCH if len(data) > BATCH else None,
        **{"max_steps": STEPS, "random_state": 0, **options},
    )


def rivals_for(data: HistogramTable, *, asked: bool | None) -> tuple[str, ...] | None:
    """Name learners and predictors to compare with; None stands for all that can run.

    If other learners would take long, only predictors are named, and a note says so.
    """
    if asked is False:
        return ()
    if asked or data.points is None:
        return None
    from ..experiments import PREDICTORS  # takes long

    note("not compared with other learners, which take long: --learners adds them")
    return tuple(PREDICTORS)


def load_learner(path: Path, *, search: bool = False) -> Any:
    """Read a learner, or that of a classifier; or the search that chose it, if any."""
    return _load(path, search=search)[0]


def _load(path: Path, *, search: bool = False) -> tuple[Any, EMDClassifier | None]:
    """Read a learner, and the classifier that it belongs to, if any."""
    # Models of theirs are known once they are imported.
    from .. import baselines, smoothed  # noqa: F401 - takes long

    model: Any = load_model(path)
    classifier = model if isinstance(model, EMDClassifier) else None
    if classifier is not None:
        model = classifier.learner_
    if isinstance(model, MetricLearningCV) and not search:
        model = model.best_estimator_
    if classifier is not None and hasattr(classifier, "feature_names_in_"):
        model.feature_names_in_ = classifier.feature_names_in_
    if not validation.is_learner(model):
        raise ValueError(
            f"{path} is a model of {type(model).__name__}; one of a learner of a "
            "metric, such as GroundMetricLearning, or of EMDClassifier is needed."
        )
    return model, classifier


def load_classifier(path: Path) -> EMDClassifier:
    """Read a classifier, or make one of a learner and the histograms it learned from.

    These may be a sample, while a classifier keeps all that it was fitted on.
    """
    learner, classifier = _load(path)
    if classifier is not None:
        return classifier
    labels = getattr(learner, "_labels", None)
    if labels is None:
        raise ValueError(
            f"{path} has no labels: it was learned from similarities, or written by an "
            "older version; fit it again."
        )
    if hasattr(learner, "sample_indices_"):
        note(
            f"the {len(labels):,} histograms that the model was learned from "
            "vote, a sample drawn by max_samples; an EMDClassifier around this learner "
            "keeps them all"
        )
    return EMDClassifier._of(learner)
