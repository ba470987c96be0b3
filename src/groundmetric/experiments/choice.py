"""Which distance to use: the one with the fewest errors, or one as good and simpler."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import validation
from .._metric_learn import is_installed
from .._words import percent
from .design import TIE
from .names import FIXED, LEARNERS, TFIDF, learns
from .predictors import PREDICTORS
from .wording import ERRORS, Wording

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from .design import Design
    from .outcome import CrossValidation, Outcome, Prediction
    from .splits import Data

__all__ = ["Learners", "available_learners", "best_first", "choice", "choice_of"]
__all__ += ["fixed_for", "is_like_text", "labels_only", "usual_methods"]

SLOW, FEW_CLASSES = "itml-hellinger", 5  # its pairs grow as classes squared
SLOW_IF_WIDE = ("gml-smoothed", "lmnn-hellinger", "chi2-lmnn")
WIDE = 2e7  # training histograms times the number of bins squared


class Learners(NamedTuple):
    """Names of learners that can run, and a sentence on the others, if any.

    Examples
    --------
    >>> from groundmetric.experiments.choice import Learners
    >>> Learners(["nca-hellinger"], "LMNN was skipped.").names
    ['nca-hellinger']
    """

    names: list[str]
    skipped: str


def available_learners(
    design: Design, n_bins: int = 0, *, slow: bool = False
) -> Learners:
    """Return the learners that can learn from all training sets of a design.

    ITML is slow if there are many classes, others are if there are many bins; these are
    left out unless asked for.

    Examples
    --------
    >>> from groundmetric.experiments.choice import available_learners
    >>> from groundmetric.experiments.splits import draw
    >>> available_learners(draw([0, 0, 1, 1], n_folds=2)).names
    ['nca-hellinger']
    """
    n_classes = len(np.unique(design.y))
    sizes = [np.bincount(design.y[train]) for train, _ in design.splits]
    fewest = min(int(each[each > 0].min()) for each in sizes)
    if fewest < 2:  # noqa: PLR2004 - a pair of the same class
        return Learners(
            ["nca-hellinger"],
            "The smoothed metric, LMNN, ITML and chi-squared LMNN were skipped: a "
            "class has a single training histogram.",
        )
    names, skipped = list(LEARNERS), []
    if not is_installed():
        names = [name for name in names if name != "lmnn-hellinger"]
        skipped.append(
            "LMNN was skipped, since it needs metric-learn: "
            "pip install 'groundmetric[baselines]'."
        )
    if SLOW in names and n_classes > FEW_CLASSES and not slow:
        names.remove(SLOW)
        skipped.append(
            f"ITML was skipped, which takes minutes with {n_classes} classes."
        )
    if is_wide(design.n_train, n_bins) and not slow:
        names = [name for name in names if name not in SLOW_IF_WIDE]
        skipped.append(
            "The smoothed metric, LMNN and chi-squared LMNN were skipped, which take "
            f"minutes with {n_bins} bins."
        )
    return Learners(names, " ".join(skipped))


def is_wide(n_rows: int, n_bins: int) -> bool:
    """Tell whether learning a matrix of all bins takes minutes.

    Examples
    --------
    >>> from groundmetric.experiments.choice import is_wide
    >>> is_wide(60, 128), is_wide(185, 542)
    (False, True)
    """
    return n_rows * n_bins**2 > WIDE


def fixed_for(X: ArrayLike, *, tfidf: bool | None = None) -> list[str]:
    """Return the distances to compare with that learn nothing from labels.

    These are FIXED, and TF-IDF with l1 if asked for; by default if histograms are like
    text.

    Examples
    --------
    >>> from groundmetric.experiments.choice import fixed_for
    >>> fixed_for([[2, 0, 0], [0, 0, 1]])
    ['l1', 'hellinger', 'chi2', 'l2', 'tfidf-l1']
    """
    weighted = is_like_text(X) if tfidf is None else tfidf
    return [*FIXED, *([TFIDF] if weighted else [])]


def usual_methods(data: Data) -> list[str]:
    """Name the methods that data are compared by, unless others are asked for.

    Examples
    --------
    >>> from groundmetric.experiments.choice import usual_methods
    >>> from groundmetric.experiments.splits import split_data
    >>> usual_methods(split_data([[4, 1], [1, 4]] * 2, [0, 1] * 2, n_folds=2))
    ['l1', 'hellinger', 'chi2', 'l2', 'nca-hellinger', 'gml', 'logistic', 'linear-svm']
    """
    learners = available_learners(data.design, data.rows.shape[1]).names
    return [*fixed_for(data.rows), *learners, "gml", *PREDICTORS]


def is_like_text(X: ArrayLike) -> bool:
    """Return whether most bins are empty, as in counts of words.

    Examples
    --------
    >>> from groundmetric.experiments.choice import is_like_text
    >>> is_like_text([[2, 0, 0], [0, 0, 1]]), is_like_text([[2, 1, 0]])
    (True, False)
    """
    rows = validation.as_distributions(X, "X")
    return bool(2 * np.count_nonzero(rows) < rows.size)


def best_first(errors: Mapping[str, float]) -> list[str]:
    """Sort methods by errors; if these are equal, methods without learning come first.

    Examples
    --------
    >>> from groundmetric.experiments.choice import best_first
    >>> best_first({"gml": 0.1, "l1": 0.1, "nca": 0.05})
    ['nca', 'l1', 'gml']
    """
    return sorted(errors, key=lambda name: (round(errors[name] / TIE), learns(name)))


def choice(
    errors: Mapping[str, float],
    interval: Callable[[str, str], tuple[float, float]],
    names: Mapping[str, str],
    wording: Wording = ERRORS,
) -> str:
    """Say in one sentence which distance to use.

    Parameters
    ----------
    errors : mapping of str to float
        Mean error of each method; bin-to-bin distances learn nothing, all others do.
    interval : callable
        ``interval(a, b)``, the ends of the 95 % interval of what ``a`` saves compared
        with ``b``; NaN if unknown.
    names : mapping of str to str
        The methods' names in a sentence.
    wording : Wording, optional
        How to write of them, if they are not errors.

    Examples
    --------
    >>> from groundmetric.experiments.choice import choice
    >>> names = {"l1": "the l1 distance", "nca": "NCA", "gml": "the learned metric"}
    >>> choice({"l1": 0.1, "nca": 0.05, "gml": 0.06}, lambda a, b: (0.01, 0.09), names)
    'Use NCA on these data: 5.0 % errors, significantly fewer than the l1 distance \
(10.0 %), the best distance that needs no learning.'
    """
    order = best_first(errors)
    best = order[0]
    few, data = wording.amount(errors[best]), "on these data"
    fixed = next((name for name in order if not learns(name)), None)
    if fixed is None:
        return f"Use {names[best]} {data}: {few}, {wording.fewest}."
    if best == fixed:
        return f"Use {names[best]} {data}: {few}, and {wording.none_fewer}."
    other = f"{names[fixed]} ({wording.number(errors[fixed])})"
    if not interval(best, fixed)[0] > 0.0:
        subject = names[best][0].upper() + names[best][1:]
        return (
            f"{subject} {wording.leads} {data}, {wording.number(errors[best])}, but "
            f"not significantly {wording.fewer} than {other}, which needs no learning: "
            "use either."
        )
    close = [
        names[name]
        for name in order[1:]
        if learns(name) and not interval(best, name)[0] > 0.0
    ]
    return (
        f"Use {names[best]} {data}: {few}, significantly {wording.fewer} than "
        f"{other}, the best distance that needs no learning{_also(close)}."
    )


def choice_of(found: Sequence[Outcome], names: Mapping[str, str]) -> str:
    """Say in one sentence which distance to use, by errors on the same splits.

    Only methods that have a name are considered.

    Examples
    --------
    >>> from groundmetric.experiments import cross_validate
    >>> from groundmetric.experiments.choice import choice_of
    >>> X = 2 * [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> found = cross_validate(X, 4 * [0, 1], methods=["l1"], n_folds=2)
    >>> choice_of(found, {"l1": "the l1 distance"})
    'No distance is better than always guessing the most common class: 50.0 % errors.'
    """
    by_name = {one.method: one for one in found if one.method in names}
    if not by_name:
        return "No distances were compared."
    means = {name: float(np.mean(one.errors)) for name, one in by_name.items()}
    guessing = found[0].design.guessing
    if min(means.values()) >= guessing:
        return (
            "No distance is better than always guessing the most common class: "
            f"{percent(guessing)} errors."
        )

    def interval(a: str, b: str) -> tuple[float, float]:
        saved = by_name[b].saved_by(by_name[a])
        return saved.low, saved.high

    return choice(means, interval, names)


def labels_only(
    distances: Iterable[CrossValidation],
    predictions: Iterable[Prediction],
    names: Mapping[str, str],
) -> str:
    """Say so if a predictor of labels makes significantly fewer errors than all.

    Names are those of distances and predictors in a sentence; if no predictor is
    better than every distance, and than guessing, there is nothing to say.

    Examples
    --------
    >>> from groundmetric.experiments import CrossValidation, Prediction
    >>> from groundmetric.experiments.choice import labels_only
    >>> from groundmetric.experiments.splits import given
    >>> design = given([0, 1], [0, 1] * 20)
    >>> l1 = CrossValidation("l1", design, [[k < 20 for k in range(40)]])
    >>> few = Prediction("logistic", design, [[k < 2 for k in range(40)]])
    >>> names = {"l1": "the l1 distance", "logistic": "logistic regression"}
    >>> labels_only([l1], [few], names)
    'If you only need labels, use logistic regression: 5.0 % errors, significantly \
fewer than under any of these distances (the l1 distance: 50.0 %).'
    """
    found = [
        (float(np.mean(one.errors)), one.method, one, measure)
        for one in distances
        for measure in (["knn"] if one.svm_wrong is None else ["knn", "svm"])
    ]
    for best in sorted(predictions, key=lambda one: float(np.mean(one.errors))):
        few = float(np.mean(best.errors))
        if not found or few >= best.design.guessing:
            continue
        if all(one.saved_by(best, measure).low > 0.0 for *_, one, measure in found):
            error, other, *_ = min(found, key=lambda each: each[0])
            return (
                f"If you only need labels, use {names[best.method]}: {percent(few)} "
                "errors, significantly fewer than under any of these distances "
                f"({names[other]}: {percent(error)})."
            )
    return ""


def _also(close: Sequence[str]) -> str:
    if not close:
        return ""
    *first, last = close
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"; {listed} {'are' if first else 'is'} not significantly worse"
