"""
Neighbors, without solving most pairs
=====================================

One earth mover's distance is a linear program. A search among thousands of histograms
would solve thousands of them, if it were not for bounds: a histogram whose distance is
provably larger than the best ones found needs no solving. What comes out is exact, to
the last bit.
"""

# %%
# All 1,797 digits, and the metric between pixels that the eye would choose.

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
# Five nearest neighbors of ten digits, and how many pairs the solver looked at.

search = gm.EMDNeighbors(metric, n_neighbors=5).fit(base)
found, indices = search.kneighbors(queries)
n_pairs = len(base) * len(queries)
print(f"{search.n_solves_:,} of {n_pairs:,} pairs, {search.n_solves_ / n_pairs:.1%}")

# %%
# The same as computing all of them, and sorting.

all_distances = gm.pairwise_emd(queries, base, metric=metric)
order = np.argsort(all_distances, axis=1, kind="stable")[:, :5]
print("same neighbors:", np.array_equal(indices, order))
print("same distances:", np.array_equal(
    found, np.take_along_axis(all_distances, order, axis=1)
))  # fmt: skip

_, axes = plt.subplots(4, 6, figsize=(6, 4.4))
for row, query, near in zip(axes, queries, indices, strict=False):
    for ax, histogram in zip(row, [query, *base[near]], strict=True):
        ax.imshow(histogram.reshape(8, 8), cmap="gray_r")
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_title("query")
axes[0, 1].set_title("nearest")

# %%
# The larger the data base, the smaller the part that needs solving.

sizes = [100, 200, 400, 800, len(base)]
shares = []
for n in sizes:
    search.fit(base[:n]).kneighbors(queries)
    shares.append(search.n_solves_ / (n * len(queries)))

_, ax = plt.subplots(figsize=(5, 3))
ax.plot(sizes, np.array(shares) * 100, "o-")
ax.set(xscale="log", xlabel="histograms in the data base", ylabel="pairs solved, %")
ax.set_ylim(bottom=0)
ax.set_xticks(sizes, [str(n) for n in sizes])
ax.minorticks_off()
