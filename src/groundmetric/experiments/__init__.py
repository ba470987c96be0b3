"""The paper's experiments (section 7), for its data or yours.

``compare`` finds out which distance to use on your data. For the paper's experiments,
``binary_tasks`` draws tasks; ``run`` measures ``METHODS`` on them, writes a results
file, and resumes after a kill; ``read_results`` reads the file; ``mean_curves`` and
``paired_differences`` summarize it. On the command line: ``groundmetric reproduce
--help``.
"""

from .choice import FIXED, LEARNERS
from .comparison import Comparison, compare_split
from .cross_validation import CrossValidation, cross_validate
from .design import Design, Estimate
from .frames import export_results, read_results
from .measures import C_GRID, SIGMA_GRID, knn_errors, recall, svm_error
from .methods import FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, METHODS, Method, as_methods
from .protocol import Task, binary_tasks, multiclass_tasks
from .ranking import compare
from .results import ResultsFile, Row
from .runner import run
from .splits import draw
from .summary import MeanCurves, PairedDifferences, mean_curves, paired_differences
from .tables import comparison_table, summary_table

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
    "MeanCurves",
    "Method",
    "PairedDifferences",
    "ResultsFile",
    "Row",
    "Task",
    "as_methods",
    "binary_tasks",
    "compare",
    "compare_split",
    "comparison_table",
    "cross_validate",
    "draw",
    "export_results",
    "knn_errors",
    "mean_curves",
    "multiclass_tasks",
    "paired_differences",
    "read_results",
    "recall",
    "run",
    "summary_table",
    "svm_error",
]
