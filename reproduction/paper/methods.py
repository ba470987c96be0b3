"""The distances of the paper's experiments by name, and of each figure (section 7.3).

Besides those of ``groundmetric.experiments``: baselines without square roots or without
labels, the EMD of metrics from tables, and the paper's criterion with several
neighborhoods and starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import groundmetric as gm
from groundmetric.baselines import ITML, LMNN, NCA, Lebanon
from groundmetric.experiments import METHODS as USUAL
from groundmetric.experiments import Method
from groundmetric.experiments import as_methods as looked_up
from groundmetric.experiments.methods import of_baseline

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Floats = NDArray[np.float64]
Labels = NDArray[Any]
Pairwise = Callable[[Floats, "Floats | None"], Floats]

__all__ = ["ALL_STARTS", "BESIDE", "FIGURE_1", "FIGURE_2", "FIGURE_3", "FIGURE_4"]
__all__ += ["METHODS", "NEIGHBORS", "PAPER", "STARTS", "as_methods", "by_paper"]

STARTS = ("uniform", "independence", "typical")
NORMS = ("l1", "polytope")  # the default is l2
NEIGHBORS = (1, 3, 5, 10, None)
PAPER = "gml-paper"  # the paper's learner, with its k = 3 and typical tables
SMOOTHINGS = [1.0, 3.0, math.inf]  # to choose from
# In figures, which show methods with and without square roots, and several learners.
LABELS = {
    "chi2": "chi2",
    "lmnn-hellinger": "LMNN, Hellinger",
    "itml-hellinger": "ITML, Hellinger",
    "nca-hellinger": "NCA, Hellinger",
    "tfidf-l1": "TF-IDF, l1",
    "gml": "GML-EMD",
    "gml-smoothed": "GML, smoothed",
}


def _learn_initial(
    settings: dict[str, Any], X: Floats, y: Labels, n_jobs: int | None
) -> Pairwise:
    metric = gm.initial_metric(X, y, **settings, n_jobs=n_jobs)
    return partial(gm.pairwise_emd, metric=metric, n_jobs=n_jobs)


def _learn_shrunk(share: float, X: Floats, y: Labels, n_jobs: int | None) -> Pairwise:
    """Add the EMD of the uniform metric, half of l1, which all optimal plans move."""
    learner = gm.GroundMetricLearning(n_jobs=n_jobs).fit(X, y)
    d = len(learner.metric_)
    mean = float(learner.metric_.sum()) / max(d * (d - 1), 1)

    def pairwise(left: Floats, right: Floats | None) -> Floats:
        rows = learner.histograms(left)
        columns = None if right is None else learner.histograms(right)
        uniform: Floats = gm.distances.l1(rows, columns) / 2
        between: Floats = learner.pairwise(left, right)
        return (1 - share) * between + share * mean * uniform

    return pairwise


def _initial(table: str) -> Method:
    settings = {"table": table, "n_neighbors": None, "total": 1.0, "blend": 1.0}
    learn = partial(_learn_initial, settings)
    return Method(f"emd-{table}", f"EMD, {table}", settings, learn)


def _linear(norm: str) -> Method:
    """Minimize the linear criterion over another set: Problem P2, not P3."""
    settings = {**_initial("typical").settings, "norm": norm}
    learn = partial(_learn_initial, settings)
    return Method(f"emd-typical-{norm}", f"EMD, typical, {norm}", settings, learn)


def _start(init: str) -> Method:
    """Use what a descent starts from: halfway between the uniform metric and this."""
    learn = partial(_learn_initial, {"table": init, "blend": 0.5})
    return Method(f"start-{init}", f"EMD, {init} start", {"init": init}, learn)


def _linear_start(norm: str) -> Method:
    """Use such a minimum halfway, too."""
    settings = {"table": "typical", "blend": 0.5, "norm": norm}
    learn = partial(_learn_initial, settings)
    name, label = f"start-typical-{norm}", f"EMD, typical start, {norm}"
    return Method(name, label, settings, learn)


def _shrunk(method: Method, share: float) -> Method:
    """Mix the uniform metric in; for kernels."""
    settings = {**method.settings, "shrinkage": share}
    name, label = f"{method.name}-shrunk", f"{method.label}, shrunk"
    return Method(name, label, settings, partial(_learn_shrunk, share))


def _paper(name: str, label: str, criterion: gm.Neighborhood, **options: Any) -> Method:
    """Minimize the paper's criterion."""
    learner = gm.GroundMetricLearning(criterion, power=1.0, **options)
    return Method.of(learner, name, label)


