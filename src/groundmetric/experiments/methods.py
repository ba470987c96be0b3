"""The distances of the paper's experiments, by name (section 7.3).

A method learns from the training histograms once, and returns a function that computes
the distances between two sets of histograms. Its settings are all its parameters, so a
row of results tells how to reproduce it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from .. import (
    GroundMetricLearning,
    Margin,
    MetricLearningCV,
    Neighborhood,
    SinkhornMetricLearning,
    initial_metric,
    pairwise_emd,
)
from ..baselines import ITML, LMNN, NCA, ChiSquaredLMNN
from ..distances import DISTANCES
from ..neighbors._kernel import shrunk
from ..similarity._makers import weights_of
from ..tables._initial import starting_metric

Floats = NDArray[np.float64]
Labels = NDArray[Any]
# Distances between two sets of histograms of mass 1, or within the first if the second
# is None.
Pairwise: TypeAlias = Callable[[Floats, "Floats | None"], Floats]
# From training histograms, labels and n_jobs.
Learn: TypeAlias = Callable[[Floats, Labels, "int | None"], Pairwise]
Settings: TypeAlias = dict[str, Any]

__all__ = [
    "FIGURE_1",
    "FIGURE_2",
    "FIGURE_3",
    "FIGURE_4",
    "METHODS",
    "Method",
    "as_methods",
]

STARTS = ("uniform", "independence", "typical")
NEIGHBORS = (1, 3, 5, 10, None)
LABELS = {
    "l1": "l1",
    "l2": "l2",
    "hellinger": "Hellinger",
    "chi2": "chi2",
    "jensen_shannon": "Jensen-Shannon",
    "fisher": "Fisher",
}
MANY = 512  # histograms
SMOOTHINGS = [1.0, 3.0, math.inf]  # to choose from
Learner: TypeAlias = GroundMetricLearning | SinkhornMetricLearning | MetricLearningCV
# Parameters that do not affect what is learned.
NO_SETTINGS = (
    "callbacks",
    "device",
    "n_jobs",
    "random_state",
    "verbose",
)


@dataclass(frozen=True)
class Method:
    """A distance, learned or not.

    Attributes
    ----------
    name : str
        Short name, for the results file.
    label : str
        Readable name, for figures.
    settings : dict
        The parameters, which JSON must be able to hold.
    learn : callable
        Takes training histograms of mass 1, labels and n_jobs; returns a function that
        computes the distances between two sets of histograms, or within one if the
        second is None. Must be picklable if the runner uses processes.

    Examples
    --------
    >>> from groundmetric.experiments import METHODS
    >>> METHODS["gml-k5-typical"].label
    'GML-EMD, k = 5, typical start'
    >>> METHODS["emd-typical"].settings
    {'table': 'typical', 'n_neighbors': None, 'total': 1.0, 'blend': 1.0}
    """

    name: str
    label: str
    settings: Settings
    learn: Learn


def _learn_nothing(name: str, _X: Floats, _y: Labels, _n_jobs: int | None) -> Pairwise:
    return DISTANCES[name]


def _learn_map(
    learner: type[LMNN | ITML | NCA | ChiSquaredLMNN],
    settings: Settings,
    X: Floats,
    y: Labels,
    _n_jobs: int | None,
) -> Pairwise:
    """Learn with one thread: the threads of BLAS would mostly wait for each other."""
    with threadpool_limits(1):
        pairwise: Pairwise = learner(**settings).fit(X, y).pairwise
    return pairwise


def _learn_idf(X: Floats, _y: Labels, _n_jobs: int | None) -> Pairwise:
    """Weight bins by inverse document frequency, smoothed as in scikit-learn."""
    idf = 1.0 + np.log((1 + len(X)) / (1 + np.count_nonzero(X, axis=0)))

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        return DISTANCES["l1"](left * idf, None if right is None else right * idf)

    return pairwise


def _learn_initial(
    settings: Settings, X: Floats, y: Labels, n_jobs: int | None
) -> Pairwise:
    if "init" in settings:  # the same as in fit, before its first step
        weights = weights_of(len(X), y, None)
        metric = starting_metric(settings["init"], X, weights, n_jobs)
    else:
        metric = initial_metric(X, y, **settings, n_jobs=n_jobs)
    return partial(pairwise_emd, metric=metric, n_jobs=n_jobs)


def _learn_metric(
    learner: Learner, X: Floats, y: Labels, n_jobs: int | None
) -> Pairwise:
    pairwise: Pairwise = clone(learner).set_params(n_jobs=n_jobs).fit(X, y).pairwise
    return pairwise


def _learn_smoothed(
    learner: SinkhornMetricLearning, X: Floats, y: Labels, n_jobs: int | None
) -> Pairwise:
    """Learn from many histograms in batches: as good, and time grows with n only."""
    if len(X) > MANY:
        batches = {"batch_size": MANY // 2, "random_state": 0}
        learner = clone(learner).set_params(**batches)
    return _learn_metric(learner, X, y, n_jobs)


def _learn_shrunk(share: float, X: Floats, y: Labels, n_jobs: int | None) -> Pairwise:
    learner = GroundMetricLearning(n_jobs=n_jobs).fit(X, y)

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        between = learner.pairwise(left, right)
        rows = (
            learner.histograms(left),
            None if right is None else learner.histograms(right),
        )
        return shrunk(between, learner.metric_, share, *rows)

    return pairwise


@dataclass(frozen=True)
class Learned:
    """Distances of a fitted learner, which remember it."""

    learner: GroundMetricLearning

    def __call__(self, left: Floats, right: Floats | None) -> Floats:
        """Compute distances between two sets of histograms, or within one."""
        n_jobs = self.learner.n_jobs
        return pairwise_emd(left, right, metric=self.learner, n_jobs=n_jobs)


def of_learner(learner: GroundMetricLearning, *, fitted: bool = False) -> Method:
    """Learn with a copy of this learner, or use it as it is if it is fitted.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.methods import of_learner
    >>> of_learner(GroundMetricLearning()).name
    'learned'
    """
    label = "learned metric"
    return Method("learned", label, {}, partial(_learn_with, learner, fitted))


def of_start(learner: GroundMetricLearning, *, fitted: bool = False) -> Method:
    """Use the metric that this learner starts from.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.methods import of_start
    >>> of_start(GroundMetricLearning()).name
    'initial'
    """
    label = "initial metric"
    return Method("initial", label, {}, partial(_start_of, learner, fitted))


def _learn_with(
    learner: GroundMetricLearning,
    fitted: bool,  # noqa: FBT001 - of a partial function
    X: Floats,
    y: Labels,
    n_jobs: int | None,
) -> Pairwise:
    if fitted:  # rows have no names, which it may ask for
        learner = copy(learner)
        learner.__dict__.pop("feature_names_in_", None)
        return Learned(learner)
    return Learned(_without_callbacks(learner).set_params(n_jobs=n_jobs).fit(X, y))


def _without_callbacks(learner: GroundMetricLearning) -> GroundMetricLearning:
    """Clone for one of many splits, which cannot share a checkpoint's file."""
    own: GroundMetricLearning = clone(learner)
    watched = [name for name in own.get_params() if name.endswith("callbacks")]
    return own.set_params(**dict.fromkeys(watched, ()))


