"""Typical tables, in units of POT's exact distance of the same pair."""

import math
from collections.abc import Iterator

import numpy as np
from measure import Row, microseconds, seconds, side_by_side
from transport import euclidean_metric, pot, random_pairs

from groundmetric import _core


def rows(X: np.ndarray) -> Iterator[Row]:
    """All rows, for histograms X in rows of mass 1."""
    rng = np.random.default_rng(0)
    M = euclidean_metric(rng, X.shape[1])
    pairs = random_pairs(rng, len(X), 300)
    weights = np.ones(len(pairs))

    for total, bar in ((1.0, 10), (1e4, 3), (math.inf, 1)):

        def table(total: float = total) -> float:
            duration = seconds(
                lambda: _core.typical_sum(X, pairs, weights, total, 1, None)
            )
            return duration / len(pairs)

        ours, peer, ratio = side_by_side(table, lambda: pot(X, pairs, M))
        yield Row(
            f"typical table, total = {total:g}",
            microseconds(ours),
            microseconds(peer) + " (emd2)",
            ratio,
            bar,
        )
