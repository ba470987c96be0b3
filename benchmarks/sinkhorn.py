"""Sinkhorn's iteration: plans of all pairs at once, and POT's, on one thread.

A step is the weighted sum of the plans. Ours are three plans a pair, for the divergence
and not the entropic cost alone; POT's is one.
"""

from collections.abc import Callable, Iterator

import numpy as np
import ot
import ot.batch
from measure import Row, microseconds, seconds, side_by_side
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_limits
from transport import histograms_with, random_pairs

from groundmetric.smoothed._batch import SinkhornBatch

# Marginal error: ours in l1, POT's in l2, which is the smaller.
TOL = 1e-6
# Of the largest entry of the sum of the plans.
AGREE = 1e-4
# Pairs that POT's batches take at a time; each holds a matrix of costs.
BATCH = 32
# Histograms that pairs are made of: far fewer than pairs, as in learning.
N_HISTOGRAMS = 300
# Bins, smoothing, our pairs, POT's.
SIZES = (
    (128, 1.0, 4000, 200),
    (128, 0.1, 1000, 40),
    (32, 1.0, 4000, 400),
    (512, 1.0, 1000, 40),
)

Plans = Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]


def one_by_one(
    X: np.ndarray, pairs: np.ndarray, M: np.ndarray, eps: float
) -> np.ndarray:
    """Call ``ot.sinkhorn`` for each pair."""
    plans = np.zeros_like(M)
    for i, j in pairs:
        plans += ot.sinkhorn(X[i], X[j], M, eps, stopThr=TOL, numItermax=100_000)
    return plans


def in_batches(
    X: np.ndarray, pairs: np.ndarray, M: np.ndarray, eps: float
) -> np.ndarray:
    """Call ``ot.batch.solve_batch``, which takes a cost for each pair."""
    plans = np.zeros_like(M)
    for start in range(0, len(pairs), BATCH):
        i, j = pairs[start : start + BATCH].T
        result = ot.batch.solve_batch(
            np.broadcast_to(M, (len(i), *M.shape)), eps, X[i], X[j],
            max_iter=100_000, tol=TOL, method="sinkhorn", grad="detach",
        )  # fmt: skip
        plans += result.plan.sum(axis=0)
    return plans


def require_same(X: np.ndarray, pairs: np.ndarray, M: np.ndarray, rho: float) -> None:
    """Refuse to compare the times of different plans."""
    batch = SinkhornBatch(X, pairs, tol=TOL)
    own = np.repeat(pairs.ravel()[:, None], 2, axis=1)
    for peer in (one_by_one, in_batches):
        plans = peer(X, pairs, M, rho * M.mean())
        debiased = plans - peer(X, own, M, rho * M.mean()) / 2
        found = batch.solve(M, rho).plan_sum(np.ones(len(pairs)), eps_fixed=True)
        if np.abs(found - debiased).max() > AGREE * plans.max():
            raise RuntimeError("POT and groundmetric disagree.")


def row(
    X: np.ndarray, d: int, rho: float, n_pairs: tuple[int, int], peer: Plans
) -> Row:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(d, 8))
    M = cdist(points, points, "sqeuclidean")
    X = histograms_with(X, d) + 1e-12  # POT divides by the masses
    X = rng.permutation(X / X.sum(axis=1, keepdims=True))[:N_HISTOGRAMS]
    many, few = (random_pairs(rng, len(X), n) for n in n_pairs)
    require_same(X, few[:5], M, rho)
    batch = SinkhornBatch(X, many, tol=TOL)

    def ours() -> float:
        weights = np.ones(len(many))
        return seconds(lambda: batch.solve(M, rho).plan_sum(weights)) / len(many)

    def theirs() -> float:
        return seconds(lambda: peer(X, few, M, rho * M.mean())) / len(few)

    mine, other, ratio = side_by_side(ours, theirs, rounds=3)
    n_iter = batch.solve(M, rho).n_iter.mean()
    name = "ot.sinkhorn" if peer is one_by_one else "ot.batch"
    return Row(
        f"Sinkhorn, {name}, d = {d}, smoothing {rho:g}", microseconds(mine),
        microseconds(other), ratio, 5,
        f"three plans against one; {n_iter:.0f} iterations",
    )  # fmt: skip


def rows(X: np.ndarray) -> Iterator[Row]:
    """All rows, for histograms X with 128 bins."""
    with threadpool_limits(1):
        for d, rho, *n_pairs in SIZES:
            for peer in (one_by_one, in_batches):
                yield row(X, d, rho, tuple(n_pairs), peer)
