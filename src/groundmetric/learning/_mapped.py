"""The estimator: learn a linear map of the bins' coordinates.

.. math:: M_{pq} = |A (x_p - x_q)|

Every map gives a metric: there is no projection.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import validation
from ..base._blas import one_blas_thread
from ..base._rows import all_or_nothing
from ..transport._exact import pairwise_emd
from ._axes import centered, scaled, starting_map
from ._criteria import Margin, as_criterion
from ._descent import Descent, Settings
from ._effort import warn_if_long
from ._learner import MetricLearner
from ._maps import LinearMaps, MappedSearch, all_distances, of_unscaled

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..similarity._weights import Weights
    from ._checkpoint import Checkpoint

Floats = NDArray[np.float64]

# Seconds of a pair, and of each entry of its costs: about 1e-4 for 80 x 80.
A_PAIR, AN_ENTRY = 1e-5, 1.5e-8


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
    power : float, default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else; 1 is no change. See :meth:`histograms`.
    step_size : float, default=0.5
        First step, relative to the norms of map and gradient; it falls as 1 / sqrt(t).
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
    embedding_ : ndarray of shape (d, n_components)
        Images of the bins under the map: centered, and scaled so that the median
        distance between training histograms (up to 100 of them) is 1.
    components_ : ndarray of shape (n_components, s)
        The map, such that ``embedding_`` is
        ``(points - points.mean(axis=0)) @ components_.T``.
    metric_ : ndarray of shape (d, d)
        The distances between the rows of ``embedding_``, computed when you ask for
        them; for up to 10,000 bins.
    initial_embedding_, initial_metric_ : ndarray
        The same before the first step.
    path_ : DescentPath
        A row for each step.
    n_iter_ : int
        Steps taken.
    power_ : float
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
        power: float = 0.5,
        step_size: float = 0.5,
        max_steps: int = 20,
        tol: float = 0.0075,
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
        self.step_size = step_size
        self.max_steps = max_steps
        self.tol = tol
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
    ) -> MappedMetricLearning:
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
        """
        task = self._task(X, y, similarity)
        with one_blas_thread():
            self._learn(self._descent(*task), task.rows)
        return self

    def _keeps_sparse(self, *, reset: bool) -> bool:  # noqa: ARG002 - always
        return True

    def _descent(self, rows: csr_array, weights: Weights) -> Descent:
        """Check the parameters, and set the descent up."""
        settings, goal = self._settings(), as_criterion(self.criterion, only=(Margin,))
        rows = csr_array(rows)
        points, _ = self._centered_points(rows.shape[1])
        start = self._starting_map(rows, points)
        threads = validation.n_threads(self.n_jobs)
        similar, dissimilar = (
            MappedSearch(rows, points, weights, similar=similar, n_threads=threads)
            for similar in (True, False)
        )
        criterion = goal._on_searches(similar, dissimilar, weights)
        self._warn_before(rows, points, settings, threads)
        return Descent(criterion, LinearMaps(points, start), settings)

    def _warn_before(
        self, rows: csr_array, points: Floats, settings: Settings, threads: int
    ) -> None:
        """Warn if the fit will be long or large."""
        n, n_bins = rows.shape[0], rows.nnz / rows.shape[0]
        n_targets = as_criterion(self.criterion)._limits()[0]
        n_pairs = n * (4 * n_targets + n / 8)
        a_step = n_pairs * (A_PAIR + AN_ENTRY * n_bins**2) / threads
        advice = "fewer histograms (max_samples) or fewer steps make it shorter"
        n_bytes = 28 * rows.nnz + 40 * points.size
        warn_if_long(settings.max_outer * a_step, n_bytes, rows.shape, advice)

    def _centered_points(self, d: int) -> tuple[Floats, int]:
        """Coordinates of the bins, divided by 2^k, and k.

        Without points, each bin has a coordinate of its own.
        """
        points, k = scaled(np.eye(d) if self.points is None else self.points, d)
        return centered(points, d), k

    def _starting_map(self, rows: csr_array, points: Floats) -> Floats:
        """Return the map before the first step."""
        varying = points
        if self.points is None:
            # Bins with a coordinate of their own vary alike along all of them;
            # histograms say which matter.
            dense = rows.toarray()
            varying = dense - dense.mean(axis=0)
        r = points.shape[1] if self.n_components is None else self.n_components
        start = starting_map(points, r, varying)
        if self.init is None:
            return start
        given = validation.as_float_array(self.init, "init", 2)
        validation.require_finite(given, "init")
        if given.shape != start.shape or not given.any():
            raise ValueError(
                f"init has shape {given.shape}; a map of shape {start.shape} that is "
                "not zero is needed."
            )
        scale: Floats = given * (np.linalg.norm(start) / np.linalg.norm(given))
        return scale

    def _keep(self, descent: Descent, initial: Floats, rows: csr_array) -> None:
        points, k = self._centered_points(rows.shape[1])
        A = descent.result
        self.components_ = of_unscaled(A, k)
        self.embedding_ = points @ A.T
        self.initial_embedding_ = points @ initial.T
        rows = csr_array(rows)
        self._values, self._bins, self._starts = rows.data, rows.indices, rows.indptr

    def _before(self, before: str = "") -> Floats:
        learned: Floats = getattr(self, f"{before}embedding_")
        return learned

    def _divide(self, before: str, unit: float) -> None:
        setattr(self, f"{before}embedding_", self._before(before) / unit)
        if not before:
            self.components_ = self.components_ / unit

    def _positions_of(self, result: Floats, d: int) -> Floats:
        positions: Floats = self._centered_points(d)[0] @ result.T
        return positions

    def _distances(self, metric: Floats) -> Callable[..., Floats]:
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
        rows = validation.as_sparse_distributions(self._histograms, "its histograms")
        self._restore_rest(*rows.shape)
