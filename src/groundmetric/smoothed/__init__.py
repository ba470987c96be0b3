"""Debiased Sinkhorn divergences between many histograms that share a cost.

Beyond the paper: the EMD, smoothed by an entropy, on processors and GPUs.
"""

from ._discriminant import DiscriminantMetricLearning
from ._divergence import sinkhorn_divergence
from ._estimator import SinkhornMetricLearning

__all__ = [
    "DiscriminantMetricLearning",
    "SinkhornMetricLearning",
    "sinkhorn_divergence",
]