def _gml_from(k: int | None, start: str) -> Method:
    few = "all" if k is None else k
    name = f"gml-k{few}-{start}"
    label = f"GML, k = {few}, {start}, 20 steps"
    return _paper(name, label, gm.Neighborhood(k, n_similar=k), init=start)


def by_paper(k: int | None, start: str) -> str:
    """Name the learner with the paper's schedule; with its defaults, there is one.

    Examples
    --------
    >>> from paper.methods import by_paper
    >>> by_paper(3, "typical"), by_paper(None, "uniform")
    ('gml-paper', 'gml-paper-kall-uniform')
    """
    if (k, start) == (3, "typical"):
        return PAPER
    return f"{PAPER}-k{'all' if k is None else k}-{start}"


def _whole_paper(k: int | None, start: str) -> Method:
    """Learn with all settings of the paper's, and its schedule."""
    few = "all" if k is None else k
    label = f"GML paper, k = {few}, {start}"
    learner = gm.GroundMetricLearning.paper(k, start)
    return Method.of(learner, by_paper(k, start), label)


_RENAMED = {
    name: replace(method, label=LABELS.get(name, method.label))
    for name, method in USUAL.items()
}
_SMOOTHED = gm.SinkhornMetricLearning(criterion=gm.Margin())
#: The methods by name.
METHODS: dict[str, Method] = _RENAMED | {
    method.name: method
    for method in (
        *(
            of_baseline(learner(hellinger=False), learner.__name__.lower(), label)
            for learner, label in ((LMNN, "LMNN"), (ITML, "ITML"), (NCA, "NCA"))
        ),
        of_baseline(Lebanon(), "lebanon", "Lebanon"),
        *(_initial(table) for table in STARTS),
        *(make(norm) for make in (_linear, _linear_start) for norm in NORMS),
        *(_start(init) for init in STARTS[1:]),  # the uniform one is emd-uniform
        _shrunk(_RENAMED["gml"], 0.5),
        Method.of(
            gm.MetricLearningCV(gm.GroundMetricLearning(gm.Margin()), {}),
            "gml-cv",
            "GML-EMD, by CV",
        ),
        _paper("gml-neighborhood", "GML-EMD, C_k, all similar", gm.Neighborhood()),
        *(_gml_from(k, start) for k in NEIGHBORS for start in STARTS),
        *(_whole_paper(k, start) for k in NEIGHBORS for start in STARTS),
        Method.of(
            gm.MetricLearningCV(_SMOOTHED, {"smoothing": SMOOTHINGS}, patience=None),
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
    "lebanon",
    "lmnn",
    "lmnn-hellinger",
    "itml",
    "itml-hellinger",
    "nca",
    "nca-hellinger",
    "chi2-lmnn",
    "emd-typical",
    PAPER,
    "gml-k3-uniform",
    "gml-neighborhood",
    "gml-smoothed",
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
#: Figure 3: neighborhoods k, from typical tables, the initial metric itself, and what
#: 20 steps do.
FIGURE_3: tuple[str, ...] = (
    *(by_paper(k, "typical") for k in NEIGHBORS),
    "gml-k3-typical",
    "start-typical",
)
#: Figure 4: initial metrics, with and without learning. (A descent starts halfway
#: between the uniform metric and that of the tables, which is emd-typical; the last two
#: minimize the same criterion over other sets.)
FIGURE_4: tuple[str, ...] = (
    *(by_paper(3, start) for start in STARTS),
    "emd-uniform",
    "start-independence",
    "start-typical",
    "emd-typical-l1",
    "emd-typical-polytope",
)
#: Every k of Figure 3 from every start of Figure 4.
ALL_STARTS: tuple[str, ...] = tuple(
    by_paper(k, start) for k in NEIGHBORS for start in STARTS
)
#: What is run with a figure, but only tabulated. Cross-validation takes as long as all
#: baselines together, so it is compared with the best ones on the tasks of Figure 4.
BESIDE: dict[int, tuple[str, ...]] = {
    1: ("gml-shrunk", "tfidf-l1"),
    4: ("gml-cv", "gml", "lmnn-hellinger", "itml-hellinger", "nca-hellinger"),
}


def as_methods(methods: Iterable[str | Method] | None) -> Sequence[Method]:
    """Look up methods by name; by default those of Figure 1.

    Examples
    --------
    >>> from paper.methods import as_methods
    >>> [method.label for method in as_methods(["l1", "lmnn-hellinger"])]
    ['l1', 'LMNN, Hellinger']
    """
    return looked_up(FIGURE_1 if methods is None else methods, METHODS)
