"""Distances between batches of histograms as a layer of PyTorch, with gradients.

Tensors in, tensors out: gradients in the histograms, and in the metric or in the points
of the bins. Needs the extra ``gpu``; a GPU is not needed.
"""

try:
    import torch as _  # noqa: F401 - PyTorch, not this package
except ImportError as error:
    from ..base._arrays import missing

    raise ImportError(missing("groundmetric.torch", error)) from error

from ._emd import emd
from ._sinkhorn import sinkhorn_divergence

__all__ = [
    "emd",
    "sinkhorn_divergence",
]
