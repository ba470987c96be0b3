"""How long a comparison will take, estimated before it starts.

From numbers of histograms, bins and splits alone, times constants of one machine: right
within a factor of three or so, which tells seconds from minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._words import count
from ..learning._cross_validation import MetricLearningCV
from ..learning._effort import ARC, ENTRY, SOLVE, effort_of, non_empty_bins
from ..learning._estimator import GroundMetricLearning
from ..similarity._makers import weights_of
from .names import GIVEN

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .splits import Data

__all__ = ["fit_seconds", "measuring_seconds", "solving_seconds", "work"]

# Seconds of a fit of other learners: any, over n * d, and over d^2.
COSTS: dict[str, tuple[float, float, float]] = {
    "gml-smoothed": (0.0, 1.2e-5, 0.0),
    "lmnn-hellinger": (0.15, 0.0, 1.1e-5),
    "itml-hellinger": (0.0, 0.0, 9e-7),
    "nca-hellinger": (0.0, 0.0, 3e-7),
    "chi2-lmnn": (0.0, 1.1e-4, 2e-5),
    "logistic": (0.02, 3e-6, 0.0),
    "linear-svm": (0.03, 4e-6, 0.0),
}
BASELINES = {
    "LMNN": "lmnn-hellinger",
    "ITML": "itml-hellinger",
    "NCA": "nca-hellinger",
    "GMML": "itml-hellinger",  # both are matrices of the bins
    "AitchisonEmbedding": "nca-hellinger",
    "Lebanon": "nca-hellinger",
    "ChiSquaredLMNN": "chi2-lmnn",
}
AUTO = 3e-4, 4e-5  # seconds over n * d of AutoMetric, with the exact learner or not
LEARNED = ("learned", "gml", "combined")
FOLDS = 7  # fits of a search for each candidate, and the last one
OF_A_GRID = 8  # candidates of a search


def work(data: Data, n_methods: int) -> str:
    """Say what is to be done.

    Examples
    --------
    >>> from groundmetric.experiments.effort import work
    >>> from groundmetric.experiments.splits import split_data
    >>> work(split_data([[4, 1], [1, 4]] * 4, [0, 1] * 4, n_folds=2), 7)
    '2 bins, 8 rows, 4 splits, 7 methods'
    """
    n, d = data.rows.shape
    parts = (
        (d, "bin"),
        (n, "row"),
        (data.design.n_splits, "split"),
        (n_methods, "method"),
    )
    return ", ".join(count(number, what) for number, what in parts)


def solving_seconds(n_pairs: int, rows: Any) -> float:
    """Estimate the time of exact distances between histograms such as these.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.effort import solving_seconds
    >>> rows = np.ones((10, 4))
    >>> solving_seconds(2000, rows) == 2 * solving_seconds(1000, rows)
    True
    """
    n_bins, d = non_empty_bins(rows), rows.shape[1]
    return float(n_pairs * (SOLVE + ARC * n_bins**2 + ENTRY * d**2))


def fit_seconds(learner: Any, rows: Any, labels: Any, n_threads: int = 1) -> float:
    """Estimate the time of a fit that takes all its steps.

    Learners of smoothed distances count alike, and those of other packages as in a
    comparison; other exact ones as :class:`GroundMetricLearning` with its defaults.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.effort import fit_seconds
    >>> rows, labels = np.full((10, 4), 0.25), np.arange(10) % 2
    >>> one, two = (GroundMetricLearning(max_steps=k) for k in (10, 20))
    >>> two = fit_seconds(two, rows, labels)
    >>> bool(np.isclose(two, 2 * fit_seconds(one, rows, labels)))
    True
    """
    n, d = rows.shape
    if type(learner).__name__ == "AutoMetric":
        return _auto_seconds(n, d)
    factor, is_smoothed = 1, _is_smoothed(learner)
    if isinstance(learner, MetricLearningCV):
        factor = FOLDS * (1 if learner.param_grid == {} else OF_A_GRID)
        learner = learner.estimator
    if type(learner).__name__ in BASELINES:
        each, over_table, over_square = COSTS[BASELINES[type(learner).__name__]]
        return float(each + over_table * n * d + over_square * d**2)
    if is_smoothed:
        return float(factor * COSTS["gml-smoothed"][1] * n * d)
    if not isinstance(learner, GroundMetricLearning):
        learner = GroundMetricLearning()
    settings, goal = learner._settings(), learner._goal()
    weights = weights_of(n, labels, None)
    counts = goal._counts(n)
    return factor * effort_of(rows, weights, counts, settings, n_threads).seconds


def _auto_seconds(n: int, d: int) -> float:
    from ..automatic._families import MOST_WORK  # takes long

    return n * d * AUTO[n * d**2 > MOST_WORK]


def _is_smoothed(learner: Any) -> bool:
    return not getattr(learner, "_is_exact", True)


def measuring_seconds(
    data: Data,
    names: Iterable[str],
    learner: Any = None,
    *,
    fitted: bool = False,
    n_threads: int = 1,
) -> float:
    """Estimate the time of measuring methods on all splits, with this learner.

    Examples
    --------
    >>> import numpy as np
    >>> from groundmetric.experiments.effort import measuring_seconds
    >>> from groundmetric.experiments.splits import split_data
    >>> data = split_data([[4, 1], [1, 4]] * 4, [0, 1] * 4, n_folds=2)
    >>> learned, both = (
    ...     measuring_seconds(data, names) for names in (["gml"], ["gml", "logistic"])
    ... )
    >>> 0 < learned < both
    True
    """
    train, test = data.design.splits[0]
    n, d = len(train), data.rows.shape[1]
    total = 0.0
    for name in names:
        if name in LEARNED:
            rows, labels = data.rows[train], data.labels[train]
            total += 0.0 if fitted else fit_seconds(learner, rows, labels)
            if not _is_smoothed(learner):
                total += solving_seconds(n * len(test), rows)
        elif name == "auto":
            total += _auto_seconds(n, d)
        elif name.startswith(GIVEN):
            total += solving_seconds(n * len(test), data.rows[train])
        elif name in COSTS:
            each, over_table, over_square = COSTS[name]
            total += each + over_table * n * d + over_square * d**2
    return total * data.design.n_splits / n_threads
