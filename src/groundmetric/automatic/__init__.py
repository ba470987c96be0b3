"""The learner to begin with: it chooses among all others by cross-validation."""

from ._estimator import AutoMetric

__all__ = ["AutoMetric"]
