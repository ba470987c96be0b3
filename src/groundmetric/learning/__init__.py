"""The criterion, the descent of Algorithm 2, and the estimator around them.

Sections 3 and 4 of the paper.
"""

from ._effort import LongFitWarning
from ._estimator import GroundMetricLearning
from ._estimator_cv import GroundMetricLearningCV
from ._path import DescentPath, DescentStep

__all__ = [
    "DescentPath",
    "DescentStep",
    "GroundMetricLearning",
    "GroundMetricLearningCV",
    "LongFitWarning",
]
