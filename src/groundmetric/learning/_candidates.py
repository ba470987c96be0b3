"""What cross-validation chooses among: learners, their parameters, and what was given.

Whoever knows something of the bins, a metric, several, or coordinates, has given a
distance before anything is learned. It is always a candidate of the default grid: a
learner that takes no steps.
"""

from __future__ import annotations

import numbers
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.utils import check_random_state

from .. import validation
from ..base._powers import LOG
from ._axes import named_sets
from ._combined import CombinedMetricLearning
from ._estimator import GroundMetricLearning
from ._learner import MetricLearner
from ._mapped import MappedMetricLearning
from ._run import valid_callbacks

Grid = dict[str, list[Any]] | list[dict[str, list[Any]]]

# The default grid: from histograms as they are to those with the lightest tails. With
# no pull at all, the entries of a metric drift from what was known.
POWERS: tuple[float | str, ...] = (1.0, 0.5, 0.25, LOG)
PULLS = (10.0, 1.0)

MOST_BINS = 1000  # of smoothed learners, for which exact distances are computed, too

MOST_STARTS = 2  # powers of each learner to learn with, by their scores at the start

DRAWN_ONCE = ("max_samples", "random_state")  # before there are candidates

Key = tuple[object, ...]


class Candidate(NamedTuple):
    """A learner and parameters to try.

    Attributes
    ----------
    learner : MetricLearner
        Without these parameters.
    params : dict
        Those of the grid.
    learns : bool
        Whether it takes steps, or stays where it starts.
    is_given : bool
        Whether it is a distance that was given, without learning.
    """

    learner: MetricLearner
    params: dict[str, Any]
    learns: bool = True
    is_given: bool = False

    def make(self) -> MetricLearner:
        """Make the learner."""
        learner: MetricLearner = clone(self.learner)
        return learner.set_params(**clone(self.params, safe=False))

    @property
    def pull(self) -> float:
        """Strength of the pull to where it starts."""
        if self.is_given:
            return np.inf
        given = self.params.get("pull", getattr(self.learner, "pull", 0.0))
        return 0.0 if given is None else validation.as_factor(given, "pull")

    @property
    def start(self) -> Key:
        """Equal for candidates that start at the same distance: a pull changes none."""
        same = {"pull", *self.learner._tried}
        rest = {key: value for key, value in self.params.items() if key not in same}
        # Smoothed learners start elsewhere without a pull.
        kind = self.learner._is_exact or self.pull > 0
        return kind, *self._replace(params=rest).identity

    @property
    def identity(self) -> Key:
        """Equal for equal candidates of a grid, whose values are the same objects."""
        params = sorted((name, id(value)) for name, value in self.params.items())
        return id(self.learner), *params


def as_list(estimator: Any) -> list[Any]:
    """Return the learners to choose from."""
    if estimator is None:
        return [GroundMetricLearning()]
    return list(estimator) if isinstance(estimator, (list, tuple)) else [estimator]


def learners_of(estimator: Any, client: object) -> list[MetricLearner]:
    """Check the learners to choose from."""
    learners = as_list(estimator)
    if not learners or not all(isinstance(each, MetricLearner) for each in learners):
        raise ValueError(
            f"estimator is {estimator!r}; a GroundMetricLearning, "
            "MappedMetricLearning, CombinedMetricLearning, SinkhornMetricLearning or "
            "DiscriminantMetricLearning is needed, or a list of these."
        )
    for learner in learners:
        valid_callbacks(learner.callbacks)
        if client is not None and not isinstance(learner, GroundMetricLearning):
            raise ValueError(
                f"client is given, but a {type(learner).__name__} learns on one "
                "machine."
            )
    sizes = list(dict.fromkeys(learner.max_samples for learner in learners))
    if len(sizes) > 1:
        raise ValueError(
            f"estimator has learners with max_samples={sizes[0]} and ={sizes[1]}, but "
            "histograms are drawn once for all candidates."
        )
    return learners


def prepared(
    learners: list[Any], n_jobs: int | None, verbose: int, random_state: object
) -> list[MetricLearner]:
    """Copy learners, with what the search has where they set none.

    These are threads, bars, and the seed of samples and batches.
    """
    seed = _seed_of(random_state)
    copies = [clone(each) for each in learners]
    for each in copies:
        if each.random_state is None:
            each.set_params(random_state=seed)
        if each.get_params(deep=False).get("n_jobs", 1) is None:
            each.set_params(n_jobs=n_jobs)
        if each.get_params(deep=False).get("verbose", 1) == 0:
            each.set_params(verbose=verbose)
    return copies


def _seed_of(random_state: object) -> int | None:
    """Return a seed, without changing what draws the folds."""
    if random_state is None:
        return None
    if isinstance(random_state, numbers.Integral):
        return int(random_state)
    return int(deepcopy(check_random_state(random_state)).randint(2**31))


