"""
A noisy distance matrix, repaired
=================================

Distances that were measured, judged by people or read off a graph seldom obey the
triangle inequality. The nearest matrix that does is a projection onto the cone of
metrics, also known as the metric nearness problem.
"""

# %%
# Thirty points in the plane, and their distances with noise. They are not even
# symmetric.

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
# The projection moves the entries as little as possible, in the sense of least squares,
# and proves it: the true projection is within ``residual`` of it, relatively.

projection = gm.project_metric(noisy)
repaired = projection.metric
print(projection)
print("metric:", gm.is_metric(repaired))

# %%
# Another way would be to replace each distance by the length of the shortest path.
# That is a metric, too, but it only ever shortens: one distance that came out too small
# drags down all that pass by it. Projecting cannot take the noise away, either, but it
# lands nearer to the truth than the noisy matrix was: that is what a projection onto a
# convex set does, if the truth is in the set.

shortened = gm.metric_closure(noisy)
for name, matrix in [
    ("noisy", noisy), ("shortest paths", shortened), ("projected", repaired)
]:  # fmt: skip
    print(f"{name:15s} {np.linalg.norm(matrix - truth):.3f} from the truth")

# %%
# In pictures: the true distances and the repaired ones, in the same order.

_, axes = plt.subplots(1, 2, figsize=(9, 3.6))
order = MetricDisplay.from_metric(truth).order
MetricDisplay.from_metric(truth, order=order).plot(axes[0])
MetricDisplay.from_metric(repaired, order=order).plot(axes[1])
axes[0].set_title("true")
axes[1].set_title("repaired")

# %%
# And the points that the repaired distances are those of, nearly, up to a rotation.

_, axes = plt.subplots(1, 2, figsize=(9, 3.8))
names = [str(i) for i in range(30)]
found = {"true": truth, "repaired": repaired}
for ax, (title, metric) in zip(axes, found.items(), strict=True):
    FeatureMapDisplay.from_metric(metric, names=names).plot(ax)
    ax.set_title(title)

# %%
# Entries that are missing, or less certain than others, get less weight.

weights = np.ones_like(noisy)
guessed = noisy.copy()
guessed[0, 1:6] = guessed[1:6, 0] = noisy.mean()  # not known: an average will do
weights[0, 1:6] = weights[1:6, 0] = 1e-6
filled = gm.project_metric(guessed, weights=weights).metric
print("true:  ", truth[0, 1:6].round(2))
print("filled:", filled[0, 1:6].round(2))
