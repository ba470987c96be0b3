"""From the parameters of a map learner to its descent, and to what was learned."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import validation
from ..transport._exact import pairwise_emd
from ._axes import centered, require_two_bins, scaled, starting_map
from ._criteria import Margin, as_criterion
from ._descent import Descent, Settings
from ._effort import warn_if_long
from ._entries import weigh
from ._mapped_pairs import MappedHistograms
from ._maps import LinearMaps
from ._parameters import Parameters, exponentials, logarithms, starting_weights
from ._pull import MetricPull

if TYPE_CHECKING:
    from collections.abc import Callable

    from scipy.sparse import csr_array

    from ..similarity._weights import Weights
    from ._criterion import Criterion
    from ._mapped import MappedMetricLearning

Floats = NDArray[np.float64]

# Seconds of a pair, and of each entry of its costs, which are computed twice.
A_PAIR, AN_ENTRY = 1e-5, 1.5e-8
POTENTIALS = 4e-5  # of a pair, on one thread; for weights of bins
# Above this many histograms, "auto" takes steps by batches of BATCH.
WHOLE, BATCH = 256, 128


class MapState(NamedTuple):
    """Where bins are, and what they weigh.

    Attributes
    ----------
    log_weights : ndarray of shape (d,)
        l.
    positions : ndarray of shape (d, r)
        A x_p, up to a shift.
    """

    log_weights: Floats
    positions: Floats

    @property
    def weights(self) -> Floats:
        """Weights of the bins."""
        return exponentials(self.log_weights)

    def distances(
        self, left: Any, right: Any = None, *, n_jobs: int | None = None
    ) -> Floats:
        """Distances between rows of mass 1, whose bins have not been weighted."""
        others = None if right is None else weigh(right, self.log_weights)
        seen = weigh(left, self.log_weights)
        return pairwise_emd(seen, others, points=self.positions, n_jobs=n_jobs)

    def as_function(self, n_jobs: int | None) -> Callable[..., Floats]:
        """Return what computes distances."""
        return partial(self.distances, n_jobs=n_jobs)


def centered_points(points: Any, d: int) -> tuple[Floats, int]:
    """Coordinates of the bins, divided by 2^k, and k.

    Without points, each bin has a coordinate of its own.
    """
    require_two_bins(d)
    array, k = scaled(np.eye(d) if points is None else points, d)
    return centered(array, d), k


def state_of(learner: MappedMetricLearning, theta: Floats, d: int) -> MapState:
    """Return what a vector means."""
    points, _ = centered_points(learner.points, d)
    A, logs = parts_of(learner, theta, points)
    return MapState(logs, points @ A.T)


def parts_of(
    learner: MappedMetricLearning, theta: Floats, points: Floats
) -> tuple[Floats, Floats]:
    """Return A, (r, s), and the logarithms of the weights in a vector."""
    d, s = points.shape
    end = 0 if learner.bin_weights is None else d
    logs = theta[:end] if end else np.zeros(d)
    return theta[end:].reshape(s, -1).T, logs


def descent_of(
    learner: MappedMetricLearning, rows: csr_array, weights: Weights
) -> Descent:
    """Check the parameters, and set the descent up for rows of mass 1."""
    size, random_state = batches_of(learner, rows.shape[0])
    pull = validation.as_factor(learner.pull, "pull")
    points, _ = centered_points(learner.points, rows.shape[1])
    start, logs = _starting_map(learner, rows, points), None
    if learner.bin_weights is not None:
        weights_of_bins = starting_weights(learner.bin_weights, rows)
        logs = logarithms(weights_of_bins, len(points))
    space = LinearMaps(points, start, logs)
    threads = validation.n_threads(learner.n_jobs)
    make = MappedHistograms(rows, space.parameters, n_threads=threads)
    criterion = _criterion_of(learner, make, weights, size, random_state)
    if pull > 0:
        parts = _pulled(space.parameters, rows)
        criterion = MetricPull(criterion, space.metric, pull, parts)
    settings = _settings(learner._settings(), is_sampled=size is not None, pull=pull)
    descent = Descent(criterion, space, settings)
    _warn_before(learner, rows, size, descent)
    return descent


def batches_of(learner: MappedMetricLearning, n: int) -> tuple[int | None, object]:
    """Return how many histograms a step is taken by, None for all; and their seed."""
    given, random_state = learner.batch_size, learner.random_state
    if isinstance(given, str):
        validation.require_one_of(given, "batch_size", ("auto",))
        # Nobody asked for chance: these batches are the same in every fit.
        seed = 0 if random_state is None else random_state
        return BATCH if n > WHOLE else None, seed
    if given is not None:
        validation.as_count(given, "batch_size", low=2)
    return given, random_state


def _criterion_of(
    learner: MappedMetricLearning,
    make: MappedHistograms,
    weights: Weights,
    size: int | None,
    random_state: object,
) -> Criterion:
    """Set margins up on all histograms, or on one batch after another."""
    goal = as_criterion(learner.criterion, only=(Margin,))
    criterion: Criterion
    if size is None:
        searches = make(np.arange(len(weights)), weights)
        criterion = goal._on_searches(*searches, weights)
    else:
        criterion = goal._on_batches(
            None,
            weights,
            validation.n_threads(learner.n_jobs),
            batch_size=size,
            random_state=random_state,
            searches=make,
        )
    return criterion


def _settings(settings: Settings, *, is_sampled: bool, pull: float) -> Settings:
    if is_sampled:
        # A batch may have nothing to gain, and its value says little of the others.
        return replace(settings, floor=0.0, is_sampled=True, result="average")
    # Steps overshoot a strong pull; their mean does not.
    return replace(settings, result="average") if pull > 0 else settings


def _starting_map(
    learner: MappedMetricLearning, rows: csr_array, points: Floats
) -> Floats:
    """Return the map before the first step."""
    varying = points
    if learner.points is None:
        # Bins with a coordinate of their own vary alike along all of them;
        # histograms say which matter.
        dense = rows.toarray()
        varying = dense - dense.mean(axis=0)
    r = points.shape[1] if learner.n_components is None else learner.n_components
    start = starting_map(points, r, varying)
    if learner.init is None:
        return start
    given = validation.as_float_array(learner.init, "init", 2)
    validation.require_finite(given, "init")
    if given.shape != start.shape or not given.any():
        raise ValueError(
            f"init has shape {given.shape}; a map of shape {start.shape} that is "
            "not zero is needed."
        )
    scale: Floats = given * (np.linalg.norm(start) / np.linalg.norm(given))
    return scale


def _pulled(parameters: Parameters, rows: csr_array) -> list[tuple[slice, float]]:
    """Return the parts that are pulled back, and their norms."""
    slices = parameters.slices
    A = parameters.start[slices["map"]]
    parts = [(slices["map"], float(np.linalg.norm(A)))]
    if "weights" in slices:
        n_used = len(np.unique(rows.indices))
        parts.append((slices["weights"], math.sqrt(n_used)))
    return parts


def _warn_before(
    learner: MappedMetricLearning, rows: csr_array, size: int | None, descent: Descent
) -> None:
    """Warn if a fit will be long or large."""
    n, n_bins = size or rows.shape[0], rows.nnz / rows.shape[0]
    n_targets = as_criterion(learner.criterion)._limits()[0]
    n_pairs = n * (4 * n_targets + n / 8)
    a_step = n_pairs * (A_PAIR + AN_ENTRY * n_bins**2)
    a_step /= validation.n_threads(learner.n_jobs)
    if learner.bin_weights is not None:
        a_step += n_pairs * POTENTIALS
    advice = "smaller batches (batch_size) or fewer steps make it shorter"
    d = rows.shape[1]
    known = learner.points
    s = d if known is None else validation.as_coordinates(known, d).shape[1]
    n_bytes = 28 * rows.nnz + 40 * d * s
    seconds = descent.settings.max_outer * a_step
    warn_if_long(seconds, n_bytes, rows.shape, advice)
