"""A report on a learned metric: did learning help? One self-contained HTML file.

The verdict comes first: errors of nearest neighbors under the learned metric, l1 and
the initial metric, with intervals. Then come curves, the metric as a heat map and as a
map, neighbors before and after, and how to reproduce it.
"""

from ._write import write_report

__all__ = ["write_report"]
