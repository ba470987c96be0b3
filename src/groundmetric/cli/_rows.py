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
    from numpy.typing import NDArray

    from ..experiments.splits import Data
    from ._learners import Known

MOST_FOLDS = 3  # of AutoMetric
FEWEST = 4  # histograms, or groups, of a class to draw two folds of
MOST_BINS = 700  # of combined metrics


def more_rows(known: Known, data: Data, *, learners: bool) -> list[Method]:
    """List the methods that take points and metrics, and AutoMetric."""
    d = data.rows.shape[1]
    names = ["auto"] if learners else []
    if learners and known.points:
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
    for path, metric in known.grounds().items():
        name = f"{GIVEN}{path}"
        found.append(Method(name, label_of(name), {}, partial(_learn_given, metric)))
    return found


def _fewest(data: Data) -> int:
    """Return the smallest number of training histograms, or groups, of a class."""
    design = data.design
    apart = np.arange(len(design.y)) if design.groups is None else design.groups
    return min(
        int(fewest_groups(design.y[train], np.asarray(apart)[train])[1])
        for train, _ in design.splits
    )


def _learn_given(
    metric: NDArray[np.float64], _X: Any, _y: Any, n_jobs: int | None
) -> Any:
    return partial(_between, metric, n_jobs)


def _between(
    metric: NDArray[np.float64], n_jobs: int | None, left: Any, right: Any
) -> Any:
    return pairwise_emd(left, right, metric=metric, n_jobs=n_jobs)
