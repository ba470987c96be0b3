"""Which distance to use: the one with the fewest errors, or one as good and simpler."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import validation
from .._metric_learn import is_installed
from .._words import percent
from .design import TIE
from .names import FIXED, LEARNERS, TFIDF, learns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from .cross_validation import CrossValidation
    from .design import Design
    from .splits import Data

__all__ = ["Learners", "available_learners", "best_first", "choice", "choice_of"]
__all__ += ["fixed_for", "is_like_text", "usual_methods"]

SLOW, FEW_CLASSES = "itml-hellinger", 5  # its pairs grow as classes squared


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


def available_learners(design: Design, *, slow: bool = False) -> Learners:
    """Return the learners that can learn from all training sets of a design.

    ITML is slow if there are many classes, and left out unless asked for.

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
    return Learners(names, " ".join(skipped))


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
    ['l1', 'hellinger', 'chi2', 'l2', 'nca-hellinger', 'gml']
    """
    return [*fixed_for(data.rows), *available_learners(data.design).names, "gml"]


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
    few, data = percent(errors[best]), "on these data"
    fixed = next((name for name in order if not learns(name)), None)
    if fixed is None:
        return f"Use {names[best]} {data}: {few} errors, the fewest."
    if best == fixed:
        return f"Use {names[best]} {data}: {few} errors, and no learner makes fewer."
    other = f"{names[fixed]} ({percent(errors[fixed])})"
    if not interval(best, fixed)[0] > 0.0:
        subject = names[best][0].upper() + names[best][1:]
        return (
            f"{subject} makes the fewest errors {data}, {few}, but not significantly "
            f"fewer than {other}, which needs no learning: use either."
        )
    close = [
        names[name]
        for name in order[1:]
        if learns(name) and not interval(best, name)[0] > 0.0
    ]
    return (
        f"Use {names[best]} {data}: {few} errors, significantly fewer than {other}, "
        f"the best distance that needs no learning{_also(close)}."
    )


def choice_of(found: Sequence[CrossValidation], names: Mapping[str, str]) -> str:
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
    means = {name: float(np.mean(one.knn_errors)) for name, one in by_name.items()}
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


def _also(close: Sequence[str]) -> str:
    if not close:
        return ""
    *first, last = close
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"; {listed} {'are' if first else 'is'} not significantly worse"
