"""The paper's experiments (section 7), for its data or yours.

``binary_tasks`` draws tasks, ``compare`` measures ``METHODS`` on one.
"""

from .comparison import Comparison, compare
from .measures import knn_errors, recall, svm_error
from .methods import (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    METHODS,
    Method,
    as_methods,
)
from .protocol import Task, binary_tasks, multiclass_tasks

__all__ = [
    "FIGURE_1",
    "FIGURE_2",
    "FIGURE_3",
    "FIGURE_4",
    "METHODS",
    "Comparison",
    "Method",
    "Task",
    "as_methods",
    "binary_tasks",
    "compare",
    "knn_errors",
    "multiclass_tasks",
    "recall",
    "svm_error",
]
