"""Margins of one batch of histograms after another.

Each evaluation draws a batch, and finds targets and impostors within it: a subgradient
of the same criterion on a sample. Memory beyond the histograms is that of one batch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ._criterion import Evaluation
from ._margin import MarginCriterion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .._files import Arrays
    from ..similarity._weights import Weights
    from ._criterion import Search

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Draws:
    """Batches of histograms: parts of a random order of all of them.

    A new order is drawn when fewer than a batch are left.

    Parameters
    ----------
    n : int
        Number of histograms.
    size : int
        How many are in a batch.
    seed : int
        Draws the orders.
    """

    def __init__(self, n: int, size: int, seed: int) -> None:
        self._n, self.size, self._seed = n, min(size, n), seed
        self._n_drawn = 0

    def share(self, k: int) -> int:
        """Reduce k to the share of a batch, and at least to one."""
        return max(1, round(k * self.size / self._n))

    def draw(self) -> Indices:
        """Return the indices of the next batch."""
        epoch, part = divmod(self._n_drawn, self._n // self.size)
        order = np.random.default_rng([self._seed, epoch]).permutation(self._n)
        self._n_drawn += 1
        return np.sort(order[part * self.size : (part + 1) * self.size])

    def state(self) -> Arrays:
        """Return where the draws are."""
        return {"draws": np.array([self._seed, self._n_drawn])}

    def set_state(self, state: Arrays) -> None:
        """Continue these draws."""
        draws = state["draws"]
        if draws.shape != (2,) or draws.dtype.kind != "i" or (draws < 0).any():
            raise ValueError("its draws are not those of batches")
        self._seed, self._n_drawn = draws.tolist()


class MakesSearches(Protocol):
    """Histograms, of which any batch can be searched for near pairs."""

    def __call__(self, members: Indices, weights: Weights) -> tuple[Search, Search]:
        """Search for similar pairs of these histograms, and for dissimilar ones."""

    def identity(self) -> Iterator[str]:
        """Return what distances depend on, but for metric, histograms and weights."""


class BatchedMargins:
    """L on batches.

    Parameters
    ----------
    X, weights, n_targets, margin, n_threads
        See :class:`MarginCriterion`. In a batch, ``n_targets`` shrinks in proportion,
        but at most by half: errors were higher with fewer targets.
    batch_size, seed
        See :class:`Draws`.
    searches : MakesSearches, optional
        Makes the searches for near pairs of a batch; by exact EMDs on X if None.
    """

    def __init__(
        self,
        X: Floats | None,
        weights: Weights,
        n_targets: int,
        margin: float,
        *,
        batch_size: int,
        seed: int,
        n_threads: int = 1,
        searches: MakesSearches | None = None,
    ) -> None:
        self._X, self._weights, self._searches = X, weights, searches
        self._draws = Draws(len(weights), batch_size, seed)
        self._k = max(self._draws.share(n_targets), -(-n_targets // 2))
        self._margin, self._threads = margin, n_threads

    def linearize(self, metric: Floats) -> Evaluation:
        """Return zero: all of L is evaluated at every step."""
        return Evaluation.nothing(metric)

    def evaluate(self, metric: Floats) -> Evaluation:
        """Value and subgradient on the next batch."""
        members = self._draws.draw()
        weights, make = self._weights.part(members), self._searches
        batch = MarginCriterion(
            None if self._X is None else self._X[members],
            weights,
            self._k,
            self._margin,
            n_threads=self._threads,
            searches=None if make is None else make(members, weights),
        )
        return batch.evaluate(metric)

    def identity(self) -> Iterator[Floats | str]:
        """Return weights, number of targets, margin and size."""
        yield from self._weights.parts()
        yield f"margin {self._k} {self._margin} of batches of {self._draws.size}"
        if self._searches is not None:
            yield from self._searches.identity()

    def state(self) -> Arrays:
        """Return where the draws are."""
        return self._draws.state()

    def set_state(self, state: Arrays) -> None:
        """Continue these draws."""
        self._draws.set_state(state)
