"""How much time and memory a fit will take; the speed of devices is not known."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import validation
from ..learning._effort import warn_if_long
from ._distances import KEPT_BYTES, are_sparse_enough

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from ..learning._descent import Settings
    from ._learner import PriorLearner
    from ._training import Training

# Seconds of a pair in a step on one thread, over d^2 and over d: about 1e-5 at d = 128.
PRODUCTS, ENTRIES = 4e-10, 3e-8
# The same over the product of the supports, if these are all that takes part.
SUPPORTS = 1e-8
# The same from a prior: of mean positions over their dimensions, and of plans.
A_DIMENSION, A_PLAN = 1e-10, 1e-8


def warn_of_descent(learner: PriorLearner, rows: Any, settings: Settings) -> None:
    """Warn if a descent of positions will be long or large."""
    n, d = rows.shape
    m = _n_in_a_step(learner, n)
    seconds = 0.0
    if learner.device is None and np.isfinite(learner.smoothing_):
        a_pair = PRODUCTS * d**2 + ENTRIES * d
        if are_sparse_enough(rows):
            a_pair = SUPPORTS * (np.count_nonzero(rows) / n) ** 2
        threads = validation.n_threads(learner.n_jobs)
        seconds = settings.max_outer * m**2 / 2 * a_pair / threads
    kept = min(KEPT_BYTES["processor"], 4 * m**2 * d) if learner.device is None else 0
    n_bytes = 40 * m**2 + 16 * n * d + kept
    advice = "fewer histograms in a step (batch_size) or fewer steps make it shorter"
    warn_if_long(seconds, n_bytes, (n, d), advice)


def warn_of_training(
    learner: PriorLearner, rows: csr_array, training: Training
) -> None:
    """Warn if learning from a prior will be long or large."""
    n = rows.shape[0]
    d, s, r = training.parameters.shape
    m = _n_in_a_step(learner, n)
    a_pair = A_DIMENSION * r
    if math.isfinite(learner.smoothing_):
        threads = validation.n_threads(learner.n_jobs)
        a_pair = 0.0 if learner.device else A_PLAN * (rows.nnz / n) ** 2 / threads
    # Four vectors of parameters in single precision, points, and two embeddings.
    n_bytes = 20 * m**2 + 24 * rows.nnz + d * (32 * r + 12 * s)
    advice = (
        "fewer histograms in a step (batch_size), fewer dimensions (n_components) or "
        "fewer steps make it shorter"
    )
    seconds = training.settings.max_outer * m**2 * a_pair
    warn_if_long(seconds, n_bytes, (n, d), advice)


def _n_in_a_step(learner: PriorLearner, n: int) -> int:
    size = learner.batch_size
    return n if size is None else min(n, size)
