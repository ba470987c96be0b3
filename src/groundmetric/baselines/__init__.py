"""Other learners of distances from labels, to compare with (sections 6 and 7.3).

Mahalanobis distances (``LMNN``, ``ITML``, ``NCA``), and chi-squared distances of linear
maps (``ChiSquaredLMNN``). All have ``fit(X, y)``, then ``pairwise(X, Y)``.
"""

from ._chi_squared import ChiSquaredLMNN
from ._mahalanobis import ITML, LMNN, NCA

__all__ = ["ITML", "LMNN", "NCA", "ChiSquaredLMNN"]
