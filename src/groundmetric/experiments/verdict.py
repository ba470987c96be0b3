"""Did learning help? A table, and sentences that say so, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._words import count, percent, points
from .choice import LEARNERS, choice_of, in_a_sentence, learns

if TYPE_CHECKING:
    from .cross_validation import CrossValidation

__all__ = ["Gain", "Verdict", "kind"]

LEARNED = "learned"
DID = {
    "helped": "helped",
    "hurt": "made things worse",
    "unclear": "made no significant difference",
}
NEARLY = 0.9
MOST_SURE = 0.999


@dataclass(frozen=True)
class Gain:
    """Errors under the learned metric, compared with another distance.

    Attributes
    ----------
    other : str
        Name of the other distance.
    error, other_error : float
        Error rates of the learned metric and of the other.
    gain, low, high : float
        Error rate that learning saves, and its interval.
    sure : float
        Confidence that learning is better, from 0 to 1.

    Examples
    --------
    >>> from groundmetric.experiments.verdict import Gain
    >>> Gain("the l1 distance", 0.08, 0.12, 0.04, 0.01, 0.07, 0.99).interval
    '+1.0 to +7.0'
    """

    other: str
    error: float
    other_error: float
    gain: float
    low: float
    high: float
    sure: float

    @property
    def interval(self) -> str:
        """The interval in words."""
        return f"{points(self.low)} to {points(self.high)}"

    @property
    def saved(self) -> str:
        """What learning saves, with the interval."""
        return f"{points(self.gain)} ({self.interval})"

    @property
    def certainty(self) -> str:
        """Say how sure it is which of the two is better."""
        most = max(self.sure, 1 - self.sure)
        if kind(self) == "unclear":
            most = math.floor(1000 * most) / 1000  # below 97.5 % in print, too
        better = "learning" if self.sure >= 1 / 2 else self.other
        sentence = (
            f"We can be {confidence(most, 'more than ')} sure that {better} is better"
        )
        if kind(self) != "unclear":
            return f"{sentence}."
        rest = "a significant difference takes 97.5 %"
        if most >= NEARLY:
            return f"{sentence}; {rest}. Other random splits may tip the scales."
        return f"{sentence}; 50 % is a coin toss, and {rest}."


def confidence(share: float, over: str = "> ") -> str:
    """Write how sure something is; never as if it were certain.

    Examples
    --------
    >>> from groundmetric.experiments.verdict import confidence
    >>> confidence(0.9345), confidence(0.99999), confidence(1e-9)
    ('93.5 %', '> 99.9 %', '< 0.1 %')
    """
    if share > MOST_SURE:
        return f"{over}99.9 %"
    return "< 0.1 %" if share < 1 - MOST_SURE else percent(share)


def kind(found: Gain) -> str:
    """Return "helped", "hurt", or "unclear" if the interval contains zero.

    Examples
    --------
    >>> from groundmetric.experiments.verdict import Gain, kind
    >>> kind(Gain("the l1 distance", 0.08, 0.12, 0.04, 0.01, 0.07, 0.99))
    'helped'
    """
    if found.low > 0.0:
        return "helped"
    return "hurt" if found.high < 0.0 else "unclear"


@dataclass(frozen=True)
class Verdict:
    """What follows from the errors of all distances on the same splits.

    Attributes
    ----------
    found : dict of str to CrossValidation
        Errors by the name of the distance; "learned" and "l1" are among them.
    n_neighbors : int
        Number of neighbors that vote.

    Examples
    --------
    >>> from groundmetric.experiments import METHODS, cross_validate
    >>> from groundmetric.experiments.verdict import Verdict
    >>> from groundmetric import GroundMetricLearning
    >>> from groundmetric.experiments.methods import of_learner
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> methods = [of_learner(GroundMetricLearning()), "l1"]
    >>> found = cross_validate(X, 4 * [0] + 4 * [1], methods=methods, n_folds=2)
    >>> Verdict({one.method: one for one in found}, 3).headline()[:40]
    'Learning made no significant difference:'
    """

    found: dict[str, CrossValidation]
    n_neighbors: int

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
        return not set(self.found).isdisjoint(LEARNERS)

    def gain(self, other: str, measure: str = "knn") -> Gain:
        """Compare the learned metric with another distance."""
        one = self.found[other]
        saved = one.saved_by(self.learned, measure)
        error, theirs = (each.error(measure).mean for each in (self.learned, one))
        return Gain(in_a_sentence(other), error, theirs, *astuple(saved))

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
        return [
            text for text in [*sentences, self.choice() or self.best_fixed()] if text
        ]

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

    def rows(self, measure: str = "knn") -> dict[str, list[str]]:
        """Cells of the table for each distance."""
        return {name: self._row(name, measure) for name in self.found}

    def _row(self, name: str, measure: str) -> list[str]:
        one, titles = self.found[name], self.columns()
        cells = [percent(one.error(measure).mean)]
        if self.is_unequal:
            cells.append(percent(one.balanced_error) if measure == "knn" else "")
        if name == LEARNED:
            cells += [""] * (2 + (self._wins in titles))
        else:
            found = self.gain(name, measure)
            cells += [found.saved, confidence(found.sure)]
            if self._wins in titles:
                cells.append(str(self.wins(name, measure)))
        if self._has_learners:
            spent = float(np.mean(one.fit_seconds))
            cells.append(_seconds(spent) if name in (LEARNED, *LEARNERS) else "")
        return cells

    @property
    def _wins(self) -> str:
        return f"Wins of {self.learned.design.n_splits}"

    def wins(self, other: str, measure: str = "knn") -> int:
        """Count the splits in which the learned metric makes fewer errors."""
        errors = [
            np.array(getattr(one, f"{measure}_errors"))
            for one in (self.learned, self.found[other])
        ]
        return int((errors[0] < errors[1]).sum())

    def facts(self) -> dict[str, Any]:
        """Collect the numbers, for JSON."""
        design = self.learned.design
        errors: dict[str, Any] = {}
        for name, one in self.found.items():
            errors[name] = {
                "seconds": float(np.mean(one.fit_seconds)),
                "balanced_error": one.balanced_error,
            }
            for measure in ("knn", "svm") if one.svm_wrong is not None else ("knn",):
                errors[name][measure] = _interval(asdict(one.error(measure)))
                errors[name][f"{measure}_errors"] = getattr(one, f"{measure}_errors")
                if name != LEARNED:
                    saved = one.saved_by(self.learned, measure)
                    errors[name][f"{measure}_saved"] = asdict(saved)
        return {
            "design": design.kind,
            "n_splits": design.n_splits,
            "n_train": design.n_train,
            "n_test": design.n_test,
            "n_neighbors": self.n_neighbors,
            "guessing": {
                "error": design.guessing,
                "balanced_error": design.guessing_balanced,
            },
            "errors": errors,
            "verdict": " ".join(self.sentences()),
        }


def _seconds(spent: float) -> str:
    return f"{spent:.1f}" if spent >= 1 else f"{spent:.2f}"


def _interval(found: dict[str, float]) -> dict[str, float]:
    """Leave out how sure an error exceeds zero."""
    return {name: found[name] for name in ("mean", "low", "high")}
