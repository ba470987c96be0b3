"""
Nearest neighbors without solving most pairs
============================================

Each earth mover's distance is a linear program, and a search among thousands of
histograms could mean solving thousands of them. Bounds avoid this: a candidate that is
provably farther away than the best ones found so far need not be solved. The result is
exact, to the last bit.
"""

# %%
# We use all 1,797 digits, and the Euclidean distance between pixels as the metric.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms()
base, queries = digits.X[:-10], digits.X[-10:]
pixels = np.indices(digits.feature_shape).reshape(2, -1).T
metric = cdist(pixels, pixels)

# %%
# We search for the five nearest neighbors of ten digits. How many pairs reach the
# solver?

search = gm.EMDNeighbors(metric, n_neighbors=5).fit(base)
found, indices = search.kneighbors(queries)
n_pairs = len(base) * len(queries)
print(f"{search.n_solves_:,} of {n_pairs:,} pairs, {search.n_solves_ / n_pairs:.1%}")

# %%
# The result is the same as computing and sorting all distances.

all_distances = gm.pairwise_emd(queries, base, metric=metric)
order = np.argsort(all_distances, axis=1, kind="stable")[:, :5]
print("same neighbors:", np.array_equal(indices, order))
print("same distances:", np.array_equal(
    found, np.take_along_axis(all_distances, order, axis=1)
))  # fmt: skip

_, axes = plt.subplots(4, 6, figsize=(6, 4.4), layout="constrained")
for row, query, near in zip(axes, queries, indices, strict=False):
    for ax, histogram in zip(row, [query, *base[near]], strict=True):
        ax.imshow(histogram.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_title("query")
axes[0, 1].set_title("nearest")

# %%
# The larger the database, the smaller the share of pairs that have to be solved.

sizes = [100, 200, 400, 800, len(base)]
shares = []
for n in sizes:
    search.fit(base[:n]).kneighbors(queries)
    shares.append(search.n_solves_ / (n * len(queries)))

_, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.plot(sizes, np.array(shares) * 100, "o-")
ax.set(xscale="log", xlabel="histograms in the database", ylabel="pairs solved, %")
ax.set_ylim(bottom=0)
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