def _start_of(
    learner: GroundMetricLearning,
    fitted: bool,  # noqa: FBT001 - the same
    X: Floats,
    y: Labels,
    n_jobs: int | None,
) -> Pairwise:
    """Fit for a single step, which begins at the same metric, if necessary."""
    if not fitted:
        one = {"max_steps": 1, "callbacks": (), "verbose": 0}
        learner = clone(learner).set_params(**one, n_jobs=n_jobs).fit(X, y)
    metric, seen = learner.initial_metric_, learner._seen_before

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        columns = None if right is None else seen(right)
        return pairwise_emd(seen(left), columns, metric=metric, n_jobs=n_jobs)

    return pairwise


def _bin_to_bin(name: str) -> Method:
    return Method(name, LABELS[name], {}, partial(_learn_nothing, name))


def _mahalanobis(learner: type[LMNN | ITML | NCA], *, hellinger: bool) -> Method:
    name = learner.__name__
    settings = learner(hellinger=hellinger).get_params()
    return Method(
        name.lower() + hellinger * "-hellinger",
        name + hellinger * ", Hellinger",
        settings,
        partial(_learn_map, learner, settings),
    )


def _chi_squared() -> Method:
    settings = ChiSquaredLMNN().get_params()
    learn = partial(_learn_map, ChiSquaredLMNN, settings)
    return Method("chi2-lmnn", "chi-squared LMNN", settings, learn)


def _initial(table: str) -> Method:
    settings = {"table": table, "n_neighbors": None, "total": 1.0, "blend": 1.0}
    learn = partial(_learn_initial, settings)
    return Method(f"emd-{table}", f"EMD, {table}", settings, learn)


def _start(init: str) -> Method:
    settings = {"init": init}
    learn = partial(_learn_initial, settings)
    return Method(f"start-{init}", f"EMD, {init} start", settings, learn)


def _settings_of(learner: Learner) -> Settings:
    """Return all parameters as plain values; of an object, its name and its own."""
    settings: Settings = {}
    for name, value in learner.get_params().items():
        if name.rpartition("__")[2] not in NO_SETTINGS:
            is_plain = not hasattr(value, "get_params")
            settings[name] = value if is_plain else type(value).__name__
    return settings


def _learned(learner: Learner, name: str, label: str) -> Method:
    return Method(name, label, _settings_of(learner), partial(_learn_metric, learner))


