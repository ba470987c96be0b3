"""Where learning helps: the page of ``make where``, from docs/where.parquet.

The page is made once there are results: it starts from ``TEXT``, and keeps what people
write between its generated parts.
"""

from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import where_table

DOCS = Path(__file__).parents[1]
RESULTS, PAGE, PICTURE = (DOCS / f"where.{end}" for end in ("parquet", "md", "svg"))
TEXT = """# Where learning helps

On which data does a learned ground metric help, and which method is best there? All
methods on all data sets, from one version: `make where DATA=folder SAVE=yes`.

<!-- made: where-run -->
<!-- end -->

![One row for each data set, one dot for each method: the mean error of nearest
neighbors. Ours are orange, the chooser among them is a diamond; methods that learn
nothing are gray, other learners blue.](where.svg)

The chooser picks one of our learners by cross-validation on the training histograms.
Beside it, the method with the fewest errors among all others, found on the test
histograms, which flatters it:

<!-- made: where-verdicts -->
<!-- end -->

## Errors of nearest neighbors

In %, mean over 1 to 20 neighbors; the smallest of each column in bold. A dash: the
method does not apply, or took longer than its limit.

<!-- made: where-errors -->
<!-- end -->

## Errors of support vector machines

In %. The kernel of a distance d is exp(-d / sigma); cross-validation chooses sigma and
C.

<!-- made: where-machines -->
<!-- end -->

## Time and memory

Of a processor, for learning and the distances to the test histograms; memory beyond
that of the data and packages.

<!-- made: where-costs -->
<!-- end -->
"""
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
        f"to {draws.max()} draws each, took {hours:.1f} hours of a processor "
        f"(groundmetric {versions})."
    )


def draw() -> None:
    """Draw one row a data set, one dot a method; make the page if there is none."""
    if not RESULTS.exists():
        return
    if not PAGE.exists():
        PAGE.write_text(TEXT)
    plt.switch_backend("agg")
    frame = results()
    errors = 100 * where_table.means(frame)
    errors = errors[errors.min().sort_values(ascending=False).index]
    groups = frame.drop_duplicates("method").set_index("method")["grp"]
    height = 1.2 + 0.42 * len(errors.columns)
    figure, ax = plt.subplots(figsize=(9, height), layout="constrained")
    for group in COLORS:
        _draw_group(ax, errors[groups.reindex(errors.index) == group], group)
    ax.set_yticks(range(len(errors.columns)), errors.columns)
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
    "where-verdicts": lambda: where_table.verdicts(results()),
    "where-errors": lambda: where_table.errors(results()),
    "where-machines": lambda: where_table.errors(results(), "svm"),
    "where-costs": lambda: where_table.costs(results()),
}
PAGES = {PAGE: MAKERS} if RESULTS.exists() else {}
