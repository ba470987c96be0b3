"""Methods made of your own learner: as it learns, and where it starts from."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from .. import MetricLearningCV
from ..distances import DISTANCES
from ..learning._candidates import as_list
from ..learning._criterion import is_uniform
from .methods import Method, takes_groups
from .names import LABELS

if TYPE_CHECKING:
    from .methods import Floats, Labels, Pairwise

__all__ = ["Learned", "of_learner", "starts_at_l1"]


@dataclass(frozen=True)
class Learned:
    """Distances of a fitted learner, which remember it.

    ``start`` are those before its first step, if they are measured as well.
    """

    learner: Any
    start: Pairwise | None = None

    def __call__(self, left: Floats, right: Floats | None) -> Floats:
        """Compute distances between two sets of histograms, or within one."""
        between: Floats = self.learner.pairwise(left, right)
        return between


def of_learner(learner: Any, *, fitted: bool = False, start: bool = False) -> Method:
    """Learn with a copy of this learner, or use it as it is if it is fitted.

    The distances where it started are measured as well if asked for.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.estimators import of_learner
    >>> of_learner(GroundMetricLearning()).name
    'learned'
    """
    learn = partial(_learn_with, learner, fitted=fitted, start=start)
    return Method("learned", LABELS["learned"], {}, learn, takes_groups(learner))


def starts_at_l1(learner: Any) -> bool:
    """Whether learning started at the EMD of the uniform metric, half of l1.

    It does not if bins have weights or histograms a power, which l1 does not see.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.estimators import starts_at_l1
    >>> learner = GroundMetricLearning(power=1.0, max_steps=1)
    >>> starts_at_l1(learner.fit([[4, 1], [3, 1], [1, 4], [1, 3]], [0, 0, 1, 1]))
    True
    """
    if not learner._is_exact or learner.power_ != 1:
        return False
    weights = getattr(learner, "initial_bin_weights_", None)
    is_weighted = weights is not None and weights.min() < weights.max()
    positions = getattr(learner, "initial_embedding_", None)
    if positions is not None and len(positions) > positions.shape[1] + 1:
        return False  # d points can be equally far from each other in d - 1 axes only
    return not is_weighted and is_uniform(learner.initial_metric_)


def _learn_with(
    learner: Any,
    X: Floats,
    y: Labels,
    n_jobs: int | None,
    groups: Labels | None = None,
    *,
    fitted: bool,
    start: bool,
) -> Pairwise:
    own = _without_names(learner) if fitted else _watched_by_none(learner)
    if not fitted:
        options = {"groups": groups} if takes_groups(own) else {}
        own.set_params(n_jobs=n_jobs).fit(X, y, **options)
    return Learned(own, _start_of(own) if start else None)


def _without_names(fitted: Any) -> Any:
    """Copy a fitted learner; rows have no names here, which it may ask for."""
    own = copy(fitted)
    vars(own).pop("feature_names_in_", None)
    if "best_estimator_" in vars(own):
        own.best_estimator_ = _without_names(own.best_estimator_)
    return own


def _watched_by_none(learner: Any) -> Any:
    """Clone a learner for one of many splits, which cannot share a checkpoint."""
    own = clone(learner)
    for each in as_list(own.estimator if isinstance(own, MetricLearningCV) else own):
        each.callbacks = ()
    return own


def _start_of(learner: Any) -> Pairwise:
    """Return the distances from which a fitted learner started."""
    if starts_at_l1(learner):
        return DISTANCES["l1"]
    learner = getattr(learner, "best_estimator_", learner)
    between = learner._distances(learner._before("initial_"))

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        columns = None if right is None else learner._seen_before(right)
        found: Floats = between(learner._seen_before(left), columns)
        return found

    return pairwise
