"""A report on a learned metric: one HTML file, whole in itself, that says if it helped.

The verdict comes first: errors of nearest neighbors under the learned metric, beside l1
and the metric that learning started from, with an interval; then curves, the metric as
heat map and map, neighbors before and after, and what is needed to do it again.
"""

from ._write import write_report

__all__ = ["write_report"]
