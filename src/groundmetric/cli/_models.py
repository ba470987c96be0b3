"""Model files: the estimator, with the names of its bins where they have some."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .. import GroundMetricLearning
from ._columns import Bins
from ._console import note
from ._data import Data

Floats = NDArray[np.float64]


def save_model(learner: GroundMetricLearning, data: Data, path: Path) -> None:
    """Write a model that knows its columns, so that others cannot be taken for them."""
    if data.names is not None:
        # As if it had been fitted on a frame.
        learner.feature_names_in_ = np.array(data.names, dtype=object)
    learner.save(path)


def load_model(path: Path) -> GroundMetricLearning:
    """Read a model."""
    return GroundMetricLearning.load(path)


def bins_of(learner: GroundMetricLearning) -> Bins:
    """Tell which bins a fitted learner is about."""
    names = getattr(learner, "feature_names_in_", ())
    return Bins(len(learner.metric_), [str(name) for name in names])


def histograms_of(learner: GroundMetricLearning) -> Floats:
    """Tell what a fitted learner was learned from."""
    return learner._histograms  # noqa: SLF001 - no public name


def warn_if_seen(histograms: Floats, data: Data) -> None:
    """Tell histograms that a metric was learned from: its errors are too small."""
    # A histogram that was seen is as near as can be to one of its own.
    seen = {row.tobytes() for row in histograms}
    n = sum(row.tobytes() in seen for row in data.X)
    if n:
        note(
            f"warning: the model was learned from {n} of these histograms, and its "
            "errors are too small; give it others."
        )
