"""Did learning help? A table, and sentences that say so, and how sure that is."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._words import count, percent
from .choice import choice_of, labels_only
from .gain import DID, Gain, confidence, kind
from .names import in_a_sentence, label_of, learns

if TYPE_CHECKING:
    from .design import Estimate
    from .outcome import CrossValidation, Outcome, Prediction

__all__ = ["Verdict"]

LEARNED = "learned"


@dataclass(frozen=True)
class Verdict:
    """What follows from the errors of all distances on the same splits.

    Attributes
    ----------
    found : dict of str to CrossValidation
        Errors by the name of the distance; "learned" and "l1" are among them.
    n_neighbors : int
        Number of neighbors that vote.
    predictions : dict of str to Prediction
        Errors of predictors by their names; no distances, no neighbors.

    Examples
    --------
    >>> from groundmetric.experiments import METHODS, cross_validate
    >>> from groundmetric.experiments.verdict import Verdict
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.estimators import of_learner
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> methods = [of_learner(GroundMetricLearning()), "l1"]
    >>> found = cross_validate(X, 4 * [0] + 4 * [1], methods=methods, n_folds=2)
    >>> Verdict({one.method: one for one in found}, 3).headline()[:40]
    'Learning made no significant difference:'
    """

    found: dict[str, CrossValidation]
    n_neighbors: int
    predictions: dict[str, Prediction] = field(default_factory=dict)

    @property
    def learned(self) -> CrossValidation:
        """Errors under the learned metric."""
        return self.found[LEARNED]

    @property
    def is_unequal(self) -> bool:
        """Whether classes are so unequal that errors need balancing."""
        return self.learned.design.is_unequal

    @property
    def _has_learners(self) -> bool:
        """Whether there are other learners to compare with."""
        return any(learns(name) for name in self.found if name != LEARNED)

    def gain(self, other: str, measure: str = "knn") -> Gain:
        """Compare the learned metric with another distance."""
        return self._gain(self.found[other], measure)

    def _gain(self, other: Outcome, measure: str) -> Gain:
        saved = other.saved_by(self.learned, measure)
        error, theirs = (each.error(measure).mean for each in (self.learned, other))
        return Gain(in_a_sentence(other.method), error, theirs, *astuple(saved))

    def gains(self) -> dict[str, Gain]:
        """Compare the learned metric with each other distance."""
        return {name: self.gain(name) for name in self.found if name != LEARNED}

    def headline(self) -> str:
        """Say in one sentence whether learning helped, by errors of neighbors."""
        found = self.gain("l1")
        voters = count(self.n_neighbors, "nearest neighbor")
        return (
            f"Learning {DID[kind(found)]}: {percent(found.error)} errors of {voters} "
            f"under the learned metric, {percent(found.other_error)} under "
            f"{found.other}."
        )

    def size(self) -> str:
        """Say how much learning saves, and how sure that is."""
        found = self.gain("l1")
        much = f"{abs(100 * found.gain):.1f} percentage points"
        saves = (
            f"saves {much}"
            if round(found.gain, 3) >= 0
            else f"costs {much} more errors"
        )
        return (
            f"Compared with {found.other}, learning {saves}; the 95 % interval of what "
            f"it saves is {found.interval}. {found.certainty}"
        )

    def choice(self) -> str:
        """Say in one sentence which distance to use; nothing without other learners."""
        if not self._has_learners:
            return ""
        named = {name: in_a_sentence(name) for name in self.found if name != "initial"}
        return choice_of([*self.found.values()], named)

    def labels_only(self) -> str:
        """Say so if a predictor makes significantly fewer errors than all distances."""
        found = [one for name, one in self.found.items() if name != "initial"]
        every = (*self.found, *self.predictions)
        named = {name: in_a_sentence(name) for name in every}
        return labels_only(found, self.predictions.values(), named)

    def predicting(self) -> str:
        """Say what predictors learn from, if there are any, and end with a space."""
        if not self.predictions:
            return ""
        listed = " and ".join(in_a_sentence(name) for name in self.predictions)
        several = len(self.predictions) > 1
        verb, whose = ("predict", "their") if several else ("predicts", "its")
        return (
            f"{listed[0].upper()}{listed[1:]} {verb} labels without a distance; "
            f"cross-validation on the training histograms chooses {whose} settings. "
        )

    def best_fixed(self) -> str:
        """Compare the learned metric with the best distance that does not learn."""
        fixed = [name for name in self.found if not learns(name) and name != "initial"]
        best = min(map(self.gain, fixed), key=lambda found: found.other_error)
        beside = "as many as" if best.gain == 0.0 else "more than"
        if best.gain < 0.0:
            beside = "fewer than"
        unclear = kind(best) == "unclear" and best.gain
        chance = ", but not significantly so" if unclear else ""
        return (
            f"Of the distances that do not learn, {best.other} does best here, with "
            f"{percent(best.other_error)} errors: {beside} the learned metric{chance}."
        )

    def guessing(self) -> str:
        """Compare with the most common class; nothing if classes are about equal."""
        if not self.is_unequal:
            return ""
        design = self.learned.design
        return (
            "Classes are unequal: always guessing the most common one makes "
            f"{percent(design.guessing)} errors. Balanced errors, in which all classes "
            f"count the same, are {percent(self.learned.balanced_error)} under the "
            f"learned metric, {percent(self.found['l1'].balanced_error)} under the l1 "
            f"distance, and {percent(design.guessing_balanced)} by guessing."
        )

    def machines(self) -> str:
        """Say whether support vector machines disagree with neighbors, if trained."""
        if self.learned.svm_wrong is None:
            return ""
        svm, knn = self.gain("l1", "svm"), self.gain("l1")
        if kind(svm) == kind(knn):
            return ""
        return (
            f"With support vector machines, learning {DID[kind(svm)]}: "
            f"{percent(svm.error)} errors, {percent(svm.other_error)} under "
            f"{svm.other}. The verdict goes by nearest neighbors, which use the "
            "distance and nothing else."
        )

    def sentences(self) -> list[str]:
        """Return the verdict with what supports it, for the terminal."""
        sentences = [self.headline(), self.size(), self.guessing(), self.machines()]
        sentences += [self.choice() or self.best_fixed(), self.labels_only()]
        return [text for text in sentences if text]

    def columns(self) -> list[str]:
        """Titles of the table, after the distance; short enough for a terminal."""
        several = self.learned.design.n_splits > 1 and not self.is_unequal
        return [
            "Errors",
            *(["Balanced errors"] if self.is_unequal else []),
            "Saved by learning (95 %)",
            "Sure",
            *([self._wins] if several else []),
            *(["Seconds"] if self._has_learners else []),
        ]

    def names(self, measure: str = "knn") -> list[str]:
        """Names of the rows: distances, and predictors beside neighbors."""
        return [*self.found, *(self.predictions if measure == "knn" else ())]

    def rows(self, measure: str = "knn") -> list[list[str]]:
        """Cells of the table, a row for each of ``names``."""
        return [
            [label_of(name), *self._row(name, measure)] for name in self.names(measure)
        ]

    def _row(self, name: str, measure: str) -> list[str]:
        one: Outcome = self.predictions.get(name) or self.found[name]
        titles = self.columns()
        cells = [percent(one.error(measure).mean)]
        if self.is_unequal:
            cells.append(percent(one.error(measure, balanced=True).mean))
        if name == LEARNED:
            cells += [""] * (2 + (self._wins in titles))
        else:
            found = self._gain(one, measure)
            cells += [found.saved, confidence(found.sure)]
            if self._wins in titles:
                cells.append(str(self.wins(name, measure)))
        if self._has_learners:
            spent = float(np.mean(one.fit_seconds))
            cells.append(_seconds(spent) if learns(name) else "")
        return cells

    @property
    def _wins(self) -> str:
        return f"Wins of {self.learned.design.n_splits}"

    def wins(self, other: str, measure: str = "knn") -> int:
        """Count the splits in which the learned metric makes fewer errors."""
        one: Outcome = self.predictions.get(other) or self.found[other]
        ours, theirs = (
            np.array([np.mean(wrong) for wrong in each.wrong(measure)])
            for each in (self.learned, one)
        )
        return int((ours < theirs).sum())

    def facts(self) -> dict[str, Any]:
        """Collect the numbers, for JSON."""
        design = self.learned.design
        facts = {"design": design.kind, "n_splits": design.n_splits}
        facts |= {"n_groups": design.n_groups} if design.n_groups else {}
        facts |= {"n_train": design.n_train, "n_test": design.n_test}
        return {
            **facts,
            "n_neighbors": self.n_neighbors,
            "guessing": {
                "error": design.guessing,
                "balanced_error": design.guessing_balanced,
            },
            "errors": {name: self._facts_of(name) for name in self.found},
            "predictors": {
                name: self._facts_of_labels(one)
                for name, one in self.predictions.items()
            },
            "verdict": " ".join(self.sentences()),
        }

    def _facts_of(self, name: str) -> dict[str, Any]:
        one = self.found[name]
        facts: dict[str, Any] = {
            "seconds": float(np.mean(one.fit_seconds)),
            "balanced_error": one.balanced_error,
        }
        for measure in ("knn", "svm") if one.svm_wrong is not None else ("knn",):
            facts[measure] = _interval(one.error(measure))
            facts[f"{measure}_balanced"] = _interval(one.error(measure, balanced=True))
            facts[f"{measure}_errors"] = getattr(one, f"{measure}_errors")
            if name != LEARNED:
                saved = one.saved_by(self.learned, measure)
                facts[f"{measure}_saved"] = asdict(saved)
        return facts

    def _facts_of_labels(self, one: Prediction) -> dict[str, Any]:
        return {
            "seconds": float(np.mean(one.fit_seconds)),
            "error": _interval(one.error()),
            "balanced": _interval(one.error(balanced=True)),
            "errors": one.errors,
            "saved": asdict(one.saved_by(self.learned)),
        }


def _interval(error: Estimate) -> dict[str, float]:
    """Write an error, without how sure it is that it exceeds zero."""
    return {"mean": error.mean, "low": error.low, "high": error.high}


def _seconds(spent: float) -> str:
    return f"{spent:.1f}" if spent >= 1 else f"{spent:.2f}"
