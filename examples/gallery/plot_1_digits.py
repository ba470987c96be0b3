"""
Fours and nines
===============

A handwritten digit is a histogram of ink over pixels. Which pixels should be close to
each other? The eye would say: those that are neighbors in the image. The task may say
otherwise. Here a metric between 64 pixels is learned to tell fours from nines.
"""

# %%
# Forty digits to learn from, and all others to be tested on.

import matplotlib.pyplot as plt
from sklearn.neighbors import KNeighborsClassifier

import groundmetric as gm
from groundmetric import distances
from groundmetric.datasets import load_digits_histograms
from groundmetric.plotting import GridMetricDisplay, MetricDisplay, PathDisplay

digits = load_digits_histograms([4, 9])
X, y = digits.X[:40], digits.y[:40]
X_test, y_test = digits.X[40:], digits.y[40:]

_, axes = plt.subplots(2, 8, figsize=(8, 2.3))
for row, digit in zip(axes, (4, 9), strict=True):
    for ax, histogram in zip(row, X[y == digit], strict=False):
        ax.imshow(histogram.reshape(8, 8), cmap="gray_r")
        ax.set_axis_off()

# %%
# The learner begins with the uniform metric, under which all pixels are equally far
# apart and the distance is half of l1, and goes down the criterion from there.

learner = gm.GroundMetricLearning().fit(X, y)
_, ax = plt.subplots(figsize=(6, 3))
PathDisplay.from_estimator(learner).plot(ax)

# %%
# Did it help? Errors of three nearest neighbors on digits that were not learned from.


def error(distance):
    """Classify the test digits by distances to those learned from."""
    knn = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
    knn.fit(distance(X, X), y)
    return 1 - knn.score(distance(X_test, X), y_test)


print(f"l1:          {error(distances.l1):.1%}")
print(f"learned EMD: {error(learner.pairwise):.1%}")

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
# from one pixel at the top, where a nine is closed and a four is open.

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
GridMetricDisplay.from_estimator(learner, digits.feature_shape, n_pairs=8).plot(left)
GridMetricDisplay.from_estimator(learner, digits.feature_shape, feature=11).plot(right)

# sphinx_gallery_thumbnail_number = 4
