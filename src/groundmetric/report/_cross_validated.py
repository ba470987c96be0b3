"""Cross-validated errors: the learned metric compared with other distances."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._words import percent, points
from ..experiments import LEARNERS, CrossValidation, resampled_mean
from ..experiments.names import LABELS
from ._names import which_over_splits
from ._verdict import Gain, headline, kind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LEARNED = "learned"
COLUMNS = (
    *("distance", "errors", "95 % interval", "saved", "95 % interval"),
    "time",
)

# For each distance: "knn", "svm", and what learning saves of them.
Errors: TypeAlias = "dict[str, dict[str, Any]]"


def tabulated(found: Sequence[CrossValidation]) -> Errors:
    """Estimate the errors of each distance, and what the last, learned one saves."""
    return {one.method: _estimates(one, found[-1]) for one in found}


def _estimates(one: CrossValidation, learned: CrossValidation) -> dict[str, Any]:
    out: dict[str, Any] = {"seconds": float(np.mean(one.fit_seconds))}
    for name in ("knn", "svm"):
        errors: list[float] | None = getattr(one, f"{name}_errors")
        if errors is None:
            continue
        out[name] = asdict(resampled_mean(errors, ratio=one.ratio).clipped(0.0))
        if one is not learned:
            gains = np.subtract(errors, getattr(learned, f"{name}_errors"))
            saved = resampled_mean(gains, ratio=one.ratio)
            out[f"{name}_saved"] = asdict(saved.clipped(-1.0))
    return out


def rows(table: Errors, measure: str) -> list[list[str]]:
    """Write the rows of a table of errors, one for each distance."""
    found = []
    for method, each in table.items():
        cells = [LABELS[method]]
        for name, write in ((measure, percent), (f"{measure}_saved", points)):
            one = each.get(name)
            cells += (
                ["", ""] if one is None else [write(one["mean"]), _range(one, write)]
            )
        learns = method == LEARNED or method in LEARNERS
        found.append([*cells, f"{each['seconds']:.1f} s" if learns else ""])
    return found


def _range(found: dict[str, float], write: Callable[[float], str]) -> str:
    """Write an interval; nothing if the folds do not determine it."""
    if math.isnan(found["low"]):
        return ""
    return f"{write(found['low'])} to {write(found['high'])}"


def verdict(table: Errors, n_neighbors: int) -> str:
    """Say in a sentence whether learning helped, by the errors of nearest neighbors.

    Another sentence follows if support vector machines disagree.
    """
    knn = _gain(table, "knn")
    said = headline(knn, n_neighbors)
    svm = _gain(table, "svm") if "svm" in table["l1"] else knn
    if kind(svm) == kind(knn):
        return said
    words = {
        "helped": "learning helped",
        "hurt": "learning made things worse",
        "unclear": "learning made no statistically significant difference",
    }
    return (
        f"{said} With support vector machines, {words[kind(svm)]}: "
        f"{percent(svm.error)} errors, {percent(svm.other_error)} under "
        f"{svm.other}. The verdict goes by nearest neighbors, which use the distance "
        "and nothing else."
    )


def choice(found: Sequence[CrossValidation]) -> str:
    """Say in one sentence which distance to use; nothing without other learners."""
    errors = {one.method: one.knn_errors for one in found}
    return which_over_splits(errors, found[0].ratio)


def _gain(table: Errors, name: str) -> Gain:
    """Compare with l1, where learning starts."""
    ours, theirs = (table[method][name]["mean"] for method in (LEARNED, "l1"))
    saved = table["l1"][f"{name}_saved"]
    return Gain("the l1 distance", ours, theirs, saved["low"], saved["high"])
