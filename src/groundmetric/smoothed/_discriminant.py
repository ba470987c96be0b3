"""The estimator: positions of the bins in closed form, by Fisher's discriminant."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from .. import validation
from ..base._blas import one_blas_thread
from ..base._rows import all_or_nothing
from ..learning._counting import Counting
from ..learning._entries import weigh
from ..learning._parameters import Prior, starting_weights
from ._classes import Classes
from ._direct import DirectStep, Found
from ._features import Features
from ._fisher import positions
from ._learner import PriorLearner
from ._nearness import features_of_bins, known_sets, side_by_side, valid_kernel
from ._prior import State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..similarity._weights import Weights

Floats = NDArray[np.float64]

SMALLEST_SHRINKAGE = 1e-8  # with less, rounding would decide

# Positions before learning are unit vectors; beyond MOST_UNIT bins, on START axes.
MOST_UNIT = 1000
START = 100


class DiscriminantMetricLearning(PriorLearner):
    """Learn positions of the bins by Fisher's discriminant: closed form, in seconds.

    Distances are squared Euclidean distances between the mean positions of histograms,
    as of :class:`SinkhornMetricLearning` with ``smoothing=math.inf``. Positions are
    those that separate the classes most, relative to the spread within them, in one
    dimension fewer than there are classes. There are no steps and no local minima, and
    the spread is shrunk so that few histograms of many bins suffice.

    If something is known of the bins, ``points`` let bins that are near each other
    there stay near each other: the position of a bin is a map of its point and an
    offset of its own.

    Parameters
    ----------
    points : array-like of shape (d, s), or list of these, optional
        Coordinates of the bins, such as word vectors, pixels, or published properties;
        if several sets are given, nearness is the mean of theirs.
    kernel : {"rbf", "linear"}, optional
        How positions depend on the points: smoothly, so that only nearness counts
        (needs a d x d matrix), or linearly. By default smoothly up to 2,000 bins.
    trust : float, default=1.0
        How much the points count, relative to offsets: 0 ignores the points,
        ``math.inf`` leaves the offsets out.
    power : float or "log1p", default=0.5
        Histograms are raised to this power, bin by bin, and scaled to mass 1 again
        before anything else; 1 leaves them as they are. "log1p" is for heavy tails, see
        :class:`GroundMetricLearning`; and :meth:`histograms`.
    bin_weights : "idf" or array-like of shape (d,), optional
        Multiply histograms by these weights, or by the inverse document frequency, as
        in tf-idf, before they are scaled to mass 1 again.
    shrinkage : float or "auto", default="auto"
        From 1e-8 to 1: how much of the spread within classes to replace by the same
        spread in all directions; at 1, only the class means count. "auto" estimates it
        as Ledoit & Wolf do.
    max_samples : int, optional
        Learn from at most this many histograms, drawn class by class; None for all.
        ``transform`` computes distances to these.
    n_jobs : int, optional
        Number of threads for distances. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Draws the sample; nothing else here is random.

    Attributes
    ----------
    embedding_ : ndarray of shape (d, r)
        The positions: centered, on their principal axes, and scaled so that the median
        distance between training histograms (up to 100 of them) is 1.
    bin_weights_ : ndarray of shape (d,)
        The weights, up to a factor; 1 if there are none.
    metric_ : ndarray of shape (d, d)
        Squared distances between positions, computed when asked for.
    initial_metric_, initial_embedding_, initial_bin_weights_ : ndarray
        The same before learning: all bins equally far from each other, or at their
        points. Of more than 1,000 bins without points, the 100 axes are kept along
        which histograms vary most.
    path_ : DescentPath
        The one step; its criterion is the share of the spread within classes in that of
        all histograms, under the initial distances.
    n_iter_ : int
        1.
    smoothing_, power_, converged_
        As of :class:`SinkhornMetricLearning`.
    classes_ : ndarray
        Labels.
    sample_indices_ : ndarray
        With ``max_samples``, the rows learned from.
    n_features_in_ : int
        Number of bins, d.

    Examples
    --------
    >>> from groundmetric import DiscriminantMetricLearning
    >>> X = [[4, 1, 1, 0], [3, 2, 1, 0], [0, 1, 1, 4], [0, 1, 2, 3]]
    >>> learner = DiscriminantMetricLearning().fit(X, [0, 0, 1, 1])
    >>> learner.transform(X).round(1) + 0.0
    array([[0. , 0. , 1.2, 1.1],
           [0. , 0. , 1.1, 0.9],
           [1.2, 1.1, 0. , 0. ],
           [1.1, 0.9, 0. , 0. ]])
    """

    # What other learners have as parameters.
    smoothing: ClassVar[float] = math.inf  # type: ignore[misc]
    criterion: ClassVar[None] = None  # type: ignore[misc]
    callbacks: ClassVar[tuple[Any, ...]] = ()  # type: ignore[misc]
    verbose: ClassVar[int] = 0  # type: ignore[misc]
    device: ClassVar[None] = None  # type: ignore[misc]
    dtype: ClassVar[None] = None  # type: ignore[misc]

    _starts_from_prior: ClassVar[bool] = True
    _has_closed_form: ClassVar[bool] = True

    def __init__(
        self,
        points: ArrayLike | None = None,
        *,
        kernel: str | None = None,
        trust: float = 1.0,
        power: float | str = 0.5,
        bin_weights: str | ArrayLike | None = None,
        shrinkage: float | str = "auto",
        max_samples: int | None = None,
        n_jobs: int | None = None,
        random_state: object = None,
    ) -> None:
        self.points = points
        self.kernel = kernel
        self.trust = trust
        self.power = power
        self.bin_weights = bin_weights
        self.shrinkage = shrinkage
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing
    def fit(  # type: ignore[override]  # no similarity
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        class_weight: str | Mapping[Any, float] | None = None,
        empty: str = "error",
    ) -> DiscriminantMetricLearning:
        """Learn from histograms and their labels.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            Histograms or counts, in rows; rows are normalized to mass 1.
        y : array-like of shape (n,)
            Labels.
        sample_weight, class_weight, empty
            How much histograms count, and what becomes of empty ones, as in
            :meth:`GroundMetricLearning.fit`.

        Returns
        -------
        self
        """
        if y is None:
            raise ValueError("This requires y to be passed, but the target y is None.")
        counting = Counting(sample_weight, class_weight, empty)
        self._fit(self._task(X, y, None, counting))
        return self

    def _descent(self, rows: Any, weights: Weights) -> Any:
        """Check the parameters, and set the one step up."""
        rows = csr_array(rows)
        self.smoothing_ = math.inf
        d = rows.shape[1]
        classes = Classes(weights.classes, weights.points)  # type: ignore[attr-defined]
        shrinkage, trust = self._valid_shrinkage(), self._valid_trust()
        given = starting_weights(self._valid_weights(), rows)
        kernel, sets, start = valid_kernel(self.kernel, d), None, None
        if self.points is not None:
            sets = known_sets(self.points, d)
            start = side_by_side(sets)
        few = None if d <= MOST_UNIT else START
        with one_blas_thread():
            prior = Prior.of(rows, start, None if sets else few, given)
        first = State(prior.log_weights, _mapped(prior), math.inf)
        seen = weigh(rows, prior.log_weights)

        def solve() -> Found:
            points = features_of_bins(sets, kernel) if sets and trust > 0 else None
            features = Features.of(seen, classes, points, trust)
            found = positions(features, classes, shrinkage)
            # Nothing tells the classes apart: nothing is learned.
            state = first if found is None else first._replace(positions=found)
            return Found(state, _share(seen @ first.positions, classes))

        return DirectStep(first, solve)

    @property
    def _tried(self) -> dict[str, list[Any]]:
        tried: dict[str, list[Any]] = {"shrinkage": ["auto", 0.5]}
        return tried if self.points is None else {**tried, "trust": [0.0, 1.0, 3.0]}

    def _valid_shrinkage(self) -> float | None:
        if isinstance(self.shrinkage, str):
            validation.require_one_of(self.shrinkage, "shrinkage", ("auto",))
            return None
        return validation.as_number(
            self.shrinkage, "shrinkage", low=SMALLEST_SHRINKAGE, high=1.0
        )

    def _valid_trust(self) -> float:
        trust = validation.as_smoothing(self.trust, "trust")
        return trust if math.isinf(trust) else validation.as_factor(trust, "trust")

    def _valid_weights(self) -> Any:
        if isinstance(self.bin_weights, str):
            validation.require_one_of(self.bin_weights, "bin_weights", ("idf",))
        return self.bin_weights

    def _keep(self, descent: Any, initial: Floats, rows: Any) -> None:  # noqa: ARG002
        self._keep_state(descent, rows)


def _share(means: Floats, classes: Classes) -> float:
    """Return the share of the spread within classes in that of all; 1 if all is 0."""
    spread = float(np.square(means - means.mean(axis=0)).sum())
    return float(np.square(classes.within(means)).sum()) / spread if spread > 0 else 1.0


def _mapped(prior: Prior) -> Floats:
    """Positions before the first step."""
    return prior.points if prior.map is None else prior.points @ prior.map
