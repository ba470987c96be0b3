"""Figures of results, in the manner of the paper's (section 7).

``CurvesDisplay`` and ``DifferenceDisplay`` draw one panel each, ``paper_figures`` a
figure of the paper; on the command line: ``python -m groundmetric.plotting --help``.
matplotlib is imported when something is drawn: ``pip install 'groundmetric[plot]'``.
"""

from .curves import CurvesDisplay
from .differences import DifferenceDisplay
from .figures import paper_figures

__all__ = ["CurvesDisplay", "DifferenceDisplay", "paper_figures"]
