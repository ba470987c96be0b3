"""What the results of ``where.py`` say: errors, and paired intervals.

Differences are paired by training set and test histogram. Their intervals are those of
the package's designs (:mod:`groundmetric.experiments.design`); where each draw has its
own classes, Student's over draws.
"""

import json
import sqlite3
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from groundmetric.experiments import Design, Estimate

CHOOSER, LEVEL = "chooser", 0.95
GROUPS = ("fixed", "rival", "ours", "chooser")
OTHERS = GROUPS[:2]  # methods that are not ours
N_NEIGHBORS = 20
LISTS = ("knn", "wrong", "tested")
# Parts of names of files, and what they hold.
CONTENTS = {
    "caltech50_gist": "Caltech GIST",
    "news20_hist128": "20 Newsgroups",
    "microbiome_cdf": "microbiomes, Crohn's disease",
    "microbiome_cirrhosis": "microbiomes, cirrhosis",
    "microbiome_t2d": "microbiomes, diabetes",
    "words_r8": "Reuters R8, words",
    "words_twitter": "tweets, words",
    "metal": "metals or not",
    "budgets": "household budgets",
}


class Verdict(NamedTuple):
    """The chooser beside the best method that is not ours, on one data set."""

    data: str
    n_draws: int
    n_train: int
    chooser: float
    best: str
    error: float
    gain: Estimate  # error of the best minus that of the chooser

    @property
    def words(self) -> str:
        """Say who is better."""
        if self.gain.low > 0:
            return "better"
        return "worse" if self.gain.high < 0 else "not beyond chance"


def exported(path: Path, out: Path | None = None) -> pd.DataFrame:
    """Read the rows of a results file; write them to a parquet file if asked."""
    with sqlite3.connect(path) as file:
        query = "SELECT * FROM results ORDER BY data, draw, grp, method"
        frame = pd.read_sql_query(query, file)
    if out is not None:
        frame.to_parquet(out, index=False, compression="zstd")
    return as_results(frame)


def as_results(frame: pd.DataFrame) -> pd.DataFrame:
    """Turn lists in JSON into arrays, and add the mean error of neighbors."""
    frame = frame.copy()
    for name in LISTS:
        frame[name] = [
            np.array(json.loads(x)) if isinstance(x, str) else None for x in frame[name]
        ]
    frame["error"] = [np.nan if x is None else float(np.mean(x)) for x in frame["knn"]]
    return frame


def called(data: str) -> str:
    """Name a data set by what it holds, if that is known."""
    name, *rest = data.split(", ")
    return ", ".join([CONTENTS.get(name, name), *rest])


def means(frame: pd.DataFrame, measure: str = "error") -> pd.DataFrame:
    """Mean of a measure by method and data set; NaN unless all draws have it."""
    table = frame.pivot_table(
        values=measure, index="method", columns="data", aggfunc=["mean", "count"]
    )
    whole = table["count"] == table["count"].max()
    found: pd.DataFrame = table["mean"].where(whole)
    return found


def gain(frame: pd.DataFrame, data: str, better: str, worse: str) -> Estimate:
    """Estimate how much smaller the error of one method is than that of another."""
    rows = frame[frame["data"] == data].set_index(["method", "draw"]).sort_index()
    mine, other = rows.loc[better], rows.loc[worse]
    both = mine.index.intersection(other.index)
    mine, other = mine.loc[both], other.loc[both]
    kappas = [min(N_NEIGHBORS, n) for n in mine["n_train"]]
    pairs = zip(other["wrong"], mine["wrong"], kappas, strict=True)
    values = [(theirs - own) / k for theirs, own, k in pairs]
    kind = rows["kind"].iloc[0]
    if kind == "tasks":
        return of_tasks(np.array([each.mean() for each in values]))
    splits = [
        (np.arange(n), tested)
        for n, tested in zip(mine["n_train"], mine["tested"], strict=True)
    ]
    design = Design(kind, np.zeros(0, np.int64), splits)
    return design.estimate(values, -1.0, 1.0)


def of_tasks(differences: np.ndarray) -> Estimate:
    """Student's interval over draws."""
    n, mean = len(differences), float(differences.mean())
    if n == 1:
        return Estimate(mean, -1.0, 1.0, 0.5)
    error = max(float(differences.std(ddof=1)) / n**0.5, 1e-12)
    half = float(stats.t.ppf((1 + LEVEL) / 2, n - 1)) * error
    sure = float(stats.t.cdf(mean / error, n - 1))
    return Estimate(mean, mean - half, mean + half, sure)


