"""One histogram that stands for each class, instead of all that were learned from."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from .. import validation
from ..barycenters import barycenter

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

PROTOTYPES = ("barycenter", "mean")
SMOOTHING = 0.1  # of barycenters, for learners whose distances are not smoothed


def as_prototypes(prototypes: Any) -> str | None:
    """Validate how classes are represented; None is by all their histograms."""
    validation.require_one_of(prototypes, "prototypes", (None, *PROTOTYPES))
    kind: str | None = prototypes
    return kind


def class_prototypes(
    kind: str, rows: Any, y: Indices, learner: Any, **limits: Any
) -> Floats:
    """Average the rows of each class in y, as the learner sees them, dense or sparse.

    A smoothed learner's barycenters have its own smoothing; limits are those of
    :func:`barycenter`.
    """
    members = np.unique(y)[:, None] == y
    is_learner = validation.is_learner(learner)
    is_smoothed = is_learner and not learner._is_exact
    smoothing = float(learner.smoothing_) if is_smoothed else SMOOTHING
    if kind == "mean" or math.isinf(smoothing):
        shares = csr_array(members / members.sum(axis=1, keepdims=True))
        means = shares @ rows
        return np.asarray(means.toarray() if hasattr(means, "toarray") else means)
    return barycenter(rows, learner.metric_, members, smoothing=smoothing, **limits)
