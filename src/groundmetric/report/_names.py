"""The distances of a report: what they are called, and which one to use."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from ..experiments.choice import LEARNERS, choice, choice_over_splits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

Value = TypeVar("Value")

LABELS = {
    "learned": "learned metric",
    "initial": "initial metric",
    "l1": "l1",
    "hellinger": "Hellinger",
    "chi2": "chi-squared",
    "l2": "l2",
    "pixels": "pixel EMD",
    "gml-smoothed": "smoothed metric",
    "lmnn-hellinger": "LMNN",
    "itml-hellinger": "ITML",
    "nca-hellinger": "NCA",
    "chi2-lmnn": "chi-squared LMNN",
    "tfidf-l1": "l1 of TF-IDF",
}


def in_a_sentence(name: str) -> str:
    """Name a distance within a sentence."""
    if name == "pixels":
        return "the EMD with Euclidean distances between pixels"
    if name == "gml-smoothed":
        return "the smoothed metric (SinkhornMetricLearning)"
    if name in LEARNERS:
        return LABELS[name]
    what = "" if name in ("learned", "initial", "tfidf-l1") else " distance"
    return f"the {LABELS[name]}{what}"


def that_do_not_learn(values: Mapping[str, Value]) -> dict[str, Value]:
    """Select the values of distances that do not learn."""
    learn = ("learned", "initial", *LEARNERS)
    return {name: value for name, value in values.items() if name not in learn}


def which_to_use(
    errors: Mapping[str, float], interval: Callable[[str, str], tuple[float, float]]
) -> str:
    """Say in one sentence which distance to use; nothing without other learners.

    The interval is that of what the first distance saves compared with the second.
    """
    names = _to_choose_from(errors)
    return choice({x: errors[x] for x in names}, interval, names) if names else ""


def which_over_splits(errors: Mapping[str, Sequence[float]], ratio: float) -> str:
    """Say the same, by errors on the same splits."""
    names = _to_choose_from(errors)
    used = {name: errors[name] for name in names}
    return choice_over_splits(used, ratio=ratio, names=names) if names else ""


def _to_choose_from(errors: Mapping[str, object]) -> dict[str, str]:
    if not set(errors).intersection(LEARNERS):
        return {}
    return {name: in_a_sentence(name) for name in errors if name != "initial"}
