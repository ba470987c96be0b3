"""The estimator: learn a linear map of the bins' coordinates.

.. math:: M_{pq} = |A (x_p - x_q)|

Every map gives a metric: there is no projection. Weights of bins may be learned, too.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import validation
from ..base._blas import one_blas_thread
from ..transport._exact import pairwise_emd
from ._criteria import Margin
from ._entries import weigh
from ._learner import MetricLearner
from ._map_setup import (
    MapState,
    batches_of,
    centered_points,
    descent_of,
    parts_of,
    state_of,
)
from ._maps import all_distances, of_unscaled
from ._parameters import logarithms
from ._scale import median_distance, some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..similarity._weights import Weights
    from ._checkpoint import Checkpoint
    from ._descent import Descent
    from ._learner import Task

Floats = NDArray[np.float64]


class MappedMetricLearning(MetricLearner):
    """Learn a linear map A of the bins' coordinates, for thousands of bins.

    The metric is the length of A (x_p - x_q), and the distance the exact EMD. Sparse
    histograms stay sparse, and no d x d matrix is made.

    Parameters
    ----------
    points : array-like of shape (d, s), optional
        Coordinates of the bins, such as word vectors, pixels or colors. For cosine
        distances, scale the rows to unit length. Without points, every bin has a
        coordinate of its own.
    n_components : int, optional
        Dimensions of the map's image; by default as many as the points have. The map
        starts at the principal axes.
    criterion : "margin" or Margin, default="margin"
        What to minimize, see :class:`Margin`.
    init : array-like of shape (n_components, s), optional
        The map to start from, such as the ``components_`` of an earlier fit.
    power : float or "log1p", default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else; 1 leaves them as they are. "log1p" is for heavy tails, see
        :class:`GroundMetricLearning`; and :meth:`histograms`.
    bin_weights : {"learn", "idf"} or array-like of shape (d,), optional
        Learn weights of bins, by which histograms are multiplied before they are scaled
        to mass 1 again. They start at 1, at the inverse document frequency, as in
        tf-idf, or at these positive numbers. By default all bins weigh the same.
    pull : float, default=0.0
        How strongly the map is pulled back to where it started, and the logarithms of
        the weights to theirs. As in :class:`GroundMetricLearning`, at 1 the pull is as
        strong as the criterion once the map has moved by half of its norm, or the
        logarithms of the weights by a half on average; the mean of all steps is
        returned then. 0 turns it off.
    step_size : float, default=0.5
        First step, relative to the norms of map and gradient; it falls as 1 / sqrt(t).
        Logarithms of weights move half as far, each of them, by Adam.
    max_steps : int, default=20
        Limit on steps.
    batch_size : int, "auto" or None, default="auto"
        Take each step by a batch of this many histograms, which has their targets and
        impostors; ``n_targets`` shrinks in proportion, but at most by half. All steps
        are taken then, and the mean of them is returned, since single batches are
        noisy. None is all histograms; "auto" is 128 of them if there are more than 256,
        the same ones in every fit, unless ``random_state`` is set.
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
    embedding_ : ndarray of shape (d, n_components)
        Images of the bins under the map: centered, and scaled so that the median
        distance between training histograms (up to 100 of them) is 1.
    components_ : ndarray of shape (n_components, s)
        The map, such that ``embedding_`` is
        ``(points - points.mean(axis=0)) @ components_.T``.
    bin_weights_ : ndarray of shape (d,)
        The learned weights, up to a factor; 1 if none were learned.
    metric_ : ndarray of shape (d, d)
        The distances between the rows of ``embedding_``, computed when you ask for
        them; for up to 10,000 bins.
    initial_embedding_, initial_bin_weights_, initial_metric_ : ndarray
        The same before the first step.
    path_ : DescentPath
        A row for each step.
    n_iter_ : int
        Steps taken.
    power_ : float or str
        As given.
    converged_ : bool
        Whether the criterion fell to its ``floor``, or nothing was left to gain.
    classes_ : ndarray
        Labels, if there were any.
    sample_indices_ : ndarray of shape (max_samples,)
        The rows of X that were drawn, if not all.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import MappedMetricLearning
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> points = [[0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    >>> learner = MappedMetricLearning(points, n_components=2).fit(X, [0, 0, 1, 1])
    >>> learner.embedding_.shape
    (4, 2)
    """

    _fitted: ClassVar[tuple[str, ...]] = (
        *("path_", "converged_", "power_"),
        *("components_", "embedding_", "initial_embedding_"),
        *("bin_weights_", "initial_bin_weights_"),
        *("_values", "_bins", "_starts"),
    )
    _criteria: ClassVar[tuple[type[Any], ...]] = (Margin,)

    def __init__(
        self,
        points: ArrayLike | None = None,
        n_components: int | None = None,
        *,
        criterion: str | Margin = "margin",
        init: ArrayLike | None = None,
        power: float | str = 0.5,
        bin_weights: str | ArrayLike | None = None,
        pull: float = 0.0,
        step_size: float = 0.5,
        max_steps: int = 20,
        batch_size: int | str | None = "auto",
        max_samples: int | None = None,
        n_jobs: int | None = None,
        callbacks: Sequence[Callable[..., object] | Checkpoint] = (),
        verbose: int = 0,
        random_state: object = None,
    ) -> None:
        self.points = points
        self.n_components = n_components
        self.criterion = criterion
        self.init = init
        self.power = power
        self.bin_weights = bin_weights
        self.pull = pull
        self.step_size = step_size
        self.max_steps = max_steps
        self.batch_size = batch_size
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.callbacks = callbacks
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, task: Task) -> None:
        with one_blas_thread():
            super()._fit(task)

    def _keeps_sparse(self, *, reset: bool) -> bool:  # noqa: ARG002 - always
        return True

    def _settle(self, n: int) -> None:
        self.batch_size, self.random_state = batches_of(self, n)

    def _descent(self, rows: csr_array, weights: Weights) -> Descent:
        return descent_of(self, csr_array(rows), weights)

    def _keep(self, descent: Descent, initial: Floats, rows: csr_array) -> None:
        """Keep what was learned, in units of the median distance."""
        points, k = centered_points(self.points, rows.shape[1])
        first = state_of(self, initial, len(points))
        A, logs = parts_of(self, descent.result, points)
        last = MapState(logs, points @ A.T)
        some = some_of(csr_array(rows))
        before, unit = (
            median_distance(state.distances(some, n_jobs=self.n_jobs))
            for state in (first, last)
        )
        self.initial_embedding_ = first.positions / before
        self.initial_bin_weights_ = first.weights
        self.components_ = of_unscaled(A, k) / unit
        self.embedding_ = last.positions / unit
        self.bin_weights_ = last.weights
        seen = weigh(rows, logs)
        self._values, self._bins, self._starts = seen.data, seen.indices, seen.indptr

    def _rescale(self) -> None:
        """Leave units as they are: they are those of the median distance."""

    def _seen(self, rows: Any) -> csr_array:
        return weigh(super()._seen(rows), np.log(self.bin_weights_))

    def _seen_before(self, rows: Any) -> csr_array:
        return weigh(super()._seen_before(rows), np.log(self.initial_bin_weights_))

    def _before(self, before: str = "") -> Floats:
        """Return positions, for histograms whose bins have been weighted."""
        learned: Floats = getattr(self, f"{before}embedding_")
        return learned

    def _positions_of(self, result: Floats, d: int) -> Any:
        return state_of(self, result, d)

    def _distances(self, metric: Any) -> Callable[..., Floats]:
        if isinstance(metric, MapState):
            return metric.as_function(self.n_jobs)
        return partial(pairwise_emd, points=metric, n_jobs=self.n_jobs)

    def _ground(self) -> dict[str, Floats]:
        return {"points": self._learned}

    @property
    def metric_(self) -> Floats:  # type: ignore[override]
        """The distances between the learned positions."""
        return self._all_distances("")

    @property
    def initial_metric_(self) -> Floats:  # type: ignore[override]
        """The distances between the first positions."""
        return self._all_distances("initial_")

    def _all_distances(self, before: str) -> Floats:
        name = f"{before}embedding_"
        if name not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return all_distances(self._before(before), name)

    @property
    def _histograms(self) -> csr_array:
        parts = self._values, self._bins, self._starts
        return csr_array(parts, shape=(len(self._starts) - 1, len(self.embedding_)))

    def _restore(self) -> None:
        for name in ("embedding_", "initial_embedding_"):
            positions = validation.as_float_array(getattr(self, name), name, 2)
            validation.as_coordinates(positions, len(self.embedding_), name)
        for name in ("bin_weights_", "initial_bin_weights_"):
            logarithms(getattr(self, name), len(self.embedding_), name)
        rows = validation.as_sparse_distributions(self._histograms, "its histograms")
        self._restore_rest(*rows.shape)
