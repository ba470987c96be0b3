"""An optimal plan with its two histograms."""

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm

bins = np.arange(12)
line = np.abs(bins - bins[:, None]).astype(float)
r = np.array([0, 1, 4, 6, 4, 2, 1, 0, 0, 0, 0, 0]) / 18
c = np.array([0, 0, 0, 2, 2, 1, 1, 2, 4, 3, 2, 1]) / 18
plan = gm.transport(r, c, line).plan

_, axes = plt.subplots(
    2, 2, figsize=(4.4, 4.4), width_ratios=(1, 4), height_ratios=(1, 4)
)
(corner, top), (left, middle) = axes
corner.set_axis_off()
top.bar(bins, c, color="#d55e00")
left.barh(bins, -r, color="#0072b2")
left.invert_yaxis()
middle.imshow(plan, cmap="Greys", aspect="auto")
top.set_title("c: column sums")
left.set_ylabel("r: row sums")
middle.set_xlabel("plan X: mass from each bin of r to each bin of c")
for ax in (top, left, middle):
    ax.set(xticks=[], yticks=[])
top.set_xlim(-0.5, 11.5)
left.set_ylim(11.5, -0.5)
