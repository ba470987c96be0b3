"""Compare methods on your own data, and choose one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .choice import FIXED, available_learners, best_first, choice_over_splits
from .cross_validation import CrossValidation, cross_validate, resampled_mean
from .frames import pandas_of
from .methods import Method, as_methods

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["compare", "fewest_to_learn_from"]


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    methods: Iterable[str | Method] | None = None,
    n_folds: int = 5,
    n_repeats: int = 1,
    n_neighbors: int = 3,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> pd.DataFrame:
    """Find out which distance to use on your own data, by cross-validation.

    Parameters
    ----------
    X, y, n_folds, n_repeats, n_neighbors, seed, n_jobs, verbose
        As in :func:`cross_validate`.
    methods : iterable of str or Method, optional
        Names in :data:`METHODS`, or your own methods. By default l1, l2, Hellinger,
        chi-squared, the learners in :data:`LEARNERS` (without those that need
        metric-learn if it is not installed), and "gml".

    Returns
    -------
    pandas.DataFrame
        A row for each method, the best first: ``error``, ``low`` and ``high`` (mean
        error and its 95 % interval), ``worse``, ``worse_low`` and ``worse_high`` (how
        much worse than the best), and ``seconds`` (CPU time for learning, mean over
        splits). ``attrs["verdict"]`` says in a sentence which method to use.

    Examples
    --------
    >>> from groundmetric.experiments import compare
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = 2 * ["left", "left", "right", "right"]
    >>> found = compare(X, y, methods=["gml", "l1"], n_folds=2, n_neighbors=1)
    >>> found["error"].to_dict()
    {'l1': 0.0, 'gml': 0.0}
    >>> found.attrs["verdict"]
    'Use l1 on these data: 0.0 % errors, and no learner makes fewer.'
    """
    pandas_of("compare")  # before anything is computed
    if methods is None:
        learners = available_learners(fewest_to_learn_from(y, n_folds)).names
        methods = [*FIXED, *learners, "gml"]
    chosen = as_methods(methods)
    found = cross_validate(
        X,
        y,
        methods=chosen,
        n_folds=n_folds,
        n_repeats=n_repeats,
        n_neighbors=n_neighbors,
        seed=seed,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    frame = _frame(found)
    frame.attrs["verdict"] = choice_over_splits(
        {one.method: one.knn_errors for one in found},
        ratio=found[0].ratio,
        names={method.name: method.label for method in chosen},
    )
    return frame


def fewest_to_learn_from(y: ArrayLike, n_folds: int) -> int:
    """Return how many of the smallest class a training set has, at least.

    Examples
    --------
    >>> from groundmetric.experiments.ranking import fewest_to_learn_from
    >>> fewest_to_learn_from([0, 0, 0, 1, 1, 1, 1, 1], 2)
    1
    """
    smallest = int(np.unique(np.asarray(y), return_counts=True)[1].min())
    return smallest - -(-smallest // max(n_folds, 1))  # less the largest fold


def _frame(found: Sequence[CrossValidation]) -> pd.DataFrame:
    """Tabulate errors, the best method first, and how much worse the others are."""
    by_name = {one.method: one for one in found}
    means = {one.method: float(np.mean(one.knn_errors)) for one in found}
    order = [by_name[name] for name in best_first(means)]
    rows = []
    for one in order:
        own = resampled_mean(one.knn_errors, ratio=one.ratio)
        worse = resampled_mean(
            np.subtract(one.knn_errors, order[0].knn_errors), ratio=one.ratio
        )
        rows.append(
            {
                "method": one.method,
                "error": own.mean,
                "low": max(own.low, 0.0),
                "high": min(own.high, 1.0),
                "worse": worse.mean,
                "worse_low": worse.low,
                "worse_high": worse.high,
                "seconds": float(np.mean(one.fit_seconds)),
            }
        )
    frame: pd.DataFrame = pandas_of("compare").DataFrame(rows).set_index("method")
    return frame
