"""Model files: of learners, with or without cross-validation, and of classifiers."""

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import EMDClassifier, GroundMetricLearning, MetricLearningCV, validation
from .._words import count
from ..base._model import load_model
from ..datasets import HistogramTable
from ._console import note, shows_progress

STEPS = 100  # from a prior
BATCH = 1024  # histograms
MOST_ROWS = 200  # to learn from, in an evaluation or a report
BLOCK = 256  # rows whose distances are computed at a time


def learner_for(data: HistogramTable, *, jobs: int, **options: Any) -> Any:
    """Make the learner that suits data, if nothing else was asked for.

    If bins have points, such as vectors of words, these are the prior. If they are so
    many that all distances between them would take minutes, positions are learned in
    closed form.
    """
    options |= {"n_jobs": jobs, "verbose": int(shows_progress())}
    # These take long to import.
    from ..experiments.choice import is_wide
    from ..smoothed import DiscriminantMetricLearning, SinkhornMetricLearning

    n, d = data.X.shape
    if data.points is None and is_wide(min(n, MOST_ROWS), d):
        note(
            f"{count(d, 'bin')}: learning in closed form, since distances between all "
            "of them would take minutes"
        )
        return DiscriminantMetricLearning(n_jobs=jobs)
    if data.points is None:
        return GroundMetricLearning(**options)
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


def load_any(path: Path) -> Any:
    """Read whatever was saved."""
    # Models of theirs are known once they are imported.
    from .. import automatic, baselines, smoothed  # noqa: F401 - takes long

    return load_model(path)


def _load(path: Path, *, search: bool = False) -> tuple[Any, EMDClassifier | None]:
    """Read a learner, and the classifier that it belongs to, if any."""
    model: Any = load_any(path)
    classifier = model if isinstance(model, EMDClassifier) else None
    if classifier is not None:
        model = classifier.learner_
    if isinstance(model, MetricLearningCV) and not search:
        model = model.best_estimator_
    if classifier is not None and hasattr(classifier, "feature_names_in_"):
        model.feature_names_in_ = classifier.feature_names_in_
    if not (validation.is_learner(model) or is_map(model)):
        raise ValueError(
            f"{path} is a model of {type(model).__name__}; one of a learner of a "
            "metric, such as GroundMetricLearning, or of EMDClassifier is needed."
        )
    return model, classifier


class Voters(NamedTuple):
    """What :func:`groundmetric predict` asks: a learner, and histograms that vote.

    ``classifier`` is None for maps, whose distances are computed all at once.
    """

    learner: Any
    classes_: NDArray[Any]
    codes: NDArray[np.int64]
    classifier: EMDClassifier | None

    def shares(
        self, X: Any, n_neighbors: int, empty: str, *, jobs: int, verbose: int
    ) -> Any:
        """Share of the votes for each class, of each histogram."""
        if self.classifier is not None:
            self.classifier.set_params(
                n_neighbors=n_neighbors, empty=empty, n_jobs=jobs, verbose=verbose
            )
            self.classifier._restore()
            return self.classifier.predict_proba(X)
        found = nearest_of(self.learner, X, self.learner._histograms, n_neighbors)[1]
        voters = self.codes[found][:, :, None]
        shares = (voters == np.arange(len(self.classes_))).mean(axis=1)
        shares[validation.are_empty(X)] = np.bincount(self.codes) / len(self.codes)
        return shares


def is_map(model: Any) -> bool:
    """Whether this is a learner to compare with, which has no ground metric."""
    return hasattr(model, "components_") and not validation.is_learner(model)


def with_jobs(learner: Any, jobs: int) -> None:
    """Set the number of threads, if a learner has one."""
    if "n_jobs" in learner.get_params(deep=False):
        learner.set_params(n_jobs=jobs)


def load_drawable(path: Path, *, search: bool) -> Any:
    """Read a learner with a ground metric, which a report draws."""
    learner = load_learner(path, search=search)
    if is_map(learner):
        raise ValueError(
            f"{path} is a model of {type(learner).__name__}, which has no ground "
            f"metric to draw; test it with groundmetric evaluate --model {path}."
        )
    return learner


def nearest_of(
    learner: Any, X: Any, base: Any | None, n_neighbors: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Find nearest rows by a map; within X, other than itself, if there is no base.

    Rows without mass are never found as neighbors, and their own distances are NaN.
    """
    distances, found = [], []
    alone = validation.are_empty(X)
    hidden = alone if base is None else validation.are_empty(base)
    X = validation.with_uniform(X, alone)
    own = X if base is None else validation.with_uniform(base, hidden)
    for start in range(0, X.shape[0], BLOCK):
        between = learner.pairwise(X[start : start + BLOCK], own)
        between[:, hidden], between[alone[start : start + BLOCK]] = np.inf, np.nan
        if base is None:
            k = np.arange(len(between))
            between[k, start + k] = np.inf
        order = np.argsort(between, axis=1, kind="stable")[:, :n_neighbors]
        found.append(order)
        distances.append(np.take_along_axis(between, order, axis=1))
    return np.concatenate(distances), np.concatenate(found)


def load_voters(path: Path) -> Voters:
    """Read a classifier, or make one of a learner and the histograms it learned from.

    These may be a sample, while a classifier keeps all that it was fitted on.
    """
    learner, classifier = _load(path)
    if classifier is not None:
        return Voters(learner, classifier.classes_, classifier._y, classifier)
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
    own = None if is_map(learner) else EMDClassifier._of(learner)
    return Voters(learner, *np.unique(labels, return_inverse=True), own)
