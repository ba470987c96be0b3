"""Exact earth mover's distances between many histograms that share a metric.

Section 2 of the paper; the network simplex behind it is in ``cpp/``.
"""

from ._batch import TransportBatch
from ._certificate import Transport
from ._emd import emd, transport
from ._exact import pairwise_emd
from ._solution import BatchSolution
from ._unnormalized import emd_hat, emd_partial, pairwise_emd_hat

__all__ = [
    "BatchSolution",
    "Transport",
    "TransportBatch",
    "emd",
    "emd_hat",
    "emd_partial",
    "pairwise_emd",
    "pairwise_emd_hat",
    "transport",
]
