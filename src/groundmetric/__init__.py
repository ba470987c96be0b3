"""Learn the ground metric of the earth mover's distance from labeled histograms."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

# The room "transport" has the name of a function, and the function wins: it is bound
# after the room was imported.
from .transport import transport

if TYPE_CHECKING:
    from . import (  # noqa: F401 - see __getattr__
        baselines,
        datasets,
        distances,
        experiments,
        features,
        plotting,
        report,
        torch,
    )
    from .automatic import AutoMetric
    from .barycenters import barycenter
    from .cone import (
        MetricProjector,
        Projection,
        Violation,
        is_metric,
        metric_closure,
        metric_violations,
        project_metric,
        threshold_metric,
        triangle_violation,
    )
    from .learning import (
        Checkpoint,
        CombinedMetricLearning,
        DescentPath,
        DescentStep,
        GroundMetricLearning,
        LongFitWarning,
        MappedMetricLearning,
        Margin,
        MetricLearningCV,
        Neighborhood,
        Softmax,
    )
    from .neighbors import (
        EMDSVC,
        EMDClassifier,
        EMDKernel,
        EMDNeighbors,
    )
    from .similarity import label_similarity, pair_similarity, taxonomy_similarity
    from .smoothed import (
        DiscriminantMetricLearning,
        SinkhornMetricLearning,
        sinkhorn_divergence,
    )
    from .tables import independence_table, initial_metric, typical_table
    from .transport import (
        BatchSolution,
        Transport,
        TransportBatch,
        emd,
        emd_hat,
        emd_partial,
        pairwise_emd,
        pairwise_emd_hat,
    )

__version__ = version("groundmetric")

# A room is imported when one of its public names is used: some need scikit-learn, which
# takes a second to import.
_ROOMS = (
    "transport",
    "cone",
    "similarity",
    "tables",
    "learning",
    "neighbors",
    "smoothed",
    "barycenters",
    "automatic",
)

__all__ = [
    "EMDSVC",
    "AutoMetric",
    "BatchSolution",
    "Checkpoint",
    "CombinedMetricLearning",
    "DescentPath",
    "DescentStep",
    "DiscriminantMetricLearning",
    "EMDClassifier",
    "EMDKernel",
    "EMDNeighbors",
    "GroundMetricLearning",
    "LongFitWarning",
    "MappedMetricLearning",
    "Margin",
    "MetricLearningCV",
    "MetricProjector",
    "Neighborhood",
    "Projection",
    "SinkhornMetricLearning",
    "Softmax",
    "Transport",
    "TransportBatch",
    "Violation",
    "barycenter",
    "emd",
    "emd_hat",
    "emd_partial",
    "independence_table",
    "initial_metric",
    "is_metric",
    "label_similarity",
    "metric_closure",
    "metric_violations",
    "pair_similarity",
    "pairwise_emd",
    "pairwise_emd_hat",
    "project_metric",
    "sinkhorn_divergence",
    "taxonomy_similarity",
    "threshold_metric",
    "transport",
    "triangle_violation",
    "typical_table",
]

_ON_DEMAND = (
    "baselines",
    "datasets",
    "distances",
    "experiments",
    "features",
    "plotting",
    "report",
    "torch",
)

if not TYPE_CHECKING:  # which would take any name for a module

    def __getattr__(name: str) -> object:
        """Import a name when it is first used, which keeps start-up fast."""
        if name in _ON_DEMAND:
            return import_module(f".{name}", __name__)
        for room in _ROOMS if name in __all__ else ():
            found = getattr(import_module(f".{room}", __name__), name, None)
            if found is not None:
                globals()[name] = found
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ON_DEMAND})
