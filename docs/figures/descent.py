"""How the criterion falls."""

import matplotlib.pyplot as plt

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.plotting import PathDisplay

digits = load_digits_histograms([4, 9])
learner = gm.GroundMetricLearning().fit(digits.X[:40], digits.y[:40])
_, ax = plt.subplots(figsize=(6, 3))
PathDisplay.from_estimator(learner).plot(ax)
