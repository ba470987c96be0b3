"""Measure methods on the same splits of your own data, with intervals.

The splits, and what follows from them, are those of a :class:`Design`.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import joblib

from .. import validation
from .._progress import progress_bar
from .choice import usual_methods
from .measured import (
    Measured,
    Predicted,
    Split,
    measured,
    predicted,
    require_sizes,
)
from .outcome import CrossValidation, Prediction
from .predictors import Predictor, as_rivals
from .splits import split_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from .methods import Method
    from .scoring import Scoring
    from .splits import Data

__all__ = ["cross_validate", "distances_of", "measure", "predictions_of"]

Found = CrossValidation | Prediction

# Histograms to learn from for which starting processes pays off.
WORTH_PROCESSES = 100


def cross_validate(
    X: ArrayLike,
    y: ArrayLike,
    *,
    X_test: ArrayLike | None = None,
    y_test: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    groups_test: ArrayLike | None = None,
    methods: Iterable[str | Method | Predictor] | None = None,
    cv: Any = None,
    n_train: int | None = None,
    n_folds: int = 5,
    n_repeats: int = 2,
    n_neighbors: int = 3,
    svm: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[CrossValidation | Prediction]:
    """Measure every distance on your own data, on the same splits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,)
        Labels; each class needs a member in every fold.
    X_test, y_test : array-like, optional
        Histograms to test on, and their labels: one split, instead of several of X.
    groups, groups_test : array-like of shape (n,), optional
        Group of each histogram of X, and of X_test, such as a patient or batch. Splits
        do not divide groups, and intervals are over groups: a hundred samples of ten
        patients say little more than ten.
    methods : iterable of str, Method or Predictor, optional
        Names in :data:`METHODS` or :data:`PREDICTORS`, or your own. By default as
        ``groundmetric evaluate``: :data:`FIXED` distances, l1 of TF-IDF if most bins
        are empty, as in counts of words, the learners in :data:`LEARNERS` (without
        LMNN if metric-learn is not installed, and without ITML if there are more than
        five classes, because it then takes minutes), "gml", and the predictors.
    cv : cross-validation generator or iterable, optional
        Splits of your own, instead of those that are drawn: a splitter of scikit-learn,
        or pairs of rows to learn from and rows to test.
    n_train : int, optional
        Number of histograms to learn from. If there are many more, training sets of
        this size are drawn that have no histogram in common, and tested on the same
        others, which is better evidence than folds. By default folds of all of X.
    n_folds, n_repeats : int, default=5 and 2
        Number of folds, and how often to draw them. Their product is the largest number
        of disjoint training sets.
    n_neighbors : int, default=3
        Number of neighbors that vote.
    svm : bool, default=False
        Whether to train support vector machines too; see :func:`svm_error`.
    seed : int, default=0
        Seed for drawing splits.
    n_jobs : int, optional
        Number of threads for EMDs, or of processes if each split has 100 histograms
        to learn from; does not affect the results.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    list of CrossValidation and Prediction
        One for each distance, or predictor, in the order of the methods.

    Examples
    --------
    >>> from groundmetric.experiments import cross_validate
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = 2 * ["left", "left", "right", "right"]
    >>> (l1,) = cross_validate(X, y, methods=["l1"], n_folds=2, n_neighbors=1)
    >>> l1.knn_errors, l1.error().high < 0.4
    ([0.0, 0.0, 0.0, 0.0], True)
    """
    drawing = {"n_train": n_train, "n_folds": n_folds, "n_repeats": n_repeats}
    apart: Any = {"groups": groups, "groups_test": groups_test, "cv": cv}
    data = split_data(X, y, X_test, y_test, **apart, **drawing, seed=seed)
    return measure(
        data,
        methods=as_rivals(usual_methods(data) if methods is None else methods),
        n_neighbors=n_neighbors,
        svm=svm,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def measure(
    data: Data,
    *,
    methods: Sequence[Method | Predictor],
    n_neighbors: int,
    svm: bool = False,
    scoring: Scoring | None = None,
    n_jobs: int | None = None,
    verbose: int = 0,
    keep: bool = False,
) -> list[Found]:
    """Measure methods on all splits; keep the first one in detail if asked to."""
    design = data.design
    splits = [
        Split.of(data.rows, data.labels, *each, design.groups) for each in design.splits
    ]
    for split in splits:
        require_sizes(split.y, None, n_neighbors, svm=svm, where=" in a split")
    threads = validation.n_threads(n_jobs)
    found: dict[str, list[Any]] = {}  # in the order of the first split
    fits = [(method, split) for split in splits for method in methods]
    options: dict[str, Any] = {"n_neighbors": n_neighbors, "svm": svm}
    options |= {} if scoring is None else {"scoring": scoring}
    kept = len(methods) if keep else 0
    with progress_bar(len(fits), label="fits", show=verbose > 0, unit="fit") as report:
        for k, one in enumerate(_measured(fits, threads, options, kept), 1):
            start = one.start if isinstance(one, Measured) else None
            for each in (one, start) if start else (one,):
                found.setdefault(each.method, []).append(each)
            if report is not None:
                report(k)
    return [_outcome(data, name, each, keep=keep) for name, each in found.items()]


def _outcome(data: Data, name: str, every: list[Any], *, keep: bool) -> Found:
    """Join what was measured on all splits."""
    seconds = [one.fit_seconds for one in every]
    if isinstance(every[0], Predicted):
        return Prediction(name, data.design, [one.wrong for one in every], seconds)
    return CrossValidation(
        name,
        data.design,
        [one.knn_wrong[:, -1] for one in every],
        [one.svm_wrong for one in every if one.svm_wrong is not None] or None,
        seconds,
        every[0] if keep else None,
        [one.score for one in every if one.score is not None] or None,
    )


def distances_of(found: Iterable[Found]) -> list[CrossValidation]:
    """Return the distances among what was measured.

    Examples
    --------
    >>> from groundmetric.experiments import cross_validate
    >>> from groundmetric.experiments.cross_validation import distances_of
    >>> X, methods = [[4, 1], [1, 4]] * 4, ["l1", "logistic"]
    >>> found = cross_validate(X, [0, 1] * 4, methods=methods, n_folds=2)
    >>> [one.method for one in distances_of(found)]
    ['l1']
    """
    return [one for one in found if isinstance(one, CrossValidation)]


def predictions_of(found: Iterable[Found]) -> list[Prediction]:
    """Return the predictors among what was measured.

    Examples
    --------
    >>> from groundmetric.experiments import cross_validate
    >>> from groundmetric.experiments.cross_validation import predictions_of
    >>> X, methods = [[4, 1], [1, 4]] * 4, ["l1", "logistic"]
    >>> found = cross_validate(X, [0, 1] * 4, methods=methods, n_folds=2)
    >>> [one.method for one in predictions_of(found)]
    ['logistic']
    """
    return [one for one in found if isinstance(one, Prediction)]


def _one(
    method: Method | Predictor, split: Split, options: dict[str, Any], n_jobs: int
) -> Measured | Predicted:
    if isinstance(method, Predictor):
        return predicted(method, split)
    return measured(method, split, n_jobs=n_jobs, **options)


def _measured(
    fits: list[tuple[Method | Predictor, Split]],
    threads: int,
    options: dict[str, Any],
    kept: int,
) -> Iterator[Measured | Predicted]:
    """Measure all fits in order; if they are large, each in a process of its own.

    The first ones, which are kept, stay in this process.
    """
    here = kept if threads > 1 and len(fits[0][1].y) >= WORTH_PROCESSES else len(fits)
    for k, (method, split) in enumerate(fits[:here]):
        one = _one(method, split, options, threads)
        yield one if k < kept else _lean(one)
    calls = (joblib.delayed(_with_warnings)(*fit, options) for fit in fits[here:])
    for one, caught in joblib.Parallel(threads, return_as="generator")(calls):
        for message in caught:
            warnings.warn(message, stacklevel=3)
        yield one


def _lean(one: Measured | Predicted) -> Measured | Predicted:
    return one.without_distances() if isinstance(one, Measured) else one


def _with_warnings(
    method: Method | Predictor, split: Split, options: dict[str, Any]
) -> tuple[Measured | Predicted, list[Warning]]:
    """Measure in a process of its own, and return warnings to the caller."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        one = _lean(_one(method, split, options, 1))
    users = [each.message for each in caught if issubclass(each.category, UserWarning)]
    return one, [each for each in users if isinstance(each, Warning)]
