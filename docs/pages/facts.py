"""Sentences and tables with numbers from committed results, for single pages."""

import re
from statistics import median

import pandas as pd
import ratios
import reproduction
import times

from paper import mean_curves

DAY = 86400
MILLION, N_BINS, N_WORKERS, N_SHARDS, N_TARGETS = 10**6, 128, 64, 256, 10
LEARNED = {
    "itml-hellinger": "ITML",
    "lmnn-hellinger": "LMNN",
    "nca-hellinger": "NCA",
}


def errors(frame: pd.DataFrame) -> dict[str, str]:
    """Format the mean error of each method, over kappa and tasks."""
    curves = mean_curves(frame, "knn_errors")
    means = 100 * curves.mean.mean(axis=1)
    return dict(zip(curves.methods, (f"{mean:.1f} %" for mean in means), strict=True))


def gain() -> str:
    """Compare learning with l1 and with other learners, on images and text."""
    parts = []
    for frame, what in (
        (reproduction.caltech(), "images"),
        (reproduction.news(), "news posts"),
    ):
        mean = errors(frame)
        others = ", ".join(f"{title} {mean[m]}" for m, title in LEARNED.items())
        parts.append(
            f"On {frame['task'].nunique()} binary tasks with 30 + 30 {what} to learn "
            f"from, the mean error fell from {mean['l1']} with $l_1$ to {mean['gml']}. "
            f"Mahalanobis learners on square roots: {others}."
        )
    return "\n\n".join(parts)


def criteria() -> str:
    """Compare margins with the paper's criterion: errors, recall and time."""
    lines = ["| | margins | C_k |", "|:---|---:|---:|"]
    for frame, what in (
        (reproduction.caltech(), "images"),
        (reproduction.news(), "text"),
    ):
        mean = errors(frame)
        lines.append(f"| error, {what} | {mean['gml']} | {mean['gml-neighborhood']} |")
        recall = mean_curves(frame, "recall")
        last = dict(zip(recall.methods, 100 * recall.mean[:, -1], strict=True))
        cells = (f"{last[name]:.1f} %" for name in ("gml", "gml-neighborhood"))
        lines.append(f"| recall at κ = 20, {what} | {' | '.join(cells)} |")
    margins, paper = (
        ratios.row(f"fit, 30 + 30 histograms, {name}")["ours"]
        for name in ("margins", "C_k, all similar")
    )
    return "\n".join(
        [*lines, f"| time of a fit, images, one thread | {margins} | {paper} |"]
    )


def capped() -> str:
    """Say how much faster distances under a capped metric are."""
    found = [row["ratio"] for row in ratios.rows() if row["what"].startswith("hub")]
    return (
        "Under a metric that is capped at its 20 % quantile, distances are computed "
        f'{median(found):.1f} times as fast (rows "hub" below).'
    )


def million() -> str:
    """Compute what a million histograms take on many workers."""
    each = float(re.search(r"128 bins \| ([\d,.]+) us", ratios.sizes())[1]) / 1e6
    days = MILLION**2 / 2 * each / DAY
    metric, targets = 8 * N_BINS**2, 8 * N_TARGETS * MILLION
    moved = (2 * N_WORKERS + N_SHARDS) * metric + targets
    kb = f"{metric / 1e3:.0f} KB"
    exchanged = (
        f"twice {kb} of metric to each worker, {targets / 1e6:.0f} MB of distances of "
        f"targets back, and {kb} of plan sums from each of {N_SHARDS} shards: "
        f"{moved / 1e6:.0f} MB"
    )
    rows = {
        "data that each worker needs once": (
            f"$8 n d$ = {8 * MILLION * N_BINS / 1e9:.0f} GB",
            "the same",
        ),
        "pairs": ("$n^2 / 2$, all solved", "$n^2$, nearly all only bounded"),
        f"time of the simplex, {times.words(each)} a pair": (
            f"{days:.0f} days / {N_WORKERS} = {days / N_WORKERS:.1f} days",
            "little",
        ),
        "moved": (f"{kb} a block of 128 x 128 distances", exchanged),
        "result": (f"{2 * MILLION**2 / 1e12:.0f} TB (float32, condensed)", kb),
    }
    lines = [f"| {what} | {' | '.join(cells)} |" for what, cells in rows.items()]
    head = "| | all distances | a step of learning |\n|:---|:---|:---|"
    return "\n".join([head, *lines])
