"""What a typed program sees of the package; checked, and never run.

``test_typing.py`` has mypy read it. Pyright reads it as well: ``pyright tests/typed``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import groundmetric as gm
from groundmetric import distances

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

Array = np.ndarray[Any, np.dtype[np.float64]]


def solve(r: NDArray[np.float64], c: NDArray[np.float64], M: Array) -> float:
    value: float = gm.emd(r, c, M)
    answer: gm.Transport = gm.transport([0.5, 0.5], [1, 0], [[0, 1], [1, 0]])
    plan: NDArray[np.float64] = answer.plan
    gap: float = answer.duality_gap
    return value + gap + float(plan.sum())


def project(A: Array) -> bool:
    found: gm.Projection = gm.project_metric(A, tol=1e-8)
    kept: gm.Projection = gm.MetricProjector(A.shape[0]).project(A)
    worst: list[gm.Violation] = list(gm.metric_violations(found.metric))
    return found.converged and kept.n_iter > 0 and not worst


def learn(X: Array, y: NDArray[np.int64], file: Path) -> NDArray[np.float64]:
    learner: gm.GroundMetricLearning = gm.GroundMetricLearning(
        n_jobs=2, callbacks=[gm.Checkpoint(file)]
    ).fit(X, y)
    learner.save(file)
    again: gm.GroundMetricLearning = gm.GroundMetricLearning.load(file)
    steps: gm.DescentPath = again.path_
    chosen: int = gm.MetricLearningCV().fit(X, y).best_step_
    assert chosen <= len(steps)
    metric: NDArray[np.float64] = again.metric_
    return metric


def compare(X: Array, M: Array) -> NDArray[np.float64]:
    far: NDArray[np.float64] = gm.pairwise_emd(X, metric=M, n_jobs=1)
    near, index = gm.EMDNeighbors(metric=M).fit(X).kneighbors(X)
    assert near.shape == index.shape
    chi: Callable[..., Any] = distances.chi2
    assert chi is not None
    return far
