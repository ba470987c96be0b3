"""
Histograms of different masses
==============================

The earth mover's distance needs equal masses. Normalizing is one answer, but then a
busy day and a quiet one look the same. :func:`~groundmetric.emd_hat` charges for the
surplus instead, and :func:`~groundmetric.emd_partial` ignores it.
"""

# %%
# Say that three shops count their customers by the hour. The second has the rush of the
# first, an hour later; the third has the same hours and twice as many customers.

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm

hours = np.arange(8, 20)
customers = {
    "first": [0, 2, 8, 20, 34, 20, 8, 2, 0, 0, 0, 0],
    "an hour later": [0, 0, 2, 8, 20, 34, 20, 8, 2, 0, 0, 0],
    "twice as many": [0, 4, 16, 40, 68, 40, 16, 4, 0, 0, 0, 0],
}
metric = np.abs(hours[:, None] - hours).astype(float)

_, axes = plt.subplots(1, 3, figsize=(9, 2.4), sharey=True, layout="constrained")
for ax, (name, counts) in zip(axes, customers.items(), strict=True):
    ax.bar(hours, counts)
    ax.set(title=name, xlabel="hour", xticks=[8, 12, 16, 20])
axes[0].set_ylabel("customers")

# %%
# Normalized, the third is the same as the first. With ``emd_partial``, the first is a
# part of the third, at no cost. ``emd_hat`` charges for each customer too many.

first = customers["first"]
for name, counts in list(customers.items())[1:]:
    share = np.divide(counts, sum(counts)), np.divide(first, sum(first))
    print(name)
    print(f"  normalized  {gm.emd(*share, metric):.2f}")
    print(f"  emd_partial {gm.emd_partial(first, counts, metric):.2f}")
    print(f"  emd_hat     {gm.emd_hat(first, counts, metric):.2f}")

# %%
# How much a surplus customer costs is up to you. The default ``penalty`` is the largest
# entry of the metric, 11 hours; from half of that on, ``emd_hat`` is a metric itself.

penalties = np.linspace(5.5, 22, 7)
_, ax = plt.subplots(figsize=(5, 3), layout="constrained")
for name, counts in list(customers.items())[1:]:
    costs = [gm.emd_hat(first, counts, metric, penalty=each) for each in penalties]
    ax.plot(penalties, costs, "o-", label=name)
ax.set(xlabel="penalty", ylabel="emd_hat to the first shop")
ax.legend()

# sphinx_gallery_thumbnail_number = 1
