"""Exact distances: our simplex and POT's, pair by pair, on one thread."""

from collections.abc import Iterator

import numpy as np
import ot
from measure import Row, microseconds, seconds, side_by_side
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric import _core

# Bins, pairs, bar.
SIZES = (
    (128, 300, 6),
    (16, 1000, 4),
    (32, 1000, 4),
    (64, 500, 4),
    (256, 60, 4),
    (512, 15, 4),
)


def euclidean_metric(rng: np.random.Generator, d: int) -> np.ndarray:
    """Distances between random points in 8 dimensions."""
    points = rng.normal(size=(d, 8))
    return cdist(points, points)


def histograms_with(X: np.ndarray, d: int) -> np.ndarray:
    """Give the histograms d bins: merge neighbors, or join several."""
    n, bins = X.shape
    if d <= bins:
        return X.reshape(n, d, bins // d).sum(axis=2)
    joined = X[: n // (d // bins) * (d // bins)].reshape(-1, d)
    return joined / joined.sum(axis=1, keepdims=True)


def random_pairs(rng: np.random.Generator, n: int, n_pairs: int) -> np.ndarray:
    first = rng.integers(0, n, n_pairs)
    return np.stack([first, (first + rng.integers(1, n, n_pairs)) % n], axis=1)


def pot(X: np.ndarray, pairs: np.ndarray, M: np.ndarray) -> float:
    """Seconds a pair, cold."""

    def task() -> None:
        for i, j in pairs:
            ot.emd2(X[i], X[j], M, check_marginals=False)

    return seconds(task) / len(pairs)


def cold(X: np.ndarray, pairs: np.ndarray, M: np.ndarray) -> float:
    batch = gm.TransportBatch(X, pairs)
    return seconds(lambda: batch.solve(M)) / len(pairs)


def cold_rows(X: np.ndarray, rng: np.random.Generator) -> Iterator[Row]:
    for d, n_pairs, bar in SIZES:
        H, M = histograms_with(X, d), euclidean_metric(rng, d)
        pairs = random_pairs(rng, len(H), n_pairs)
        pivots = gm.TransportBatch(H, pairs).solve(M).n_pivots.mean()
        ours, peer, ratio = side_by_side(
            lambda: cold(H, pairs, M),  # noqa: B023 - called in this round
            lambda: pot(H, pairs, M),  # noqa: B023
        )
        yield Row(
            f"cold, d = {d}", microseconds(ours), microseconds(peer), ratio,
            bar, f"{pivots:.0f} pivots a pair",
        )  # fmt: skip


def hub_row(X: np.ndarray, rng: np.random.Generator, d: int, bar: float) -> Row:
    """Compare the dense solve and the hub on the same thresholded metric."""
    H, M = histograms_with(X, d), euclidean_metric(rng, d)
    T = np.minimum(M, np.quantile(M, 0.2))
    cost = _core.CostMatrix(T)
    cost.is_quasimetric(1)  # once, for both
    x = _core.Masses(np.ascontiguousarray(H[:12]), 1.0)
    y = _core.Masses(np.ascontiguousarray(H[12:24]), 1.0)
    n_pairs = len(x) * len(y)
    pivots = {}

    def solve(hub: bool) -> float:  # noqa: FBT001
        effort = np.zeros(3, np.int64)
        duration = seconds(
            lambda: _core.pairwise_dense(x, y, cost, False, 1, None, hub, effort)  # noqa: FBT003
        )
        pivots[hub] = effort[0] / n_pairs
        return duration / n_pairs

    ours, peer, ratio = side_by_side(lambda: solve(True), lambda: solve(False), 9)  # noqa: FBT003
    return Row(
        f"hub, d = {d}, metric cut at its 20 % quantile", microseconds(ours),
        microseconds(peer) + " (dense)", ratio, bar,
        f"{pivots[True]:.0f} pivots a pair, dense {pivots[False]:.0f}",
    )  # fmt: skip


def warm_rows(X: np.ndarray, rng: np.random.Generator) -> Iterator[Row]:
    M = euclidean_metric(rng, X.shape[1])
    pairs = random_pairs(rng, len(X), 1000)
    noise = rng.uniform(-1, 1, M.shape)
    nearby = M * (1 + 1e-3 * (noise + noise.T) / 2)
    cold_pivots = gm.TransportBatch(X, pairs).solve(M).n_pivots.sum()
    for what, N, bar in (("0 %", M, 80), ("0.1 %", nearby, 60)):
        shares = []

        def again() -> float:
            batch = gm.TransportBatch(X, pairs)
            batch.solve(M)
            duration = seconds(lambda: shares.append(batch.solve(N).n_pivots.sum()))  # noqa: B023
            return duration / len(pairs)

        ours, peer, ratio = side_by_side(again, lambda: pot(X, pairs[:200], M))
        yield Row(
            f"solved again, metric changed by {what}", microseconds(ours),
            microseconds(peer) + " (cold)", ratio, bar,
            f"{shares[0] / cold_pivots:.2%} of the cold pivots",
        )  # fmt: skip


def thread_row(X: np.ndarray, rng: np.random.Generator) -> Row:
    M = euclidean_metric(rng, X.shape[1])
    pairs = random_pairs(rng, len(X), 2000)

    def solve(n_jobs: int) -> float:
        batch = gm.TransportBatch(X, pairs, n_jobs=n_jobs)
        return seconds(lambda: batch.solve(M)) / len(pairs)

    two, one, ratio = side_by_side(lambda: solve(2), lambda: solve(1))
    return Row(
        "two threads, 2,000 pairs", microseconds(two), microseconds(one) + " (one)",
        ratio, 1.7,
    )  # fmt: skip


def single_row(X: np.ndarray, rng: np.random.Generator) -> Row:
    H, M = histograms_with(X, 16), euclidean_metric(rng, 16)
    pairs = random_pairs(rng, len(H), 1000)

    def ours() -> float:
        def task() -> None:
            for i, j in pairs:
                gm.emd(H[i], H[j], M)

        return seconds(task) / len(pairs)

    mine, peer, ratio = side_by_side(ours, lambda: pot(H, pairs, M))
    return Row(
        "emd() of a single pair, d = 16", microseconds(mine), microseconds(peer),
        ratio, 3, "Python included",
    )  # fmt: skip


def line_rows(rng: np.random.Generator) -> Iterator[Row]:
    """Points on a line, which both sort."""
    for d in (1000, 10_000):
        r, c = rng.dirichlet(np.ones(d), 2)
        x = rng.normal(size=d)
        again = 200_000 // d
        found: list[float] = []

        def ours() -> float:
            def task() -> None:
                found.extend(gm.emd(r, c, points=x) for _ in range(again))  # noqa: B023

            return seconds(task) / again  # noqa: B023

        def peer() -> float:
            def task() -> None:
                found.extend(  # noqa: B023
                    ot.emd2_1d(x, x, r, c, metric="euclidean")  # noqa: B023
                    for _ in range(again)  # noqa: B023
                )

            return seconds(task) / again  # noqa: B023

        mine, theirs, ratio = side_by_side(ours, peer)
        np.testing.assert_allclose(found, found[0], rtol=1e-10)
        yield Row(
            f"emd() of {d:,} points on a line", microseconds(mine),
            microseconds(theirs) + " (emd2_1d)", ratio, 1, "Python included",
        )  # fmt: skip


def paired_row(X: np.ndarray, rng: np.random.Generator) -> Row:
    """Rows in pairs, beside a loop."""
    M = euclidean_metric(rng, X.shape[1])
    i, j = random_pairs(rng, len(X), 500).T
    R, C = X[i], X[j]
    ours, peer, ratio = side_by_side(
        lambda: seconds(lambda: gm.emd(R, C, M)) / len(R),
        lambda: (
            seconds(lambda: [gm.emd(r, c, M) for r, c in zip(R, C, strict=True)])
            / len(R)
        ),
    )
    return Row(
        "emd() of 500 rows in pairs", microseconds(ours),
        microseconds(peer) + " (one by one)", ratio, 1,
    )  # fmt: skip


def memory_line(X: np.ndarray, rng: np.random.Generator) -> str:
    pairs = random_pairs(rng, len(X), 2000)
    batch = gm.TransportBatch(X, pairs)
    batch.solve(euclidean_metric(rng, X.shape[1]))
    each = batch.n_bytes / len(pairs)
    return f"A batch keeps {each:.0f} bytes a pair at d = {X.shape[1]}."


def rows(X: np.ndarray) -> Iterator[Row]:
    """All rows, for histograms X with 128 bins."""
    rng = np.random.default_rng(0)
    yield from cold_rows(X, rng)
    yield from warm_rows(X, rng)
    yield thread_row(X, rng)
    yield single_row(X, rng)
    yield paired_row(X, rng)
    yield from line_rows(rng)
    for d, bar in ((128, 1.5), (256, 2), (512, 2)):
        yield hub_row(X, rng, d, bar)
