"""Where histograms come from: what a page calls them, and their pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


def _no_picture(_row: int) -> None:
    return None


@dataclass(frozen=True)
class Origin:
    """Functions of a row: its name, and its picture as a data URI, if there is one."""

    name: Callable[[int], str]
    picture: Callable[[int], str | None] = _no_picture

    @classmethod
    def of(cls, X: object, what: str) -> Origin:
        """Name the rows of an array by number, and of a frame by its index, too."""
        index = getattr(X, "index", None)
        if index is None or not hasattr(X, "columns"):  # lists have a method index
            return cls(lambda row: f"row {row} of {what}")
        return cls(
            lambda row: (
                f"row {row} of {what}"
                if index[row] == row
                else f"{index[row]} (row {row} of {what})"
            )
        )


class Origins(NamedTuple):
    """Of the training and the test histograms."""

    train: Origin
    test: Origin
