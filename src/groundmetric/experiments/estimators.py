"""Methods made of your own learner: as it learns, and where it starts from."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from .. import MetricLearningCV
from ..learning._candidates import as_list
from .methods import Method
from .names import LABELS

if TYPE_CHECKING:
    from .methods import Floats, Labels, Pairwise

__all__ = ["Learned", "of_learner", "of_start"]


@dataclass(frozen=True)
class Learned:
    """Distances of a fitted learner, which remember it."""

    learner: Any

    def __call__(self, left: Floats, right: Floats | None) -> Floats:
        """Compute distances between two sets of histograms, or within one."""
        between: Floats = self.learner.pairwise(left, right)
        return between


def of_learner(learner: Any, *, fitted: bool = False) -> Method:
    """Learn with a copy of this learner, or use it as it is if it is fitted.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.estimators import of_learner
    >>> of_learner(GroundMetricLearning()).name
    'learned'
    """
    learn = partial(_learn_with, learner, fitted)
    return Method("learned", LABELS["learned"], {}, learn)


def of_start(learner: Any, *, fitted: bool = False) -> Method:
    """Use the metric that this learner starts from.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.estimators import of_start
    >>> of_start(GroundMetricLearning()).name
    'initial'
    """
    learn = partial(_start_of, learner, fitted)
    return Method("initial", LABELS["initial"], {}, learn)


def _learn_with(
    learner: Any,
    fitted: bool,  # noqa: FBT001 - of a partial function
    X: Floats,
    y: Labels,
    n_jobs: int | None,
) -> Pairwise:
    if fitted:  # rows have no names, which it may ask for
        learner = copy(learner)
        learner.__dict__.pop("feature_names_in_", None)
        return Learned(learner)
    own = clone(learner)
    # The callbacks of one of many splits: they cannot share a checkpoint's file.
    watched = [name for name in own.get_params() if name.endswith("callbacks")]
    own.set_params(**dict.fromkeys(watched, ()), n_jobs=n_jobs)
    return Learned(own.fit(X, y))


def _start_of(
    learner: Any,
    fitted: bool,  # noqa: FBT001 - the same
    X: Floats,
    y: Labels,
    n_jobs: int | None,
) -> Pairwise:
    """Fit for a single step, which begins at the same metric, if necessary."""
    if fitted:
        learner = getattr(learner, "best_estimator_", learner)
    else:
        is_searched = isinstance(learner, MetricLearningCV)
        first = as_list(learner.estimator)[0] if is_searched else learner
        one = {"max_steps": 1, "callbacks": (), "verbose": 0}
        learner = clone(first).set_params(**one, n_jobs=n_jobs).fit(X, y)
    between = learner._distances(learner._before("initial_"))

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        columns = None if right is None else learner._seen_before(right)
        found: Floats = between(learner._seen_before(left), columns)
        return found

    return pairwise
