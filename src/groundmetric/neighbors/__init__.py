"""Neighbors, classifiers and kernels on the earth mover's distance.

Sections 2.3 and 7 of the paper.
"""

from ._classifier import EMDClassifier
from ._kernel import EMDKernel
from ._machine import EMDSVC
from ._search import EMDNeighbors

__all__ = [
    "EMDSVC",
    "EMDClassifier",
    "EMDKernel",
    "EMDNeighbors",
]
