"""
Single cells: from tables of cells to labels of patients
========================================================

You have measured thousands of cells of each patient, and an atlas or a clustering gave
each cell a type. Which patients respond to a treatment? Counting types turns a patient
into a histogram, and the centroids of the types say which of them are alike. This
tutorial makes up such a table, with a known answer.
"""

# %%
# A made-up table of cells
# ------------------------
#
# An AnnData object has a row for each cell: ``adata.obs`` with annotations such as
# patient and type, and coordinates such as 10 principal components of its genes in
# ``adata.obsm["X_pca"]``. Here we make up both, so that nothing has to be installed or
# downloaded. With a file of your own that has columns patient, state and type, these
# lines replace the next cell:
#
# .. code-block:: python
#
#    import anndata
#
#    adata = anndata.read_h5ad("cells.h5ad")
#    cells, pca = adata.obs, adata.obsm["X_pca"]
#
# There are five lineages of six types each. In patients who respond, half of the
# cells of lineage 0 are of lineage 1 instead. Which types of a lineage a patient has
# differs much: one has more of 1a, the next one more of 1e. The amounts of the other
# lineages differ from patient to patient, whether they respond or not.

import textwrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.experiments import Method, compare

N_PATIENTS, N_CELLS, N_AXES = 80, 500, 10
rng = np.random.default_rng(0)
types = np.array([f"{lineage}{kind}" for lineage in "01234" for kind in "abcdef"])
lineages = np.array([int(name[0]) for name in types])
middles = rng.normal(0, 3, (5, N_AXES))[lineages] + rng.normal(0, 1, (30, N_AXES))

obs = []
for patient in range(N_PATIENTS):
    responds = patient % 2
    amounts = rng.gamma([8, 8, 3, 3, 3]) / [8, 8, 3, 3, 3]  # of lineages
    if responds:
        moved = amounts[0] / 2
        amounts[:2] += [-moved, moved]
    within = np.concatenate([rng.dirichlet(np.full(6, 0.5)) for _ in range(5)])
    share = amounts[lineages] * within
    own = rng.choice(types, N_CELLS, p=share / share.sum())
    state = ["no response", "response"][responds]
    obs.append(
        pd.DataFrame({"patient": f"P{patient:02d}", "state": state, "type": own})
    )
cells = pd.concat(obs, ignore_index=True)
codes = np.searchsorted(types, cells["type"])
pca = middles[codes] + rng.normal(0, 1, (len(cells), N_AXES))
print(cells.iloc[[0, 1, -1]].to_string())
print(pca.shape)

# %%
# Patients as histograms
# ----------------------
#
# Counting is one line of pandas: rows are patients, columns are types. Labels belong to
# patients, so that 40,000 cells are 80 histograms, no more. The centroid of a type is
# the mean of its cells, of all patients; labels play no part in it.

counts = pd.crosstab(cells["patient"], cells["type"])
y = cells.groupby("patient")["state"].first()[counts.index].to_numpy()
centroids = pd.DataFrame(pca).groupby(cells["type"].to_numpy()).mean()
centroids = centroids.loc[counts.columns].to_numpy()
X = counts.to_numpy(float)
print(counts.iloc[:3, :12].to_string())
print("histograms:", X.shape, "centroids:", centroids.shape)

# %%
# If someone has counted already and saved a row for each patient with
# ``AnnData(counts, obs=...)``, :func:`~groundmetric.datasets.read_table` reads that
# file, with labels from ``obs``; if patients have several samples, ``groups`` names
# the column of the patients:
#
# .. code-block:: python
#
#    data = read_table("patients.h5ad", label="state")
#    X, y = data.X, data.y
#
# Compare
# -------
#
# To l1, Hellinger's distance and logistic regression, types 1a and 1e are as different
# as types 1a and 4f. The EMD between the centroids knows better, but weighs all
# differences alike. :class:`~groundmetric.DiscriminantMetricLearning` with
# ``points=centroids`` learns where labels differ, and gives types that are near each
# other similar positions. We take it with square roots of shares, its default, and with
# ``power=1``, the shares as they are: types of a lineage can then stand in for each
# other, as their shares add up.

costs = cdist(centroids, centroids)


def without_learning(_X, _y, _n_jobs):
    """Return the EMD between the centroids."""
    return lambda A, B: gm.pairwise_emd(A, B, metric=costs)


learner = gm.DiscriminantMetricLearning(centroids, power=1)
found = compare(
    X,
    y,
    methods=[
        "l1",
        "hellinger",
        Method("EMD", "EMD of centroids", {}, without_learning),
        Method.of(gm.DiscriminantMetricLearning(), "learned"),
        Method.of(gm.DiscriminantMetricLearning(centroids), "learned, points"),
        Method.of(learner, "learned, points, power 1"),
        "logistic",
    ],
    n_neighbors=5,
    n_repeats=4,
)
print(textwrap.fill(found.attrs["design"], 80))
print("errors in %, with 95 % intervals")
print((100 * found[["error", "low", "high"]]).round(1))
print(textwrap.fill(found.attrs["verdict"], 80))

# %%
# What was learned
# ----------------
#
# Two classes have a single direction between them, so that each type has one number,
# its position, and a patient has the mean of those of his or her cells. We learn from
# half of the patients; the others have never been seen.

half = np.arange(len(y)) % 4 < 2
learner.fit(X[half], y[half])
position = learner.embedding_[:, 0]
for lineage in range(5):
    own = position[lineages == lineage]
    print(f"lineage {lineage}: {own.mean():+.2f}, std. dev. {own.std(ddof=1):.2f}")

# %%
# Lineages 0 and 1, which were changed, are at the ends, and their types are together.
# In the map, colors are positions; markers are lineages, which the learner was not
# told. Do not take a position for a cause, nor for the share of a type: a type that no
# patient has gets its position from its neighbors alone.

_, (left, middle, right) = plt.subplots(
    1, 3, figsize=(10, 3.6), layout="constrained", width_ratios=[1, 1.3, 0.9]
)
shown = found[::-1]
error = 100 * shown["error"]
ends = [error - 100 * shown["low"], 100 * shown["high"] - error]
left.barh(list(shown.index), error, xerr=ends, color="tab:orange", ecolor="gray")
left.set_xlabel("errors on new patients, %")

axes = np.linalg.svd(centroids - centroids.mean(axis=0))[2][:2]
places = centroids @ axes.T
most = np.abs(position).max()
look = {"s": 45, "cmap": "PuOr", "vmin": -most, "vmax": most, "edgecolor": "gray"}
for lineage, marker in enumerate("osD^v"):
    own = lineages == lineage
    dots = middle.scatter(*places[own].T, c=position[own], marker=marker, **look)
    dots.set_label(f"lineage {lineage}")
middle.legend(fontsize="small")
plt.colorbar(dots, ax=middle, label="learned position")
middle.set(xticks=[], yticks=[], title="types, at their centroids")

groups = {state: learner.embed(X[~half & (y == state)])[:, 0] for state in np.unique(y)}
right.boxplot(groups.values(), tick_labels=list(groups), showfliers=False)
for k, values in enumerate(groups.values(), 1):
    right.scatter(k + rng.uniform(-0.15, 0.15, len(values)), values, s=10)
right.set(title="the other patients", ylabel="mean position")