def candidates_of(
    learners: list[MetricLearner], grid: Grid | None, n_bins: int
) -> list[Candidate]:
    """Make the candidates: of each learner, in the order of the grid."""
    if grid is None:
        found = [
            Candidate(learner, params)
            for learner in learners
            for params in ParameterGrid(_default_grid(learner))
        ]
        # Last, so that it is the learners who say what is wrong with what was given.
        return found + [each for of in learners for each in _given_to(of, n_bins)]
    found = [
        Candidate(learner, {name: params[name] for name in known})
        for learner in learners
        for params in ParameterGrid(grid)
        for known in [[name for name in params if _has(learner, name, params)]]
    ]
    first = {each.identity: each for each in reversed(found)}
    return [each for each in found if first[each.identity] is each]


def require_known(learners: list[MetricLearner], grid: Grid | None) -> None:
    """Reject parameters that no learner has, or that candidates cannot differ in."""
    if grid is None:
        return
    _require_grid(grid)
    for params in ParameterGrid(grid):
        for name in params:
            if name in DRAWN_ONCE:
                raise ValueError(
                    f"param_grid has {name!r}, but histograms are drawn once for all "
                    "candidates; set it in the estimator."
                )
            if not any(_has(learner, name, params) for learner in learners):
                names = dict.fromkeys(type(each).__name__ for each in learners)
                verb = "has" if len(names) == 1 else "have"
                raise ValueError(
                    f"param_grid has {name!r}; {' and '.join(names)} {verb} no such "
                    "parameter."
                )


def _require_grid(grid: Any) -> None:
    """Reject what is not a dict of lists, or a list of such dicts."""
    parts = list(grid) if isinstance(grid, (list, tuple)) else [grid]
    if not parts:
        raise ValueError("param_grid is empty; {} chooses only the steps.")
    for part in parts:
        if not isinstance(part, dict):
            raise ValueError(
                f"param_grid is {grid!r}; a dict of lists is needed, or a list of such "
                "dicts."
            )
        for name, values in part.items():
            if not isinstance(name, str):
                raise ValueError(f"param_grid has {name!r}; names are needed.")
            is_list = isinstance(values, (list, tuple, range)) or (
                isinstance(values, np.ndarray) and values.ndim == 1
            )
            if not is_list or len(values) == 0:
                raise ValueError(
                    f"param_grid[{name!r}] is {values!r}; a list of values is needed."
                )


def _has(learner: MetricLearner, name: str, params: dict[str, Any]) -> bool:
    """Tell whether a learner has a parameter, given the others."""
    # A nested parameter is one of an object that may itself be in the grid.
    own = {key: params[key] for key in params if f"{name}__".startswith(f"{key}__")}
    try:
        Candidate(learner, own).make()
    except (AttributeError, ValueError):
        return False
    return True


def knows_bins(learner: Any) -> bool:
    """Tell whether something was given to start from: a metric, metrics, or points."""
    init, points = (getattr(learner, name, None) for name in ("init", "points"))
    is_metric = not (init is None or isinstance(init, str))
    return (
        is_metric or points is not None or isinstance(learner, CombinedMetricLearning)
    )


def _default_grid(learner: Any) -> dict[str, list[Any]]:
    """Powers, and pulls to what was given."""
    grid: dict[str, list[Any]] = {"power": list(POWERS), **learner._tried}
    init, points = (getattr(learner, name, None) for name in ("init", "points"))
    if isinstance(learner, GroundMetricLearning):
        is_given = points is not None if init is None else not isinstance(init, str)
        is_pulled = is_given or (isinstance(init, str) and init == "points")
    else:
        # Smoothed learners, from a prior.
        has_pull = "pull" in learner.get_params(deep=False) and not learner._is_exact
        is_pulled = has_pull and learner._keeps_sparse(reset=True)
    return {**grid, "pull": list(PULLS)} if is_pulled else grid


def _given_to(learner: Any, n_bins: int) -> list[Candidate]:
    """Return the distances that were given, if no steps of the learner are those."""
    points = getattr(learner, "points", None)
    known: list[MetricLearner] = []
    if isinstance(learner, CombinedMetricLearning):
        known = [GroundMetricLearning(init=metric) for metric in learner.metrics]
        if points is not None:
            known.append(GroundMetricLearning(points=points))
    elif isinstance(learner, GroundMetricLearning):
        known = []  # power 1 without a step is in the grid
    elif points is not None and (learner._is_exact or n_bins <= MOST_BINS):
        known = [MappedMetricLearning(each) for each in named_sets(points).values()]
    if isinstance(learner, MappedMetricLearning) and learner.init is not None:
        r = learner.n_components
        known.append(MappedMetricLearning(points, r, init=learner.init))
    for each in known:
        each.set_params(power=1.0, n_jobs=learner.n_jobs)
    return [Candidate(each, {}, learns=False, is_given=True) for each in known]
