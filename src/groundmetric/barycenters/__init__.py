"""Barycenters: the histograms nearest to several others, smoothed or exact.

Beyond the paper: what a group of histograms looks like under a ground metric.
"""

from ._barycenter import barycenter

__all__ = ["barycenter"]
