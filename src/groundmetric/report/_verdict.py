"""Did learning help? Errors on the same test histograms, compared pair by pair.

Only histograms that one distance gets right and the other wrong can tell. With b of
them right under the learned metric only, c under the other only, of n, the 95 %
interval of the difference is the adjusted Wald interval of Bonett & Price (2012):

    p = (b + 1) / (n + 2),  q = (c + 1) / (n + 2),
    p - q  -/+  1.96 sqrt((p + q - (p - q)^2) / (n + 2)),

which stays honest where b and c are small, or zero; it ends where differences of shares
do, at -1 and 1. The p-value is McNemar's, exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._words import count, percent, points
from ..experiments.inference import sign_p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

Z = 1.959963984540054  # of the normal distribution, two-sided 95 %


@dataclass(frozen=True)
class Gain:
    """Errors under the learned metric beside those under another distance.

    Attributes
    ----------
    other : str
        What the other is called.
    error, other_error : float
        Shares of errors, of the learned metric and of the other.
    low, high : float
        Interval of ``other_error - error``; above 0 where learning is better.
    """

    other: str
    error: float
    other_error: float
    low: float
    high: float

    @property
    def gain(self) -> float:
        """Share of errors that learning saves."""
        return self.other_error - self.error


@dataclass(frozen=True)
class Difference(Gain):
    """The same on one test set, compared histogram by histogram.

    Attributes
    ----------
    n_mended, n_spoiled : int
        Histograms that only the learned metric gets right, and only the other.
    p_value : float
        Of McNemar's exact test.
    """

    n_mended: int
    n_spoiled: int
    p_value: float


def difference(
    other: str, right: NDArray[np.bool_], other_right: NDArray[np.bool_]
) -> Difference:
    """Compare who is right where."""
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
    """Say "helped", "hurt", or "unclear" if the interval has zero inside."""
    if found.low > 0.0:
        return "helped"
    return "hurt" if found.high < 0.0 else "unclear"


def headline(found: Gain, n_neighbors: int) -> str:
    """Return the verdict in one sentence: it goes by errors of nearest neighbors."""
    said = {
        "helped": "Learning helped",
        "hurt": "Learning did not help, it made things worse",
        "unclear": "Learning made no difference that can be told from chance",
    }[kind(found)]
    voters = count(n_neighbors, "nearest neighbor")
    return (
        f"{said}: {percent(found.error)} errors of {voters} under the learned metric, "
        f"{percent(found.other_error)} under {found.other}."
    )


def contradicts(found: Gain, recall: float, other_recall: float) -> bool:
    """Whether recall, as it is printed, goes the other way than a clear verdict."""
    more = round(recall - other_recall, 3)
    return {"helped": more < 0, "hurt": more > 0, "unclear": False}[kind(found)]


def recall_beside(
    found: Gain, recall: float, other_recall: float, n_neighbors: int
) -> str:
    """Say the other measure in a sentence, and why it may contradict the verdict."""
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
        f"{what}, disagrees with the verdict: {facts} The verdict goes by errors. A "
        "vote only needs a majority, but recall counts every neighbor, and it looks "
        "for them among test histograms, not among those to learn from."
    )


def details(found: Difference) -> str:
    """Return the size of the difference, and where it comes from."""
    size = abs(100 * found.gain)
    if found.gain == 0.0:
        much = f"As many errors as with {found.other}"
    else:
        fewer = "fewer" if found.gain > 0 else "more"
        much = f"{size:.1f} percentage points {fewer} than with {found.other}"
    return (
        f"{much} (95 % interval of what learning saves: {points(found.low)} to "
        f"{points(found.high)}): it mends {_count(found.n_mended, 'error')} and "
        f"makes {_count(found.n_spoiled, 'new one')}."
    )


def best_of(others: Sequence[Gain]) -> str:
    """Name the best distance that learns nothing, and say if it is the better one."""
    best = min(others, key=lambda found: found.other_error)
    beside = "as many as" if best.gain == 0.0 else "more than"
    if best.gain < 0.0:
        beside = "fewer than"
    chance = ", which may be chance" if kind(best) == "unclear" and best.gain else ""
    return (
        f"Of the distances that learn nothing, {best.other} does best here, with "
        f"{percent(best.other_error)} errors: {beside} the learned metric{chance}."
    )


def _count(n: int, what: str) -> str:
    return count(n, what) if n else f"no {what}"
