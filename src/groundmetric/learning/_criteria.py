"""What learners minimize: criteria as small objects with parameters of their own.

A criterion knows which steps suit it, and how to set itself up on histograms and their
weights; the learners know histograms, metrics and steps. A new criterion is a new class
here, and no parameter of a learner.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.utils import check_random_state

from .. import validation
from .._cluster import require_client
from ..base._model import Parameters
from ._batches import BatchedMargins
from ._margin import MarginCriterion
from ._neighborhood import NeighborhoodCriterion
from ._shards import ShardedMargins, ShardedNeighborhood

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..similarity._weights import Weights
    from ._batches import MakesSearches
    from ._criterion import Criterion, Search
    from ._descent import Settings
    from ._effort import Counts

    Floats = NDArray[np.float64]


class Margin(Parameters):
    """Similar histograms nearer than dissimilar ones, by a margin.

    The nearest histograms of the same class should be nearer than all histograms of
    other classes: the loss of LMNN (Weinberger & Saul, 2009) with the EMD in place of
    a Mahalanobis distance.

    Parameters
    ----------
    n_targets : int, default=10
        How many of the nearest similar histograms should be nearer than dissimilar
        ones; in smaller classes, all of them.
    margin : float, default=0.3
        By how much, as a share of the median distance to the targets.
    floor : float, default=0.07
        Stop when the criterion has fallen to this share of its first value. Beyond this
        point, a metric fits noise in the training histograms; where classes separate
        easily, fewer steps are taken. Does not apply to batches, nor where
        cross-validation chooses the number of steps.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning, Margin
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning(Margin(n_targets=1)).fit(X, [0, 0, 1, 1])
    >>> learner.transform(X).argmin(axis=1)
    array([0, 1, 2, 3])
    """

    def __init__(
        self, n_targets: int = 10, margin: float = 0.3, floor: float = 0.07
    ) -> None:
        self.n_targets = n_targets
        self.margin = margin
        self.floor = floor

    def _settings(self, settings: Settings) -> Settings:
        """Say how the descent should go."""
        floor = validation.as_number(self.floor, "floor", low=0.0)
        return replace(settings, criterion="margin", floor=floor, result="last")

    def _limits(self) -> tuple[int, float]:
        """Return the number of targets and the share of their median distance."""
        k = validation.as_count(self.n_targets, "n_targets", low=1)
        share = validation.as_factor(self.margin, "margin")
        if share == 0:
            raise ValueError("margin is 0.0; it must be positive.")
        return k, share

    def _counts(self, n: int) -> Counts:
        """Say how many similar and dissimilar pairs count for each of n histograms."""
        k, _ = self._limits()
        # With ten classes, about a sixth of the other pairs were worth solving.
        return k, max(k, n // 24)

    def _on(
        self,
        rows: Floats,
        weights: Weights,
        n_threads: int,
        client: object = None,
    ) -> Criterion:
        """Set up on exact EMDs, here or on the workers of a cluster."""
        if client is not None:
            require_client(client)
            return ShardedMargins(
                client, rows, weights, *self._limits(), n_threads=n_threads
            )
        return MarginCriterion(rows, weights, *self._limits(), n_threads=n_threads)

    def _on_batches(
        self,
        rows: Floats | None,
        weights: Weights,
        n_threads: int,
        *,
        batch_size: int,
        random_state: object,
        client: object = None,
        searches: MakesSearches | None = None,
    ) -> Criterion:
        """Set up on exact EMDs of one batch after another."""
        size = validation.as_count(batch_size, "batch_size", low=2)
        if client is not None:
            raise ValueError(
                f"client is given, but batch_size is {size}; fits in batches run on "
                "one machine."
            )
        seed = int(check_random_state(random_state).randint(2**31))
        return BatchedMargins(
            rows,
            weights,
            *self._limits(),
            batch_size=size,
            seed=seed,
            n_threads=n_threads,
            searches=searches,
        )

    def _on_searches(
        self, similar: Search, dissimilar: Search, weights: Weights
    ) -> Criterion:
        """Set up on other distances, whose near pairs are found by searches."""
        searches = similar, dissimilar
        return MarginCriterion(None, weights, *self._limits(), searches=searches)


class Neighborhood(Parameters):
    r"""The paper's criterion :math:`C_k`.

    The sum of weighted distances to similar histograms, minus that to the nearest
    dissimilar ones. The metric with the smallest value on the way is returned.

    Parameters
    ----------
    k : int or None, default=3
        How many of the nearest dissimilar histograms count; None for all.
    n_similar : int or None, default=None
        How many of the nearest similar histograms count; None for all. The paper has
        ``n_similar=k``.
    inner_steps : int, default=1
        The concave part is linearized again after at most this many steps; the
        paper has 200.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning, Neighborhood
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning(Neighborhood(k=1), power=1.0)
    >>> learner.fit(X, [0, 0, 1, 1]).path_[0].criterion < 0
    True
    """

    def __init__(
        self,
        k: int | None = 3,
        n_similar: int | None = None,
        inner_steps: int = 1,
    ) -> None:
        self.k = k
        self.n_similar = n_similar
        self.inner_steps = inner_steps

    @classmethod
    def paper(cls, k: int | None = 3) -> Neighborhood:
        """Make the criterion of Cuturi & Avis: k neighbors of both kinds, 200 steps.

        All other settings of theirs are in :meth:`GroundMetricLearning.paper`.

        Examples
        --------
        >>> from groundmetric import Neighborhood
        >>> Neighborhood.paper(5)
        Neighborhood(inner_steps=200, k=5, n_similar=5)
        """
        return cls(k, n_similar=k, inner_steps=200)  # q_max

    def _settings(self, settings: Settings) -> Settings:
        inner = validation.as_count(self.inner_steps, "inner_steps", low=1)
        # Outer steps count as whole ones, even if their progress ends early.
        return replace(
            settings,
            criterion="neighborhood",
            max_outer=-(-settings.max_outer // inner),
            max_inner=min(inner, settings.max_outer),
            floor=0.0,
            result="best",
        )

    def _counts(self, n: int) -> Counts:  # noqa: ARG002 - of other criteria
        n_similar, k = (
            None if given is None else validation.as_count(given, name, low=1)
            for name, given in (("n_similar", self.n_similar), ("k", self.k))
        )
        return n_similar, k

    def _on(
        self,
        rows: Floats,
        weights: Weights,
        n_threads: int,
        client: object = None,
    ) -> Criterion:
        counts = self._counts(len(rows))
        balanced = weights.balanced(*counts)
        if client is not None:
            require_client(client)
            return ShardedNeighborhood(
                client, rows, balanced, *counts, n_threads=n_threads
            )
        return NeighborhoodCriterion(rows, balanced, *counts, n_threads=n_threads)


class Softmax(Parameters):
    r"""The probability that a random neighbor is of the same class.

    Neighbor j of histogram i is drawn with a probability that falls as
    :math:`e^{-d_{ij} / \tau}`; minimized is the mean of the negative logarithms of the
    probabilities that it is of the same class. This is the loss of neighborhood
    components analysis (Goldberger et al., 2005), with the logarithm of the sum. For
    :class:`SinkhornMetricLearning`, which then learns from what is known of the bins:
    their ``points`` and weights.

    Parameters
    ----------
    temperature : float, default=0.2
        :math:`\tau`, as a share of the median distance before the first step.
    step_size : float, default=0.01
        First step of Adam for positions, where points have a mean square length of 1;
        logarithms of weights move ten times as far. Steps fall to 0 along a cosine, so
        that ``max_steps`` changes all of them.

    Examples
    --------
    >>> import math
    >>> from groundmetric import SinkhornMetricLearning, Softmax
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = SinkhornMetricLearning(
    ...     smoothing=math.inf,
    ...     points=[[0.0], [1.0], [2.0], [3.0]],
    ...     criterion=Softmax(temperature=0.5),
    ... )
    >>> path = learner.fit(X, [0, 0, 1, 1]).path_
    >>> path[-1].criterion < path[0].criterion
    True
    """

    def __init__(self, temperature: float = 0.2, step_size: float = 0.01) -> None:
        self.temperature = temperature
        self.step_size = step_size

    def _limits(self) -> tuple[float, float]:
        """Return the share of the median distance, and the first step."""
        shares = []
        for name in ("temperature", "step_size"):
            share = validation.as_factor(getattr(self, name), name)
            if share == 0:
                raise ValueError(f"{name} is 0.0; it must be positive.")
            shares.append(share)
        return shares[0], shares[1]


CRITERIA = {"margin": Margin, "neighborhood": Neighborhood, "softmax": Softmax}
EXACT = Margin, Neighborhood


def as_criterion(given: Any, only: tuple[type[Parameters], ...] = EXACT) -> Any:
    """Return a criterion, by name or as given; reject those that do not work here."""
    if isinstance(given, str):
        validation.require_one_of(given, "criterion", tuple(CRITERIA))
        given = CRITERIA[given]()
    names = [f"{each.__name__}(...)" for each in only]
    if not isinstance(given, tuple(CRITERIA.values())):
        by_name = [repr(name) for name, each in CRITERIA.items() if each in only]
        options = ", ".join([*by_name, *names[:-1]])
        raise ValueError(f"criterion is {given!r}; {options} or {names[-1]} is needed.")
    if not isinstance(given, only):
        verb = "works" if len(only) == 1 else "work"
        raise ValueError(
            f"criterion is {given!r}; only {' and '.join(names)} {verb} here."
        )
    return given
