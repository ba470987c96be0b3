"""What supports the verdict of a page, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._words import count, percent
from ..experiments.estimators import starts_at_l1
from ..experiments.gain import DID, kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._evaluation import Evaluation


def how(evaluation: Evaluation) -> str:
    """Say how the numbers were computed."""
    design = evaluation.data.design
    return (
        f"{design.words} A test histogram gets the most common label among its "
        f"{evaluation.n_neighbors} nearest training histograms. "
        f"{evaluation.verdict.predicting()}{design.inference} "
        "They are not adjusted for multiple comparisons. How sure it is that learning "
        "is better than a distance comes from the same calculation."
    )


def details(evaluation: Evaluation) -> Iterable[str]:
    """Compare with l1, the start, and the best other; leave out empty sentences."""
    verdict = evaluation.verdict
    yield verdict.size()
    yield verdict.guessing()
    yield verdict.choice() or verdict.best_fixed()
    yield verdict.labels_only()
    if evaluation.n_seen:
        yield (
            f"Warning: {evaluation.n_seen} of the {len(evaluation.data.test)} test "
            "histograms are also in the training set, so errors are too low."
        )
    yield _changes(evaluation)
    if "initial" in evaluation.first:
        found = verdict.gain("initial")
        what = "Learning" if evaluation.learner._has_closed_form else "The descent"
        yield (
            f"{what} itself {DID[kind(found)]}: {percent(found.other_error)} "
            f"errors under {found.other}, where it started."
        )
    elif starts_at_l1(evaluation.learner) and not evaluation.data.was_split:
        yield (
            "Learning started from the uniform metric, whose EMD is half of l1, so the "
            "comparison with the initial metric is the same."
        )
    yield recall_beside(evaluation)


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
    """Report recall on a test set, and explain why it may contradict the verdict."""
    recalls = evaluation.recalls()
    if recalls is None or evaluation.data.was_split:
        return ""
    recall, other_recall, n_neighbors = recalls
    found = evaluation.verdict.gain("l1")
    what = (
        "Recall accuracy, the share of its own class among a test histogram's "
        f"{count(n_neighbors, 'nearest other')}"
    )
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
