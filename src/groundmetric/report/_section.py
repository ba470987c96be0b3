"""The first section of a page: the verdict, its support, and the method."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .._words import count, percent
from ..experiments.verdict import kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..experiments.verdict import Gain
    from ._evaluation import Evaluation


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


def section_of(evaluation: Evaluation, notes: Sequence[str] = ()) -> Section:
    """Return the first section of a page; notes follow the verdict."""
    verdict, design = evaluation.verdict, evaluation.data.design
    how = (
        f"{design.words} A test histogram gets the most common label among its "
        f"{verdict.n_neighbors} nearest training histograms. {design.inference} They "
        "are not adjusted for multiple comparisons. How sure it is that learning is "
        "better than a distance comes from the same calculation."
    )
    several = f"The rest of this page shows the first of the {design.n_splits} splits."
    return Section(
        verdict.headline(),
        [text for text in [*_details(evaluation), *notes] if text],
        verdict.columns(),
        verdict.rows(),
        verdict.gains(),
        how,
        [several] if design.n_splits > 1 else [],
    )


def _details(evaluation: Evaluation) -> Iterable[str]:
    """Compare the learned metric with l1, the initial metric, and the best other."""
    verdict = evaluation.verdict
    yield verdict.size()
    yield verdict.guessing()
    yield verdict.choice()
    if evaluation.n_seen:
        yield (
            f"Warning: {evaluation.n_seen} of the {len(evaluation.data.test)} test "
            "histograms are also in the training set, so errors are too low."
        )
    yield _changes(evaluation)
    if "initial" in evaluation.judged:
        found = verdict.gain("initial")
        words = {
            "helped": "The descent itself helped",
            "hurt": "The descent itself made things worse",
            "unclear": "The descent itself made no significant difference",
        }
        yield (
            f"{words[kind(found)]}: {percent(found.other_error)} errors under "
            f"{found.other}, where it started."
        )
    elif not evaluation.data.was_split:
        yield (
            "Learning started from the uniform metric, whose EMD is half of l1, so the "
            "comparison with the initial metric is the same."
        )
    yield recall_beside(evaluation)
    yield verdict.best_fixed()


def _changes(evaluation: Evaluation) -> str:
    """Count what learning corrects on a test set, compared with l1."""
    if evaluation.data.was_split:
        return ""
    found = evaluation.verdict.found
    ours, theirs = (np.asarray(found[name].knn_wrong[0]) for name in ("learned", "l1"))
    mended, spoiled = int((theirs & ~ours).sum()), int((ours & ~theirs).sum())
    return (
        f"Compared with the l1 distance, learning corrects {_count(mended, 'error')} "
        f"and introduces {_count(spoiled, 'new one')}."
    )


def recall_beside(evaluation: Evaluation) -> str:
    """Report recall in a sentence, and explain why it may contradict the verdict."""
    recalls = evaluation.recalls()
    if recalls is None:
        return ""
    recall, other_recall, n_neighbors = recalls
    found = evaluation.verdict.gain("l1")
    what = (
        "Recall accuracy, the share of its own class among a test histogram's "
        f"{count(n_neighbors, 'nearest other')}"
    )
    if evaluation.data.design.n_splits > 1:
        what += " in the first split"
    facts = (
        f"{percent(recall)} under the learned metric, {percent(other_recall)} under "
        f"{found.other}."
    )
    more = round(recall - other_recall, 3)
    if not {"helped": more < 0, "hurt": more > 0, "unclear": False}[kind(found)]:
        return f"{what}: {facts}"
    return (
        f"{what}, disagrees with the verdict: {facts} The verdict is based on errors. "
        "A vote only needs a majority, but recall counts every neighbor, and it "
        "searches the test set, not the training set."
    )


def _count(n: int, what: str) -> str:
    return count(n, what) if n else f"no {what}"
