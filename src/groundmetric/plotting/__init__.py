"""Plots as display objects, in the style of scikit-learn.

``SomeDisplay.from_...(...)`` computes what to show, and ``.plot(ax=...)`` draws it, as
often as you like, and keeps the artists (``ax_``, ``figure_``, ``im_``, ``lines_``).

``MetricDisplay``, ``FeatureMapDisplay``, ``GridMetricDisplay`` and ``PathDisplay`` show
a metric and how it was learned. ``CurvesDisplay`` and ``DifferenceDisplay`` draw one
panel of results each, ``paper_figures`` a figure of the paper (section 7); on the
command line: ``groundmetric figures --help``. Drawing needs matplotlib:
``pip install 'groundmetric[plot]'``.
"""

from .curves import CurvesDisplay
from .differences import DifferenceDisplay
from .feature_map import FeatureMapDisplay
from .figures import paper_figures
from .grid import GridMetricDisplay
from .metric import MetricDisplay
from .path import PathDisplay

__all__ = [
    "CurvesDisplay",
    "DifferenceDisplay",
    "FeatureMapDisplay",
    "GridMetricDisplay",
    "MetricDisplay",
    "PathDisplay",
    "paper_figures",
]
