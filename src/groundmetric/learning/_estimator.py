"""The estimator: learn a ground metric from labeled histograms."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .. import validation
from .._cluster import require_client
from ..tables._initial import starting_metric
from ..transport._exact import pairwise_emd
from ._batches import BatchedMargins
from ._descent import Descent, Settings
from ._effort import warn_before
from ._mapped import MappedLearner
from ._margin import MarginCriterion, judged_margin
from ._neighborhood import NeighborhoodCriterion
from ._partial import StepwiseLearner
from ._shards import ShardedMargins, ShardedNeighborhood
from ._space import MetricCone

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._files import StrPath
    from ..similarity._weights import Weights
    from ._criterion import Criterion
    from ._path import DescentStep

Floats = NDArray[np.float64]

CRITERIA = ("margin", "neighborhood")
RESULTS = ("average", "best", "last")


class GroundMetricLearning(StepwiseLearner, MappedLearner):
    """Learn the ground metric of the earth mover's distance.

    Looks for the metric between bins under which the EMD is small between similar
    histograms and large between dissimilar ones, over the metrics in the unit ball.

    Time grows with the pairs that bounds cannot rule out, about ``n_targets`` for each
    histogram and the impostors within the margin, and with the cube of the number of
    bins for the projection; memory with n * d, d^2 and the pairs solved. No array of
    n * n is made unless you pass ``similarity``.

    Parameters
    ----------
    criterion : {"margin", "neighborhood"}, default="margin"
        What to minimize. "margin": each histogram's nearest of its class should be
        nearer than all histograms of other classes, by a margin. "neighborhood": C_k of
        Cuturi & Avis, the sum of weighted distances to similar histograms and to the
        nearest dissimilar ones.
    n_targets : int, default=10
        For margins: how many of the nearest similar histograms should be nearer than
        dissimilar ones; all of them in classes that are smaller.
    margin : float, default=0.3
        For margins: by how much, as a share of the median distance to the targets.
    n_neighbors : int or None, default=3
        For C_k: k, how many of the nearest dissimilar histograms count; None for all.
    n_similar : int or None, default=None
        For C_k: how many of the nearest similar histograms count; None for all. The
        paper has ``n_similar=n_neighbors``.
    power : float, default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else. Square roots give rare bins more weight; 1 is no change.
        Applied to everything that the estimator sees; see :meth:`histograms`.
    init : {"uniform", "points", "typical", "independence"} or array of shape (d, d), \
