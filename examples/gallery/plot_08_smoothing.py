"""
Between the earth mover's and the energy distance
=================================================

The earth mover's distance moves every grain of mass somewhere, noise included. Its
smoothed form, the Sinkhorn divergence, spreads the plan by an entropy. The parameter
``smoothing`` goes from the EMD at 0 to the energy distance at infinity.
"""

# %%
# How does the distance between two bumps on a line grow with their shift? We take
# 100 bins, and move one of two histograms away from the other.

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm

bins = np.arange(100)
metric = np.abs(bins[:, None] - bins).astype(float)


def bump(center):
    """Make a histogram with mass around a center."""
    mass = np.exp(-((bins - center) ** 2) / 18)
    return mass / mass.sum()


shifts = np.arange(21)
moved = np.array([bump(30 + shift) for shift in shifts])

_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for shift in (0, 10, 20):
    left.plot(bins, bump(30 + shift), label=f"shift {shift}")
left.set(xlabel="bin", ylabel="mass", title="histograms")
left.legend()
for smoothing in [0, 0.01, 0.03, 0.1, np.inf]:
    far = gm.sinkhorn_divergence(moved[:1], moved, metric=metric, smoothing=smoothing)
    right.plot(shifts, far[0], label=f"{smoothing:g}")
right.set(xlabel="shift", ylabel="distance", title="smoothed distances")
right.legend(title="smoothing")

# %%
# Without smoothing, the distance is the shift itself. The more smoothing, the less
# small shifts count, compared with large ones. The divergence is debiased: for any
# smoothing, the distance of a histogram to itself is zero.

smoothings = [0, 0.1, 1, 10, np.inf]
for smoothing in smoothings:
    same = gm.sinkhorn_divergence(moved[:1], metric=metric, smoothing=smoothing)
    print(f"{smoothing:5g}: {abs(same[0, 0]):.6f}")

# %%
# Does it help to classify? It depends on the data. Here are the errors of three nearest
# neighbors on handwritten digits, with distances between pixels in the image as costs,
# over ten random splits with five training images of each digit.

from scipy.spatial.distance import cdist
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms([3, 5, 8])
rows = np.random.default_rng(0).choice(len(digits.y), 150, replace=False)
X, y = digits.X[rows], digits.y[rows]
pixels = np.indices(digits.feature_shape).reshape(2, -1).T
splits = StratifiedShuffleSplit(10, train_size=15, random_state=0)
knn = KNeighborsClassifier(n_neighbors=3, metric="precomputed")
errors = []
for smoothing in smoothings:
    far = gm.sinkhorn_divergence(X, metric=cdist(pixels, pixels), smoothing=smoothing)
    errors.append(1 - cross_val_score(knn, far, y, cv=splits).mean())
    print(f"smoothing {smoothing:3g}: {errors[-1]:.1%} errors")

_, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot([f"{smoothing:g}" for smoothing in smoothings], 100 * np.array(errors), "o-")
ax.set(xlabel="smoothing", ylabel="errors of 3 nearest neighbors, %")
ax.set_ylim(0, 25)

# %%
# With learned costs the answer differs; :doc:`/guide/smoothed` has errors against
# smoothing for learners.

# sphinx_gallery_thumbnail_number = 1
