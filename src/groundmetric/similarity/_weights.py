"""The weights of pairs, and which pairs a criterion considers.

Labels need no matrix: all pairs within classes have one weight, all others another.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterator

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Arrays = dict[str, Any]


class Weights(Protocol):
    """Weights omega_ij: positive for similar pairs, negative for dissimilar ones.

    ``points`` are how much histograms count, of mean 1 over those that were given; None
    if all count the same. Criteria multiply by them.
    """

    @property
    def points(self) -> Floats | None:
        """How much each histogram counts."""

    def weighted(self, points: Floats) -> Weights:
        """Let histograms count by these weights."""

    def __len__(self) -> int:
        """Return the number of histograms."""

    def of(self, i: Indices, j: Indices) -> Floats:
        """Return the weights of pairs."""

    def candidates(
        self, *, similar: bool, within: tuple[int, int] | None = None
    ) -> Arrays:
        """Return the similar or dissimilar pairs, as the pruned search takes them.

        Those that start outside a range may be missing.
        """

    def n_pairs(self, *, similar: bool) -> int:
        """Count the similar or dissimilar pairs."""

    def largest(self, *, similar: bool) -> float:
        """Return the largest weight of these pairs, without its sign; 0 if none."""

    def balanced(self, n_similar: int | None, n_dissimilar: int | None) -> Weights:
        """Scale dissimilar weights, to balance the neighbors that are counted.

        Weights of labels sum to 1 and -1 over all pairs, but not over the neighbors
        that are counted. With ten classes, a similar pair would weigh nine times as
        much as a dissimilar one, although each histogram counts equally many of both,
        and the zero metric would be best.
        """

    def part(self, members: Indices) -> Weights:
        """Return the weights of pairs among some histograms."""

    def matrix(self) -> Floats:
        """Return all weights."""

    def parts(self) -> Iterator[Floats]:
        """Return the arrays that the weights depend on."""


def _balance(shares: list[float]) -> float:
    similar, dissimilar = shares
    return similar / dissimilar


def _some(points: Floats | None, members: Indices) -> Floats | None:
    return None if points is None else points[members]


@dataclass(frozen=True, eq=False)
class LabelWeights:
    """Weights from labels.

    Attributes
    ----------
    classes : ndarray of int32, shape (n,)
        The class of each histogram.
    similar, dissimilar : float
        The weight of each pair within a class, and of each pair between classes.
    points : ndarray of shape (n,), optional
        How much histograms count.
    """

    classes: NDArray[np.int32]
    similar: float
    dissimilar: float
    points: Floats | None = None

    @classmethod
    def from_classes(cls, classes: Indices) -> LabelWeights:
        """Make weights that sum to 1 and -1 over similar and dissimilar pairs."""
        counts = np.bincount(classes)
        n_similar = int((counts * (counts - 1) // 2).sum())
        n_dissimilar = len(classes) * (len(classes) - 1) // 2 - n_similar
        return cls(
            classes.astype(np.int32),
            1.0 / n_similar if n_similar > 0 else 0.0,
            -1.0 / n_dissimilar,
        )

    def __len__(self) -> int:
        return len(self.classes)

    def of(self, i: Indices, j: Indices) -> Floats:
        same = self.classes[i] == self.classes[j]
        return np.where(same, self.similar, self.dissimilar)

    def candidates(
        self,
        *,
        similar: bool,
        within: tuple[int, int] | None = None,  # noqa: ARG002 - no pairs are listed
    ) -> Arrays:
        return {"classes": self.classes, "same": similar}

    def largest(self, *, similar: bool) -> float:
        return self.similar if similar else -self.dissimilar

    def n_pairs(self, *, similar: bool) -> int:
        sizes = np.bincount(self.classes)
        n_similar = int((sizes * (sizes - 1) // 2).sum())
        n_all = len(self) * (len(self) - 1) // 2
        return n_similar if similar else n_all - n_similar

    def balanced(self, n_similar: int | None, n_dissimilar: int | None) -> LabelWeights:
        mates = np.bincount(self.classes)[self.classes] - 1
        shares = []
        for others, k in ((mates, n_similar), (len(self) - 1 - mates, n_dissimilar)):
            counted = others if k is None else np.minimum(others, k)
            shares.append(counted.sum() / others.sum() if others.any() else 1.0)
        factor = _balance(shares)
        if self.points is None:
            return replace(self, dissimilar=self.dissimilar * factor)
        near, far = self._sums_of_products(self.points)
        similar = 1.0 / near if near > 0 else 0.0
        return replace(self, similar=similar, dissimilar=-factor / far)

    def _sums_of_products(self, points: Floats) -> tuple[float, float]:
        """Sum points[i] * points[j] over similar pairs, and over dissimilar ones."""
        of_classes = np.bincount(self.classes, points)
        squares = float(of_classes @ of_classes)
        near = (squares - float(points @ points)) / 2
        sizes = np.bincount(self.classes)
        is_any = bool((sizes > 1).any())  # otherwise, rounding is all there is
        return near if is_any else 0.0, (float(points.sum()) ** 2 - squares) / 2

    def weighted(self, points: Floats) -> LabelWeights:
        return replace(self, points=points)

    def part(self, members: Indices) -> LabelWeights:
        points = _some(self.points, members)
        return replace(self, classes=self.classes[members], points=points)

    def matrix(self) -> Floats:
        everyone = np.arange(len(self))
        weights = self.of(everyone[:, None], everyone[None, :])
        np.fill_diagonal(weights, 0.0)
        return weights

    def parts(self) -> Iterator[Floats]:
        yield self.classes.astype(float)
        yield np.array([self.similar, self.dissimilar])
        if self.points is not None:
            yield self.points


@dataclass(frozen=True, eq=False)
class MatrixWeights:
    """Weights as given: a symmetric matrix, zero on the diagonal."""

    omega: Floats
    points: Floats | None = None

    def __len__(self) -> int:
        return len(self.omega)

    def of(self, i: Indices, j: Indices) -> Floats:
        weights: Floats = self.omega[i, j]
        return weights

    def candidates(
        self, *, similar: bool, within: tuple[int, int] | None = None
    ) -> Arrays:
        rows = slice(*(within or (0, len(self))))
        mask = self.omega[rows] > 0 if similar else self.omega[rows] < 0
        counts = np.zeros(len(self), dtype=np.int64)
        counts[rows] = mask.sum(axis=1)
        starts = np.concatenate([[0], np.cumsum(counts)])
        return {"candidates": (starts, np.nonzero(mask)[1].astype(np.int32))}

    def largest(self, *, similar: bool) -> float:
        signed = self.omega if similar else -self.omega
        return float(signed.max(initial=0.0))

    def n_pairs(self, *, similar: bool) -> int:
        mask = self.omega > 0 if similar else self.omega < 0
        return int(np.count_nonzero(mask)) // 2

    def balanced(
        self, n_similar: int | None, n_dissimilar: int | None
    ) -> MatrixWeights:
        shares = []
        for part, k in ((self.omega, n_similar), (-self.omega, n_dissimilar)):
            weights = np.sort(np.maximum(part, 0.0), axis=1)[:, ::-1]
            total = weights.sum()
            shares.append(weights[:, :k].sum() / total if total > 0 else 1.0)
        factor = _balance(shares)
        omega = np.where(self.omega < 0, self.omega * factor, self.omega)
        return replace(self, omega=omega)

    def weighted(self, points: Floats) -> MatrixWeights:
        return replace(self, points=points)

    def part(self, members: Indices) -> MatrixWeights:
        omega = self.omega[np.ix_(members, members)]
        return MatrixWeights(omega, _some(self.points, members))

    def matrix(self) -> Floats:
        return self.omega

    def parts(self) -> Iterator[Floats]:
        yield self.omega
        if self.points is not None:
            yield self.points
