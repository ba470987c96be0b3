"""Labeled histograms: handwritten digits, synthetic data, folders of images."""

from ._folder import ImageHistograms, load_image_folder
from ._labeled import LabeledHistograms, load_digits_histograms
from ._reader import Skipped
from ._synthetic import make_histograms

__all__ = [
    "ImageHistograms",
    "LabeledHistograms",
    "Skipped",
    "load_digits_histograms",
    "load_image_folder",
    "make_histograms",
]
