"""How much time and memory a fit will take, estimated before it starts.

From counts alone: pairs to solve, pivots of each, and the d^3 of each projection, times
constants of one machine. If classes overlap and all steps are taken, estimates are
right within a factor of three or so (``benchmarks/effort.py``), which is enough to tell
minutes from hours. Classes that separate easily take less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._warnings import warn
from .._words import duration

if TYPE_CHECKING:
    from ..similarity._weights import Weights
    from ._descent import Settings

Floats = NDArray[np.float64]
Counts = tuple[int | None, int | None]  # similar and dissimilar neighbors

LONG = 60.0  # seconds
LARGE = 1e9  # bytes
TREES = 2**28  # bytes of trees that the search keeps at most

# Pivots of a solve, for each non-empty bin; C_k solves more pairs to the optimum.
PIVOTS = {"margin": 0.4, "neighborhood": 0.8}
# Seconds of a solve: each, over the square of the non-empty bins, and over d^2.
SOLVE, ARC, ENTRY = 5e-6, 8e-9, 6e-10
# Seconds of a projection over d^3. C_k's subgradients break more triangles than those
# of margins; those of a few histograms on many bins break the most.
PROJECTION = {"margin": 5e-9, "neighborhood": 3e-8}
HARD_PROJECTION = 4e-8
FEW = 3  # histograms are few if there are less than one for as many bins


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
    """Estimate their number: all pairs of a side, or some for each neighbor."""
    similar, dissimilar = (
        n_pairs if k is None else min(n_pairs, 2 * k * len(weights))
        for n_pairs, k in (
            (weights.n_pairs(similar=True), n_similar),
            (weights.n_pairs(similar=False), n_dissimilar),
        )
    )
    return Pairs(similar, dissimilar)


@dataclass(frozen=True)
class Effort:
    """Estimated cost of a fit that takes all its steps.

    Inner loops usually end once they may: they count with their least steps.

    Attributes
    ----------
    n_steps, n_solves, n_pivots : int
        Counts, over all steps.
    most_steps : int
        Limit on steps.
    solving, projecting : float
        Seconds.
    n_bytes : int
        Memory.
    """

    n_steps: int
    n_solves: int
    n_pivots: int
    solving: float
    projecting: float
    n_bytes: int
    most_steps: int

    @property
    def seconds(self) -> float:
        """Total time."""
        return self.solving + self.projecting

    @property
    def if_it(self) -> str:
        """What the fit does if these are its costs."""
        if self.n_steps == self.most_steps:
            return "takes all its steps"
        return f"takes {self.n_steps} of at most {self.most_steps} steps"

    @property
    def advice(self) -> str:
        """How to shorten the fit, depending on what takes most of the time."""
        if self.seconds <= LONG or self.solving >= self.projecting:
            return "fewer histograms (max_samples, batch_size) make it shorter"
        return (
            "most of it goes into the projection, whose time grows with the cube of "
            "the number of bins: fewer bins, fewer steps or a linear map "
            "(MappedMetricLearning) make it shorter"
        )


def non_empty_bins(rows: Any) -> float:
    """Count the non-empty bins of a histogram, dense or sparse, on average."""
    filled = rows.nnz if hasattr(rows, "nnz") else np.count_nonzero(rows)
    return float(filled / rows.shape[0])


def effort_of(
    rows: Floats, weights: Weights, counts: Counts, settings: Settings, n_threads: int
) -> Effort:
    """Estimate what a fit takes, from counts."""
    n, d = rows.shape
    kind = settings.criterion
    pairs = solved_pairs(weights, *counts)
    n_steps = settings.usual_steps
    # Margins find their targets at every step, C_k its similar pairs at outer ones.
    n_similar = n_steps if kind == "margin" else settings.max_outer
    n_solves = n_similar * pairs.similar + n_steps * pairs.dissimilar
    n_bins = non_empty_bins(rows)
    a_solve = SOLVE + ARC * n_bins**2 + ENTRY * d**2
    projection = HARD_PROJECTION if FEW * n < d else PROJECTION[kind]
    return Effort(
        n_steps=n_steps,
        n_solves=n_solves,
        n_pivots=round(n_solves * PIVOTS[kind] * n_bins),
        solving=n_solves * a_solve / n_threads,
        projecting=n_steps * projection * d**3,
        n_bytes=fit_bytes(n, d, pairs),
        most_steps=settings.most_steps,
    )


def fit_bytes(n: int, d: int, pairs: Pairs) -> int:
    """Estimate the memory of a fit: histograms, pairs solved, and trees of some."""
    n_solved = max(pairs.similar, pairs.dissimilar)
    return 40 * n * d + 300 * n_solved + min(TREES, 8 * d * n_solved)


def warn_if_long(
    seconds: float,
    n_bytes: float,
    shape: tuple[int, int],
    advice: str,
    *,
    if_it: str = "takes all its steps",
) -> None:
    """Warn if this is more than a minute, or more than a gigabyte."""
    if seconds <= LONG and n_bytes <= LARGE:
        return
    takes = []
    if seconds > LONG:
        takes.append(f"about {duration(seconds)}, if it {if_it},")
    if n_bytes > LARGE:
        takes.append(f"about {n_bytes / 1e9:.1f} GB of memory")
    n, d = shape
    warn(
        f"This fit may take {' and '.join(takes)} for {n:,} histograms of {d:,} bins; "
        f"{advice}.",
        LongFitWarning,
    )


def warn_before(
    rows: Floats, weights: Weights, counts: Counts, settings: Settings, n_threads: int
) -> None:
    """Warn if the fit will be long or large."""
    effort = effort_of(rows, weights, counts, settings, n_threads)
    size = effort.seconds, effort.n_bytes, rows.shape
    warn_if_long(*size, effort.advice, if_it=effort.if_it)
