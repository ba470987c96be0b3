"""Debiased Sinkhorn divergences between many histograms that share a cost.

Beyond the paper: the EMD, smoothed by an entropy, on processors and GPUs.
"""

from ._divergence import sinkhorn_divergence
from ._estimator import SinkhornMetricLearning

__all__ = [
    "SinkhornMetricLearning",
    "sinkhorn_divergence",
]
