"""The criterion over all metrics between three bins, and a descent.

A metric between three bins has three entries, and only their ratios matter: they form a
triangle, of which the triangle inequality leaves the middle part.
"""

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
K = 3
rng = np.random.default_rng(3)
classes = [(6.0, 2.0, 1.0), (2.0, 2.0, 3.5)]
X = np.concatenate([rng.dirichlet(weights, 15) for weights in classes])
y = np.repeat([0, 1], 15)
same = y[:, None] == y


def criterion(entries):
    """Compute C_k of the metric, scaled to unit norm, up to a constant factor."""
    a, b, c = entries / np.linalg.norm(entries)
    D = gm.pairwise_emd(X, metric=[[0, a, b], [a, 0, c], [b, c, 0]])
    np.fill_diagonal(D, np.inf)  # excluding each point itself
    near, far = (np.sort(np.where(s, D, np.inf))[:, :K] for s in (same, ~same))
    return near.mean() - far.mean()


def metric_after(n_steps):
    """Compute the entries of the metric after n_steps, normalized to sum 1."""
    learner = gm.GroundMetricLearning(
        gm.Neighborhood(k=K),
        power=1.0,
        callbacks=[lambda step: step.outer + 1 >= n_steps],
    )
    M = learner.fit(X, y).metric_
    entries = np.array([M[0, 1], M[0, 2], M[1, 2]])
    return entries / entries.sum()


n = 41
grid = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)]) / n
inside = grid[(grid <= 0.5).all(axis=1) & (grid > 0).all(axis=1)]
edge = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) / 2
inside = np.concatenate([inside, edge])
path = np.array([metric_after(n_steps) for n_steps in range(1, 41)]) @ CORNERS
start = np.full(3, 1 / 3) @ CORNERS

_, ax = plt.subplots(figsize=(6, 4.6))
ax.fill(*CORNERS.T, color="0.92")
places = inside @ CORNERS
drawn = ax.tricontourf(*places.T, [criterion(m) for m in inside], 20, cmap="viridis")
plt.colorbar(drawn, ax=ax, shrink=0.8, label="criterion at unit norm")
ax.plot(*np.vstack([start, path]).T, ".-", color="white", lw=1, ms=4)
ax.plot(*start, "o", color="white", ms=7)
ax.annotate("uniform", start, (6, 6), textcoords="offset points", color="white")
for name, corner, turn in zip(
    ["0, 1", "0, 2", "1, 2"], CORNERS, (-12, -12, 5), strict=True
):
    text = f"only bins {name}\nare apart"
    ax.annotate(text, corner, (0, turn), textcoords="offset points", ha="center",
                va="top" if turn < 0 else "bottom")  # fmt: skip
ax.set_aspect("equal")
ax.set_axis_off()
