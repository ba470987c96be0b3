"""Learn the ground metric of the earth mover's distance from labeled histograms."""

from ._batch import BatchSolution, TransportBatch
from ._transport import Transport, emd, pairwise_emd, transport

__version__ = "0.1.0"

__all__ = [
    "BatchSolution",
    "Transport",
    "TransportBatch",
    "emd",
    "pairwise_emd",
    "transport",
]
