"""
A map of histograms, with t-SNE or UMAP
=======================================

Methods that draw a map of data need only each point's nearest neighbors. With
:class:`~groundmetric.EMDNeighbors` they get exact ones under the earth mover's
distance, and most distances are never computed.
"""

# %%
# We draw 600 digits, and ask for the 61 nearest of each as a sparse graph.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist
from sklearn.manifold import TSNE
from sklearn.pipeline import make_pipeline

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms()
rows = np.random.default_rng(0).choice(len(digits.y), 600, replace=False)
X, y = digits.X[rows], digits.y[rows]
pixels = np.indices(digits.feature_shape).reshape(2, -1).T
search = gm.EMDNeighbors(cdist(pixels, pixels), n_neighbors=61)

# %%
# The search is a transformer, so it can be the first step of a pipeline. t-SNE with a
# perplexity of 20 looks at 61 neighbors: three times the perplexity, plus one.

tsne = TSNE(metric="precomputed", init="random", perplexity=20, random_state=0)
places = make_pipeline(search, tsne).fit_transform(X)
print(f"{search.n_solves_ / len(X) ** 2:.0%} of the pairs were solved")

_, ax = plt.subplots(figsize=(6, 5), layout="constrained")
for digit in range(10):
    ax.scatter(*places[y == digit].T, s=8, color=f"C{digit}")
    middle = np.median(places[y == digit], axis=0)
    ax.annotate(
        str(digit), middle, ha="center", va="center", fontsize=14, weight="bold",
        bbox={"boxstyle": "circle", "fc": "white", "ec": f"C{digit}", "alpha": 0.85},
    )  # fmt: skip
ax.set(xticks=[], yticks=[])

# %%
# UMAP, if you have it, takes the same neighbors; each histogram comes first in its own
# list. (This page is built without UMAP, which installs a compiler, Numba.)
#
# .. code-block:: python
#
#    from umap import UMAP
#
#    distances, indices = search.fit(X).kneighbors(X, n_neighbors=15)
#    umap = UMAP(n_neighbors=15, precomputed_knn=(indices, distances), random_state=0)
#    places = umap.fit_transform(X)
