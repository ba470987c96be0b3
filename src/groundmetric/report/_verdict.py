"""Did learning help? Errors on the same test histograms, compared pair by pair.

Only histograms that one distance classifies correctly and the other does not carry
information. If b of n are correct under the learned metric only, and c under the other
only, the 95 % interval of the difference is the adjusted Wald interval of Bonett &
Price (2012):

    p = (b + 1) / (n + 2),  q = (c + 1) / (n + 2),
    p - q  -/+  1.96 sqrt((p + q - (p - q)^2) / (n + 2)),

clipped to [-1, 1]. Its coverage holds even if b and c are small or zero. The p-value is
that of McNemar's exact test.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from .._words import count, percent, points
from ..experiments.inference import LEVEL, sign_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Z = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True)
class Gain:
    """Errors under the learned metric, compared with another distance.

    Attributes
    ----------
    other : str
        Name of the other distance.
    error, other_error : float
        Error rates of the learned metric and of the other.
    low, high : float
        Interval of ``other_error - error``; positive if learning is better.
    """

    other: str
    error: float
    other_error: float
    low: float
    high: float

    @property
    def gain(self) -> float:
        """Error rate that learning saves."""
        return self.other_error - self.error

    @property
    def is_certain(self) -> bool:
        """Whether there is an interval: not if all splits have the same gain."""
        return self.low > -1.0 or self.high < 1.0

    @property
    def interval(self) -> str:
        """The interval in words."""
        if not self.is_certain:
            return "interval unknown"
        return f"{points(self.low)} to {points(self.high)}"


@dataclass(frozen=True)
class Difference(Gain):
    """A gain on one test set, compared histogram by histogram.

    Attributes
    ----------
    n_mended, n_spoiled : int
        Numbers of histograms that only the learned metric, and only the other,
        classifies correctly.
    p_value : float
        p-value of McNemar's exact test.
    """

    n_mended: int
    n_spoiled: int
    p_value: float


def difference(
    other: str, right: NDArray[np.bool_], other_right: NDArray[np.bool_]
) -> Difference:
    """Compare which test histograms are classified correctly."""
    n = len(right)
    b, c = int((right & ~other_right).sum()), int((~right & other_right).sum())
    p, q = (b + 1) / (n + 2), (c + 1) / (n + 2)
    half = Z * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return Difference(
        other=other,
        error=1.0 - float(right.mean()),
        other_error=1.0 - float(other_right.mean()),
        low=max(-1.0, p - q - half),
        high=min(1.0, p - q + half),
        n_mended=b,
        n_spoiled=c,
        p_value=sign_p_value(b, c),
    )


def kind(found: Gain) -> str:
    """Return "helped", "hurt", or "unclear" if the interval contains zero."""
    if found.low > 0.0:
        return "helped"
    return "hurt" if found.high < 0.0 else "unclear"


def headline(found: Gain, n_neighbors: int) -> str:
    """Return the verdict in one sentence, based on errors of nearest neighbors."""
    said = {
        "helped": "Learning helped",
        "hurt": "Learning made things worse",
        "unclear": "Learning made no significant difference",
    }[kind(found)]
    voters = count(n_neighbors, "nearest neighbor")
    return (
        f"{said}: {percent(found.error)} errors of {voters} under the learned metric, "
        f"{percent(found.other_error)} under {found.other}."
    )


def contradicts(found: Gain, recall: float, other_recall: float) -> bool:
    """Whether recall, as printed, contradicts a significant verdict."""
    more = round(recall - other_recall, 3)
    return {"helped": more < 0, "hurt": more > 0, "unclear": False}[kind(found)]


def recall_beside(
    found: Gain, recall: float, other_recall: float, n_neighbors: int
) -> str:
    """Report recall in a sentence, and explain why it may contradict the verdict."""
    what = (
        "Recall accuracy, the share of its own class among a test histogram's "
        f"{count(n_neighbors, 'nearest other')}"
    )
    facts = (
        f"{percent(recall)} under the learned metric, {percent(other_recall)} under "
        f"{found.other}."
    )
    if not contradicts(found, recall, other_recall):
        return f"{what}: {facts}"
    return (
        f"{what}, disagrees with the verdict: {facts} The verdict is based on errors. "
        "A vote only needs a majority, but recall counts every neighbor, and it "
        "searches the test set, not the training set."
    )


def details(found: Difference) -> str:
    """Return the size of the difference, and where it comes from."""
    size = abs(100 * found.gain)
    if found.gain == 0.0:
        much = f"The same number of errors as with {found.other}"
    else:
        lower = "lower" if found.gain > 0 else "higher"
        much = (
            f"Errors are {size:.1f} percentage points {lower} than with {found.other}"
        )
    return (
        f"{much} (95 % interval of what learning saves: {points(found.low)} to "
        f"{points(found.high)}): learning corrects {_count(found.n_mended, 'error')} "
        f"and introduces {_count(found.n_spoiled, 'new one')}."
    )


def best_of(others: Sequence[Gain]) -> str:
    """Compare the learned metric with the best distance that does not learn."""
    best = min(others, key=lambda found: found.other_error)
    beside = "as many as" if best.gain == 0.0 else "more than"
    if best.gain < 0.0:
        beside = "fewer than"
    unclear = kind(best) == "unclear" and best.gain
    chance = ", but not significantly so" if unclear else ""
    return (
        f"Of the distances that do not learn, {best.other} does best here, with "
        f"{percent(best.other_error)} errors: {beside} the learned metric{chance}."
    )


def _count(n: int, what: str) -> str:
    return count(n, what) if n else f"no {what}"
