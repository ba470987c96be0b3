"""Digits, distances between their pixels, and the whole metric."""

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.plotting import GridMetricDisplay, MetricDisplay

digits = load_digits_histograms([4, 9])
X, y = digits.X[:40], digits.y[:40]
learner = gm.GroundMetricLearning().fit(X, y)

figure, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10, 3.2), width_ratios=(1, 1.2, 1.2)
)
tiles = np.concatenate([X[y == digit][:6] for digit in (4, 9)]).reshape(4, 3, 8, 8)
framed = np.pad(tiles, ((0, 0), (0, 0), (1, 1), (1, 1)))  # (4, 3, 10, 10)
left.imshow(framed.transpose(1, 2, 0, 3).reshape(30, 40), cmap="gray_r")
left.set_axis_off()
left.set_title("histograms of ink")
GridMetricDisplay.from_estimator(learner, (8, 8), feature=11).plot(middle)
middle.set_title("distances from one pixel")
MetricDisplay.from_estimator(learner).plot(right)
right.set_title("the learned metric")
figure.tight_layout()
