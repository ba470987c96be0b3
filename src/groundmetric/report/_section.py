"""The first section of a page: the verdict, its support, and the method."""

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

SECONDS = "Seconds to learn"  # of CPU time


@dataclass(frozen=True)
class Section:
    """Contents of the first section.

    Attributes
    ----------
    headline : str
        The verdict.
    details : list of str
        Sentences that follow it, one per paragraph.
    columns : list of str
        Column titles of the table, after the distance.
    rows : dict
        Cells for each distance, by name.
    gains : dict
        The learned metric compared with each other distance; l1 gives the verdict.
    how : str
        How the numbers were computed.
    rest : list of str
        Notes on the rest of the page.
    about : list of str
        Notes on the data, below the verdict.
    options : dict
        Other options of ``write_report`` that make this page.
    """

    headline: str
    details: list[str]
    columns: list[str]
    rows: dict[str, list[str]]
    gains: Mapping[str, Gain]
    how: str
    rest: list[str] = field(default_factory=list)
    about: list[str] = field(default_factory=list)
    options: dict[str, object] = field(default_factory=dict)


def one_test_set(evaluation: Evaluation, seed: int, skipped: str = "") -> Section:
    """Return the section for a single test set; a sentence on skipped learners."""
    return Section(
        evaluation.headline(),
        list(_details(evaluation)),
        [
            f"Errors, {evaluation.n_neighbors} neighbors",
            "Recall accuracy",
            "Saved by learning (95 %)",
            "McNemar\N{RIGHT SINGLE QUOTATION MARK}s p",
            *([SECONDS] if len(evaluation.seconds) > 1 else []),
        ],
        _rows(evaluation),
        evaluation.differences(),
        " ".join(filter(None, [_how(evaluation, seed), skipped])),
    )


def saved(found: Gain) -> str:
    """Write what learning saves, with its interval."""
    return f"{points(found.gain)} ({found.interval})"


def time_of(seconds: float | None) -> str:
    """Write a time in seconds; nothing if nothing was learned."""
    return "" if seconds is None else f"{seconds:.1f}"


def _details(evaluation: Evaluation) -> Iterable[str]:
    """Compare the learned metric with l1, the initial metric, and the best other."""
    found = evaluation.differences()
    if chosen := evaluation.choice():
        yield chosen
    if evaluation.n_seen:
        yield (
            f"Warning: {evaluation.n_seen} of the {len(evaluation.data.test)} test "
            "histograms are also in the training set, so errors are too low."
        )
    yield details(found["l1"])
    if "initial" in found:
        start = details(found["initial"])
        words = {
            "helped": "The descent itself helped",
            "hurt": "The descent itself made things worse",
            "unclear": "The descent itself made no significant difference",
        }
        yield f"{words[kind(found['initial'])]}. {start}"
    else:
        yield (
            "Learning started from the uniform metric, whose EMD is half of l1, so the "
            "comparison with the initial metric is the same."
        )
    if recalls := evaluation.recalls():
        yield recall_beside(found["l1"], *recalls)
    yield evaluation.best_other()


def _how(evaluation: Evaluation, seed: int) -> str:
    n = len(evaluation.data.test)
    if evaluation.data.was_split:
        source = (
            f"No test set was given: {100 * TEST_SHARE:.0f} % of the histograms of "
            f"each class ({n} in all, drawn with seed {seed}) were held out, and the "
            "metric was learned from the rest."
        )
    else:
        source = f"Errors are measured on the {n} test histograms provided."
    return (
        f"{source} A test histogram gets the most common label among its "
        f"{evaluation.n_neighbors} nearest training histograms. The interval is "
        "Bonett and Price's for paired proportions: it shows how certain the "
        "difference is for this training set, not what another training set would "
        "give. Intervals are not adjusted for multiple comparisons."
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
        if len(evaluation.seconds) > 1:
            cells.append(time_of(evaluation.seconds.get(name)))
        rows[name] = cells
    return rows
