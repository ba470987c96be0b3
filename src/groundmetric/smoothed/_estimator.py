"""The estimator: learn positions and weights of the bins for a smoothed distance."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .. import validation
from ..learning._criteria import Margin, Softmax, as_criterion
from ..learning._descent import Descent, Settings
from ._divergence import sinkhorn_divergence
from ._effort import warn_of_descent
from ._learner import PriorLearner
from ._positions import Positions, on_principal_axes, starting_positions
from ._search import SmoothedPairs
from ._setup import StateTraining, training_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..learning._checkpoint import Checkpoint
    from ..similarity._weights import Weights

Floats = NDArray[np.float64]


class SinkhornMetricLearning(PriorLearner):
    """Learn positions of the bins for a smoothed earth mover's distance.

    Distances are Sinkhorn divergences, see :func:`sinkhorn_divergence`, whose cost
    between bins p and q is the squared distance of their positions a_p and a_q. The
    positions are learned by margins: the nearest histograms of the same class should be
    nearer than all histograms of other classes. With many classes, smoothed distances
    learn more than the exact one, which transports the noise of every bin.

    If something is known of the bins, such as word vectors, learn from this prior:
    with ``bin_weights``, ``criterion="softmax"`` or a ``pull``, weights, a map and
    offsets are learned by Adam and pulled back to where they started. Bin p has a
    weight w_p, by which histograms are multiplied before they are scaled to mass 1
    again, and the position a_p = A' x_p + delta_p, where x_p is its point, A a map that
    all bins share, and delta_p its own offset. Histograms stay sparse, and no d x d
    array is made if there are points or ``n_components``.

    A step computes the distances of all pairs, which takes time of n^2 d^2 and memory
    of n^2 numbers, and of d numbers for as many pairs as a gigabyte holds (four on a
    GPU); ``batch_size`` limits n in both. On a processor, histograms of few non-empty
    bins, one in eight or fewer, take time of n^2 s^2 for s such bins, and of d^2.

    Parameters
    ----------
    smoothing : float, default=3.0
        How much to smooth: eps = smoothing * mean(cost). Towards 0 distances become
        EMDs, for which :class:`GroundMetricLearning` is made; ``math.inf`` gives the
        energy distance, the squared Euclidean distance of the histograms' mean
        positions, as LMNN learns it. Values below 0.5 do not learn well.
    n_components : int, optional
        Dimension of the positions, r. By default as many as ``points`` have, or d.
    power : float or "log1p", default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else; 1, which suits words, leaves them as they are. "log1p" is
        for heavy tails, see :class:`GroundMetricLearning`; and :meth:`histograms`.
    points : array-like of shape (d, s), optional
        Positions to start from, such as word vectors, pixels or colors, or the
        ``embedding_`` of an earlier fit. By default all bins are equally far from each
        other at first.
    bin_weights : {"learn", "idf"} or array-like of shape (d,), optional
        Learn weights of bins that start at 1, at the inverse document frequency, as in
        tf-idf, or at these positive numbers. By default all bins weigh the same.
    criterion : {"margin", "softmax"}, Margin or Softmax, default="margin"
        What to minimize, see :class:`Margin` and :class:`Softmax`.
    pull : float, optional
        Strength of the pull back to the first weights, map and offsets, which adds the
        mean squares of their changes to the criterion; 0 turns it off. By default 1 for
        a softmax, and 0 for margins.
    max_steps : int, default=40
        Steps of the descent. From a prior, take some hundred.
    batch_size : int, optional
        Take each step on a batch of this many histograms, with targets and impostors
        within the batch; ``n_targets`` shrinks in proportion. Memory is that of the
        batch's pairs and of the n * d numbers given. All ``max_steps`` are then taken.
    device : {"cpu", "cuda", "mps"}, optional
        Compute with PyTorch on this device (needs the extra ``gpu``); None is numpy.
        With infinite smoothing, a softmax keeps weights and positions there; margins
        always use numpy.
    dtype : {"float64", "float32"}, optional
        Precision of the distances. By default float64; from a prior, parameters are
        learned in float32.
    n_jobs : int, optional
        Number of threads. Results do not depend on it.
    callbacks : list of callable, default=()
        Each is called with every :class:`DescentStep`; a true answer ends the run. A
        :class:`Checkpoint` saves its state.
    verbose : int, default=0
        1 shows a bar of steps (needs tqdm).
    random_state : int, RandomState instance or None, default=None
        Draws the batches; from a prior, also 256 histograms that give the unit of
        distances. Without batches, None gives the same result in every fit.

    Attributes
    ----------
    embedding_ : ndarray of shape (d, r)
        The learned positions: centered, on their principal axes, so that the first two
        coordinates are the best picture in the plane.
    bin_weights_ : ndarray of shape (d,)
        The learned weights, up to a factor; 1 if none were learned.
    metric_ : ndarray of shape (d, d)
        The costs, squared distances between positions, scaled so that the median
        distance between training histograms (up to 100 of them) is 1. They may break
        triangle inequalities. After learning from a prior they are computed when asked
        for, up to 10,000 bins.
    initial_metric_, initial_embedding_, initial_bin_weights_ : ndarray
        Where the descent started; the last two only if it was a prior.
    path_ : DescentPath
        A row for each step.
    n_iter_ : int
        Steps taken.
    smoothing_ : float
        As given.
    power_ : float or str
        As given.
    converged_ : bool
        Whether the criterion fell to its ``floor``, or no step could lower it further.
        From a prior, all steps are taken.
    classes_ : ndarray
        Labels, if there were any.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import SinkhornMetricLearning
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = SinkhornMetricLearning(n_components=2).fit(X, [0, 0, 1, 1])
    >>> learner.embedding_.shape
    (4, 2)
    >>> learner.transform(X).shape
    (4, 4)
    """

    # First, relative to the norms of positions and gradient; it falls as 1 / sqrt(t).
    step_size: ClassVar[float] = 0.15  # type: ignore[misc]  # no parameter here

    def __init__(
        self,
        *,
        smoothing: float = 3.0,
        n_components: int | None = None,
        power: float | str = 0.5,
        points: ArrayLike | None = None,
        bin_weights: str | ArrayLike | None = None,
        criterion: str | Margin | Softmax = "margin",
        pull: float | None = None,
        max_steps: int = 40,
        batch_size: int | None = None,
        device: str | None = None,
        dtype: str | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[..., object] | Checkpoint] = (),
        verbose: int = 0,
        random_state: object = None,
    ) -> None:
        self.smoothing = smoothing
        self.n_components = n_components
        self.power = power
        self.points = points
        self.bin_weights = bin_weights
        self.criterion = criterion
        self.pull = pull
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.device = device
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    def _descent(self, rows: Any, weights: Weights) -> Any:
        self.smoothing_ = validation.as_smoothing(self.smoothing)
        if self.smoothing_ == 0:
            raise ValueError("smoothing is 0; use GroundMetricLearning for exact EMDs.")
        if self._starts_from_prior:
            return training_of(self, rows, weights)
        rows = _as_dense(rows)
        settings, goal = self._settings(), as_criterion(self.criterion, self._criteria)
        batch_size = self.batch_size
        if batch_size is not None:
            batch_size = validation.as_count(batch_size, "batch_size", low=2)
        start = starting_positions(self.points, self.n_components, rows)
        pairs = SmoothedPairs(
            rows,
            weights,
            self.smoothing_,
            batch_size=batch_size,
            seed=int(check_random_state(self.random_state).randint(2**31)),
            options=self._options(),
        )
        warn_of_descent(self, rows, settings)
        criterion = goal._on_searches(*pairs.searches, weights)
        threads = validation.n_threads(self.n_jobs)
        return Descent(criterion, Positions(start, n_threads=threads), settings)

    def _settings(self) -> Settings:
        settings = super()._settings()
        if self.batch_size is None:
            return settings
        # One batch may have nothing to gain, and says little about other batches.
        return replace(settings, floor=0.0, is_sampled=True)

    def _distances_under(self, metric: Floats) -> Callable[..., Floats]:
        return partial(
            _squared_distances,
            metric=metric,
            smoothing=self.smoothing_,
            **self._options(),
        )

    def _keep(self, descent: Any, initial: Floats, rows: Any) -> None:
        if isinstance(descent, StateTraining):
            self._keep_state(descent, rows)
            return
        super()._keep(descent, initial, _as_dense(rows))
        self.bin_weights_ = np.ones(rows.shape[1])
        positions = descent.space.state()["positions"]
        self.embedding_ = on_principal_axes(positions)

    def _divide(self, before: str, unit: float) -> None:
        setattr(self, f"{before}metric_", self._before(before) / unit)
        if not before:
            self.embedding_ = self.embedding_ / np.sqrt(unit)

    def _require_metric(self, metric: Floats, name: str) -> None:
        validation.require_dissimilarity(metric, name)


def _as_dense(rows: Any) -> Floats:
    """Make rows dense; those of several candidates may be sparse for one of them."""
    dense: Floats = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return dense


def _squared_distances(
    left: Floats,
    right: Floats | None,
    **options: Any,
) -> Floats:
    """Sinkhorn divergences, which are not negative for squared distances as costs."""
    between: Floats = np.maximum(sinkhorn_divergence(left, right, **options), 0.0)
    return between