optional
        Initialization: the uniform metric, under which the EMD is half of l1; the
        distances between ``points``; a metric made from tables; each of the latter
        blended half and half with the uniform metric; or your own metric. By default
        "points" if there are any, and "uniform" otherwise.
    points : array-like of shape (d, s), optional
        Coordinates of the bins, such as word vectors, pixels or colors. For cosine
        distances, scale the rows to unit length.
    n_components : int, optional
        Learn a linear map A of ``points`` to so many dimensions, by margins; the metric
        is the length of A (x_p - x_q). Sparse histograms stay sparse, and no d x d
        matrix is made: for thousands of bins. Without points, every bin has a position
        of its own. By default every entry of the metric is learned.
    floor : float, default=0.07
        For margins: stop when the criterion has fallen to this share of its first
        value. Beyond, a metric learns the noise of the training histograms: fewer steps
        are taken where classes separate easily.
    step_size : float, default=0.5
        First step, relative to the norms of metric and subgradient; it falls as
        1 / sqrt(t).
    max_outer, max_inner : int, default=20 and 1
        Limits on outer steps, and on inner steps in each. For C_k, the concave part
        is linearized at every outer step. Up to 20 steps in all, the limits are a
        budget: stopping early is intended. If you allow more, you get a
        ``ConvergenceWarning`` when they are used up before progress falls below
        ``tol``, unless that is 0. The paper has 8 and 200.
    tol : float, default=0.0075
        Stop when the relative improvement over the last six steps falls below this.
    batch_size : int, optional
        For margins: take each step by a batch of so many histograms, with their targets
        and impostors among each other; of ``n_targets`` the same share counts, and at
        least half of them. Memory is that of n * d numbers and of the batch's pairs.
        All steps are taken then: ``floor`` and ``tol`` do not apply.
    max_samples : int, optional
        Learn from at most so many histograms, drawn class by class; None for all.
        ``transform`` computes distances to these.
    result : {"last", "best", "average"}, default="last"
        Return the last metric, the one with the smallest criterion, or the mean of the
        metrics of all steps.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    client : dask.distributed.Client, optional
        Learn on the workers of a cluster, each with n_jobs threads. The histograms are
        divided into parts of 256, or into 256 parts if there are more than 65,536; the
        metric is the same as without a client, whatever the number of workers. If a
        worker is lost, its parts are made again from the data, with a warning. Clones
        share the client; files and pickles do not have it.
    callback : callable, optional
        Called with each :class:`DescentStep`; a true answer ends the run.
    verbose : int, default=0
        1 shows a bar of steps (needs tqdm).
    checkpoint : path-like, optional
        A file for the state of the run. If the run is killed or interrupted, the next
        fit with the same data and parameters continues from there, on the same machine
        to the very same metric. The file is removed when the fit has ended.
    checkpoint_seconds : float, default=60
        How often to write it.
    warm_start : bool, default=False
        Start from the metric of the last fit, if there is one.
    random_state : int, RandomState instance or None, default=None
        Draws the sample and the batches; nothing else here is random.

    Attributes
    ----------
    metric_ : ndarray of shape (d, d)
        The learned metric, scaled so that the median distance between training
        histograms (up to 100 of them) is 1. It belongs to histograms raised to
        ``power``: give ``metric=learner`` instead wherever you can, which applies both.
        With ``n_components``, the
        distances between the rows of ``embedding_``, computed when you ask for them;
        for up to 10,000 bins.
    embedding_ : ndarray of shape (d, n_components)
        With ``n_components``: where the map takes the bins, centered.
    components_ : ndarray of shape (n_components, s)
        With ``n_components``: the map, such that ``embedding_`` is
        ``(points - points.mean(axis=0)) @ components_.T``.
    initial_metric_ : ndarray of shape (d, d)
        Where the descent started; with ``n_components``, the distances between the
        rows of ``initial_embedding_``, likewise.
    initial_embedding_ : ndarray of shape (d, n_components)
        With ``n_components``: where the first map took the bins.
    path_ : DescentPath
        A row for each step.
    n_iter_ : int
        Steps taken.
    power_ : float
        The power that histograms are raised to.
    converged_ : bool
        Whether progress fell below ``tol``, and every projection onto the metrics
        converged; False if a limit or the callback ended the run.
    classes_ : ndarray
        Labels, if there were any.
    sample_indices_ : ndarray of shape (max_samples,)
        The rows of X that were drawn, if not all.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import GroundMetricLearning
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = GroundMetricLearning().fit(X, [0, 0, 1, 1])
    >>> learner.transform(X).shape
    (4, 4)
    """

    _limits: ClassVar[tuple[str, ...]] = ("max_outer", "max_inner")

    def __init__(
        self,
        *,
        criterion: str = "margin",
        n_targets: int = 10,
        margin: float = 0.3,
        n_neighbors: int | None = 3,
        n_similar: int | None = None,
        power: float = 0.5,
        init: str | ArrayLike | None = None,
        points: ArrayLike | None = None,
        n_components: int | None = None,
        floor: float = 0.07,
        step_size: float = 0.5,
        max_outer: int = 20,
        max_inner: int = 1,
        tol: float = 0.0075,
        batch_size: int | None = None,
        max_samples: int | None = None,
        result: str = "last",
        n_jobs: int | None = None,
        client: object = None,
        callback: Callable[[DescentStep], object] | None = None,
        verbose: int = 0,
        checkpoint: StrPath | None = None,
        checkpoint_seconds: float = 60.0,
        warm_start: bool = False,
        random_state: object = None,
    ) -> None:
        self.criterion = criterion
        self.n_targets = n_targets
        self.margin = margin
        self.n_neighbors = n_neighbors
        self.n_similar = n_similar
        self.power = power
        self.init = init
        self.points = points
        self.n_components = n_components
        self.floor = floor
        self.step_size = step_size
        self.max_outer = max_outer
        self.max_inner = max_inner
        self.tol = tol
        self.batch_size = batch_size
        self.max_samples = max_samples
        self.result = result
        self.n_jobs = n_jobs
        self.client = client
        self.callback = callback
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.warm_start = warm_start
        self.random_state = random_state

    def _descent(self, rows: Floats, weights: Weights) -> Descent:
        """Judge the parameters, and set the descent up."""
        settings = self._settings()
        if self.n_components is not None:
            self._require_no_matrix()
            margins = judged_margin(self.n_targets, self.margin)
            return self._descent_of_maps(rows, weights, margins, settings)
        threads = validation.n_threads(self.n_jobs)
        criterion, counts = self._criterion(rows, weights, threads)
        start = self._start(rows, weights)
        if self.batch_size is not None:  # the work is that of a batch
            part = np.arange(min(self.batch_size, len(rows)))
            rows, weights = rows[part], weights.part(part)
        warn_before(rows, weights, counts, settings, threads)
        return Descent(criterion, MetricCone(start, n_threads=threads), settings)

    def _start(self, rows: Floats, weights: Weights) -> Floats:
        last: Any = getattr(self, "metric_", None) if self.warm_start else None
        init = last if np.shape(last) == (rows.shape[1],) * 2 else self.init
        return starting_metric(init, rows, weights, self.n_jobs, self.points)

    def _margins(self, rows: Floats, weights: Weights, threads: int) -> Criterion:
        k, share = judged_margin(self.n_targets, self.margin)
        margins: Criterion = self._either(MarginCriterion, ShardedMargins)(
            rows, weights, k, share, n_threads=threads
        )
        return margins

    def distances(self, metric: Floats) -> Callable[..., Floats]:
        """Make the function that computes EMDs between rows of mass 1."""
        if self._is_mapped:
            return partial(pairwise_emd, points=metric, n_jobs=self.n_jobs)
        return partial(pairwise_emd, metric=metric, n_jobs=self.n_jobs)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}  # cannot be pickled

    def __sklearn_clone__(self) -> GroundMetricLearning:
        bare = copy(self)  # without client, which cannot be copied
        clone: GroundMetricLearning = super(
            GroundMetricLearning, bare
        ).__sklearn_clone__()
        clone.client = self.client
        return clone

    def _require_no_matrix(self) -> None:
        """Reject parameters that a map cannot be combined with."""
        for name, given, wanted in (
            ("criterion", self.criterion, ("margin",)),
            ("init", self.init, (None, "points")),
            ("batch_size", self.batch_size, (None,)),
            ("client", self.client, (None,)),
        ):
            if not isinstance(given, (str, int, type(None))) or given not in wanted:
                raise ValueError(
                    f"n_components is {self.n_components!r}, but {name} is {given!r}; "
                    "the two cannot be combined."
                )

    def _require_metric(self, metric: Floats, name: str) -> None:
        validation.require_metric(metric, name)

    def _criterion(
        self, rows: Floats, weights: Weights, threads: int
    ) -> tuple[Criterion, tuple[int | None, int | None]]:
        """Make the criterion; and how many of either kind count for a histogram."""
        as_count = validation.as_count
        validation.require_one_of(self.criterion, "criterion", CRITERIA)
        n_similar, n_dissimilar = (
            None if k is None else as_count(k, name, low=1)
            for name, k in (
                ("n_similar", self.n_similar),
                ("n_neighbors", self.n_neighbors),
            )
        )
        if self.criterion == "margin":
            k, share = judged_margin(self.n_targets, self.margin)
            if self.batch_size is not None:
                size = as_count(self.batch_size, "batch_size", low=2)
                batches = self._batched(rows, weights, (k, share), size, threads)
                return batches, (k, max(k, size // 24))
            # With ten classes, about a sixth of the other pairs were worth solving.
            return self._margins(rows, weights, threads), (k, max(k, len(rows) // 24))
        balanced = weights.balanced(n_similar, n_dissimilar)
        sides = self._either(NeighborhoodCriterion, ShardedNeighborhood)(
            rows, balanced, n_similar, n_dissimilar, n_threads=threads
        )
        return sides, (n_similar, n_dissimilar)

    def _either(self, here: Callable[..., Any], there: Callable[..., Any]) -> Any:  # noqa: ANN401 - a criterion's
        """Choose the criterion on this machine, or that on a cluster."""
        if self.client is None:
            return here
        require_client(self.client)
        return partial(there, self.client)

    def _batched(
        self,
        rows: Floats,
        weights: Weights,
        margins: tuple[int, float],
        size: int,
        threads: int,
    ) -> BatchedMargins:
        if self.client is not None:
            raise ValueError(
                f"client is given, but batch_size is {size}; batches are learned from "
                "on one machine."
            )
        seed = int(check_random_state(self.random_state).randint(2**31))
        return BatchedMargins(
            rows, weights, *margins, batch_size=size, seed=seed, n_threads=threads
        )

    def _settings(self) -> Settings:
        as_count, as_number = validation.as_count, validation.as_number
        validation.require_one_of(self.result, "result", RESULTS)
        margins = self.criterion == "margin"
        floor = as_number(self.floor, "floor", low=0.0)
        settings = Settings(
            criterion=self.criterion,
            floor=floor if margins else 0.0,
            step_size=validation.as_factor(self.step_size, "step_size"),
            max_outer=as_count(self.max_outer, "max_outer", low=1),
            max_inner=as_count(self.max_inner, "max_inner", low=1),
            tol=as_number(self.tol, "tol", low=0.0),
            result=self.result,
        )
        if self.batch_size is None:
            return settings
        if not margins:
            raise ValueError(
                f"batch_size is {self.batch_size!r}, but criterion is "
                f"{self.criterion!r}; batches are for margins."
            )
        # A batch may have nothing to gain, and its value says little of the others.
        return replace(settings, floor=0.0, tol=0.0, is_sampled=True)
