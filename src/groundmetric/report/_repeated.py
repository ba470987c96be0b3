"""Errors over repeated random splits, since a single split may be lucky."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._words import percent, points
from ._section import Section, saved
from ._verdict import Gain, best_of, headline, recall_beside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Column titles after the distance; short enough for a terminal.
COLUMNS = ("Errors", "Std. dev.", "Saved by learning (95 %)", "Splits won")


@dataclass(frozen=True)
class Repeated:
    """Errors and recall of all distances on the same splits.

    Attributes
    ----------
    errors, recall : mapping of str to sequence of float
        Values of each distance, by name, in each split; "learned" and "l1" are
        required.
    gains : mapping of str to Gain
        The learned metric compared with each other distance, over all splits.
    n_neighbors : int
        Number of neighbors that vote.
    n_train, n_test : int
        Numbers of histograms in each split.
    """

    errors: Mapping[str, Sequence[float]]
    recall: Mapping[str, Sequence[float]]
    gains: Mapping[str, Gain]
    n_neighbors: int
    n_train: int
    n_test: int

    @property
    def n_splits(self) -> int:
        """Number of splits."""
        return len(self.errors["learned"])

    def wins(self, other: str) -> str:
        """Say in how many splits the learned metric has fewer errors."""
        fewer = np.less(self.errors["learned"], self.errors[other])
        return f"{int(fewer.sum())} of {self.n_splits}"

    def headline(self) -> str:
        """Say in one sentence whether learning helped."""
        return headline(self.gains["l1"], self.n_neighbors)

    def sentences(self) -> list[str]:
        """Sentences that support the headline, or contradict it."""
        l1 = self.gains["l1"]
        recall = [float(np.mean(self.recall[name])) for name in ("learned", "l1")]
        spread = (
            f"These are means over {self.n_splits} random splits, each with "
            f"{self.n_train} training and {self.n_test} test histograms. Compared with "
            f"{l1.other}, learning saves {100 * l1.gain:.1f} percentage points (95 % "
            f"interval {points(l1.low)} to {points(l1.high)}), with fewer errors in "
            f"{self.wins('l1')} splits."
        )
        return [
            spread,
            best_of([gain for name, gain in self.gains.items() if name != "initial"]),
            recall_beside(l1, recall[0], recall[1], self.n_neighbors),
        ]

    def rows(self) -> dict[str, list[str]]:
        """Cells of the table for each distance."""
        found = {}
        for name, errors in self.errors.items():
            cells = [percent(float(np.mean(errors))), percent(_deviation(errors))]
            if name in self.gains:
                cells += [saved(self.gains[name]), self.wins(name)]
            else:
                cells += ["", ""]
            found[name] = cells
        return found

    def section(self, notes: Sequence[str]) -> Section:
        """Return the first section of the page; notes follow the verdict."""
        return Section(
            self.headline(),
            [*self.sentences(), *notes],
            list(COLUMNS),
            self.rows(),
            self.gains,
            "Each split draws its training histograms at random within each class, and "
            "its test histograms from the rest. A test histogram gets the most common "
            f"label among its {self.n_neighbors} nearest training histograms. "
            "Intervals are Student's over splits, widened because test sets overlap "
            "(Nadeau and Bengio), and not adjusted for multiple comparisons.",
            [f"The rest of this page shows the first of the {self.n_splits} splits."],
        )


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
