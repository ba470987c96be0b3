"""Raw data as histograms: images by their edges or colors."""

from .color import color_histogram
from .gist import gist

__all__ = ["color_histogram", "gist"]
