"""Compare distances on your own data.

``compare`` finds out which distance to use, ``cross_validate`` and ``compare_split``
measure ``METHODS`` on many splits and on one. The paper's experiments (section 7) use
them, too; they are in the folder ``reproduction`` of the repository.
"""

from .choice import FIXED, LEARNERS
from .comparison import Comparison, compare_split
from .cross_validation import CrossValidation, cross_validate
from .design import Design, Estimate
from .measures import C_GRID, SIGMA_GRID, knn_errors, recall, svm_error
from .methods import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, METHODS, Method, as_methods
from .ranking import compare
from .splits import draw

__all__ = [
    "C_GRID",
    "FIGURE_1",
    "FIGURE_2",
    "FIGURE_3",
    "FIGURE_4",
    "FIXED",
    "LEARNERS",
    "METHODS",
    "SIGMA_GRID",
    "Comparison",
    "CrossValidation",
    "Design",
    "Estimate",
    "Method",
    "as_methods",
    "compare",
    "compare_split",
    "cross_validate",
    "draw",
    "knn_errors",
    "recall",
    "svm_error",
]
