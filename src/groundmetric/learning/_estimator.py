"""The estimator: learn a ground metric from labeled histograms."""

from __future__ import annotations

from contextlib import ExitStack
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .. import validation
from .._progress import progress_bar
from .._warnings import warn_not_converged
from ..base._rows import HistogramTransformer, all_or_nothing, as_classes
from ..similarity._makers import weights_of
from ..tables._initial import starting_metric
from ..transport._exact import emd, pairwise_emd
from ._checkpoint import Checkpoint, identify, require_writable
from ._descent import Descent, Observer, Settings
from ._effort import warn_before
from ._margin import MarginCriterion
from ._neighborhood import NeighborhoodCriterion
from ._path import DescentPath, DescentStep

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._files import StrPath
    from .._progress import Report
    from ..similarity._weights import Weights
    from ._criterion import Criterion

Floats = NDArray[np.float64]

CRITERIA = ("margin", "neighborhood")
RESULTS = ("average", "best", "last")
# Up to so many steps, stopping early is what the limits are for.
BUDGET = 20


class GroundMetricLearning(HistogramTransformer):
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
    floor : float, default=0.07
        For margins: stop when the criterion has fallen to this share of its first
        value. Beyond, a metric learns the noise of the training histograms: fewer steps
        are taken where classes separate easily.
    step_size : float, default=0.5
        First step, relative to the norms of metric and subgradient; it falls as
        1 / sqrt(t).
    max_outer, max_inner : int, default=20 and 1
        Limits on outer steps, and on inner steps in each. The criterion's concave part
        is linearized at every outer step. Up to 20 steps in all, the limits are a
        budget: stopping early is intended. If you allow more, you get a
        ``ConvergenceWarning`` when they are used up before progress falls below
        ``tol``, unless that is 0. The paper has 8 and 200.
    tol : float, default=0.0075
        Stop when the relative improvement over the last six steps falls below this.
    result : {"last", "best", "average"}, default="last"
        Return the last metric, the one with the smallest criterion, or the mean of the
        metrics of all steps.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
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
    random_state : ignored
        Present for API compatibility: nothing here is random.

    Attributes
    ----------
    metric_ : ndarray of shape (d, d)
        The learned metric, of at most unit Frobenius norm.
    initial_metric_ : ndarray of shape (d, d)
        Where the descent started.
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

    _min_samples = 2
    _fitted: ClassVar[tuple[str, ...]] = (
        "metric_",
        "initial_metric_",
        "path_",
        "converged_",
        "power_",
        "_histograms",
    )
    _optional: ClassVar[tuple[str, ...]] = ("classes_", "_labels")

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
        floor: float = 0.07,
        step_size: float = 0.5,
        max_outer: int = 20,
        max_inner: int = 1,
        tol: float = 0.0075,
        result: str = "last",
        n_jobs: int | None = None,
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
        self.floor = floor
        self.step_size = step_size
        self.max_outer = max_outer
        self.max_inner = max_inner
        self.tol = tol
        self.result = result
        self.n_jobs = n_jobs
        self.callback = callback
        self.verbose = verbose
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds
        self.warm_start = warm_start
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        similarity: ArrayLike | None = None,
    ) -> GroundMetricLearning:
        """Learn from histograms and their labels, or from similarities of pairs.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,), optional
            Labels.
        similarity : array-like of shape (n, n), optional
            Instead of labels: positive for similar pairs, negative for dissimilar ones.
            With margins, targets are similar pairs, impostors dissimilar ones, and the
            weights of both multiply.

        Returns
        -------
        self

        Warns
        -----
        LongFitWarning
            Before it starts, if it may take more than a minute or a gigabyte.
        """
        if self.checkpoint is not None:
            require_writable(self.checkpoint)
        rows = self._as_rows(X, reset=True)
        labels = None if y is None else as_classes(y, len(rows))
        weights = weights_of(len(rows), labels, similarity)
        for name in ("classes_", "_labels"):
            self.__dict__.pop(name, None)
        if labels is not None:
            self.classes_, self._labels = np.unique(labels), labels
        return self.learn_from(rows, weights)

    def learn_from(
        self, rows: Floats, weights: Weights, n_steps: int | None = None
    ) -> GroundMetricLearning:
        """Learn from rows of mass 1, for so many steps at most."""
        self.power_ = self._judged_power()
        rows = raised(rows, self.power_)
        descent = self._descent(rows, weights)
        self.initial_metric_ = descent.metric
        if n_steps != 0:
            self._run(descent, rows, n_steps)
        self.metric_ = descent.result
        self.path_: DescentPath = descent.path
        self.n_iter_ = len(descent.path)
        self.converged_ = bool(descent.converged and descent.n_inexact == 0)
        self._histograms = rows
        return self

    def histograms(self, X: ArrayLike) -> Floats:
        """Return histograms as the metric sees them: of mass 1, raised to ``power``.

        Use it before functions that take a metric, such as
        ``EMDNeighbors(learner.metric_).fit(learner.histograms(X))``.
        """
        check_is_fitted(self, "metric_")
        return raised(self._as_rows(X, reset=False), self.power_)

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the EMDs to the training histograms, under the learned metric."""
        return pairwise_emd(
            self.histograms(X),
            self._histograms,
            metric=self.metric_,
            n_jobs=self.n_jobs,
        )

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the EMDs between rows of X and of Y (X if None)."""
        right = None if Y is None else self.histograms(Y)
        return pairwise_emd(
            self.histograms(X), right, metric=self.metric_, n_jobs=self.n_jobs
        )

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Make a function of two histograms, for ``metric=`` in scikit-learn."""
        check_is_fitted(self, "metric_")
        metric, power = self.metric_.copy(), self.power_

        def distance(r: ArrayLike, c: ArrayLike) -> float:
            rows = validation.as_distributions(np.stack([r, c]), "histograms")
            first, second = raised(rows, power)
            return emd(first, second, metric)

        return distance

    def _judged_power(self) -> float:
        power = validation.as_number(self.power, "power", low=0.0)
        if power == 0:
            raise ValueError("power is 0.0; it must be positive.")
        return power

    def metrics_of_steps(self, rows: Floats, weights: Weights) -> list[Floats]:
        """Return the result after 0, 1, ... steps; all of them, if it ended early."""
        self.power_ = self._judged_power()
        descent = self._descent(raised(rows, self.power_), weights)
        metrics = [descent.result]
        descent.run([lambda descent: metrics.append(descent.result)])
        limit = descent.settings.max_outer * descent.settings.max_inner
        return metrics + [metrics[-1]] * (limit + 1 - len(metrics))

    def _descent(self, rows: Floats, weights: Weights) -> Descent:
        """Judge the parameters, and set the descent up."""
        settings = self._settings()
        threads = validation.n_threads(self.n_jobs)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback is {self.callback!r}; a function is needed.")
        criterion, counts = self._criterion(rows, weights, threads)
        last: Any = getattr(self, "metric_", None) if self.warm_start else None
        init = last if np.shape(last) == (rows.shape[1],) * 2 else self.init
        start = starting_metric(init, rows, weights, self.n_jobs, self.points)
        warn_before(rows, weights, counts, settings, threads)
        return Descent(criterion, start, settings, n_threads=threads)

    def _criterion(
        self, rows: Floats, weights: Weights, threads: int
    ) -> tuple[Criterion, tuple[int | None, int | None]]:
        """Make the criterion; and how many of either kind count for a histogram."""
        as_count = validation.as_count
        validation.require_one_of(self.criterion, "criterion", CRITERIA)
        if self.criterion == "margin":
            k = as_count(self.n_targets, "n_targets", low=1)
            share = validation.as_number(self.margin, "margin", low=0.0)
            if share == 0:
                raise ValueError("margin is 0.0; it must be positive.")
            margins = MarginCriterion(rows, weights, k, share, n_threads=threads)
            # With ten classes, about a sixth of the other pairs were worth solving.
            return margins, (k, max(k, len(rows) // 24))
        n_similar, n_dissimilar = (
            None if k is None else as_count(k, name, low=1)
            for name, k in (
                ("n_similar", self.n_similar),
                ("n_neighbors", self.n_neighbors),
            )
        )
        balanced = weights.balanced(n_similar, n_dissimilar)
        sides = NeighborhoodCriterion(
            rows, balanced, n_similar, n_dissimilar, n_threads=threads
        )
        return sides, (n_similar, n_dissimilar)

    def _run(self, descent: Descent, rows: Floats, n_steps: int | None) -> None:
        """Run the descent, watched by a bar, the callback and a checkpoint."""
        settings = descent.settings
        limit = n_steps or settings.max_outer * settings.max_inner
        with ExitStack() as stack:
            report = stack.enter_context(
                progress_bar(
                    limit, label="learn", unit="step", show=self.verbose > 0, steps=True
                )
            )
            observers: list[Observer] = [
                _watch(report, self.callback),
                lambda descent: len(descent.path) == n_steps,
            ]
            checkpoint = self._checkpoint(rows, descent)
            if checkpoint is not None:
                checkpoint.resume(descent.set_state)
                observers.append(stack.enter_context(checkpoint))
            if len(descent.path) != n_steps:
                descent.run(observers)
        if descent.hit_limit and settings.tol > 0 and limit > BUDGET:
            warn_not_converged(
                f"The descent took all {limit} steps of max_outer={settings.max_outer} "
                f"and max_inner={settings.max_inner}, and has not converged to "
                f"tol={settings.tol}; raise the limits, or tol.",
                stacklevel=6,
            )

    def _settings(self) -> Settings:
        as_count, as_number = validation.as_count, validation.as_number
        validation.require_one_of(self.result, "result", RESULTS)
        margins = self.criterion == "margin"
        floor = as_number(self.floor, "floor", low=0.0)
        return Settings(
            floor=floor if margins else 0.0,
            step_size=as_number(self.step_size, "step_size", low=0.0),
            max_outer=as_count(self.max_outer, "max_outer", low=1),
            max_inner=as_count(self.max_inner, "max_inner", low=1),
            tol=as_number(self.tol, "tol", low=0.0),
            result=self.result,
        )

    def _checkpoint(self, rows: Floats, descent: Descent) -> Checkpoint | None:
        seconds = validation.as_number(
            self.checkpoint_seconds, "checkpoint_seconds", low=0.0
        )
        if self.checkpoint is None:
            return None
        identity = identify(
            rows,
            descent.metric,
            *descent.criterion.identity(),
            repr(descent.settings),
            version("groundmetric"),
        )
        return Checkpoint(self.checkpoint, seconds, identity)

    def _restore(self) -> None:
        rows = validation.as_float_array(self._histograms, "its histograms", 2)
        for name in ("metric_", "initial_metric_"):
            validation.as_cost(getattr(self, name), rows.shape[1], name)
            validation.require_metric(getattr(self, name), name)
        validation.as_distributions(rows, "its histograms")
        if "_labels" in vars(self):
            validation.require_length(self._labels, len(rows), "_labels")
        self.n_features_in_ = rows.shape[1]
        self.path_ = DescentPath.from_array(np.asarray(self.path_))
        self.n_iter_ = len(self.path_)

    @property
    def _n_features_out(self) -> int:
        return len(self._histograms)

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def raised(rows: Floats, power: float) -> Floats:
    """Raise histograms to a power, and scale them to mass 1 again."""
    if power == 1:
        return rows
    powers = (rows / rows.max(axis=1, keepdims=True)) ** power
    scaled: Floats = powers / powers.sum(axis=1, keepdims=True)
    return scaled


def _watch(
    report: Report | None, callback: Callable[[DescentStep], object] | None
) -> Observer:
    """Show each step in the bar, then let the callback see it."""

    def after(descent: Descent) -> object:
        step = descent.path[-1]
        if report is not None:
            # Outer steps that ended early count as if they had not.
            report(
                step.outer * descent.settings.max_inner + step.inner + 1,
                criterion=step.criterion,
                violation=step.violation,
                step=step.step_size,
            )
        return callback is not None and callback(step)

    return after
