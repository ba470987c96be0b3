"""How a choice is worded: by errors, or by scores of your own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .._words import percent

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ERRORS", "SCORES", "Wording"]


class Wording(NamedTuple):
    """How to write of errors, or of what else is the less the better."""

    amount: Callable[[float], str]
    number: Callable[[float], str]
    fewest: str
    fewer: str
    leads: str
    none_fewer: str


ERRORS = Wording(
    amount=lambda error: f"{percent(error)} errors",
    number=percent,
    fewest="the fewest",
    fewer="fewer",
    leads="makes the fewest errors",
    none_fewer="no learner makes fewer",
)
SCORES = Wording(  # of the negative of scores
    amount=lambda loss: f"a score of {-loss:.3g}",
    number=lambda loss: f"{-loss:.3g}",
    fewest="the highest",
    fewer="higher",
    leads="has the highest score",
    none_fewer="no learner has a higher one",
)
