"""The sample of histograms that a learner learns from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from .. import validation
from ..base._sample import drawn_by_class
from ._checkpoint import Checkpoint

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._counting import Given
    from ._learner import MetricLearner


def sampled(
    learner: MetricLearner, given: Given, kept: NDArray[np.intp] | None = None
) -> Given:
    """Draw max_samples of the kept histograms, class by class if there are labels.

    Notes which rows they are, if not all.
    """
    n_rows = given.rows.shape[0]
    kept = np.arange(n_rows) if kept is None else kept
    if len(kept) < 2:  # noqa: PLR2004 - a pair
        raise ValueError(
            f"X has {n_rows} histograms, but {len(kept)} of positive mass and weight; "
            "two are needed."
        )
    if learner.max_samples is not None:
        n = validation.as_count(learner.max_samples, "max_samples", low=2)
        if n < len(kept):
            _require_resumable(learner.callbacks, learner.random_state)
            classes = np.zeros(n_rows) if given.labels is None else given.labels
            rng = check_random_state(learner.random_state)
            kept = kept[drawn_by_class(classes[kept], n, rng)]
    if len(kept) < n_rows:
        learner.sample_indices_ = kept
    return given.part(kept)


def _require_resumable(callbacks: Any, random_state: object) -> None:
    """Reject a checkpoint of a sample that the next fit would draw differently."""
    if random_state is None and any(isinstance(each, Checkpoint) for each in callbacks):
        raise ValueError(
            "random_state is None, but callbacks has a Checkpoint: it could not be "
            "resumed with another draw of max_samples histograms; set random_state."
        )
