"""Independence and typical tables, and the initial metrics made from them.

Section 5 of the paper.
"""

from ._initial import initial_metric
from ._tables import independence_table, typical_table

__all__ = [
    "independence_table",
    "initial_metric",
    "typical_table",
]
