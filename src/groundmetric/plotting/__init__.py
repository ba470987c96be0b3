"""Plots as display objects, in the style of scikit-learn.

``SomeDisplay.from_...(...)`` computes what to show, and ``.plot(ax=...)`` draws it, as
often as you like, and keeps the artists (``ax_``, ``figure_``, ``im_``, ``lines_``).

``MetricDisplay``, ``FeatureMapDisplay``, ``GridMetricDisplay`` and ``PathDisplay`` show
a metric and how it was learned, ``ImportanceDisplay`` which bins matter, and
``BarycenterDisplay`` what each class looks like.
``column_style`` makes figures as wide as the columns of a paper. Drawing needs
matplotlib: ``pip install 'groundmetric[plot]'``.
"""

from .classes import BarycenterDisplay
from .feature_map import FeatureMapDisplay
from .grid import GridMetricDisplay
from .importance import ImportanceDisplay
from .metric import MetricDisplay
from .path import PathDisplay
from .style import column_style

__all__ = [
    "BarycenterDisplay",
    "FeatureMapDisplay",
    "GridMetricDisplay",
    "ImportanceDisplay",
    "MetricDisplay",
    "PathDisplay",
    "column_style",
]
