"""
Clusters, with scikit-learn's HDBSCAN
=====================================

Estimators of scikit-learn that accept ``metric="precomputed"`` work on our distances.
Here HDBSCAN looks for clusters of handwritten digits, without labels: it takes a matrix
of earth mover's distances between them.
"""

# %%
# We draw 50 images of each of four digits. Moving ink costs the distance between
# pixels.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

import groundmetric as gm
from groundmetric import distances
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms([0, 1, 4, 6])
rng = np.random.default_rng(0)
rows = [
    rng.choice(np.flatnonzero(digits.y == k), 50, replace=False) for k in (0, 1, 4, 6)
]
X, y = digits.X[np.concatenate(rows)], digits.y[np.concatenate(rows)]
pixels = np.indices(digits.feature_shape).reshape(2, -1).T
metric = cdist(pixels, pixels)

# %%
# HDBSCAN finds the number of clusters by itself, and leaves out what it considers noise
# (label -1). We compare with the l1 distance, which does not know which pixels are
# neighbors. The adjusted Rand index is 1 if clusters are digits, and 0 by chance.

found = {
    "l1": distances.l1(X),
    "EMD": gm.pairwise_emd(X, metric=metric),
}
clusters = {}
for name, far in found.items():
    model = HDBSCAN(metric="precomputed", min_cluster_size=10, copy=True).fit(far)
    clusters[name] = model.labels_
    kept = model.labels_ >= 0
    print(
        f"{name:4s} {model.labels_.max() + 1} clusters, {np.sum(~kept)} of {len(y)} "
        f"images left out, Rand index {adjusted_rand_score(y, model.labels_):.2f}"
    )

# %%
# One row for each cluster under the EMD, with images drawn at random:

labels = clusters["EMD"]
n_clusters = labels.max() + 1
_, axes = plt.subplots(
    n_clusters, 10, figsize=(7, 0.8 * n_clusters), layout="constrained", squeeze=False
)
for cluster, row in enumerate(axes):
    members = rng.permutation(np.flatnonzero(labels == cluster))
    for ax, k in zip(row, members, strict=False):
        ax.imshow(X[k].reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(f"{len(members)}", rotation=0, ha="right", va="center")
