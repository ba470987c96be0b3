"""Debiased Sinkhorn divergences between many histograms that share a cost.

Beyond the paper: the EMD, smoothed by an entropy, on processors and GPUs.
"""

from ._cross_validation import SinkhornMetricLearningCV
from ._divergence import sinkhorn_divergence
from ._estimator import SinkhornMetricLearning

__all__ = [
    "SinkhornMetricLearning",
    "SinkhornMetricLearningCV",
    "sinkhorn_divergence",
]
