"""Learn the ground metric of the earth mover's distance from labeled histograms."""

from importlib.metadata import version

from ._batch import BatchSolution, TransportBatch
from ._transport import Transport, emd, pairwise_emd, transport

__version__ = version("groundmetric")

__all__ = [
    "BatchSolution",
    "Transport",
    "TransportBatch",
    "emd",
    "pairwise_emd",
    "transport",
]
