"""The first part of a page: the verdict, what supports it, and how it was found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .._words import percent, points
from ._evaluation import TEST_SHARE
from ._verdict import details, kind, recall_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ._evaluation import Evaluation
    from ._verdict import Gain


@dataclass(frozen=True)
class Section:
    """What the page says first.

    Attributes
    ----------
    headline : str
        The verdict.
    details : list of str
        Sentences that follow it, each a paragraph.
    columns : list of str
        Titles of the table after that of the distance.
    rows : dict
        Cells of each distance, by its name.
    gains : dict
        The learned metric beside each other distance; that to l1 is the verdict.
    how : str
        How all of this was found.
    rest : list of str
        What to know about the rest of the page.
    """

    headline: str
    details: list[str]
    columns: list[str]
    rows: dict[str, list[str]]
    gains: Mapping[str, Gain]
    how: str
    rest: list[str] = field(default_factory=list)


def one_test_set(evaluation: Evaluation, seed: int) -> Section:
    """Tell what a single test set says."""
    return Section(
        evaluation.headline(),
        list(_details(evaluation)),
        [
            f"Errors, {evaluation.n_neighbors} neighbors",
            "Recall accuracy",
            "Saved by learning (95 %)",
            "McNemar\N{RIGHT SINGLE QUOTATION MARK}s p",
        ],
        _rows(evaluation),
        evaluation.differences(),
        _how(evaluation, seed),
    )


def saved(found: Gain) -> str:
    """Write what learning saves, with its interval."""
    return f"{points(found.gain)} ({points(found.low)} to {points(found.high)})"


def _details(evaluation: Evaluation) -> Iterable[str]:
    """Size of the difference to l1, to the start, and the best of the others."""
    found = evaluation.differences()
    if evaluation.n_seen:
        yield (
            f"Beware: {evaluation.n_seen} of the {len(evaluation.data.test)} test "
            "histograms are also among those to learn from, so errors are too small."
        )
    yield details(found["l1"])
    if "initial" in found:
        start = details(found["initial"])
        words = {
            "helped": "The descent itself helped",
            "hurt": "The descent itself did harm",
            "unclear": "The descent itself made no difference beyond chance",
        }
        yield f"{words[kind(found['initial'])]}. {start}"
    else:
        yield (
            "It started from the uniform metric, whose EMD is half of l1: the "
            "comparison with the start is the same."
        )
    if recalls := evaluation.recalls():
        yield recall_beside(found["l1"], *recalls)
    yield evaluation.best_other()


def _how(evaluation: Evaluation, seed: int) -> str:
    n = len(evaluation.data.test)
    if evaluation.data.was_split:
        source = (
            f"No test set was given: {100 * TEST_SHARE:.0f} % of the histograms of "
            f"each class ({n} in all, drawn with seed {seed}) were set aside, and the "
            "metric was learned from the others."
        )
    else:
        source = f"Errors are those on the {n} test histograms that were given."
    return (
        f"{source} A test histogram gets the label that most of its "
        f"{evaluation.n_neighbors} nearest training histograms have. The interval is "
        "Bonett and Price's for paired proportions: it tells how sure the difference "
        "is for this training set, not what another training set would give. Several "
        "distances are compared, and the intervals are not adjusted for that."
    )


def _rows(evaluation: Evaluation) -> dict[str, list[str]]:
    found = evaluation.differences()
    rows = {}
    for name, judged in evaluation.judged.items():
        at = min(evaluation.n_neighbors, len(judged.recall))
        cells = [
            percent(judged.errors[evaluation.n_neighbors - 1]),
            percent(judged.recall[at - 1]) if at else "",
        ]
        if name in found:
            cells += [saved(found[name]), f"{found[name].p_value:.2g}"]
        else:
            cells += ["", ""]
        rows[name] = cells
    return rows
