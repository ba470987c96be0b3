"""What each class looks like: the barycenters of training histograms, to draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..neighbors._prototypes import class_prototypes

if TYPE_CHECKING:
    from ._evaluation import Evaluation

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_CLASSES = 20  # that are drawn
MOST_BINS = 500  # of barycenters; means of histograms if there are more
# Histograms times bins squared: an iteration for all barycenters takes that long.
MOST_WORK = 10**8
LIMITS = {"tol": 1e-3, "max_iter": 1000}  # one cannot see more in small pictures


def class_pictures(evaluation: Evaluation) -> tuple[str, list[int], Floats]:
    """Return what represents classes ("barycenter" or "mean"), which, and masses."""
    data, learner = evaluation.data, evaluation.learner
    d = data.train.shape[1]
    classes = np.unique(data.y)[:MOST_CLASSES]
    kind = "barycenter" if d <= MOST_BINS else "mean"
    most = data.train.shape[0]
    if kind == "barycenter":
        most = max(2, MOST_WORK // (d**2 * len(classes)))
    rows = [np.flatnonzero(data.y == label)[:most] for label in classes]
    owner = np.repeat(np.arange(len(classes)), [len(each) for each in rows])
    seen: Any = learner.histograms(data.train[np.concatenate(rows)])
    return (
        kind,
        classes.tolist(),
        class_prototypes(kind, seen, owner, learner, **LIMITS),
    )


def caption(kind: str, n_classes: int, n_drawn: int) -> str:
    """Say what the pictures of classes show."""
    first = f"The first {n_drawn} of {n_classes} classes" if n_drawn < n_classes else ""
    what = first or "Each class"
    if kind == "mean":
        return f"{what}: the mean of its training histograms, as the learner sees them."
    return (
        f"{what}: the barycenter of its training histograms under the learned metric, "
        "which has the smallest sum of smoothed distances to them. Masses are those "
        "that the learner sees."
    )