def _smoothed() -> Method:
    learner = SinkhornMetricLearning(criterion=Margin())
    own = _learned(learner, "gml-smoothed", "GML, smoothed")
    return replace(own, learn=partial(_learn_smoothed, learner))


def _gml() -> Method:
    return _learned(GroundMetricLearning(Margin()), "gml", "GML-EMD")


def _shrunk(method: Method, share: float) -> Method:
    """Mix the uniform metric in; for kernels."""
    settings = {**method.settings, "shrinkage": share}
    name, label = f"{method.name}-shrunk", f"{method.label}, shrunk"
    return Method(name, label, settings, partial(_learn_shrunk, share))


def _paper(name: str, label: str, criterion: Neighborhood, **options: Any) -> Method:
    """Minimize the paper's criterion."""
    learner = GroundMetricLearning(criterion, power=1.0, **options)
    return _learned(learner, name, label)


def _gml_from(k: int | None, start: str) -> Method:
    few = "all" if k is None else k
    name, label = f"gml-k{few}-{start}", f"GML-EMD, k = {few}, {start} start"
    return _paper(name, label, Neighborhood(k, n_similar=k), init=start)


#: The methods by name.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(_bin_to_bin(name) for name in DISTANCES),
        *(
            _mahalanobis(learner, hellinger=hellinger)
            for learner in (LMNN, ITML, NCA)
            for hellinger in (False, True)
        ),
        _chi_squared(),
        Method("tfidf-l1", "TF-IDF, l1", {}, _learn_idf),
        *(_initial(table) for table in STARTS),
        *(_start(init) for init in STARTS[1:]),  # the uniform one is emd-uniform
        _gml(),
        _shrunk(_gml(), 0.5),
        _learned(
            MetricLearningCV(GroundMetricLearning(Margin())),
            "gml-cv",
            "GML-EMD, by CV",
        ),
        _paper("gml-neighborhood", "GML-EMD, C_k, all similar", Neighborhood()),
        *(_gml_from(k, start) for k in NEIGHBORS for start in STARTS),
        _smoothed(),
        _learned(
            MetricLearningCV(
                SinkhornMetricLearning(criterion=Margin()),
                {"smoothing": SMOOTHINGS},
                patience=None,
            ),
            "gml-smoothed-cv",
            "GML, smoothed, by CV",
        ),
    )
}

#: Figure 1: all kinds of distances. (The EMD of the uniform metric is half of l1.)
FIGURE_1: tuple[str, ...] = (
    "l1",
    "l2",
    "hellinger",
    "chi2",
    "lmnn",
    "lmnn-hellinger",
    "itml",
    "itml-hellinger",
    "nca",
    "nca-hellinger",
    "chi2-lmnn",
    "emd-typical",
    "gml-k3-uniform",
    "gml-neighborhood",
    "gml-smoothed",
    "gml-cv",
    "gml",
)
#: Figure 2: Mahalanobis distances, of histograms and of their square roots.
FIGURE_2: tuple[str, ...] = (
    "hellinger",
    "lmnn",
    "lmnn-hellinger",
    "itml",
    "itml-hellinger",
)
#: Figure 3: neighborhoods k, from typical tables, and the initial metric itself.
FIGURE_3: tuple[str, ...] = (
    "gml-k1-typical",
    "gml-k3-typical",
    "gml-k5-typical",
    "gml-k10-typical",
    "gml-kall-typical",
    "start-typical",
)
#: Figure 4: initial metrics, with and without learning. (A descent starts halfway
#: between the uniform metric and that of the tables, which is emd-typical.)
FIGURE_4: tuple[str, ...] = (
    "gml-k3-uniform",
    "gml-k3-independence",
    "gml-k3-typical",
    "emd-uniform",
    "start-independence",
    "start-typical",
)


def as_methods(methods: Iterable[str | Method] | None) -> Sequence[Method]:
    """Look up methods by name; refuse unknown and repeated ones.

    Parameters
    ----------
    methods : iterable of str or Method, optional
        Names in :data:`METHODS`, or your own methods; :data:`FIGURE_1` if None.

    Returns
    -------
    sequence of Method

    Examples
    --------
    >>> from groundmetric.experiments import as_methods
    >>> [method.label for method in as_methods(["l1", "lmnn-hellinger"])]
    ['l1', 'LMNN, Hellinger']
    """
    if isinstance(methods, str):
        raise ValueError(f"methods is {methods!r}; a list of methods is needed.")
    found: dict[str, Method] = {}
    for given in FIGURE_1 if methods is None else methods:
        if not isinstance(given, Method) and given not in METHODS:
            raise ValueError(
                f"methods has {given!r}; it must be one of {', '.join(METHODS)}."
            )
        method = given if isinstance(given, Method) else METHODS[given]
        if method.name in found:
            raise ValueError(f"methods has {method.name!r} twice.")
        found[method.name] = method
    if not found:
        raise ValueError("methods is empty; at least one is needed.")
    return list(found.values())
