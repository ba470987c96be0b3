"""The criterion, the descent of Algorithm 2, and the estimator around them.

Sections 3 and 4 of the paper.
"""

from ._cross_validation import GroundMetricLearningCV
from ._effort import LongFitWarning
from ._estimator import GroundMetricLearning
from ._path import DescentPath, DescentStep

__all__ = [
    "DescentPath",
    "DescentStep",
    "GroundMetricLearning",
    "GroundMetricLearningCV",
    "LongFitWarning",
]
