"""Distances to compare, by name.

A method learns from the training histograms once, and returns a function that computes
the distances between two sets of histograms. Its settings are all its parameters, so a
row of results is enough to reproduce it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from .. import GroundMetricLearning, Margin, MetricLearningCV, SinkhornMetricLearning
from ..baselines import ITML, LMNN, NCA, ChiSquaredLMNN
from ..distances import DISTANCES
from ..learning._parameters import inverse_document_frequency
from .names import LABELS, TFIDF

Floats = NDArray[np.float64]
Labels = NDArray[Any]
# Distances between two sets of histograms of mass 1, or within the first if the second
# is None.
Pairwise: TypeAlias = Callable[[Floats, "Floats | None"], Floats]
# From training histograms, labels and n_jobs.
Learn: TypeAlias = Callable[..., Pairwise]
Settings: TypeAlias = dict[str, Any]
M = TypeVar("M")  # a Method, or what else is compared

__all__ = ["METHODS", "Method", "as_methods", "of_baseline"]

MANY = 512  # histograms
# Parameters that do not affect what is learned.
NO_SETTINGS = ("callbacks", "device", "n_jobs", "random_state", "verbose")


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
        second is None. Must be picklable if processes are used.
    takes_groups : bool, default=False
        Whether ``learn`` also takes ``groups=``, those of the training histograms or
        None: for learners that draw folds of their own.

    Examples
    --------
    >>> from groundmetric.experiments import METHODS
    >>> METHODS["gml"].label
    'learned metric'
    """

    name: str
    label: str
    settings: Settings
    learn: Learn
    takes_groups: bool = False

    @classmethod
    def of(cls, learner: Any, name: str, label: str | None = None) -> Method:
        """Learn with copies of an estimator that has a method ``pairwise``.

        Examples
        --------
        >>> from groundmetric import GroundMetricLearning
        >>> from groundmetric.experiments import Method
        >>> Method.of(GroundMetricLearning(max_steps=3), "three").settings["max_steps"]
        3
        """
        settings: Settings = {}
        for parameter, value in learner.get_params().items():
            if parameter.rpartition("__")[2] not in NO_SETTINGS:
                settings[parameter] = _plain(value)
        learn = partial(_learn_metric, learner)
        return cls(name, label or name, settings, learn, takes_groups(learner))


def _plain(value: Any) -> Any:
    """Return a value for JSON: of an object with its own parameters, its class."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    return type(value).__name__ if hasattr(value, "get_params") else value


def _learn_nothing(name: str, _X: Floats, _y: Labels, _n_jobs: int | None) -> Pairwise:
    return DISTANCES[name]


def takes_groups(learner: Any) -> bool:
    """Whether a learner draws folds, which must not divide groups.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning, MetricLearningCV
    >>> from groundmetric.experiments.methods import takes_groups
    >>> takes_groups(MetricLearningCV()), takes_groups(GroundMetricLearning())
    (True, False)
    """
    return isinstance(learner, MetricLearningCV)


def _learn_metric(
    learner: Any, X: Floats, y: Labels, n_jobs: int | None, groups: Any = None
) -> Pairwise:
    own = clone(learner)
    if "n_jobs" in own.get_params(deep=False):
        own.set_params(n_jobs=n_jobs)
    options = {"groups": groups} if takes_groups(own) else {}
    pairwise: Pairwise = own.fit(X, y, **options).pairwise
    return pairwise


def _learn_smoothed(
    learner: SinkhornMetricLearning, X: Floats, y: Labels, n_jobs: int | None
) -> Pairwise:
    """Learn from many histograms in batches: as good, and time grows with n only."""
    if len(X) > MANY:
        batches = {"batch_size": MANY // 2, "random_state": 0}
        learner = clone(learner).set_params(**batches)
    return _learn_metric(learner, X, y, n_jobs)


def _learn_map(learner: Any, X: Floats, y: Labels, _n_jobs: int | None) -> Pairwise:
    """Learn with one thread: the threads of BLAS would mostly wait for each other."""
    with threadpool_limits(1):
        pairwise: Pairwise = clone(learner).fit(X, y).pairwise
    return pairwise


def _learn_idf(X: Floats, _y: Labels, _n_jobs: int | None) -> Pairwise:
    """Weight bins by inverse document frequency."""
    idf = inverse_document_frequency(csr_array(X))

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        return DISTANCES["l1"](left * idf, None if right is None else right * idf)

    return pairwise


def of_baseline(learner: Any, name: str, label: str) -> Method:
    """Learn a map of bins, in one thread.

    Examples
    --------
    >>> from groundmetric.baselines import NCA
    >>> from groundmetric.experiments.methods import of_baseline
    >>> of_baseline(NCA(hellinger=False), "nca", "NCA").settings["hellinger"]
    False
    """
    return Method(name, label, learner.get_params(), partial(_learn_map, learner))


def _smoothed() -> Method:
    learner = SinkhornMetricLearning(criterion=Margin())
    own = Method.of(learner, "gml-smoothed", LABELS["gml-smoothed"])
    return replace(own, learn=partial(_learn_smoothed, learner))


_BASELINES = {
    "lmnn-hellinger": LMNN(hellinger=True),
    "itml-hellinger": ITML(hellinger=True),
    "nca-hellinger": NCA(hellinger=True),
    "chi2-lmnn": ChiSquaredLMNN(),
}
#: The methods by name.
METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        *(Method(x, LABELS[x], {}, partial(_learn_nothing, x)) for x in DISTANCES),
        Method(TFIDF, LABELS[TFIDF], {}, _learn_idf),
        *(of_baseline(each, name, LABELS[name]) for name, each in _BASELINES.items()),
        Method.of(GroundMetricLearning(Margin()), "gml", LABELS["gml"]),
        _smoothed(),
    )
}


def as_methods(
    methods: Iterable[str | Method], among: Mapping[str, Method] | None = None
) -> Sequence[Method]:
    """Look up methods by name; reject unknown and repeated ones.

    Parameters
    ----------
    methods : iterable of str or Method
        Names, or your own methods.
    among : mapping of str to Method, optional
        The methods that have names; :data:`METHODS` if None.

    Returns
    -------
    sequence of Method

    Examples
    --------
    >>> from groundmetric.experiments import as_methods
    >>> [method.label for method in as_methods(["l1", "lmnn-hellinger"])]
    ['l1', 'LMNN']
    """
    return look_up(methods, METHODS if among is None else among, (Method,))


def look_up(
    methods: Iterable[Any], known: Mapping[str, M], kinds: tuple[type, ...]
) -> Sequence[M]:
    """Look up names; objects of these kinds stay as they are.

    Examples
    --------
    >>> from groundmetric.experiments import METHODS, Method
    >>> from groundmetric.experiments.methods import look_up
    >>> [method.label for method in look_up(["chi2"], METHODS, (Method,))]
    ['chi-squared']
    """
    if isinstance(methods, str):
        raise ValueError(f"methods is {methods!r}; a list of methods is needed.")
    found: dict[str, M] = {}
    for given in methods:
        if not isinstance(given, kinds) and given not in known:
            raise ValueError(
                f"methods has {given!r}; it must be one of {', '.join(known)}."
            )
        method: Any = given if isinstance(given, kinds) else known[given]
        if method.name in found:
            raise ValueError(f"methods has {method.name!r} twice.")
        found[method.name] = method
    if not found:
        raise ValueError("methods is empty; at least one is needed.")
    return list(found.values())
