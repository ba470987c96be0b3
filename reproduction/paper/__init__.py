"""The paper's experiments (section 7), for its data or yours.

``binary_tasks`` draws tasks; ``run`` measures methods on them, writes a results file,
and resumes after a kill; ``read_results`` reads the file; ``mean_curves`` and
``paired_differences`` summarize it; ``paper.figures`` draws it. On the command line:
``python reproduction --help``.
"""

from .comparison import Comparison, compare_split
from .frames import export_results, read_results
from .methods import ALL_STARTS, FIGURE_1, FIGURE_2, FIGURE_3, FIGURE_4, METHODS
from .protocol import Task, binary_tasks, multiclass_tasks
from .results import ResultsFile, Row
from .runner import MissingResultsError, run
from .summary import MeanCurves, PairedDifferences, mean_curves, paired_differences
from .tables import comparison_table, summary_table

__all__ = [
    "ALL_STARTS",
    "FIGURE_1",
    "FIGURE_2",
    "FIGURE_3",
    "FIGURE_4",
    "METHODS",
    "Comparison",
    "MeanCurves",
    "MissingResultsError",
    "PairedDifferences",
    "ResultsFile",
    "Row",
    "Task",
    "binary_tasks",
    "compare_split",
    "comparison_table",
    "export_results",
    "mean_curves",
    "multiclass_tasks",
    "paired_differences",
    "read_results",
    "run",
    "summary_table",
]
