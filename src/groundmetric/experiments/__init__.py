"""Compare distances on your own data.

``compare`` finds out which distance to use, and ``cross_validate`` has the errors of
each split. The paper's experiments (section 7) use them, too; they are in the folder
``reproduction`` of the repository.
"""

from .cross_validation import cross_validate
from .design import Design, Estimate
from .measures import C_GRID, SIGMA_GRID, knn_errors, recall, svm_error
from .methods import METHODS, Method, as_methods
from .names import FIXED, LEARNERS
from .outcome import CrossValidation, Prediction
from .predictors import PREDICTORS, Predictor
from .ranking import compare
from .repeats import stability
from .splits import draw
from .stable import Stability

__all__ = [
    "C_GRID",
    "FIXED",
    "LEARNERS",
    "METHODS",
    "PREDICTORS",
    "SIGMA_GRID",
    "CrossValidation",
    "Design",
    "Estimate",
    "Method",
    "Prediction",
    "Predictor",
    "Stability",
    "as_methods",
    "compare",
    "cross_validate",
    "draw",
    "knn_errors",
    "recall",
    "stability",
    "svm_error",
]
