"""Errors over repeated random splits, since a single split may be lucky."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._words import percent
from ..experiments import resampled_mean
from ..experiments.names import in_a_sentence
from ._names import that_do_not_learn, which_over_splits
from ._section import SECONDS, Section, saved, time_of
from ._verdict import Gain, best_of, headline, recall_beside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ._evaluation import Evaluation

DRAWN = (
    "Each split draws its training histograms at random within each class, and its "
    "test histograms from the rest."
)
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
    ratio : float
        Test histograms for each histogram to draw training histograms from.
    seconds : mapping of str to float
        CPU time for learning, mean over splits.
    """

    errors: Mapping[str, Sequence[float]]
    recall: Mapping[str, Sequence[float]]
    gains: Mapping[str, Gain]
    n_neighbors: int
    n_train: int
    n_test: int
    ratio: float
    seconds: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        found: Sequence[Evaluation],
        *,
        ratio: float,
        others: Mapping[str, Sequence[float]] | None = None,
    ) -> Repeated:
        """Gather the evaluations of all splits, and errors of other distances."""
        first = found[0]
        at = first.n_neighbors
        errors, recall, seconds = {}, {}, {}
        for name, judged in first.judged.items():
            each = [one.judged[name] for one in found]
            errors[name] = [float(one.errors[at - 1]) for one in each]
            if most := min(at, len(judged.recall)):
                recall[name] = [float(one.recall[most - 1]) for one in each]
            if name in first.seconds:
                seconds[name] = float(np.mean([one.seconds[name] for one in found]))
        errors |= {name: list(values) for name, values in (others or {}).items()}
        sizes = len(first.data.train), len(first.data.test)
        gains = gains_of(errors, ratio)
        return cls(errors, recall, gains, at, *sizes, ratio, seconds)

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

    def choice(self) -> str:
        """Say in one sentence which distance to use; nothing without other learners."""
        return which_over_splits(self.errors, self.ratio)

    def verdict(self) -> str:
        """Return the headline, and which distance to use, for the terminal."""
        return " ".join(filter(None, [self.headline(), self.choice()]))

    def sentences(self) -> list[str]:
        """Sentences that support the headline, or contradict it."""
        l1 = self.gains["l1"]
        size = f"{abs(100 * l1.gain):.1f} percentage points"
        much = f"saves {size}" if l1.gain >= 0 else f"makes {size} more errors"
        interval = l1.interval
        if l1.is_certain:
            interval = f"95 % interval of what it saves: {interval}"
        spread = (
            f"These are means over {self.n_splits} random splits, each with "
            f"{self.n_train} training and {self.n_test} test histograms. Compared with "
            f"{l1.other}, learning {much} ({interval}), with fewer errors in "
            f"{self.wins('l1')} splits."
        )
        chosen = self.choice()
        said = [chosen, spread] if chosen else [spread]
        said.append(best_of([*that_do_not_learn(self.gains).values()]))
        if self.recall:
            ours, theirs = (float(np.mean(self.recall[x])) for x in ("learned", "l1"))
            said.append(recall_beside(l1, ours, theirs, self.n_neighbors))
        return said

    def columns(self) -> list[str]:
        """Titles of the table, after the distance."""
        return [*COLUMNS, *([SECONDS] if len(self.seconds) > 1 else [])]

    def rows(self) -> dict[str, list[str]]:
        """Cells of the table for each distance."""
        found = {}
        for name, errors in self.errors.items():
            cells = [percent(float(np.mean(errors))), percent(_deviation(errors))]
            if name in self.gains:
                cells += [saved(self.gains[name]), self.wins(name)]
            else:
                cells += ["", ""]
            if len(self.seconds) > 1:
                cells.append(time_of(self.seconds.get(name)))
            found[name] = cells
        return found

    def section(self, notes: Sequence[str], how: str = DRAWN) -> Section:
        """Return the first section of the page; notes follow the verdict.

        The last argument says how the splits were drawn.
        """
        return Section(
            self.headline(),
            [*self.sentences(), *notes],
            self.columns(),
            self.rows(),
            self.gains,
            f"{how} A test histogram gets the most common label among its "
            f"{self.n_neighbors} nearest training histograms. Intervals are Student's "
            "over splits, widened because splits overlap (Nadeau and Bengio), and not "
            "adjusted for multiple comparisons.",
            [f"The rest of this page shows the first of the {self.n_splits} splits."],
        )


def gains_of(errors: Mapping[str, Sequence[float]], ratio: float) -> dict[str, Gain]:
    """Compare the learned metric with each other distance, split by split."""
    learned = errors["learned"]
    gains = {}
    for name in [name for name in errors if name != "learned"]:
        found = resampled_mean(np.subtract(errors[name], learned), ratio=ratio)
        # If all splits have the same gain, they do not show how certain it is.
        low, high = (
            (-1.0, 1.0)
            if math.isnan(found.low)
            else (max(-1.0, found.low), min(1.0, found.high))
        )
        means = float(np.mean(learned)), float(np.mean(errors[name]))
        gains[name] = Gain(in_a_sentence(name), *means, low, high)
    return gains


def _deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
