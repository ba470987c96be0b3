"""Where learning helps: the page of ``make where``, from docs/where.parquet.

Between the generated parts, the page says by hand what they show.
"""

from functools import cache
from pathlib import Path
from textwrap import wrap

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import where_table

DOCS = Path(__file__).parents[1]
RESULTS, PAGE, PICTURE = (DOCS / f"where.{end}" for end in ("parquet", "md", "svg"))
LEAD = 0.02
COLORS = {
    "fixed": "tab:gray",
    "rival": "tab:blue",
    "ours": "tab:orange",
    "chooser": "tab:red",
}
WORDS = {
    "fixed": "learn nothing",
    "rival": "other learners",
    "ours": "ours",
    "chooser": "the chooser",
}


@cache
def results() -> pd.DataFrame:
    """Load the committed results."""
    return where_table.as_results(pd.read_parquet(RESULTS))


def run() -> str:
    """Say what was run."""
    frame = results()
    hours = frame["total"].sum() / 3600
    versions = ", ".join(sorted(frame["version"].unique()))
    draws = frame.groupby("data")["draw"].nunique()
    return (
        f"{frame['method'].nunique()} methods on {len(draws)} data sets, {draws.min()} "
        f"to {draws.max()} draws each, took {hours:.1f} hours of one core, "
        f"{hours / 2:.1f} hours on two (groundmetric {versions})."
    )


def averages() -> str:
    """Tabulate averages, and say over how many data sets."""
    frame = results()
    n_sets = where_table.averages(frame).attrs["n_sets"]
    return f"Over {n_sets} data sets:\n\n{where_table.averaged(frame)}"


def summary() -> str:
    """Sum the page up in two sentences."""
    frame = results()
    found, verdicts = where_table.averages(frame), where_table.verdicts_of(frame)
    labels = where_table.labels_of(frame)
    groups = frame.drop_duplicates("method").set_index("method")["grp"]
    mean = 100 * found["mean"]
    best = mean[groups.reindex(mean.index).isin(where_table.OTHERS)].idxmin()
    words = [each.words for each in verdicts]
    ahead = sum(each.gain.mean >= LEAD for each in verdicts)
    text = (
        f"On {found.attrs['n_sets']} data sets, nearest neighbors under the distance "
        f"that `AutoMetric` learns make {mean[where_table.CHOOSER]:.1f} % errors on "
        f"average; under {labels[best]}, the best of all other distances, "
        f"{mean[best]:.1f} %; under l1, {mean['l1']:.1f} %. Beside whichever other "
        f"distance is best on each of {len(verdicts)} data sets, known only "
        f"afterwards, `AutoMetric` is significantly worse on "
        f"{words.count('worse') or 'none'}, significantly better on "
        f"{words.count('better')}, and ahead by two points or more on {ahead}."
    )
    return "\n".join(wrap(text, 100))


def draw() -> None:
    """Draw one row a data set, one dot a method."""
    plt.switch_backend("agg")
    frame = results()
    errors = 100 * where_table.means(frame)
    errors = errors[errors.min().sort_values(ascending=False).index]
    groups = frame.drop_duplicates("method").set_index("method")["grp"]
    height = 1.2 + 0.42 * len(errors.columns)
    figure, ax = plt.subplots(figsize=(9, height), layout="constrained")
    for group in COLORS:
        _draw_group(ax, errors[groups.reindex(errors.index) == group], group)
    ax.set_yticks(
        range(len(errors.columns)), [where_table.called(each) for each in errors]
    )
    ax.set_xlabel("error of nearest neighbors, % (mean over 1 to 20 neighbors)")
    ax.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside upper center", ncols=len(COLORS))
    with plt.rc_context({"svg.hashsalt": "where"}):
        figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)


def _draw_group(ax: plt.Axes, errors: pd.DataFrame, group: str) -> None:
    """Draw the dots of a group of methods."""
    rows = np.tile(np.arange(len(errors.columns)), len(errors))
    marks = {"marker": "D", "s": 60, "zorder": 3} if group == "chooser" else {"s": 28}
    color, label = COLORS[group], WORDS[group]
    ax.scatter(errors.to_numpy().ravel(), rows, color=color, label=label, **marks)


MAKERS = {
    "where-run": run,
    "where-averages": averages,
    "where-verdicts": lambda: where_table.verdicts(results()),
    "where-errors": lambda: where_table.errors(results()),
    "where-machines": lambda: where_table.errors(results(), "svm"),
    "where-costs": lambda: where_table.costs(results()),
}
PAGES = {PAGE: MAKERS}
