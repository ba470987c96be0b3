"""The estimator: learn a ground metric from labeled histograms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import validation
from ..base._rows import all_or_nothing
from ..tables._initial import starting_metric
from ._counting import Counting
from ._criteria import Margin, Neighborhood, as_criterion
from ._descent import Descent, Settings
from ._effort import warn_before
from ._exact import ExactLearner
from ._paper import PaperSettings
from ._partial import StepsOnBatches
from ._pull import MetricPull
from ._space import MetricCone, as_cap, capped, norm

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..similarity._weights import Weights
    from ._checkpoint import Checkpoint
    from ._criterion import Criterion

Floats = NDArray[np.float64]


class GroundMetricLearning(PaperSettings, StepsOnBatches, ExactLearner):
    """Learn the ground metric of the earth mover's distance.

    Looks for the metric between bins under which the EMD is small between similar
    histograms and large between dissimilar ones, over the metrics in the unit ball.

    Time grows with the pairs that bounds cannot rule out, about ``n_targets`` for each
    histogram and the impostors within the margin, and with the cube of the number of
    bins for the projection; memory with n * d, d^2 and the pairs solved. No array of
    n * n is made unless you pass ``similarity``. For thousands of bins, see
    :class:`MappedMetricLearning`; to let held-out histograms decide how long to learn,
    :class:`MetricLearningCV`.

    Parameters
    ----------
    criterion : {"margin", "neighborhood"}, Margin or Neighborhood, default="margin"
        What to minimize: that similar histograms are nearer than dissimilar ones by a
        margin, see :class:`Margin`, or the paper's C_k, see :class:`Neighborhood`. A
        name stands for the defaults.
    init : {"uniform", "points", "typical", "independence"} or array of shape (d, d), \
