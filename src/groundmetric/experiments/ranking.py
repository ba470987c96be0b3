"""Compare methods on your own data, and choose one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .choice import best_first, choice_of, usual_methods
from .cross_validation import CrossValidation, measure
from .design import Estimate
from .methods import METHODS, Method, as_methods
from .names import in_a_sentence
from .splits import split_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    from numpy.typing import ArrayLike

__all__ = ["compare"]

OURS = "gml"
UNKNOWN = Estimate(math.nan, math.nan, math.nan, math.nan)


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    methods: Iterable[str | Method] | None = None,
    n_train: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    n_neighbors: int = 3,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> pd.DataFrame:
    """Find out which distance to use on your own data.

    Parameters
    ----------
    X, y, X_test, y_test, methods, n_train, n_folds, n_repeats, n_neighbors, seed, \
n_jobs, verbose
        As in :func:`cross_validate`.

    Returns
    -------
    pandas.DataFrame
        A row for each method, the best first: ``error``, ``low`` and ``high`` (mean
        error and its 95 % interval), ``worse``, ``worse_low`` and ``worse_high`` (how
        much worse than the best), ``saved``, ``saved_low`` and ``saved_high`` (how much
        "gml" saves compared with the method) and ``sure`` (how sure it is that it saves
        anything, from 0 to 1; all four NaN without "gml"), ``balanced`` (error of each
        class, averaged over the classes), and ``seconds`` (CPU time for learning, mean
        over splits). ``attrs["verdict"]`` says in a sentence which method to use,
        ``attrs["guessing"]`` has the error of always guessing the most common class,
        and ``attrs["design"]`` says how the splits were drawn.

    Examples
    --------
    >>> from groundmetric.experiments import compare
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = 2 * ["left", "left", "right", "right"]
    >>> found = compare(X, y, methods=["gml", "l1"], n_folds=2, n_neighbors=1)
    >>> found["error"].to_dict()
    {'l1': 0.0, 'gml': 0.0}
    >>> found.attrs["verdict"]
    'Use the l1 distance on these data: 0.0 % errors, and no learner makes fewer.'
    """
    try:  # before anything is computed
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "compare needs pandas: pip install 'groundmetric[experiments]'."
        ) from error
    drawing = {"n_train": n_train, "n_folds": n_folds, "n_repeats": n_repeats}
    data = split_data(X, y, X_test, y_test, **drawing, seed=seed)
    chosen = as_methods(usual_methods(data) if methods is None else methods)
    found = measure(
        data,
        methods=chosen,
        n_neighbors=n_neighbors,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    frame = pd.DataFrame(_rows(found)).set_index("method")
    frame.attrs["verdict"] = choice_of(found, _names(chosen))
    frame.attrs["guessing"] = data.design.guessing
    frame.attrs["design"] = data.design.words
    return frame


def _names(methods: Sequence[Method]) -> dict[str, str]:
    """Name methods in sentences: yours by their labels."""
    return {
        one.name: in_a_sentence(one.name) if METHODS.get(one.name) is one else one.label
        for one in methods
    }


def _rows(found: Sequence[CrossValidation]) -> list[dict[str, Any]]:
    """Tabulate errors, the best method first, and how methods differ."""
    by_name = {one.method: one for one in found}
    means = {one.method: float(np.mean(one.knn_errors)) for one in found}
    order = [by_name[name] for name in best_first(means)]
    best, ours = order[0], by_name.get(OURS)
    rows = []
    for one in order:
        saved = UNKNOWN if ours is None else one.saved_by(ours)
        rows.append(
            {"method": one.method}
            | _columns("error", one.error())
            | _columns("worse", one.saved_by(best))
            | _columns("saved", saved)
            | {"sure": saved.sure, "balanced": one.balanced_error}
            | {"seconds": float(np.mean(one.fit_seconds))}
        )
    return rows


def _columns(name: str, found: Estimate) -> dict[str, float]:
    prefix = "" if name == "error" else f"{name}_"
    return {name: found.mean, f"{prefix}low": found.low, f"{prefix}high": found.high}
