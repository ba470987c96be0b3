"""How long to learn, and with which settings, by the errors on held-out histograms."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import (
    ParameterGrid,
    RepeatedStratifiedKFold,
    check_cv,
)

from .. import validation
from ..base._rows import all_or_nothing, as_classes
from ..base._votes import vote_errors
from ..similarity._makers import weights_of
from ._checkpoint import require_writable
from ._learner import MetricLearner, raised

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_NEIGHBORS = 20  # votes of 1 to so many neighbors are averaged
N_REPEATS = 2  # of folds, if their number is given
# Parameters that the learner does not have.
OWN = ("cv", "param_grid", "patience", "scoring")

Split = tuple[NDArray[Any], NDArray[Any]]  # rows to learn from, and to score on
Grid = dict[str, list[Any]] | list[dict[str, list[Any]]]
Chooser = TypeVar("Chooser", bound="CrossValidated")


class CrossValidated(MetricLearner):
    """A learner that chooses its number of steps; mixed with the learner's class."""

    _learner_class: ClassVar[type[MetricLearner]]
    _optional = (
        *MetricLearner._optional,  # noqa: SLF001 - of the parent
        "best_step_",
        "best_params_",
        "best_score_",
    )

    cv: Any
    scoring: Callable[[Floats, Any, Any], float] | None
    param_grid: Grid | None
    patience: int | None

    @all_or_nothing
    def fit(  # noqa: PYI019 - Self: 3.11
        self: Chooser,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        similarity: ArrayLike | None = None,
    ) -> Chooser:
        """Choose the number of steps, and learn from all histograms.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels.
        similarity : None
            Cannot be combined with cross-validation: held-out histograms need labels.

        Returns
        -------
        self
        """
        if similarity is not None:
            raise ValueError(
                "similarity cannot be combined with cross-validation, which needs "
                f"labels; use {self._learner_class.__name__}."
            )
        self._judge()
        rows = self._as_rows(X, reset=True)
        given = as_classes(y, rows.shape[0])  # type: ignore[arg-type]  # None is rejected
        rows, sampled, _ = self._sampled(rows, given, None)
        labels = given if sampled is None else sampled
        self._choose(rows, labels)
        learner = self._learner(self.best_params_)
        weights = weights_of(rows.shape[0], labels, None)
        learner.learn_from(rows, weights, self.best_step_)
        self._take(learner)
        self.classes_, self._labels = np.unique(labels), labels
        return self

    def _take(self, learner: MetricLearner) -> None:
        """Take over what a learner has learned."""
        for name in (*self._fitted, "n_iter_"):
            setattr(self, name, getattr(learner, name))

    def _judge(self) -> None:
        """Reject parameters before the folds, which take long."""
        if self.checkpoint is not None:
            require_writable(self.checkpoint)
        if self.warm_start:
            raise ValueError(
                "warm_start cannot be combined with cross-validation, whose number of "
                f"steps counts from the start; use {self._learner_class.__name__}."
            )
        if self.patience is not None:
            validation.as_count(self.patience, "patience", low=1)
        for name, given in (("callback", self.callback), ("scoring", self.scoring)):
            if given is not None and not callable(given):
                raise ValueError(f"{name} is {given!r}; a function is needed.")
        known = self._learner_class._get_param_names()  # noqa: SLF001 - of the parent
        for params in ParameterGrid(self.param_grid or {}):
            for name in params:
                if name not in known:
                    raise ValueError(
                        f"param_grid has {name!r}; {self._learner_class.__name__} has "
                        "no such parameter."
                    )

    def _choose(self, rows: Floats, labels: NDArray[Any]) -> None:
        """Score the steps of all candidates on held-out histograms, and choose."""
        splits = list(self._splits(rows, labels))
        if not splits:
            raise ValueError("cv has no folds; at least one is needed.")
        if any(len(part) == 0 for split in splits for part in split):
            raise ValueError("cv has a fold without histograms to learn from or score.")
        candidates = list(ParameterGrid(self.param_grid or {}))
        scores = _as_array(
            [self._scores(params, rows, labels, splits) for params in candidates]
        )  # (candidates, splits, steps)
        means, spread = scores.mean(axis=1), scores.std(axis=1)
        errors = spread / np.sqrt(max(len(splits) - 1, 1))
        self.cv_results_ = {
            "params": np.repeat(np.array(candidates, dtype=object), means.shape[1]),
            "step": np.tile(np.arange(means.shape[1]), len(candidates)),
            "mean_test_score": means.ravel(),
            "std_test_score": spread.ravel(),
            "se_test_score": errors.ravel(),
            **{
                f"split{k}_test_score": scores[:, k].ravel() for k in range(len(splits))
            },
        }
        chosen, best = np.unravel_index(np.nanargmax(means), means.shape)
        step = _fewest_steps(scores[chosen], int(best))
        self.best_step_, self.best_params_ = step, dict(candidates[chosen])
        self.best_score_ = float(means[chosen, step])

    def _splits(self, rows: Floats, labels: NDArray[Any]) -> Iterator[Split]:
        """Draw the folds."""
        cv = self.cv
        if isinstance(cv, numbers.Integral):
            n_splits = validation.as_count(int(cv), "cv", low=2)
            fewest = int(np.unique(labels, return_counts=True)[1].min())
            if fewest < n_splits:
                raise ValueError(
                    f"cv is {n_splits}, but a class has only {fewest} histograms; each "
                    "fold needs one of every class."
                )
            cv = RepeatedStratifiedKFold(
                n_splits=n_splits, n_repeats=N_REPEATS, random_state=self.random_state
            )
        splits: Iterator[Split] = check_cv(cv, labels, classifier=True).split(
            rows, labels
        )
        return splits

    def _scores(
        self,
        params: dict[str, Any],
        rows: Floats,
        labels: NDArray[Any],
        splits: list[Split],
    ) -> list[list[float]]:
        """Score all folds step by step, until steps have not helped for long."""
        folds = [self._fold_scores(params, rows, labels, *split) for split in splits]
        if self.patience is None:  # one after another, which takes less memory
            folds = [iter(list(fold)) for fold in folds]
        scores: list[list[float]] = []
        best, patience = 0, np.inf if self.patience is None else self.patience
        while len(scores) - best <= patience:
            found = [next(fold, None) for fold in folds]
            if all(score is None for score in found):
                break
            scores.append(
                [
                    scores[-1][k] if score is None else score  # its descent had ended
                    for k, score in enumerate(found)
                ]
            )
            if np.mean(scores[-1]) > np.mean(scores[best]):
                best = len(scores) - 1
        return scores

    def _fold_scores(
        self,
        params: dict[str, Any],
        rows: Floats,
        labels: NDArray[Any],
        train: NDArray[Any],
        test: NDArray[Any],
    ) -> Iterator[float]:
        """Score the metrics of one fold, after 0, 1, ... steps."""
        learner = self._learner(params).set_params(checkpoint=None, callback=None)
        weights = weights_of(len(train), labels[train], None)
        for metric in learner.metrics_of_steps(rows[train], weights):
            held, seen = (raised(rows[part], learner.power_) for part in (test, train))
            if self.scoring is None:
                k = min(MOST_NEIGHBORS, len(train))
                nearest = learner.nearest(metric, held, seen, k)
                yield _accuracy(nearest, labels[train], labels[test])
            else:
                between = learner.distances(metric)(held, seen)
                score = float(self.scoring(between, labels[train], labels[test]))
                if not np.isfinite(score):
                    raise ValueError(f"scoring returned {score}; a number is needed.")
                yield score

    def _learner(self, params: dict[str, Any]) -> MetricLearner:
        """Make a learner with these parameters, and the others of our own."""
        own = self.get_params(deep=False)
        for name in OWN:
            del own[name]
        return self._learner_class(**{**own, **params})

    def _restore(self) -> None:
        super()._restore()
        self.best_step_ = int(self.best_step_)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - only for what is missing
        own = type(self).__name__
        if name == "cv_results_":
            raise AttributeError(
                f"{own} has no cv_results_: fit computes them, and files do not store "
                "them."
            )
        raise AttributeError(f"{own!r} object has no attribute {name!r}")


def _accuracy(nearest: Indices, train: NDArray[Any], test: NDArray[Any]) -> float:
    """Average the accuracy of votes of 1, 2, ... neighbors."""
    _, codes = np.unique(np.concatenate([train, test]), return_inverse=True)
    n = len(train)
    return 1.0 - float(vote_errors(nearest, codes[:n], codes[n:]).mean())


def _fewest_steps(scores: Floats, best: int) -> int:
    """Find the fewest steps within one standard error of the best.

    It is the standard error of the difference between the two: folds differ more from
    each other than steps do, and some are hard for all steps alike.
    """
    lead = scores[:, [best]] - scores  # (splits, steps)
    error = lead.std(axis=0) / np.sqrt(max(len(scores) - 1, 1))
    return int(np.flatnonzero(lead.mean(axis=0) <= error)[0])


def _as_array(scores: list[list[list[float]]]) -> Floats:
    """Make an array of shape (candidates, splits, steps); NaN is not scored."""
    n_steps, n_splits = max(len(steps) for steps in scores), len(scores[0][0])
    nothing = [[np.nan] * n_splits]
    whole = [steps + nothing * (n_steps - len(steps)) for steps in scores]
    return np.array(whole).transpose(0, 2, 1)
