"""How much time and memory a fit will take, told before it starts.

Rough, within a factor of three or so: enough to tell minutes from hours.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _core

if TYPE_CHECKING:
    from ..similarity._weights import Weights
    from ._descent import Settings

Floats = NDArray[np.float64]

LONG = 60.0  # seconds
LARGE = 1e9  # bytes
TREES = 2**28  # bytes of trees that the search keeps at most
N_TIMED = 8  # pairs
# A learned metric takes more pivots than the one that pairs are timed under, and there
# are bounds to compute.
LEARNED = 3.0
# Seconds of a projection, over d^3: 2 to 9 ms at d = 128.
PROJECTION = 4e-9


class LongFitWarning(UserWarning):
    """A fit may take more than a minute, or more than a gigabyte.

    Examples
    --------
    >>> import warnings
    >>> from groundmetric import LongFitWarning
    >>> warnings.simplefilter("ignore", LongFitWarning)  # I know
    """


@dataclass(frozen=True)
class Pairs:
    """Pairs that are solved when a side of the criterion is evaluated."""

    similar: int
    dissimilar: int


def solved_pairs(
    weights: Weights, n_similar: int | None, n_dissimilar: int | None
) -> Pairs:
    """Count them: all of a side, or some for each neighbor that counts."""
    similar, dissimilar = (
        n_pairs if k is None else min(n_pairs, 2 * k * len(weights))
        for n_pairs, k in (
            (weights.n_pairs(similar=True), n_similar),
            (weights.n_pairs(similar=False), n_dissimilar),
        )
    )
    return Pairs(similar, dissimilar)


def fit_seconds(
    d: int, pairs: Pairs, settings: Settings, seconds_a_pair: float, n_threads: int = 1
) -> float:
    """Estimate the time of a fit that takes all its steps."""
    n_steps = settings.max_outer * settings.max_inner
    n_solves = settings.max_outer * pairs.similar + n_steps * pairs.dissimilar
    return n_solves * LEARNED * seconds_a_pair / n_threads + n_steps * PROJECTION * d**3


def fit_bytes(n: int, d: int, pairs: Pairs) -> int:
    """Estimate the memory of a fit: histograms, pairs solved, and trees of some."""
    n_solved = max(pairs.similar, pairs.dissimilar)
    return 40 * n * d + 300 * n_solved + min(TREES, 8 * d * n_solved)


def warn_if_long(seconds: float, n_bytes: float, n: int, d: int) -> None:
    """Say so if this is more than a minute, or more than a gigabyte."""
    if seconds <= LONG and n_bytes <= LARGE:
        return
    takes = []
    if seconds > LONG:
        takes.append(f"about {_duration(seconds)}")
    if n_bytes > LARGE:
        takes.append(f"about {n_bytes / 1e9:.1f} GB of memory")
    warnings.warn(
        f"This fit may take {' and '.join(takes)}, for {n:,} histograms of {d:,} bins; "
        "fewer histograms, fewer steps or fewer neighbors make it shorter.",
        LongFitWarning,
        stacklevel=7,  # the caller of fit
    )


def warn_before(
    rows: Floats,
    weights: Weights,
    counts: tuple[int | None, int | None],
    settings: Settings,
    n_threads: int,
) -> None:
    """Time a few pairs, and warn if the fit will be long or large."""
    n, d = rows.shape
    pairs = solved_pairs(weights, *counts)
    seconds = fit_seconds(d, pairs, settings, _seconds_a_pair(rows), n_threads)
    warn_if_long(seconds, fit_bytes(n, d, pairs), n, d)


def _seconds_a_pair(rows: Floats) -> float:
    """Time one EMD between histograms, under a metric without structure."""
    n, d = rows.shape
    half = np.triu(1.0 + np.random.default_rng(0).random((d, d)), 1)  # any is a metric
    cost = _core.CostMatrix(half + half.T)
    first = np.arange(min(N_TIMED, n // 2))
    masses = _core.Masses(rows, 1.0)
    batch = _core.DenseBatch(masses, masses, np.stack([first, n - 1 - first], axis=1))
    times = []
    for k in first:
        start = time.perf_counter()
        batch.solve(cost, np.array([k]), 1, None)
        times.append(time.perf_counter() - start)
    return float(np.median(times))


def _duration(seconds: float) -> str:
    for unit, name in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            return f"{seconds / unit:.0f} {name}"
    return "a minute"
