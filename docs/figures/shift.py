"""A histogram shifted twice: l1 sees no difference between the shifts, the EMD does."""

import matplotlib.pyplot as plt
import numpy as np

import groundmetric as gm

bins = np.arange(12)
line = np.abs(bins - bins[:, None]).astype(float)
r = np.array([0, 1, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0]) / 6
names = ["r", "r shifted by 3", "r shifted by 7"]
_, axes = plt.subplots(1, 3, figsize=(9, 2), sharey=True)
for ax, shift, name in zip(axes, (0, 3, 7), names, strict=True):
    c = np.roll(r, shift)
    ax.bar(bins, c, color="#0072b2")
    l1, emd = np.abs(r - c).sum(), gm.emd(r, c, line)
    ax.set_title(name if shift == 0 else f"{name}: l1 {l1:.2g}, EMD {emd:.2g}", size=9)
    ax.set_xlabel("bin")
    ax.spines[["top", "right"]].set_visible(False)
