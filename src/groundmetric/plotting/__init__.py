"""Figures of results, in the manner of the paper's (section 7).

``CurvesDisplay`` and ``DifferenceDisplay`` draw one panel each.
matplotlib is imported when something is drawn: ``pip install 'groundmetric[plot]'``.
"""

from .curves import CurvesDisplay
from .differences import DifferenceDisplay

__all__ = ["CurvesDisplay", "DifferenceDisplay"]
