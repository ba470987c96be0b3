"""Errors of a method on the splits of a design: of a distance, or of a predictor."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .scoring import Score, estimate_of_scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .design import Design, Estimate
    from .measured import Measured

Wrong = NDArray[np.bool_]

__all__ = ["CrossValidation", "Outcome", "Prediction"]


class Outcome:
    """What the errors of distances and of predictors have in common."""

    method: str
    design: Design
    fit_seconds: list[float]

    def wrong(self, measure: str = "knn") -> Sequence[Wrong]:
        """Whether each test histogram of each split is misclassified."""
        raise NotImplementedError

    @property
    def errors(self) -> list[float]:
        """Error rate in each split."""
        return [float(np.mean(wrong)) for wrong in self.wrong()]

    @property
    def balanced_error(self) -> float:
        """Error rate in each class, averaged over classes."""
        return self.design.balanced(self.wrong())

    def error(self, measure: str = "knn", *, balanced: bool = False) -> Estimate:
        """Error rate with its interval; balanced, the mean of those of classes.

        The measure is "knn" or "svm"; predictors have only one.
        """
        wrong = self.wrong(measure)
        if balanced:
            return self.design.estimate_balanced(wrong, low=0.0)
        return self.design.estimate(wrong, 0.0, 1.0)

    def saved_by(
        self, other: Outcome, measure: str = "knn", *, balanced: bool = False
    ) -> Estimate:
        """Error rate that another method saves compared with this one."""
        gains = [
            np.subtract(mine, theirs, dtype=float)
            for mine, theirs in zip(
                self.wrong(measure), other.wrong(measure), strict=True
            )
        ]
        if balanced:
            return self.design.estimate_balanced(gains)
        return self.design.estimate(gains, -1.0, 1.0)


@dataclass(frozen=True, eq=False)
class CrossValidation(Outcome):
    """Errors under one distance on the splits of a design, the same for all methods.

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
    scores : list of Score, optional
        What ``scoring`` returned for each split, if it was given.

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
    scores: Sequence[Score] | None = field(default=None, repr=False)

    @property
    def knn_errors(self) -> list[float]:
        """Error rate of nearest neighbors in each split."""
        return self.errors

    @property
    def svm_errors(self) -> list[float] | None:
        """Error rate of support vector machines in each split, if any were trained."""
        if self.svm_wrong is None:
            return None
        return [float(np.mean(wrong)) for wrong in self.svm_wrong]

    def score(self) -> Estimate:
        """Mean score with its interval, if ``scoring`` was given."""
        return estimate_of_scores(self.design, self._scores())

    def behind(self, other: CrossValidation) -> Estimate:
        """How much more another distance scores than this one."""
        pairs = zip(self._scores(), other._scores(), strict=True)
        gains = [
            Score(theirs.value - mine.value, theirs.parts - mine.parts)
            for mine, theirs in pairs
        ]
        return estimate_of_scores(self.design, gains)

    def _scores(self) -> Sequence[Score]:
        assert self.scores is not None  # noqa: S101 - whoever asks gave scoring
        return self.scores

    def wrong(self, measure: str = "knn") -> Sequence[Wrong]:
        """Whether each test histogram of each split is misclassified."""
        found = self.knn_wrong if measure == "knn" else self.svm_wrong
        assert found is not None  # noqa: S101 - whoever asks has trained machines
        return found


@dataclass(frozen=True, eq=False)
class Prediction(Outcome):
    """Errors of one predictor, which has no distances and no neighbors.

    Attributes
    ----------
    method : str
        Name of the predictor.
    design : Design
        The splits.
    missed : list of ndarray of bool
        Whether each test histogram is misclassified, for each split.
    fit_seconds : list of float
        CPU time for learning in each split.

    Examples
    --------
    >>> from groundmetric.experiments import Prediction
    >>> from groundmetric.experiments.splits import draw
    >>> design = draw([0, 0, 1, 1], n_folds=2, n_repeats=1)
    >>> Prediction("logistic", design, [[0, 1], [0, 0]]).errors
    [0.5, 0.0]
    """

    method: str
    design: Design = field(repr=False)
    missed: Sequence[Wrong] = field(repr=False)
    fit_seconds: list[float] = field(default_factory=list)

    def wrong(self, measure: str = "knn") -> Sequence[Wrong]:  # noqa: ARG002
        """Whether each test histogram of each split is misclassified."""
        return self.missed
