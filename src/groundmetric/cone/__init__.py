"""The cone of metric matrices: checks, repairs, and projections onto it.

Sections 2.1 and 4.2 of the paper.
"""

from ..validation import Violation
from ._projection import MetricProjector, project_metric
from ._result import Projection
from ._triangle import (
    is_metric,
    metric_closure,
    metric_violations,
    threshold_metric,
    triangle_violation,
)

__all__ = [
    "MetricProjector",
    "Projection",
    "Violation",
    "is_metric",
    "metric_closure",
    "metric_violations",
    "project_metric",
    "threshold_metric",
    "triangle_violation",
]
