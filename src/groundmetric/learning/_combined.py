r"""The estimator: learn the weights of metrics that are given.

.. math:: M = \sum_k w_k M_k, \quad w \ge 0

Metrics are a convex cone: there is no projection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ._axes import require_two_bins
from ._conic import Candidates, CombinedCriterion, ConicCombinations
from ._criteria import Margin, Neighborhood, as_criterion
from ._descent import Descent, Settings
from ._effort import effort_of, warn_if_long
from ._exact import ExactLearner

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..similarity._weights import Weights
    from ._checkpoint import Checkpoint

Floats = NDArray[np.float64]


class CombinedMetricLearning(ExactLearner):
    """Learn how much each of several known metrics counts.

    The metric is a weighted sum of given metrics, such as published scales, distances
    by different features, or differences along each coordinate of the bins. Only the
    weights are learned, for which a few dozen histograms suffice; bins that no
    histogram uses keep their prior distances, up to these weights.

    Time is that of :class:`GroundMetricLearning` without the projection; memory grows
    with d^2 times the number of candidates.

    Parameters
    ----------
    metrics : list of array-like of shape (d, d), default=()
        Metrics to combine, in any units: all start with the same weight once they are
        scaled to the same mean.
    points : array-like of shape (d, s), optional
        Coordinates of the bins. Each adds a candidate: the difference of two bins along
        it, ``abs(points[p, s] - points[q, s])``. Pass ``cdist(points, points)`` among
        the metrics, too, if distances by all coordinates make sense.
    criterion : {"margin", "neighborhood"}, Margin or Neighborhood, default="margin"
        What to minimize, see :class:`Margin` and :class:`Neighborhood`.
    power : float or "log1p", default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else; 1 leaves them as they are. "log1p" is for heavy tails, see
        :class:`GroundMetricLearning`; and :meth:`histograms`.
    step_size : float, default=0.5
        First step: the weight that changes most changes by a factor of exp(step_size).
        Steps fall as 1 / sqrt(t).
    max_steps : int, default=20
        Limit on steps.
    tol : float, default=0.0075
        Stop when the relative improvement over the last six steps falls below this.
    max_samples : int, optional
        Learn from at most this many histograms, drawn class by class; None for all.
        ``transform`` computes distances to these.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    callbacks : list of callable, default=()
        Each is called with every :class:`DescentStep`; a true answer ends the run. A
        :class:`Checkpoint` saves its state.
    verbose : int, default=0
        1 shows a bar of steps (needs tqdm).
    random_state : int, RandomState instance or None, default=None
        Draws the sample; nothing else here is random.

    Attributes
    ----------
    weights_ : ndarray of shape (n_candidates,)
        Weights of the ``metrics``, in their order and units, followed by those of the
        coordinates of ``points``; 0 for a coordinate that is constant. ``metric_`` is
        the sum of the candidates times these.
    metric_ : ndarray of shape (d, d)
        The learned metric, scaled so that the median distance between training
        histograms (up to 100 of them) is 1. With margins, it is the mean of the metrics
        after each step.
    initial_metric_ : ndarray of shape (d, d)
        Where the descent started.
    path_ : DescentPath
        A row for each step.
    n_iter_ : int
        Steps taken.
    power_ : float or str
        As given.
    converged_ : bool
        Whether progress fell below ``tol``.
    classes_ : ndarray
        Labels, if there were any.
    sample_indices_ : ndarray of shape (max_samples,)
        The rows of X that were drawn, if not all.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    Four bins differ in size and in color; classes differ in the sizes that they use:

    >>> from groundmetric import CombinedMetricLearning
    >>> X = [[6, 0, 2, 1], [0, 6, 1, 2], [2, 1, 6, 0], [1, 2, 0, 6]]
    >>> size_and_color = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> learner = CombinedMetricLearning(points=size_and_color).fit(X, [0, 0, 1, 1])
    >>> learner.weights_.round(1)
    array([12.2,  1.7])
    """

    _fitted: ClassVar[tuple[str, ...]] = (*ExactLearner._fitted, "weights_")

    def __init__(
        self,
        metrics: Sequence[ArrayLike] = (),
        points: ArrayLike | None = None,
        *,
        criterion: str | Margin | Neighborhood = "margin",
        power: float | str = 0.5,
        step_size: float = 0.5,
        max_steps: int = 20,
        tol: float = 0.0075,
        max_samples: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[..., object] | Checkpoint] = (),
        verbose: int = 0,
        random_state: object = None,
    ) -> None:
        self.metrics = metrics
        self.points = points
        self.criterion = criterion
        self.power = power
        self.step_size = step_size
        self.max_steps = max_steps
        self.tol = tol
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    def _descent(self, rows: Floats, weights: Weights) -> Descent:
        """Check the parameters, and set the descent up."""
        settings, goal = self._settings(), as_criterion(self.criterion)
        threads = validation.n_threads(self.n_jobs)
        self._candidates = candidates = self._given(rows.shape[1], threads)
        criterion = goal._on(rows, weights, threads)
        effort = effort_of(rows, weights, goal._counts(len(rows)), settings, threads)
        n_bytes = effort.n_bytes + 3 * candidates.metrics.nbytes
        advice = "fewer histograms (max_samples) or fewer steps make it shorter"
        size = effort.solving, n_bytes, rows.shape
        warn_if_long(*size, advice, if_it=effort.if_it)
        return Descent(
            CombinedCriterion(criterion, candidates),
            ConicCombinations(candidates),
            settings,
        )

    def _given(self, d: int, n_threads: int) -> Candidates:
        """Validate the metrics to combine."""
        require_two_bins(d)
        return Candidates.of(self.metrics, self.points, d, n_threads=n_threads)

    def _settings(self) -> Settings:
        settings = super()._settings()
        if settings.criterion != "margin":
            return settings
        # Single steps zigzag between tied plans; their mean does not.
        return replace(settings, result="average")

    def _positions_of(self, result: Floats, _d: int) -> Floats:
        return self._candidates.combined(result)

    def _keep(self, descent: Descent, initial: Floats, rows: Any) -> None:
        candidates = self._candidates
        self.weights_ = candidates.as_given(descent.result)
        self.metric_ = candidates.combined(descent.result)
        self.initial_metric_ = candidates.combined(initial)
        self._histograms = rows
        del self._candidates  # they are parameters, and large

    def _divide(self, before: str, unit: float) -> None:
        super()._divide(before, unit)
        if not before:
            self.weights_ = self.weights_ / unit

    def _restore(self) -> None:
        super()._restore()
        weights = validation.as_float_array(self.weights_, "weights_", 1)
        validation.require_finite(weights, "weights_")
        if (weights < 0).any():
            raise ValueError("weights_ has a negative entry")
