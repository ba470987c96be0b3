"""Histograms of raw data: edges or colors of images, words of documents."""

from .color import color_histogram
from .gist import gist
from .text import TopicHistograms, WordHistograms

__all__ = ["TopicHistograms", "WordHistograms", "color_histogram", "gist"]