optional
        Initialization: the uniform metric, under which the EMD is half of l1; the
        Euclidean distances between ``points``; a metric made from tables, blended half
        and half with the uniform metric; or your own metric, such as the ``metric_`` of
        an earlier fit. By default "points" if there are any, and "uniform" otherwise.
    points : array-like of shape (d, s), optional
        Coordinates of the bins, such as word vectors, pixels or colors, to start from.
        For cosine distances, scale the rows to unit length.
    pull : float, default=0.0
        How strongly the metric is pulled back to where it started, so that entries
        about which histograms say little stay near their prior. It adds
        ``lambda * |M - M0|^2`` to the criterion; at 1, lambda is such that the pull is
        as strong as the criterion once the metric has moved by half of its norm. With a
        pull, margins return the mean of the metrics after each step. 0 turns it off;
        sensible values are from 0.3 to 10.
    power : float or "log1p", default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else. Square roots give rare bins more weight; 1 leaves them as
        they are. For heavy tails, take 0.25, or "log1p": log(1 + 1000 d r_p) in place
        of r_p. Applied to everything that the estimator sees; see :meth:`histograms`.
    cap : float, optional
        Largest entry, as a multiple of the root mean square of entries off the
        diagonal; above 1. The entries that it holds down are equal: if they are 60 % or
        more, :func:`pairwise_emd` takes less time. The initialization is capped, too.
    step_size : float, default=0.5
        First step, relative to the norms of metric and subgradient; it falls as
        1 / sqrt(t).
    max_steps : int, default=20
        Limit on steps. Up to 20, reaching it is intended. If you allow more, a
        ``ConvergenceWarning`` tells you if they are used up before progress falls below
        ``tol``, unless that is 0. With ``inner_steps``, each outer step counts as that
        many, even if it ends early; up to 8 outer steps, the paper's number, are
        intended, too.
    tol : float, default=0.0075
        Stop when the relative improvement over the last six steps falls below this.
    batch_size : int, optional
        For margins: take each step on a batch of this many histograms, which has their
        targets and impostors; ``n_targets`` shrinks in proportion, but at most by half.
        Memory is that of n * d numbers and of the batch's pairs.
        All steps are then taken, and the mean of the metrics after each step is
        returned, since single batches are noisy.
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
        Draws the sample and the batches; nothing else here is random.

    Attributes
    ----------
    metric_ : ndarray of shape (d, d)
        The learned metric, scaled so that the median distance between training
        histograms (up to 100 of them) is 1. It belongs to histograms raised to
        ``power``: pass ``metric=learner`` where you can, which applies both.
    initial_metric_ : ndarray of shape (d, d)
        Where the descent started.
    path_ : DescentPath
        A row for each step.
    n_iter_ : int
        Steps taken.
    power_ : float or str
        The power that histograms are raised to.
    converged_ : bool
        Whether progress fell below ``tol``, and every projection onto the metrics
        converged; False if a limit or a callback ended the run.
    classes_ : ndarray
        Labels, if there were any.
    sample_indices_ : ndarray
        The rows of X that were drawn and not left out, if not all.
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

    def __init__(
        self,
        criterion: str | Margin | Neighborhood = "margin",
        *,
        init: str | ArrayLike | None = None,
        points: ArrayLike | None = None,
        pull: float = 0.0,
        power: float | str = 0.5,
        cap: float | None = None,
        step_size: float = 0.5,
        max_steps: int = 20,
        tol: float = 0.0075,
        batch_size: int | None = None,
        max_samples: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[..., object] | Checkpoint] = (),
        verbose: int = 0,
        random_state: object = None,
    ) -> None:
        self.criterion = criterion
        self.init = init
        self.points = points
        self.pull = pull
        self.power = power
        self.cap = cap
        self.step_size = step_size
        self.max_steps = max_steps
        self.tol = tol
        self.batch_size = batch_size
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    @all_or_nothing
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        similarity: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        empty: str = "error",
        client: object = None,
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
        sample_weight : array-like of shape (n,), optional
            How much each histogram counts: with margins, its triplets; in C_k, its
            pairs. Only ratios matter, and histograms of weight 0 are left out.
        class_weight : "balanced" or dict, optional
            Multiplies the weights of the histograms of each class: "balanced" lets all
            classes count the same, a dict has numbers for some labels. As with
            ``sample_weight``, this is about the data of one fit.
        empty : {"error", "uniform", "nan"}, default="error"
            Rows of zero mass, here and in later calls of ``transform`` and
            ``pairwise``: reject them, let them count as the uniform histogram, or leave
            them out of the fit and set their distances to NaN. Rows that were not left
            out are in ``sample_indices_``.
        client : dask.distributed.Client, optional
            Learn on the workers of a cluster, each with n_jobs threads. The histograms
            are divided into parts of 256, or into 256 parts if there are more than
            65,536; the metric is the same as without a client, whatever the number of
            workers. If a worker is lost, its parts are rebuilt from the data, with a
            warning.

        Returns
        -------
        self

        Warns
        -----
        LongFitWarning
            Before it starts, if the fit may take more than a minute or a gigabyte.
        """
        counting = Counting(sample_weight, class_weight, empty)
        task = self._task(X, y, similarity, counting)
        self._learn(self._descent(*task, client), task.rows)
        return self

    def _descent(
        self, rows: Floats, weights: Weights, client: object = None
    ) -> Descent:
        """Check the parameters, and set the descent up."""
        settings, goal = self._settings(), self._goal()
        threads = validation.n_threads(self.n_jobs)
        criterion: Criterion
        if self.batch_size is None:
            criterion = goal._on(rows, weights, threads, client)
        else:
            criterion = goal._on_batches(
                rows,
                weights,
                threads,
                batch_size=self.batch_size,
                random_state=self.random_state,
                client=client,
            )
        start = self._start(rows, weights)
        pull = self._valid_pull()
        if pull > 0:
            start = start / (norm(start) or 1.0)
            criterion = MetricPull(criterion, start, pull)
        if self.batch_size is not None:  # the work is that of a batch
            part = np.arange(min(self.batch_size, len(rows)))
            rows, weights = rows[part], weights.part(part)
        warn_before(rows, weights, goal._counts(len(rows)), settings, threads)
        space = MetricCone(start, cap=settings.cap, n_threads=threads)
        return Descent(criterion, space, settings)

    def _settings(self) -> Settings:
        settings = replace(super()._settings(), cap=as_cap(self.cap))
        if self.batch_size is None:
            if settings.criterion == "margin" and self._valid_pull() > 0:
                # Steps overshoot a strong pull; their mean does not.
                return replace(settings, result="average")
            return settings
        if settings.criterion != "margin":
            raise ValueError(
                f"batch_size is {self.batch_size!r}, but criterion is "
                f"{self.criterion!r}; batches are for margins."
            )
        # A batch may have nothing to gain, and says little about other batches.
        return replace(settings, floor=0.0, tol=0.0, is_sampled=True, result="average")

    def _goal(self) -> Any:
        return as_criterion(self.criterion)

    def _valid_pull(self) -> float:
        return validation.as_factor(self.pull, "pull")

    def _start(self, rows: Floats, weights: Weights) -> Floats:
        start = starting_metric(self.init, rows, weights, self.n_jobs, self.points)
        return capped(start, as_cap(self.cap), validation.n_threads(self.n_jobs))
