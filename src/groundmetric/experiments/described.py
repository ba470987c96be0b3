"""How splits were drawn, and where intervals come from, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .design import Design

__all__ = ["inference_of", "words_of"]

INFERENCE = {  # by the kind of a design
    "given": "Intervals are Bonett and Price's for paired proportions: they show how "
    "certain a difference is for this training set, not what another training set "
    "would give.",
    "disjoint": "Intervals count the variation over training sets and over test "
    "histograms, which are both drawn at random.",
    "folds": "Intervals are Student's over folds, widened because their training sets "
    "overlap (Nadeau and Bengio).",
    "custom": "Intervals are Student's over splits, widened because their training "
    "sets may overlap (Nadeau and Bengio).",
}
WITH_GROUPS = " What varies among the histograms to test is the group."


def inference_of(design: Design) -> str:
    """Say where the intervals of a design come from.

    Examples
    --------
    >>> from groundmetric.experiments.described import inference_of
    >>> from groundmetric.experiments.splits import given
    >>> inference_of(given([0, 1], [1, 0, 1]))[:32]
    "Intervals are Bonett and Price's"
    """
    single = design.kind == "custom" and design.n_splits == 1
    how = INFERENCE["given" if single else design.kind]
    return how if design.groups is None else how + WITH_GROUPS


def words_of(design: Design) -> str:
    """Say how the splits of a design were drawn.

    Examples
    --------
    >>> from groundmetric.experiments.described import words_of
    >>> from groundmetric.experiments.splits import given
    >>> words_of(given([0, 1], [1, 0, 1]))
    'Errors are measured on the 3 test histograms given.'
    """
    n, n_test = design.n_train + design.n_test, design.n_test
    if design.kind == "given":
        found = f"Errors are measured on the {n_test:,} test histograms given."
    elif design.kind == "disjoint":
        about = "" if design.groups is None else "about "
        found = (
            f"{design.n_splits} training sets of {about}{design.n_train:,} histograms "
            "each, with no histogram in common, were drawn at random and tested on the "
            f"same {n_test:,} other histograms."
        )
    elif design.kind == "custom":
        splits = f"{design.n_splits} splits" if design.n_splits > 1 else "split"
        found = f"Errors are measured on the {splits} given."
    else:
        times = sum(len(test) for _, test in design.splits) // n  # each tests all once
        folds = design.n_splits // times
        found = (
            f"The {n:,} histograms were divided at random into {folds} folds"
            f"{f', {times} times' if times > 1 else ''}; each fold was tested once, "
            "after learning from the others."
        )
    if design.groups is None:
        return found
    return f"{found} None of the {design.n_groups:,} groups was divided."
