"""Nearest-neighbor error against smoothing, with ten classes."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from paper import mean_curves, read_results

smoothings = ["0", "0.5", "1", "3", "10", "inf"]
methods = ["gml", *(f"smoothed-{smoothing}" for smoothing in smoothings[1:])]
lines = {"l1": "l1", "lmnn-hellinger": "LMNN"}


def errors(frame, names):
    """Mean error in % over kappa, for each method."""
    return 100 * mean_curves(frame, "knn_errors", methods=names).mean.mean(axis=1)


_, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
for ax, name, title in zip(
    axes, ("caltech50", "news20"), ("images", "text"), strict=True
):
    # Figures are drawn in the folder of their scripts.
    frame = read_results(Path("..", "reproduction", f"{name}-smoothing.parquet"))
    ax.plot(errors(frame, methods), "o-", color="#0072b2", label="learned by margins")
    for (other, label), style in zip(lines.items(), ("--", ":"), strict=True):
        ax.axhline(errors(frame, [other])[0], color="0.3", ls=style, label=label)
    ax.set_xticks(np.arange(len(smoothings)), ["0 (EMD)", *smoothings[1:-1], "∞"])
    ax.set_xlabel("smoothing")
    ax.set_title(title)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("error in %")
axes[1].legend(frameon=False)
