"""The sample of histograms that a learner learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .. import validation
from ..base._sample import drawn_by_class
from ._checkpoint import Checkpoint

if TYPE_CHECKING:
    from ._learner import MetricLearner

Labels = NDArray[Any]


def sampled(
    learner: MetricLearner,
    rows: Any,
    labels: Labels | None,
    similarity: ArrayLike | None = None,
) -> tuple[Any, Labels | None, ArrayLike | None]:
    """Draw max_samples histograms, class by class if there are labels."""
    if learner.max_samples is None:
        return rows, labels, similarity
    n = validation.as_count(learner.max_samples, "max_samples", low=2)
    n_rows = rows.shape[0]
    if n >= n_rows:
        return rows, labels, similarity
    _require_resumable(learner.callbacks, learner.random_state)
    classes = np.zeros(n_rows) if labels is None else labels
    rng = check_random_state(learner.random_state)
    learner.sample_indices_ = kept = drawn_by_class(classes, n, rng)
    if similarity is not None:
        similarity = validation.as_similarity(similarity, n_rows)
        similarity = similarity[np.ix_(kept, kept)]
    return rows[kept], None if labels is None else labels[kept], similarity


def _require_resumable(callbacks: Any, random_state: object) -> None:
    """Reject a checkpoint of a sample that the next fit would draw differently."""
    if random_state is None and any(isinstance(each, Checkpoint) for each in callbacks):
        raise ValueError(
            "random_state is None, but callbacks has a Checkpoint: it could not be "
            "resumed with another draw of max_samples histograms; set random_state."
        )
