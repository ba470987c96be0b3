"""The criteria, the descent of Algorithm 2, and the estimators around them.

Sections 3 and 4 of the paper.
"""

from ._checkpoint import Checkpoint
from ._combined import CombinedMetricLearning
from ._criteria import Margin, Neighborhood, Softmax
from ._cross_validation import MetricLearningCV
from ._effort import LongFitWarning
from ._estimator import GroundMetricLearning
from ._mapped import MappedMetricLearning
from ._path import DescentPath, DescentStep

__all__ = [
    "Checkpoint",
    "CombinedMetricLearning",
    "DescentPath",
    "DescentStep",
    "GroundMetricLearning",
    "LongFitWarning",
    "MappedMetricLearning",
    "Margin",
    "MetricLearningCV",
    "Neighborhood",
    "Softmax",
]
