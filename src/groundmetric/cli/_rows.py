"""Rows of ``evaluate`` beside the usual ones: AutoMetric, and what is known of bins."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import pairwise_emd
from ..base._groups import fewest_groups
from ..experiments.methods import Method
from ..experiments.names import GIVEN, LABELS, label_of
from ._console import note
from ._learners import make

if TYPE_CHECKING:
    from ..experiments.splits import Data
    from ._learners import Known

MOST_FOLDS = 3  # of AutoMetric
FEWEST = 4  # histograms, or groups, of a class to draw two folds of
MOST_BINS = 700  # of metrics that are made of points


def more_rows(known: Known, data: Data, *, learners: bool) -> list[Method]:
    """List the methods that take points and metrics, and AutoMetric."""
    d = data.rows.shape[1]
    names = ["auto"] if learners else []
    if learners and known.sets:
        names.append("discriminant")
    if known.points or known.metrics:
        names += ["combined"] if d <= MOST_BINS else []
    fewest = _fewest(data)
    if "auto" in names and fewest < FEWEST:
        names.remove("auto")
        note(
            "AutoMetric was skipped: a class has fewer than "
            f"{FEWEST} training histograms or groups."
        )
    found = []
    for name in names:
        learner = make(name, known, d, {"cv": min(MOST_FOLDS, fewest // 2)})
        found.append(Method.of(learner, name, LABELS[name]))
    for path, ground in _grounds(known, d).items():
        name = f"{GIVEN}{path}"
        found.append(Method(name, label_of(name), {}, partial(_learn_given, ground)))
    return found


def _grounds(known: Known, d: int) -> dict[str, dict[str, Any]]:
    """Return the ground metrics as options; of many bins, no d x d matrix is made."""
    if d <= MOST_BINS:
        return {path: {"metric": each} for path, each in known.grounds().items()}
    return {
        **{
            path: {"metric": "euclidean", "points": each.values}
            for path, each in known.points.items()
        },
        **{path: {"metric": each.values} for path, each in known.metrics.items()},
    }


def _fewest(data: Data) -> int:
    """Return the smallest number of training histograms, or groups, of a class."""
    design = data.design
    apart = np.arange(len(design.y)) if design.groups is None else design.groups
    return min(
        int(fewest_groups(design.y[train], np.asarray(apart)[train])[1])
        for train, _ in design.splits
    )


def _learn_given(ground: dict[str, Any], _X: Any, _y: Any, n_jobs: int | None) -> Any:
    return partial(_between, ground, n_jobs)


def _between(ground: dict[str, Any], n_jobs: int | None, left: Any, right: Any) -> Any:
    return pairwise_emd(left, right, **ground, n_jobs=n_jobs)
