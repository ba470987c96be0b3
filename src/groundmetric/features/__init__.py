"""Raw data as histograms: images by their edges or colors, documents by their words."""

from .color import color_histogram
from .gist import gist
from .text import TopicHistograms, WordHistograms

__all__ = ["TopicHistograms", "WordHistograms", "color_histogram", "gist"]
