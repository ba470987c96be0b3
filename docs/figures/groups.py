"""The metric that the quickstart learns."""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import groundmetric as gm
from groundmetric.datasets import make_histograms
from groundmetric.plotting import MetricDisplay

data = make_histograms(100, n_groups=4, group_size=4, random_state=0)
X, _, y, _ = train_test_split(
    data.X, data.y, train_size=60, stratify=data.y, random_state=0
)
learner = gm.GroundMetricLearning().fit(X, y)
names = [f"group {p // 4}, bin {p % 4}" for p in range(16)]
_, ax = plt.subplots(figsize=(6, 4.5))
MetricDisplay.from_estimator(learner, names=names).plot(ax)
