"""
Handwritten digits
==================

A handwritten digit is a histogram of ink over pixels. Which pixels should be close to
each other? The eye would say: those that are neighbors in the image. The task may say
otherwise. Here a metric between 64 pixels is learned to tell digits apart.
"""

# %%
# Five images of each digit to learn from, and 250 others to be tested on, drawn at
# random twenty times: a single draw may be lucky. Here is the first.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.plotting import GridMetricDisplay, MetricDisplay, PathDisplay

digits = load_digits_histograms()
splits = StratifiedShuffleSplit(20, train_size=50, test_size=250, random_state=0)
train, _ = next(splits.split(digits.X, digits.y))
X, y = digits.X[train], digits.y[train]

_, axes = plt.subplots(5, 10, figsize=(8, 4))
for digit, column in enumerate(axes.T):
    for ax, histogram in zip(column, X[y == digit], strict=False):
        ax.imshow(histogram.reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()

# %%
# The learner begins with the uniform metric, under which all pixels are equally far
# apart and the distance is half of l1, and goes down the criterion from there.

learner = gm.GroundMetricLearning().fit(X, y)
_, ax = plt.subplots(figsize=(6, 3))
PathDisplay.from_estimator(learner).plot(ax)

# %%
# Did it help? Errors of three nearest neighbors on digits that were not learned from,
# in all twenty splits.


def errors_of(model, histograms, splits):
    """Learn and classify, split by split."""
    score = cross_val_score(model, histograms.X, histograms.y, cv=splits)
    return 1 - score


models = {
    "l1": KNeighborsClassifier(n_neighbors=3, metric="l1"),
    "learned EMD": gm.EMDClassifier(n_neighbors=3),
}
for name, model in models.items():
    errors = errors_of(model, digits, splits)
    print(f"{name:12s} {errors.mean():.1%}, std. dev. {errors.std(ddof=1):.1%}")

# %%
# It does not always help. Fours and nines are easy to tell apart: with twenty images of
# each, l1 is hardly ever wrong, and what learning saves is less than what splits differ
# by.

two = load_digits_histograms([4, 9])
splits = StratifiedShuffleSplit(20, train_size=40, test_size=250, random_state=0)
l1, learned = (errors_of(model, two, splits) for model in models.values())
print(f"l1 {l1.mean():.1%}, learned EMD {learned.mean():.1%}")
print(f"fewer errors in {np.sum(learned < l1)} of {len(l1)} splits")

# %%
# The metric itself, as a heat map. Its pixels are ordered so that those which are near
# under the metric stand together: bright blocks are groups of pixels between which ink
# moves at little cost.

_, ax = plt.subplots(figsize=(5, 4))
MetricDisplay.from_estimator(learner).plot(ax)

# %%
# And as a picture. On the left, the mean distance of each pixel to all others: ink in a
# dark pixel is expensive to move, so it had better be in the same place. The lines
# connect the nearest pairs (orange) and the farthest (blue). On the right, distances
# from one pixel near the top.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
GridMetricDisplay.from_estimator(learner, digits.feature_shape, n_pairs=8).plot(left)
GridMetricDisplay.from_estimator(learner, digits.feature_shape, feature=20).plot(right)

# sphinx_gallery_thumbnail_number = 4
