"""Neighbors, classifiers and kernels on the earth mover's distance.

Sections 2.3 and 7 of the paper.
"""

from ._classifier import EMDClassifier
from ._kernel import C_GRID, SIGMA_GRID, EMDKernel
from ._search import EMDNeighbors

__all__ = [
    "C_GRID",
    "SIGMA_GRID",
    "EMDClassifier",
    "EMDKernel",
    "EMDNeighbors",
]
