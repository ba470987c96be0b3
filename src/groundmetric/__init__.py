"""Learn the ground metric of the earth mover's distance from labeled histograms."""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._batch import BatchSolution, TransportBatch
    from ._classifier import EMDClassifier
    from ._cone import MetricProjector, Projection, project_metric
    from ._effort import LongFitWarning
    from ._initial import initial_metric
    from ._kernel import C_GRID, SIGMA_GRID, EMDKernel
    from ._learning import GroundMetricLearning
    from ._neighbors import EMDNeighbors
    from ._path import DescentPath, DescentStep
    from ._similarity import label_similarity, pair_similarity, taxonomy_similarity
    from ._tables import independence_table, typical_table
    from ._transport import Transport, emd, pairwise_emd, transport
    from ._triangle import (
        Violation,
        is_metric,
        metric_closure,
        metric_violations,
        threshold_metric,
        triangle_violation,
    )
    from ._unnormalized import emd_hat, emd_partial, pairwise_emd_hat

if TYPE_CHECKING:
    from . import (  # noqa: F401 - see __getattr__
        baselines,
        datasets,
        distances,
        experiments,
        features,
        plotting,
        report,
    )

__version__ = version("groundmetric")

# Public names are imported when they are used, so that small commands start at once.
_HOMES = {
    "_batch": ("BatchSolution", "TransportBatch"),
    "_classifier": ("EMDClassifier",),
    "_cone": ("MetricProjector", "Projection", "project_metric"),
    "_effort": ("LongFitWarning",),
    "_initial": ("initial_metric",),
    "_kernel": ("C_GRID", "SIGMA_GRID", "EMDKernel"),
    "_learning": ("GroundMetricLearning",),
    "_neighbors": ("EMDNeighbors",),
    "_path": ("DescentPath", "DescentStep"),
    "_similarity": ("label_similarity", "pair_similarity", "taxonomy_similarity"),
    "_tables": ("independence_table", "typical_table"),
    "_transport": ("Transport", "emd", "pairwise_emd", "transport"),
    "_triangle": (
        "Violation",
        "is_metric",
        "metric_closure",
        "metric_violations",
        "threshold_metric",
        "triangle_violation",
    ),
    "_unnormalized": ("emd_hat", "emd_partial", "pairwise_emd_hat"),
}

__all__ = [
    "C_GRID",
    "SIGMA_GRID",
    "BatchSolution",
    "DescentPath",
    "DescentStep",
    "EMDClassifier",
    "EMDKernel",
    "EMDNeighbors",
    "GroundMetricLearning",
    "LongFitWarning",
    "MetricProjector",
    "Projection",
    "Transport",
    "TransportBatch",
    "Violation",
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
)

if not TYPE_CHECKING:  # which would take any name for a module

    def __getattr__(name: str) -> object:
        """Import what is asked for when it is first asked for: start-up stays fast."""
        if name in _ON_DEMAND:
            return import_module(f".{name}", __name__)
        for module, names in _HOMES.items():
            if name in names:
                found = getattr(import_module(f".{module}", __name__), name)
                globals()[name] = found
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ON_DEMAND})
