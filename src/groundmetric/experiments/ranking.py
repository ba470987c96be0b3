"""Compare methods on your own data, and choose one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .choice import best_first, choice, choice_of, labels_only, usual_methods
from .cross_validation import distances_of, measure, predictions_of
from .design import Estimate
from .methods import METHODS
from .names import in_a_sentence
from .outcome import CrossValidation, Prediction
from .predictors import PREDICTORS, Predictor, as_rivals
from .scoring import Scoring
from .splits import split_data
from .wording import SCORES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from .comparison import Comparison
    from .methods import Method

__all__ = ["compare"]

OURS = "gml"
UNKNOWN = Estimate(math.nan, math.nan, math.nan, math.nan)


def compare(
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    groups_test: ArrayLike | None = None,
    methods: Iterable[str | Method | Predictor] | None = None,
    cv: Any = None,
    scoring: Callable[[Any, Any, Any], float] | None = None,
    n_train: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    n_neighbors: int = 3,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Comparison:
    """Find out which distance to use on your own data.

    Parameters
    ----------
    X, y, X_test, y_test, groups, groups_test, methods, cv, n_train, n_folds, \
n_repeats, n_neighbors, seed, n_jobs, verbose
        As in :func:`cross_validate`.
    scoring : callable, optional
        ``scoring(distances, y_train, y_test)``, larger for better distances from test
        to training histograms, as in :class:`~groundmetric.MetricLearningCV`. The
        verdict and the order then go by the score. Predictors have no distances, and
        are left out.

    Returns
    -------
    pandas.DataFrame
        A row for each method, the best first: ``kind`` ("distance" or "predictor"),
        ``error``, ``low`` and ``high`` (mean error and its 95 % interval), ``worse``,
        ``worse_low`` and ``worse_high`` (how much worse than the best), ``saved``,
        ``saved_low`` and ``saved_high`` (how much "gml" saves compared with the method)
        and ``sure`` (how sure it is that it saves anything, from 0 to 1; all four NaN
        without "gml"), ``balanced``, ``balanced_low`` and ``balanced_high`` (error of
        each class, averaged over the classes), and ``seconds`` (CPU time for learning,
        mean over splits). With ``scoring``, also ``score``, ``score_low`` and
        ``score_high``; "worse" and "saved" are then differences of scores.
        ``attrs["verdict"]`` says in a sentence which distance to use, and in another
        if a predictor is better than all of them, ``attrs["guessing"]`` has the error
        of always guessing the most common class, and ``attrs["design"]`` says how the
        splits were drawn. ``to_latex()`` writes a table for a paper.

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

        from .comparison import Comparison
    except ImportError as error:
        raise ImportError(
            "compare needs pandas: pip install 'groundmetric[experiments]'."
        ) from error
    drawing = {"n_train": n_train, "n_folds": n_folds, "n_repeats": n_repeats}
    apart: Any = {"groups": groups, "groups_test": groups_test, "cv": cv}
    data = split_data(X, y, X_test, y_test, **apart, **drawing, seed=seed)
    own = None if scoring is None else Scoring.of(scoring, data.design)
    chosen = as_rivals(usual_methods(data) if methods is None else methods)
    if own is not None:
        chosen = _with_distances(chosen, required=methods is not None)
    found = measure(
        data,
        methods=chosen,
        n_neighbors=n_neighbors,
        scoring=own,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    distances, names = distances_of(found), _names(chosen)
    rows = _scores(distances) if own else _errors(found)
    frame = Comparison(pd.DataFrame(rows).set_index("method"))
    sentences = [
        _choice_by_score(distances, names) if own else choice_of(distances, names),
        labels_only(distances, predictions_of(found), names),
    ]
    frame.attrs["verdict"] = " ".join(filter(None, sentences))
    frame.attrs["guessing"] = data.design.guessing
    frame.attrs["design"] = data.design.words
    frame.attrs["labels"] = {one.name: one.label for one in chosen}
    frame.attrs["is_unequal"] = data.design.is_unequal
    return frame


def _with_distances(
    chosen: Sequence[Method | Predictor], *, required: bool
) -> Sequence[Method | Predictor]:
    """Leave predictors out, unless they were asked for."""
    for one in chosen:
        if required and isinstance(one, Predictor):
            raise ValueError(
                f"methods has {one.name!r}, which has no distances for scoring."
            )
    return [one for one in chosen if not isinstance(one, Predictor)]


def _names(methods: Sequence[Method | Predictor]) -> dict[str, str]:
    """Name methods in sentences: yours by their labels."""
    known = {**METHODS, **PREDICTORS}
    return {
        one.name: in_a_sentence(one.name) if known.get(one.name) is one else one.label
        for one in methods
    }


def _errors(found: Sequence[CrossValidation | Prediction]) -> list[dict[str, Any]]:
    """Tabulate errors, the best method first, and how methods differ."""
    by_name = {one.method: one for one in found}
    means = {one.method: float(np.mean(one.errors)) for one in found}
    order = [by_name[name] for name in best_first(means)]
    best, ours = order[0], by_name.get(OURS)
    rows = []
    for one in order:
        saved = UNKNOWN if ours is None else one.saved_by(ours)
        rows.append(_row(one, one.saved_by(best), saved))
    return rows


def _scores(found: Sequence[CrossValidation]) -> list[dict[str, Any]]:
    """Tabulate scores in the same way."""
    by_name = {one.method: one for one in found}
    order = [by_name[name] for name in best_first(_losses(found))]
    best, ours = order[0], by_name.get(OURS)
    rows = []
    for one in order:
        saved = UNKNOWN if ours is None else one.behind(ours)
        row = _row(one, one.behind(best), saved)
        rows.append(row | _columns("score", one.score()))
    return rows


def _losses(found: Sequence[CrossValidation]) -> dict[str, float]:
    return {one.method: -one.score().mean for one in found}


def _choice_by_score(found: Sequence[CrossValidation], names: dict[str, str]) -> str:
    by_name = {one.method: one for one in found}

    def interval(a: str, b: str) -> tuple[float, float]:
        gain = by_name[b].behind(by_name[a])
        return gain.low, gain.high

    return choice(_losses(found), interval, names, SCORES)


def _row(
    one: CrossValidation | Prediction, worse: Estimate, saved: Estimate
) -> dict[str, Any]:
    kind = "predictor" if isinstance(one, Prediction) else "distance"
    return (
        {"method": one.method, "kind": kind}
        | _columns("error", one.error())
        | _columns("worse", worse)
        | _columns("saved", saved)
        | {"sure": saved.sure}
        | _columns("balanced", one.error(balanced=True))
        | {"seconds": float(np.mean(one.fit_seconds))}
    )


def _columns(name: str, found: Estimate) -> dict[str, float]:
    prefix = "" if name == "error" else f"{name}_"
    return {name: found.mean, f"{prefix}low": found.low, f"{prefix}high": found.high}
