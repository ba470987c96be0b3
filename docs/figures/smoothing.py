"""Nearest-neighbor error against smoothing, with ten classes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from groundmetric.experiments import mean_curves, read_results

# Figures are drawn in the folder of their scripts.
frame = read_results(Path("..", "reproduction", "caltech50-smoothing.parquet"))
smoothings = ["0", "0.5", "1", "3", "10", "inf"]
methods = ["gml", *(f"smoothed-{smoothing}" for smoothing in smoothings[1:])]
lines = {"l1": "l1", "lmnn-hellinger": "LMNN"}


def errors(names):
    """Mean error in % over kappa, for each method."""
    return 100 * mean_curves(frame, "knn_errors", methods=names).mean.mean(axis=1)


_, ax = plt.subplots(figsize=(6, 3))
ax.plot(errors(methods), "o-", color="#0072b2", label="learned by margins")
for (name, label), style in zip(lines.items(), ("--", ":"), strict=True):
    ax.axhline(errors([name])[0], color="0.3", linestyle=style, label=label)
ax.set_xticks(np.arange(len(smoothings)), ["0 (EMD)", *smoothings[1:-1], "infinite"])
ax.set_xlabel("smoothing")
ax.set_ylabel("error in %")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
