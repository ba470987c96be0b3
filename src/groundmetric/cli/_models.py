"""Model files: the estimator, with the names of its bins where they have some."""

from pathlib import Path

import numpy as np

from .. import GroundMetricLearning
from ._columns import Bins
from ._data import Data


def save_model(learner: GroundMetricLearning, data: Data, path: Path) -> None:
    """Write a model that knows its columns, so that others cannot be taken for them."""
    if data.names is not None and len(set(data.names)) == len(data.names):
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
