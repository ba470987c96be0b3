"""Error against the time of distances, for capped metrics."""

import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

# Figures are drawn in the folder of their scripts.
file = Path("..", "reproduction", "caltech50-caps.csv")
with file.open(encoding="utf-8", newline="") as lines:
    rows = list(csv.DictReader(lines))


def mean(field, **wanted):
    """Mean over tasks of one column, where others have these values."""
    some = [row for row in rows if wanted.items() <= row.items()]
    return np.mean([float(row[field]) for row in some])


_, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True, layout="constrained")
shares = "1.0", "0.75", "0.5", "0.25"
kinds = {"cut off": ("s--", "0.45"), "learned": ("o-", "#0072b2")}
for ax, criterion, title in zip(
    axes, ("margin", "neighborhood"), ("margins", "C_k"), strict=True
):
    for metric, (style, color) in kinds.items():
        points = [
            [
                mean(field, criterion=criterion, metric=metric, share=share)
                for field in ("time", "error")
            ]
            for share in (shares if metric == "learned" else shares[1:])
        ]
        if metric == "cut off":  # at 100 %, nothing is cut
            free = {"criterion": criterion, "metric": "uncapped"}
            points.insert(0, [mean("time", **free), mean("error", **free)])
        times, errors = np.transpose(points)
        ax.plot(times, 100 * errors, style, color=color, label=metric)
        for share, at, error in zip(shares, times, errors, strict=True):
            if metric == "learned":
                ax.annotate(
                    f"{float(share):.0%}",
                    (at, 100 * error),
                    xytext=(0, -12),
                    textcoords="offset points",
                    ha="center",
                    fontsize=8,
                )
    ax.set_xlabel("time of distances, relative to no cap")
    ax.set_title(title)
    ax.margins(0.1, 0.2)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("error in %")
axes[1].legend(frameon=False)
