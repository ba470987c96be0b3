"""Nearest neighbors: our search and all distances, on the same threads."""

from collections.abc import Iterator

import numpy as np
from descent import two_classes
from measure import Row, seconds, side_by_side

import groundmetric as gm

N_BASE = 2000
N_QUERIES = 200
K = 5
MOST = 0.06  # of the pairs may be solved


def search_row(
    what: str, metric: np.ndarray | None, base: np.ndarray, queries: np.ndarray
) -> Row:
    """Both on one thread; brute force once, it takes half a minute."""
    search = gm.EMDNeighbors(metric, n_neighbors=K).fit(base)
    found: list[np.ndarray] = []

    def ours() -> float:
        return seconds(lambda: found.append(search.kneighbors(queries)))

    def peer() -> float:
        def task() -> None:
            D = gm.pairwise_emd(queries, base, metric=search.metric_)
            order = np.argsort(D, axis=1, kind="stable")[:, :K]
            found.append((np.take_along_axis(D, order, axis=1), order))

        return seconds(task)

    mine, theirs, ratio = side_by_side(ours, peer, rounds=1)
    same = all(np.array_equal(a, b) for a, b in zip(*found, strict=True))
    share = search.n_solves_ / (len(queries) * len(base))
    return Row(
        f"{K} nearest of {len(base):,}, {what}",
        f"{mine / len(queries) * 1e3:,.2f} ms a query",
        f"{theirs / len(queries) * 1e3:,.0f} ms (all pairs)",
        ratio,
        8,
        f"{'the same' if same else '**not the same**'}; simplex on {share:.2%} of the "
        f"pairs{'' if share <= MOST else f', **above {MOST:.0%}**'}",
    )


def rows(X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Search under a metric learned from one binary task, and the uniform one."""
    rng = np.random.default_rng(0)
    learner = gm.GroundMetricLearning(power=1.0)
    learned = learner.fit(*two_classes(X, y, rng)).metric_
    n_base = min(N_BASE, len(X) * 9 // 10)
    chosen = X[rng.permutation(len(X))[: n_base + N_QUERIES]]
    base, queries = chosen[:n_base], chosen[n_base:]
    yield search_row("learned metric", learned, base, queries)
    yield search_row("uniform metric", None, base, queries)
