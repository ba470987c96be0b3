"""Cross-validate methods on your own data, with intervals for the differences.

Folds share training histograms, so their errors are not independent. The intervals are
Student's with a variance that corrects for this (Nadeau & Bengio, *Inference for the
Generalization Error*, Machine Learning 52, 2003).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import RepeatedStratifiedKFold

from .. import validation
from .._progress import progress_bar
from .comparison import Comparison, Split, evaluate, require_sizes
from .inference import student_interval
from .measures import class_sizes
from .methods import Method, as_methods

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Floats = NDArray[np.float64]

__all__ = ["CrossValidation", "Estimate", "cross_validate", "resampled_mean"]

# Histograms to learn from for which starting processes pays off.
WORTH_PROCESSES = 100


@dataclass(frozen=True)
class Estimate:
    """A mean over splits with its 95 % interval; NaN if all splits are equal.

    Examples
    --------
    >>> from groundmetric.experiments import Estimate
    >>> Estimate(0.2, 0.1, 0.3).high
    0.3
    """

    mean: float
    low: float
    high: float

    def clipped(self, least: float) -> Estimate:
        """Clip the interval, which may leave the range of shares or differences."""
        ends = (float(np.clip(end, least, 1.0)) for end in (self.low, self.high))
        return Estimate(self.mean, *ends)


@dataclass(frozen=True)
class CrossValidation:
    """Errors of one method, split by split; the same splits for all methods.

    Attributes
    ----------
    method : str
        Name of the method.
    knn_errors : list of float
        Error rate of nearest neighbors in each split.
    svm_errors : list of float or None
        Error rate of support vector machines, if any were trained.
    ratio : float
        Test histograms for each training histogram.
    fit_seconds : list of float
        CPU time for learning in each split. Equality ignores it.

    Examples
    --------
    >>> from groundmetric.experiments import CrossValidation
    >>> CrossValidation("l1", [0.25, 0.15], None, 0.25).ratio
    0.25
    """

    method: str
    knn_errors: list[float]
    svm_errors: list[float] | None
    ratio: float
    fit_seconds: list[float] = field(default_factory=list, compare=False)


def resampled_mean(values: ArrayLike, *, ratio: float) -> Estimate:
    r"""Mean over splits that share training histograms, with its 95 % interval.

    .. math:: \bar v \mp t \, s \, \sqrt{1 / J + n_\mathrm{test} / n_\mathrm{train}}

    with s the standard deviation of the J values and t the 97.5 % quantile of Student's
    distribution with J - 1 degrees of freedom. The ends are NaN for a single split or
    equal ones, which do not show how certain their mean is.

    Parameters
    ----------
    values : array-like of shape (J,)
        Errors, or differences of errors, of each split.
    ratio : float
        Test histograms for each training histogram, 0.25 with five folds.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> from groundmetric.experiments import resampled_mean
    >>> found = resampled_mean([0.2, 0.25, 0.3], ratio=0.5)
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3)
    (0.25, 0.054, 0.446)
    >>> resampled_mean([0.25, 0.25, 0.25], ratio=0.5)
    Estimate(mean=0.25, low=nan, high=nan)
    """
    array = validation.as_float_array(values, "values", 1)
    validation.require_finite(array, "values")
    ratio = validation.as_number(ratio, "ratio", low=0.0)
    validation.as_count(array.size, "the number of values", low=1)
    low, high = student_interval(array[:, None], ratio=ratio)
    return Estimate(float(array.mean()), float(low[0]), float(high[0]))


def cross_validate(
    X: ArrayLike,
    y: ArrayLike,
    *,
    methods: Iterable[str | Method] | None = None,
    n_folds: int = 5,
    n_repeats: int = 1,
    n_neighbors: int = 3,
    svm: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[CrossValidation]:
    """Measure every distance on your own data by stratified cross-validation.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,)
        Labels; each class needs a member in every fold.
    methods : iterable of str or Method, optional
        Names in :data:`METHODS`, or your own methods; by default those of the paper's
        Figure 1.
    n_folds, n_repeats : int, default=5 and 1
        Number of folds, and how often to draw them.
    n_neighbors : int, default=3
        Number of neighbors that vote.
    svm : bool, default=False
        Whether to train support vector machines too; see :func:`svm_error`.
    seed : int, default=0
        Seed for drawing folds.
    n_jobs : int, optional
        Number of threads for EMDs, or of processes if each split has 100 histograms
        to learn from; does not affect the results.
    verbose : int, default=0
        1 shows a progress bar (needs tqdm).

    Returns
    -------
    list of CrossValidation
        One for each method, in the order of the methods.

    Examples
    --------
    >>> from groundmetric.experiments import cross_validate
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> y = 2 * ["left", "left", "right", "right"]
    >>> (l1,) = cross_validate(X, y, methods=["l1"], n_folds=2, n_neighbors=1)
    >>> l1.knn_errors, l1.ratio
    ([0.0, 0.0], 1.0)
    """
    chosen = as_methods(methods)
    splits = _splits(X, y, n_folds, n_repeats, seed)
    for split in splits:
        require_sizes(split.y, None, n_neighbors, svm=svm, where=" in a split")
    threads = validation.n_threads(n_jobs)
    found: dict[str, list[Comparison]] = {method.name: [] for method in chosen}
    fits = [(method, split) for split in splits for method in chosen]
    options = {"n_neighbors": n_neighbors, "svm": svm, "with_recall": False}
    with progress_bar(len(fits), label="folds", show=verbose > 0, unit="fit") as report:
        for k, measured in enumerate(_measured(fits, threads, options), 1):
            found[measured.method].append(measured)
            if report is not None:
                report(k)
    ratio = len(splits[0].z) / len(splits[0].y)
    return [
        CrossValidation(
            name,
            [one.knn_errors[-1] for one in each],
            [one.svm_error for one in each if one.svm_error is not None]
            if svm
            else None,
            ratio,
            [one.fit_seconds for one in each],
        )
        for name, each in found.items()
    ]


def _measured(
    fits: list[tuple[Method, Split]], threads: int, options: dict[str, Any]
) -> Iterator[Comparison]:
    """Evaluate all fits in their order: of many histograms each in a process."""
    if threads == 1 or len(fits[0][1].y) < WORTH_PROCESSES:
        for method, split in fits:
            yield evaluate(method, split, n_jobs=threads, **options)
        return
    calls = (joblib.delayed(_with_warnings)(*fit, options) for fit in fits)
    for measured, said in joblib.Parallel(threads, return_as="generator")(calls):
        for message in said:
            warnings.warn(message, stacklevel=3)
        yield measured


def _with_warnings(
    method: Method, split: Split, options: dict[str, Any]
) -> tuple[Comparison, list[Warning]]:
    """Evaluate in a process of its own; warnings are for the one that asked."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        measured = evaluate(method, split, n_jobs=1, **options)
    users = [one.message for one in said if issubclass(one.category, UserWarning)]
    return measured, [one for one in users if isinstance(one, Warning)]


def _splits(
    X: ArrayLike, y: ArrayLike, n_folds: int, n_repeats: int, seed: int
) -> list[Split]:
    """Check the data and draw the folds."""
    rows = validation.as_distributions(X, "X")
    validation.require_length(y, len(rows), "y")
    labels = np.asarray(y)
    folds = validation.as_count(n_folds, "n_folds", low=2)
    repeats = validation.as_count(n_repeats, "n_repeats", low=1)
    seed = validation.as_count(seed, "seed", low=0, high=2**32 - 1)
    values, counts = class_sizes(labels, "y")
    if counts.min() < folds:
        raise ValueError(
            f"n_folds is {folds}, but y has {counts.min()} of class "
            f"{values[counts.argmin()]!s}: each fold needs one."
        )
    folding = RepeatedStratifiedKFold(
        n_splits=folds, n_repeats=repeats, random_state=seed
    )
    return [Split.of(rows, labels, *each) for each in folding.split(rows, labels)]
