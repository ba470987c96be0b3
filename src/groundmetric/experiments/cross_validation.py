"""Measure methods on the same splits of your own data, with intervals.

The splits, and what follows from them, are those of a :class:`Design`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from .._progress import progress_bar
from .choice import usual_methods
from .measured import Measured, Split, measured, require_sizes
from .methods import Method, as_methods
from .splits import split_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .design import Design, Estimate
    from .splits import Data

Wrong = NDArray[np.bool_]

__all__ = ["CrossValidation", "cross_validate", "measure"]

# Histograms to learn from for which starting processes pays off.
WORTH_PROCESSES = 100


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Errors of one method on the splits of a design, the same for all methods.

    Attributes
    ----------
    method : str
        Name of the method.
    design : Design
        The splits.
    knn_wrong : list of ndarray of bool
        Whether nearest neighbors misclassify each test histogram, for each split.
    svm_wrong : list of ndarray of bool, or None
        The same for support vector machines, if any were trained.
    fit_seconds : list of float
        CPU time for learning in each split.
    first : Measured, optional
        The first split in detail, if asked for.

    Examples
    --------
    >>> from groundmetric.experiments import CrossValidation
    >>> from groundmetric.experiments.splits import draw
    >>> design = draw([0, 0, 1, 1], n_folds=2, n_repeats=1)
    >>> CrossValidation("l1", design, [[0, 1], [0, 0]]).knn_errors
    [0.5, 0.0]
    """

    method: str
    design: Design = field(repr=False)
    knn_wrong: Sequence[Wrong] = field(repr=False)
    svm_wrong: Sequence[Wrong] | None = field(default=None, repr=False)
    fit_seconds: list[float] = field(default_factory=list)
    first: Measured | None = field(default=None, repr=False)

    @property
    def knn_errors(self) -> list[float]:
        """Error rate of nearest neighbors in each split."""
        return [float(np.mean(wrong)) for wrong in self.knn_wrong]

    @property
    def svm_errors(self) -> list[float] | None:
        """Error rate of support vector machines in each split, if any were trained."""
        if self.svm_wrong is None:
            return None
        return [float(np.mean(wrong)) for wrong in self.svm_wrong]

    @property
    def balanced_error(self) -> float:
        """Error rate of nearest neighbors in each class, averaged over classes."""
        return self.design.balanced(self.knn_wrong)

    def error(self, measure: str = "knn") -> Estimate:
        """Error rate, of "knn" or "svm", with its interval."""
        return self.design.estimate(self._wrong(measure), 0.0, 1.0)

    def saved_by(self, other: CrossValidation, measure: str = "knn") -> Estimate:
        """Error rate that another method saves compared with this one."""
        gains = [
            np.subtract(mine, theirs, dtype=float)
            for mine, theirs in zip(
                self._wrong(measure), other._wrong(measure), strict=True
            )
        ]
        return self.design.estimate(gains, -1.0, 1.0)

    def _wrong(self, measure: str) -> Sequence[Wrong]:
        found = self.knn_wrong if measure == "knn" else self.svm_wrong
        assert found is not None  # noqa: S101 - whoever asks has trained machines
        return found


def cross_validate(
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
    svm: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[CrossValidation]:
    """Measure every distance on your own data, on the same splits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, d)
        Histograms or counts, in rows; rows are normalized to mass 1.
    y : array-like of shape (n,)
        Labels; each class needs a member in every fold.
    X_test, y_test : array-like, optional
        Histograms to test on, and their labels: one split, instead of several of X.
    methods : iterable of str or Method, optional
        Names in :data:`METHODS`, or your own methods. By default as ``groundmetric
        evaluate``: :data:`FIXED` distances, l1 of TF-IDF if most bins are empty, as in
        counts of words, the learners in :data:`LEARNERS` (without LMNN if
        metric-learn is not installed, and without ITML if there are more than five
        classes, because it then takes minutes), and "gml".
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
    list of CrossValidation
        One for each method, in the order of the methods.

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
    data = split_data(X, y, X_test, y_test, **drawing, seed=seed)
    return measure(
        data,
        methods=as_methods(usual_methods(data) if methods is None else methods),
        n_neighbors=n_neighbors,
        svm=svm,
        n_jobs=n_jobs,
        verbose=verbose,
    )


def measure(
    data: Data,
    *,
    methods: Sequence[Method],
    n_neighbors: int,
    svm: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
    keep: bool = False,
) -> list[CrossValidation]:
    """Measure methods on all splits; keep the first one in detail if asked to."""
    splits = [Split.of(data.rows, data.labels, *each) for each in data.design.splits]
    for split in splits:
        require_sizes(split.y, None, n_neighbors, svm=svm, where=" in a split")
    threads = validation.n_threads(n_jobs)
    found: dict[str, list[Measured]] = {method.name: [] for method in methods}
    fits = [(method, split) for split in splits for method in methods]
    options = {"n_neighbors": n_neighbors, "svm": svm}
    kept = len(methods) if keep else 0
    with progress_bar(len(fits), label="fits", show=verbose > 0, unit="fit") as report:
        for k, one in enumerate(_measured(fits, threads, options, kept), 1):
            found[one.method].append(one)
            if report is not None:
                report(k)
    return [
        CrossValidation(
            name,
            data.design,
            [one.knn_wrong[:, -1] for one in each],
            [one.svm_wrong for one in each if one.svm_wrong is not None] or None,
            [one.fit_seconds for one in each],
            each[0] if keep else None,
        )
        for name, each in found.items()
    ]


def _measured(
    fits: list[tuple[Method, Split]], threads: int, options: dict[str, Any], kept: int
) -> Iterator[Measured]:
    """Measure all fits in order; if they are large, each in a process of its own.

    The first ones, which are kept, stay in this process.
    """
    here = kept if threads > 1 and len(fits[0][1].y) >= WORTH_PROCESSES else len(fits)
    for k, (method, split) in enumerate(fits[:here]):
        one = measured(method, split, n_jobs=threads, **options)
        yield one if k < kept else one.without_distances()
    calls = (joblib.delayed(_with_warnings)(*fit, options) for fit in fits[here:])
    for one, caught in joblib.Parallel(threads, return_as="generator")(calls):
        for message in caught:
            warnings.warn(message, stacklevel=3)
        yield one


def _with_warnings(
    method: Method, split: Split, options: dict[str, Any]
) -> tuple[Measured, list[Warning]]:
    """Measure in a process of its own, and return warnings to the caller."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        one = measured(method, split, n_jobs=1, **options).without_distances()
    users = [each.message for each in caught if issubclass(each.category, UserWarning)]
    return one, [each for each in users if isinstance(each, Warning)]
