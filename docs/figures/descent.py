"""The criterion during a descent."""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.plotting import PathDisplay

digits = load_digits_histograms([4, 9])
X, _, y, _ = train_test_split(
    digits.X, digits.y, train_size=40, stratify=digits.y, random_state=0
)
learner = gm.GroundMetricLearning("neighborhood", power=1.0).fit(X, y)
_, ax = plt.subplots(figsize=(6, 3))
PathDisplay.from_estimator(learner).plot(ax)
