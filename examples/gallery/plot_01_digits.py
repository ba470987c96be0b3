"""
Handwritten digits
==================

A handwritten digit is a histogram of ink over pixels. Which pixels should be close to
each other? Intuition suggests neighbors in the image, but the task may need something
else. Here we learn a metric between 64 pixels that tells digits apart.
"""

# %%
# Threes, fives and eights look alike. We train on five images of each and test on 250
# others. A single split may be lucky, so we draw twenty at random. These are the
# training images of the first.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms
from groundmetric.plotting import GridMetricDisplay, MetricDisplay, PathDisplay

digits = load_digits_histograms([3, 5, 8])
splits = StratifiedShuffleSplit(20, train_size=15, test_size=250, random_state=0)
train, _ = next(splits.split(digits.X, digits.y))
X, y = digits.X[train], digits.y[train]

_, axes = plt.subplots(3, 5, figsize=(5, 3), layout="constrained")
for digit, row in zip([3, 5, 8], axes, strict=True):
    for ax, histogram in zip(row, X[y == digit], strict=False):
        ax.imshow(histogram.reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()

# %%
# The learner starts from the uniform metric, under which all pixels are equally far
# apart and the EMD is half the l1 distance. From there it descends on the criterion.

learner = gm.GroundMetricLearning().fit(X, y)
_, ax = plt.subplots(figsize=(6, 3), layout="constrained")
PathDisplay.from_estimator(learner).plot(ax)

# %%
# Did it help? We compare the error of three nearest neighbors on the test images, over
# all twenty splits.


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
# Learning does not always help. Fours and nines are easy to tell apart: with twenty
# images of each, l1 is hardly ever wrong, and the gain from learning is smaller than
# the variation between splits.

two = load_digits_histograms([4, 9])
splits = StratifiedShuffleSplit(20, train_size=40, test_size=250, random_state=0)
l1, learned = (errors_of(model, two, splits) for model in models.values())
print(f"l1 {l1.mean():.1%}, learned EMD {learned.mean():.1%}")
print(f"fewer errors in {np.sum(learned < l1)} of {len(l1)} splits")

# %%
# Here is the metric as a heat map. Pixels that are close under the metric are placed
# next to each other, so bright blocks are groups of pixels between which ink moves at
# little cost.

_, ax = plt.subplots(figsize=(5, 4), layout="constrained")
MetricDisplay.from_estimator(learner).plot(ax)

# %%
# And here it is as a picture. The left panel shows the mean distance of each pixel to
# all others: ink in a dark pixel is expensive to move, so its position matters. Lines
# connect the closest pairs (orange) and the most distant ones (blue). The right panel
# shows the distances from one pixel near the top.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
GridMetricDisplay.from_estimator(learner, digits.feature_shape, n_pairs=8).plot(left)
GridMetricDisplay.from_estimator(learner, digits.feature_shape, feature=20).plot(right)

# sphinx_gallery_thumbnail_number = 4
