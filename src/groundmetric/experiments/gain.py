"""What learning saves compared with another distance, and how sure that is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._words import percent, points

__all__ = ["DID", "Gain", "confidence", "kind"]

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
    >>> from groundmetric.experiments.gain import Gain
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
    >>> from groundmetric.experiments.gain import confidence
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
    >>> from groundmetric.experiments.gain import Gain, kind
    >>> kind(Gain("the l1 distance", 0.08, 0.12, 0.04, 0.01, 0.07, 0.99))
    'helped'
    """
    if found.low > 0.0:
        return "helped"
    return "hurt" if found.high < 0.0 else "unclear"
