"""Which distance to use: the one with the fewest errors, or one as good and simpler."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .. import validation
from .._metric_learn import is_installed
from .._words import percent
from ..distances import DISTANCES
from .cross_validation import resampled_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

__all__ = ["FIXED", "LEARNERS", "Learners", "available_learners", "choice"]
__all__ += ["TFIDF", "best_first", "choice_over_splits", "fixed_for", "is_like_text"]

#: Distances that learn nothing.
FIXED: tuple[str, ...] = ("l1", "hellinger", "chi2", "l2")
TFIDF = "tfidf-l1"  # for words; learns nothing from labels
#: Other learners that a learned metric is compared with: our own for smoothed
#: distances, and others on square roots of histograms (LMNN, ITML, NCA) or histograms.
LEARNERS: tuple[str, ...] = (
    "gml-smoothed",
    "lmnn-hellinger",
    "itml-hellinger",
    "nca-hellinger",
    "chi2-lmnn",
)


class Learners(NamedTuple):
    """Names of learners that can run, and a sentence on those that cannot, if any.

    Examples
    --------
    >>> from groundmetric.experiments.choice import Learners
    >>> Learners(["nca-hellinger"], "LMNN was skipped.").names
    ['nca-hellinger']
    """

    names: list[str]
    skipped: str


def available_learners(fewest: int) -> Learners:
    """Return the learners that can learn from this few histograms of a class.

    Examples
    --------
    >>> from groundmetric.experiments.choice import available_learners
    >>> available_learners(1).names
    ['nca-hellinger']
    """
    if fewest < 2:  # noqa: PLR2004 - a pair of the same class
        return Learners(
            ["nca-hellinger"],
            "The smoothed metric, LMNN, ITML and chi-squared LMNN were skipped: a "
            "class has a single training histogram.",
        )
    if not is_installed():
        return Learners(
            [name for name in LEARNERS if not name.startswith(("lmnn", "itml"))],
            "LMNN and ITML were skipped, since they need metric-learn: "
            "pip install 'groundmetric[baselines]'.",
        )
    return Learners(list(LEARNERS), "")


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


def is_like_text(X: ArrayLike) -> bool:
    """Tell whether most bins are empty, as in counts of words.

    Examples
    --------
    >>> from groundmetric.experiments.choice import is_like_text
    >>> is_like_text([[2, 0, 0], [0, 0, 1]]), is_like_text([[2, 1, 0]])
    (True, False)
    """
    rows = validation.as_distributions(X, "X")
    return bool(2 * np.count_nonzero(rows) < rows.size)


def best_first(errors: Mapping[str, float]) -> list[str]:
    """Sort methods by their errors; of equals, those that learn nothing come first.

    Examples
    --------
    >>> from groundmetric.experiments.choice import best_first
    >>> best_first({"gml": 0.1, "l1": 0.1, "nca": 0.05})
    ['nca', 'l1', 'gml']
    """
    return sorted(errors, key=lambda name: (errors[name], _learns(name)))


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
    fixed = next((name for name in order if not _learns(name)), None)
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
        if _learns(name) and not interval(best, name)[0] > 0.0
    ]
    return (
        f"Use {names[best]} {data}: {few} errors, significantly fewer than {other}, "
        f"the best distance that needs no learning{_also(close)}."
    )


def choice_over_splits(
    errors: Mapping[str, Sequence[float]], *, ratio: float, names: Mapping[str, str]
) -> str:
    """Say in one sentence which distance to use, by errors on the same splits.

    The ratio is as in :func:`resampled_mean`.

    Examples
    --------
    >>> from groundmetric.experiments.choice import choice_over_splits
    >>> names = {"l1": "the l1 distance", "nca": "NCA"}
    >>> errors = {"l1": [0.2, 0.3], "nca": [0.2, 0.2]}
    >>> choice_over_splits(errors, ratio=0.5, names=names)
    'NCA makes the fewest errors on these data, 20.0 %, but not significantly fewer \
than the l1 distance (25.0 %), which needs no learning: use either.'
    """

    def interval(a: str, b: str) -> tuple[float, float]:
        saved = resampled_mean(np.subtract(errors[b], errors[a]), ratio=ratio)
        return saved.low, saved.high

    means = {name: float(np.mean(values)) for name, values in errors.items()}
    return choice(means, interval, names)


def _learns(name: str) -> bool:
    return name not in {*DISTANCES, TFIDF}


def _also(close: Sequence[str]) -> str:
    if not close:
        return ""
    *first, last = close
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"; {listed} {'are' if first else 'is'} not significantly worse"
