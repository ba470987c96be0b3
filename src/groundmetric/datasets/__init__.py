"""Labeled histograms: tables, folders of images, handwritten digits, synthetic data."""

from ._folder import ImageHistograms, load_image_folder
from ._histogram_table import HistogramTable
from ._image_reader import Skipped
from ._labeled import LabeledHistograms, load_digits_histograms
from ._read_table import read_table
from ._synthetic import make_histograms

__all__ = [
    "HistogramTable",
    "ImageHistograms",
    "LabeledHistograms",
    "Skipped",
    "load_digits_histograms",
    "load_image_folder",
    "make_histograms",
    "read_table",
]
