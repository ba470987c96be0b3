"""The estimator: learn a ground metric from labeled histograms."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

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
from ._criterion import Criterion
from ._descent import Callback, Settings, descend, watched
from ._effort import warn_before
from ._path import DescentPath

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._files import StrPath
    from ..similarity._weights import Weights

Floats = NDArray[np.float64]

# Steps by default. Up to so many, to stop early is the purpose of the limits.
BUDGET = 20


class GroundMetricLearning(HistogramTransformer):
    """Learn the ground metric of the earth mover's distance.

    Looks for the metric between bins under which the EMD is small between each
    histogram and similar ones, and large to its nearest dissimilar ones: a
    local minimum of the criterion C_k of Cuturi & Avis over the metrics in the unit
    ball. The paper's setting is two classes, and there it works best; with many,
    compare with l1 before you trust it.

    Parameters
    ----------
    n_neighbors : int or None, default=3
        k, how many of the nearest dissimilar histograms count; None for all.
    n_similar : int or None, default=None
        How many of the nearest similar histograms count; None for all, which takes
        time in proportion to the square of the size of classes. The paper has
        ``n_similar=n_neighbors``; docs/learning.md has why we do not.
    init : {"uniform", "typical", "independence"} or array of shape (d, d)
        Where to start: the uniform metric, under which the EMD is half of l1; one made
        from tables, blended half and half with the uniform one; or your own.
    step_size : float, default=0.5
        First step, relative to the norms of metric and subgradient; it falls as
        1 / sqrt(t).
    max_outer, max_inner : int, default=20 and 1
        Limits on outer steps, and on inner steps in each: by default the criterion's
        concave side is linearized anew at every step. The paper has 8 and 200, with a
        step of 0.1 from typical tables; docs/learning.md has what we found instead.
        Up to 20 steps in all, as by default, the limits are a budget: stopping early
        is intended. If you allow more, you get a ``ConvergenceWarning`` when they are
        used up before progress falls below ``tol``, unless that is 0.
    tol : float, default=0.0075
        Relative progress that is too little to go on: of an outer step, if it has six
        inner ones, or else of six outer ones; and of six inner ones after the first
        50 * 0.8^p of outer step p.
    return_best : bool, default=True
        Keep the metric with the smallest bound on the criterion met, or the last one.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    callback : callable, optional
        Called with each :class:`DescentStep`; a true answer ends the run.
    verbose : int, default=0
        1 shows a bar of steps (needs tqdm).
    checkpoint : path-like, optional
        A file for the state of the run. If the run is killed, the next fit with the
        same data and parameters goes on from there, on the same machine to the very
        same metric. The file is removed when the fit has ended.
    checkpoint_seconds : float, default=60
        How often to write it.
    warm_start : bool, default=False
        Start from the metric of the last fit, if there is one.
    random_state : ignored
        Nothing here is random; for scikit-learn's sake.

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
    >>> learner = GroundMetricLearning(n_neighbors=1).fit(X, [0, 0, 1, 1])
    >>> learner.transform(X).shape
    (4, 4)
    """

    _min_samples = 2
    _fitted = ("metric_", "initial_metric_", "path_", "converged_", "_histograms")
    _optional = ("classes_",)

    def __init__(
        self,
        *,
        n_neighbors: int | None = 3,
        n_similar: int | None = None,
        init: str | ArrayLike = "uniform",
        step_size: float = 0.5,
        max_outer: int = 20,
        max_inner: int = 1,
        tol: float = 0.0075,
        return_best: bool = True,
        n_jobs: int | None = None,
        callback: Callback | None = None,
        verbose: int = 0,
        checkpoint: StrPath | None = None,
        checkpoint_seconds: float = 60.0,
        warm_start: bool = False,
        random_state: object = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_similar = n_similar
        self.init = init
        self.step_size = step_size
        self.max_outer = max_outer
        self.max_inner = max_inner
        self.tol = tol
        self.return_best = return_best
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
        settings = self._settings()
        threads = validation.n_threads(self.n_jobs)
        if self.callback is not None and not callable(self.callback):
            raise ValueError(f"callback is {self.callback!r}; a function is needed.")
        counts = [
            None if k is None else validation.as_count(k, name, low=1)
            for name, k in (
                ("n_similar", self.n_similar),
                ("n_neighbors", self.n_neighbors),
            )
        ]
        weights = weights_of(len(rows), labels, similarity)
        last: Any = getattr(self, "metric_", None) if self.warm_start else None
        init = last if np.shape(last) == (rows.shape[1],) * 2 else self.init
        start = starting_metric(init, rows, weights, self.n_jobs)
        balanced = weights.balanced(*counts)
        warn_before(rows, balanced, counts, settings, threads)
        criterion = Criterion(rows, balanced, *counts, n_threads=threads)
        checkpoint = self._checkpoint(rows, balanced, start, f"{counts} {settings}")
        limit = settings.max_outer * settings.max_inner
        bar = progress_bar(
            limit, label="learn", unit="step", show=self.verbose > 0, steps=True
        )
        with bar as report:
            found = descend(
                criterion,
                start,
                settings,
                n_threads=threads,
                callback=watched(self.callback, report, settings),
                checkpoint=checkpoint,
            )
        if found.hit_limit and settings.tol > 0 and limit > BUDGET:
            warn_not_converged(
                f"The descent took all {limit} steps of max_outer={settings.max_outer} "
                f"and max_inner={settings.max_inner}, and has not converged to "
                f"tol={settings.tol}; raise the limits, or tol.",
                stacklevel=4,
            )
        self.__dict__.pop("classes_", None)
        if labels is not None:
            self.classes_ = np.unique(labels)
        self.initial_metric_ = start
        self.metric_ = found.metric
        self.path_: DescentPath = found.path
        self.n_iter_ = len(found.path)
        self.converged_ = bool(found.converged)
        self._histograms = rows
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Compute the EMDs to the training histograms, under the learned metric."""
        check_is_fitted(self, "metric_")
        rows = self._as_rows(X, reset=False)
        return pairwise_emd(
            rows, self._histograms, metric=self.metric_, n_jobs=self.n_jobs
        )

    def pairwise(self, X: ArrayLike, Y: ArrayLike | None = None) -> Floats:
        """Compute the EMDs between rows of X and of Y (X if None)."""
        check_is_fitted(self, "metric_")
        left = self._as_rows(X, reset=False)
        right = None if Y is None else self._as_rows(Y, reset=False)
        return pairwise_emd(left, right, metric=self.metric_, n_jobs=self.n_jobs)

    def get_metric(self) -> Callable[[ArrayLike, ArrayLike], float]:
        """Make a function of two histograms, for ``metric=`` in scikit-learn."""
        check_is_fitted(self, "metric_")
        metric = self.metric_.copy()

        def distance(r: ArrayLike, c: ArrayLike) -> float:
            rows = validation.as_distributions(np.stack([r, c]), "histograms")
            return emd(rows[0], rows[1], metric)

        return distance

    def _restore(self) -> None:
        rows = validation.as_float_array(self._histograms, "its histograms", 2)
        for name in ("metric_", "initial_metric_"):
            validation.as_cost(getattr(self, name), rows.shape[1], name)
            validation.require_metric(getattr(self, name), name)
        validation.as_distributions(rows, "its histograms")
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

    def _settings(self) -> Settings:
        as_count, as_number = validation.as_count, validation.as_number
        return Settings(
            step_size=as_number(self.step_size, "step_size", low=0.0),
            max_outer=as_count(self.max_outer, "max_outer", low=1),
            max_inner=as_count(self.max_inner, "max_inner", low=1),
            tol=as_number(self.tol, "tol", low=0.0),
            return_best=bool(self.return_best),
        )

    def _checkpoint(
        self, rows: Floats, weights: Weights, start: Floats, rest: str
    ) -> Checkpoint | None:
        seconds = validation.as_number(
            self.checkpoint_seconds, "checkpoint_seconds", low=0.0
        )
        if self.checkpoint is None:
            return None
        identity = identify(
            rows, *weights.parts(), start, rest, version("groundmetric")
        )
        return Checkpoint(self.checkpoint, seconds, identity)
