"""Which learners suit the histograms, and what is known of their bins."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ..base._powers import LOG
from ..learning import (
    CombinedMetricLearning,
    GroundMetricLearning,
    MappedMetricLearning,
    Margin,
)
from ..learning._axes import named_sets, scaled
from ..learning._candidates import Candidate, prepared
from ..smoothed import SinkhornMetricLearning

# In the order of preference.
POWERS: tuple[float | str, ...] = (0.5, LOG, 1.0, 0.25)
SHRINKAGES: tuple[float | str, ...] = ("auto", 0.5)
TRUSTS = (1.0, 3.0, 0.0)

MOST_BINS = 700  # beyond, no d x d matrix is learned, and bins are taken for words
MOST_WORK = 2e6  # n d^2 of the exact learner, which takes minutes beyond
FEW_COORDINATES = 10  # mean positions in the plane, say, of pixels, tell little


def discriminants(learner: Any, d: int) -> list[Candidate]:
    """List settings of the learner in closed form; those preferred stand first."""
    trusts = {} if learner.points is None else {"trust": TRUSTS}
    weights = {"bin_weights": ("idf", None)} if d > MOST_BINS else {}
    grid = {"power": POWERS, "shrinkage": SHRINKAGES, **trusts, **weights}
    return [
        Candidate(learner, dict(zip(grid, values, strict=True)))
        for values in product(*grid.values())
    ]


def descents(points: Any, n: int, d: int, power: float | str) -> list[Candidate]:
    """List learners that take steps; those preferred stand first."""
    found: list[Any] = []
    sets = [] if points is None else list(named_sets(points).values())
    if d <= MOST_BINS:
        found.append(SinkhornMetricLearning(smoothing=math.inf, criterion=Margin()))
    if n * d**2 <= MOST_WORK:
        found.append(GroundMetricLearning(Margin()))
        if sets:
            found.append(CombinedMetricLearning(_metrics(sets, d)))
    candidates = [Candidate(each, {"power": power}) for each in found]
    if len(sets) == 1 and np.shape(sets[0])[1:] >= (FEW_COORDINATES,):
        prior = SinkhornMetricLearning(
            smoothing=math.inf, points=sets[0], criterion="softmax", max_steps=200
        )
        words = {"bin_weights": "idf", "power": 1.0}
        others = {"bin_weights": "learn", "power": power}
        candidates.append(Candidate(prior, words if d > MOST_BINS else others))
    return candidates


def with_options(
    candidates: list[Candidate], n_jobs: int | None, verbose: int, random_state: object
) -> list[Candidate]:
    """Give candidates the threads, bars and seed of the search."""
    learners = prepared(
        [each.learner for each in candidates], n_jobs, verbose, random_state
    )
    return [
        each._replace(learner=learner)
        for each, learner in zip(candidates, learners, strict=True)
    ]


def given(points: Any, n_jobs: int | None) -> list[Candidate]:
    """List the EMDs with the distances between points, without learning."""
    return [
        Candidate(
            MappedMetricLearning(each, power=1.0, n_jobs=n_jobs),
            {},
            learns=False,
            is_given=True,
        )
        for each in ([] if points is None else named_sets(points).values())
    ]


def _metrics(sets: list[Any], d: int) -> list[Any]:
    """Return the uniform metric, and the distances of each set of points."""
    places = [scaled(each, d)[0] for each in sets]
    return [1.0 - np.eye(d), *(cdist(each, each) for each in places)]
