"""
Where the mass goes
===================

:func:`~groundmetric.transport` returns more than the distance: the optimal plan, which
says how much mass moves from each bin to each other bin, and potentials that prove that
no plan is cheaper. Here we look at the plan between two digits, and move along it.
"""

# %%
# A three becomes an eight, at the least total cost of moving ink between pixels.

import matplotlib.pyplot as plt
import numpy as np
from scipy.spatial.distance import cdist

import groundmetric as gm
from groundmetric.datasets import load_digits_histograms

digits = load_digits_histograms([3, 8])
pixels = np.indices(digits.feature_shape).reshape(2, -1).T
metric = cdist(pixels, pixels)
three, eight = (digits.X[digits.y == digit][0] for digit in (3, 8))
found = gm.transport(three, eight, metric)
print(found)

# %%
# The duality gap is zero up to rounding, so the plan is optimal. Since the metric obeys
# the triangle inequality, ink that both images have stays where it is; arrows show the
# rest. Redder arrows move more ink.

moves = found.rows != found.cols
print(f"{found.flow[~moves].sum():.0%} of the ink stays")

_, axes = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for ax, image, title in zip(axes, (three, eight), ("from", "to"), strict=True):
    ax.imshow(image.reshape(8, 8), cmap="gray_r", alpha=0.6)
    ax.set(title=title, xticks=[], yticks=[])
start, end = pixels[found.rows[moves]], pixels[found.cols[moves]]
step = end - start
axes[0].quiver(
    start[:, 1], start[:, 0], step[:, 1], step[:, 0], found.flow[moves],
    angles="xy", scale_units="xy", scale=1, cmap="autumn_r", width=0.012,
)  # fmt: skip

# %%
# Moving all ink along its arrow at the same speed gives the images in between. Ink
# between pixels is shared among the four around it.


def at(share):
    """Move the ink by a share of its way, and collect it in pixels."""
    image = np.zeros((9, 9))
    start, end = pixels[found.rows], pixels[found.cols]
    place = (1 - share) * start + share * end
    corner = np.floor(place).astype(int)
    right = place - corner
    for i in (0, 1):
        for j in (0, 1):
            part = np.abs(1 - i - right[:, 0]) * np.abs(1 - j - right[:, 1])
            to = corner[:, 0] + i, corner[:, 1] + j
            np.add.at(image, to, found.flow * part)
    return image[:8, :8]


_, axes = plt.subplots(1, 6, figsize=(8, 1.6), layout="constrained")
for ax, share in zip(axes, np.linspace(0, 1, 6), strict=True):
    ax.imshow(at(share), cmap="gray_r")
    ax.set(title=f"{share:.0%}", xticks=[], yticks=[])
