"""
A noisy distance matrix, repaired
=================================

Distances that were measured, rated by people or read off a graph rarely obey the
triangle inequality. To repair them, project the matrix onto the cone of metrics. This
is known as the metric nearness problem.
"""

# %%
# We take thirty points in the plane and add noise to their distances. The result is not
# even symmetric.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.plotting import FeatureMapDisplay, MetricDisplay

rng = np.random.default_rng(0)
points = rng.uniform(size=(30, 2))
truth = cdist(points, points)
noisy = truth + 0.12 * rng.normal(size=truth.shape)

print("metric:", gm.is_metric(noisy))
noisy = np.maximum((noisy + noisy.T) / 2, 0)
np.fill_diagonal(noisy, 0)
print(f"largest violation of a triangle, once symmetric: "
      f"{gm.triangle_violation(noisy):.3f}")  # fmt: skip
for violation in gm.metric_violations(noisy, max_items=3):
    print(violation)

# %%
# The projection changes the entries as little as possible in the least-squares sense.
# It comes with a proof: the relative distance to the exact projection is at most
# ``residual``.

projection = gm.project_metric(noisy)
repaired = projection.metric
print(projection)
print("metric:", gm.is_metric(repaired))

# %%
# An alternative is to replace each distance by the length of the shortest path. The
# result is a metric, too, but distances can only shrink: one entry that is too small
# pulls down all paths through it. The projection cannot remove the noise either, but it
# is always closer to the truth than the noisy matrix, because the truth lies in a
# convex set and we project onto that set.

shortened = gm.metric_closure(noisy)
for name, matrix in [
    ("noisy", noisy), ("shortest paths", shortened), ("projected", repaired)
]:  # fmt: skip
    print(f"{name:15s} {np.linalg.norm(matrix - truth):.3f} from the truth")

# %%
# The true and the repaired distances, with the points in the same order:

_, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
order = MetricDisplay.from_metric(truth).order
MetricDisplay.from_metric(truth, order=order).plot(axes[0])
MetricDisplay.from_metric(repaired, order=order).plot(axes[1])
axes[0].set_title("true")
axes[1].set_title("repaired")

# %%
# Points in the plane with approximately these distances, up to a rotation:

_, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
names = [str(i) for i in range(30)]
found = {"true": truth, "repaired": repaired}
for ax, (title, metric) in zip(axes, found.items(), strict=True):
    FeatureMapDisplay.from_metric(metric, names=names).plot(ax)
    ax.set_title(title)

# %%
# Entries that are missing or uncertain can be given less weight.

weights = np.ones_like(noisy)
guessed = noisy.copy()
guessed[0, 1:6] = guessed[1:6, 0] = noisy.mean()  # unknown: an average will do
weights[0, 1:6] = weights[1:6, 0] = 1e-6
filled = gm.project_metric(guessed, weights=weights).metric
print("true:  ", truth[0, 1:6].round(2))
print("filled:", filled[0, 1:6].round(2))
