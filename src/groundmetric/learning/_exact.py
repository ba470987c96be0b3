"""Learners of a d x d metric, under which distances are exact EMDs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..transport._exact import pairwise_emd
from ._learner import MetricLearner
from ._pairs import Histograms

if TYPE_CHECKING:
    from collections.abc import Callable

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class ExactLearner(MetricLearner):
    """A learner whose distances are EMDs with a matrix as the metric."""

    n_jobs: int | None

    def _distances(self, metric: Floats) -> Callable[..., Floats]:
        return partial(pairwise_emd, metric=metric, n_jobs=self.n_jobs)

    def _nearest(
        self, metric: Floats, queries: Floats, base: Floats, k: int
    ) -> Indices:
        """Find the k nearest without solving all pairs."""
        threads = validation.n_threads(self.n_jobs)
        return Histograms(base).nearest(metric, queries, k, threads)

    def _require_metric(self, metric: Floats, name: str) -> None:
        validation.require_metric(metric, name)
