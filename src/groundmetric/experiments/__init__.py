"""Compare distances on your own data.

``compare`` finds out which distance to use, ``cross_validate`` and ``compare_split``
measure ``METHODS`` on many splits and on one. The paper's experiments (section 7) use
them, too; they are in the folder ``reproduction`` of the repository.
"""

from .choice import FIXED, LEARNERS
from .comparison import Comparison, compare_split
from .cross_validation import CrossValidation, Estimate, cross_validate, resampled_mean
from .measures import C_GRID, SIGMA_GRID, knn_errors, recall, svm_error
from .methods import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, METHODS, Method, as_methods
from .ranking import compare

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
    "Estimate",
    "Method",
    "as_methods",
    "compare",
    "compare_split",
    "cross_validate",
    "knn_errors",
    "recall",
    "resampled_mean",
    "svm_error",
]
