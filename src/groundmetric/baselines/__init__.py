"""Other learners of distances from labels, to compare with (sections 6 and 7.3).

Mahalanobis distances (``LMNN``, ``ITML``, ``NCA``, ``GMML``), also of logarithms, with
what is added to histograms learned, too (``AitchisonEmbedding``), and chi-squared
distances of linear maps (``ChiSquaredLMNN``). ``Lebanon`` learns weights of bins, and
needs no labels. All have ``fit(X, y)``, then ``pairwise(X, Y)``.
"""

from ._aitchison import AitchisonEmbedding
from ._chi_squared import ChiSquaredLMNN
from ._gmml import GMML
from ._itml import ITML
from ._lebanon import Lebanon
from ._mahalanobis import LMNN, NCA

__all__ = ["GMML", "ITML", "LMNN", "NCA"]
__all__ += ["AitchisonEmbedding", "ChiSquaredLMNN", "Lebanon"]