def verdicts_of(frame: pd.DataFrame) -> list[Verdict]:
    """Compare the chooser with the best other method, on each data set."""
    errors = means(frame)
    others = frame[frame["grp"].isin(OTHERS)]["method"].unique()
    found = []
    for data in errors.columns:
        column = errors[data].reindex([CHOOSER, *others]).dropna()
        if CHOOSER not in column or len(column) == 1:
            continue
        best = str(column.drop(CHOOSER).idxmin())
        rows = frame[(frame["data"] == data) & (frame["method"] == CHOOSER)]
        found.append(
            Verdict(
                data, len(rows), int(rows["n_train"].iloc[0]), column[CHOOSER],
                best, column[best], gain(frame, data, CHOOSER, best),
            )
        )  # fmt: skip
    return found


def verdicts(frame: pd.DataFrame) -> str:
    """Tabulate verdicts."""
    lines = [
        "| data | draws | to learn from | chooser | best other | | saved | 95 % | |",
        "|:---|---:|---:|---:|:---|---:|---:|---:|:---|",
    ]
    labels = labels_of(frame)
    for one in verdicts_of(frame):
        estimate = (one.gain.low, one.gain.mean, one.gain.high)
        low, mean, high = (100 * x for x in estimate)
        both = f"{100 * one.chooser:.1f} | {labels[one.best]} | {100 * one.error:.1f}"
        lines.append(
            f"| {called(one.data)} | {one.n_draws} | {one.n_train} "
            f"| {both} | {mean:+.1f} | [{low:+.1f}, {high:+.1f}] | {one.words} |"
        )
    return "\n".join(lines)


def averages(frame: pd.DataFrame) -> pd.DataFrame:
    """Average the errors of methods that finished on as many data sets as any other.

    One data set may be missing, and is left out for all. The column "excess" is how
    much worse than the best of these methods each one is, at its worst data set.
    """
    found = means(frame)
    found = found[found.notna().sum(axis=1) >= found.shape[1] - 1].dropna(axis=1)
    excess = (found - found.min()).max(axis=1)
    table = pd.DataFrame({"mean": found.mean(axis=1), "excess": excess})
    table.attrs["n_sets"] = found.shape[1]
    return table.sort_values("mean")


def averaged(frame: pd.DataFrame) -> str:
    """Tabulate averages, in %."""
    table, labels = averages(frame), labels_of(frame)
    lines = ["| | mean | largest excess |", "|:---|---:|---:|"]
    lines += [
        f"| {labels[name]} | {100 * row['mean']:.1f} | {100 * row['excess']:.1f} |"
        for name, row in table.iterrows()
    ]
    return "\n".join(lines)


def errors(frame: pd.DataFrame, measure: str = "error") -> str:
    """Tabulate a measure of all methods on all data sets, in %."""
    table, labels = 100 * means(frame, measure), labels_of(frame)
    lines = [
        f"| | {' | '.join(map(called, table.columns))} |",
        "|:---|" + "---:|" * len(table.columns),
    ]
    for method in in_order(frame):
        if method not in table.index:
            continue
        best = table.min()
        cells = [
            "-" if np.isnan(x) else f"**{x:.1f}**" if x <= best[data] else f"{x:.1f}"
            for data, x in table.loc[method].items()
        ]
        lines.append(f"| {labels[method]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def costs(frame: pd.DataFrame) -> str:
    """Tabulate mean seconds and the largest memory of each method."""
    labels = labels_of(frame)
    lines = [
        "| | mean CPU seconds | most | most MB | failures |",
        "|:---|" + 4 * "---:|",
    ]
    for method in in_order(frame):
        rows = frame[frame["method"] == method]
        failures = rows["failure"].dropna()
        lines.append(
            f"| {labels[method]} | {rows['seconds'].mean():.1f} "
            f"| {rows['seconds'].max():.1f} | {rows['megabytes'].max():,.0f} "
            f"| {len(failures)} |"
        )
    return "\n".join(lines)


def in_order(frame: pd.DataFrame) -> list[str]:
    """Methods, group by group."""
    first = frame.drop_duplicates("method")
    rank = first["grp"].map(GROUPS.index)
    return list(first["method"].iloc[rank.argsort(kind="stable")])


def labels_of(frame: pd.DataFrame) -> dict[str, str]:
    """Readable names."""
    return dict(zip(frame["method"], frame["label"], strict=True))
