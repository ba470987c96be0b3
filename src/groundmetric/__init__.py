"""Learn the ground metric of the earth mover's distance from labeled histograms."""

from importlib.metadata import version

from ._batch import BatchSolution, TransportBatch
from ._cone import MetricProjector, Projection, project_metric
from ._transport import Transport, emd, pairwise_emd, transport
from ._triangle import (
    Violation,
    is_metric,
    metric_closure,
    metric_violations,
    triangle_violation,
)

__version__ = version("groundmetric")

__all__ = [
    "BatchSolution",
    "MetricProjector",
    "Projection",
    "Transport",
    "TransportBatch",
    "Violation",
    "emd",
    "is_metric",
    "metric_closure",
    "metric_violations",
    "pairwise_emd",
    "project_metric",
    "transport",
    "triangle_violation",
]
