"""The tables of the reproduction, from the results in docs/reproduction."""

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from paper import (
    FIGURE_1,
    FIGURE_2,
    FIGURE_3,
    FIGURE_4,
    comparison_table,
    mean_curves,
    paired_differences,
    read_results,
    summary_table,
)
from paper.figures import figure_methods, paper_figures

FOLDER = Path(__file__).parents[1] / "reproduction"
KAPPAS = (1, 3, 5, 10, 15, 20)
N_25, N_10 = 625, 100  # tasks


@cache
def results(name: str) -> pd.DataFrame:
    """Load the results of one experiment."""
    return read_results(FOLDER / f"{name}.parquet")


def caltech() -> pd.DataFrame:
    """Figures 1 and 2."""
    return results("caltech50-25x25")


def reporting() -> pd.DataFrame:
    """Tasks between two classes on which no setting was chosen."""
    chosen = set((FOLDER / "choosing-half.txt").read_text().splitlines())
    names = caltech()["classes"].str.split(" | ", regex=False)
    if not chosen < set(names.explode()):
        raise ValueError(
            "choosing-half.txt names classes that the results do not have."
        )
    return caltech()[[not chosen & set(pair) for pair in names]]


def small() -> pd.DataFrame:
    """Figures 3 and 4."""
    return results("caltech50-10x10")


def news() -> pd.DataFrame:
    """20 Newsgroups."""
    return results("news20-10x10")


def machines() -> pd.DataFrame:
    """Methods of the 625 tasks that have support vector machines."""
    return caltech().dropna(subset="svm_error")


def others(frame: pd.DataFrame) -> list[str]:
    """List the methods of Figure 1 that are not ground metric learning."""
    there = set(frame["method"])
    return [name for name in OTHERS if name in there]


def of_figure(frame: pd.DataFrame, *more: str) -> str:
    """Tabulate the methods of Figure 1."""
    return summary_table(frame, methods=[*figure_methods(frame, 1), *more])


def estimate() -> str:
    """Estimate how long ``make reproduce`` takes, from the times of each method."""
    images, few, text = (times(frame) for frame in (caltech(), small(), news()))
    task = sum(images[name] for name in {*FIGURE_1, *FIGURE_2} & images.keys())
    starts = sum(few[name] for name in {*FIGURE_3, *FIGURE_4} & few.keys())
    # Not all of Figure 3 was run on text; it takes less time there than on images.
    text = {**few, **text}
    words = sum(text[name] for name in {*FIGURE_1, *FIGURE_3, *FIGURE_4} & text.keys())
    draws = 2 * results("caltech50-10classes")["seconds"].sum()
    hours = np.array([N_25 * task, N_10 * starts, N_10 * words, draws]) / 3600
    return (
        f"Everything takes about {hours.sum() / 2:.1f} hours on two cores, estimated "
        f"from the CPU times of the methods: {hours[0]:.1f} CPU hours for the {N_25} "
        f"tasks of Figures 1 and 2 ({task:.0f} seconds a task, of which `{WITH_CV}` "
        f"takes {images[WITH_CV]:.0f}), {hours[1]:.1f} for the {N_10} tasks of Figures "
        f"3 and 4, {hours[2]:.1f} for those of text, and {hours[3]:.1f} for tasks of "
        "ten classes."
    )


def times(frame: pd.DataFrame) -> dict[str, float]:
    """Average the seconds of each method on a task, with a support vector machine."""
    machine = frame[frame["method"] == "l1"]["seconds"].mean()  # learns nothing
    without = frame["svm_error"].isna()
    whole = frame["seconds"] + machine * without
    return whole.groupby(frame["method"]).mean().to_dict()


def against_best(frame: pd.DataFrame, method: str) -> str:
    """Compare a method with its best rival at each kappa, by both measures."""
    columns = f"measure | kappa | {method} | best other | | difference"
    lines = [
        f"| {columns} | 95 %, tasks | 95 %, classes | won / tied / lost | p |",
        "|:---|---:|---:|---:|:---|---:|---:|---:|---:|---:|",
    ]
    methods = [method, *others(frame)]
    for measure, word in (("knn_errors", "error"), ("recall", "recall")):
        means = mean_curves(frame, measure, methods=[method]).mean[0]
        both = [
            paired_differences(
                frame, method, measure=measure, methods=methods, interval=interval
            )
            for interval in ("tasks", "classes")
        ]
        pair = both[0]
        for k in (kappa - 1 for kappa in KAPPAS):
            mean, gap = 100 * means[k], 100 * pair.difference[k]
            ends = [
                f"[{100 * one.low[k]:+.2f}, {100 * one.high[k]:+.2f}]" for one in both
            ]
            lines.append(
                f"| {word} | {k + 1} | {mean:.2f} | {mean - gap:.2f} "
                f"| {pair.against[k]} | {gap:+.2f} | {' | '.join(ends)} "
                f"| {pair.wins[k]} / {pair.ties[k]} / {pair.losses[k]} "
                f"| {pair.p_value[k]:.2g} |"
            )
    return "\n".join(lines) + (
        f"\n\nMeans over {pair.n_tasks} tasks, in %; p: two-sided sign test."
    )


def errors() -> dict[str, str]:
    """Format the mean error of each method, over kappa and tasks."""
    curves = mean_curves(caltech(), "knn_errors")
    means = 100 * curves.mean.mean(axis=1)
    return dict(zip(curves.methods, (f"{mean:.1f}" for mean in means), strict=True))


def seconds() -> dict[str, float]:
    """Compute the mean learning time of each method."""
    return caltech().groupby("method")["fit_seconds"].mean().to_dict()


def duels(frame: pd.DataFrame, *pairs: tuple[str, str], **options: str) -> str:
    """Compare methods two by two, by the mean error over kappa by default."""
    lines = []
    for method, other in pairs:
        table = comparison_table(frame, method, methods=[method, other], **options)
        titles, rule, row, *_ = table.split("\n")
        cells = row.removeprefix(f"| {other} ")
        lines.append(f"| {method} minus {other} {cells}")
    what = "| " + titles.split(" | ", 1)[1]
    n_tasks = frame["task"].nunique()
    return "\n".join(
        [f"| {what}", rule, *lines, "", f"Over {n_tasks} tasks, in percentage points."]
    )


def draw() -> None:
    """Draw the figures of the page."""
    for name, figure in FIGURES:
        paper_figures(
            results(name), FOLDER, figure=figure, name=f"{name}-figure{figure}"
        )


FIGURES = (
    ("caltech50-25x25", 1),
    ("caltech50-25x25", 2),
    ("caltech50-10x10", 3),
    ("caltech50-10x10", 4),
    ("news20-10x10", 1),
)
OTHERS = tuple(name for name in FIGURE_1 if not name.startswith("gml"))
WITH_CV = "gml-cv"
HELLINGER = tuple((f"{name}-hellinger", name) for name in ("lmnn", "itml", "nca"))
STARTS = (
    ("gml-k3-typical", "gml-k3-independence"),
    ("gml-k3-typical", "gml-k3-uniform"),
    ("gml-k3-typical", "start-typical"),
    ("gml-k3-independence", "start-independence"),
    ("gml-k3-uniform", "emd-uniform"),
    ("start-typical", "start-independence"),
)
MANY = (
    ("gml", "l1"),
    ("gml", "gml-neighborhood"),
    ("gml", "lmnn-hellinger"),
)
TEN = (
    ("smoothed-cv", "lmnn-hellinger"),
    ("smoothed-cv", "gml"),
    ("smoothed-3", "lmnn-hellinger"),
    ("smoothed-3", "gml"),
)
CALTECH = (
    ("gml", "gml-neighborhood"),
    ("gml", "itml-hellinger"),
    ("gml", "lmnn-hellinger"),
    ("gml", "nca-hellinger"),
)
NEWS = (
    ("gml", "gml-neighborhood"),
    ("gml", "gml-k3-uniform"),
    ("gml", "l1"),
    ("gml-k3-typical", "gml-k3-independence"),
    ("gml-k3-typical", "gml-k3-uniform"),
)
SVM = (
    ("gml", "l1"),
    ("gml-cv", "l1"),
    ("gml-smoothed", "l1"),
    ("gml-shrunk", "l1"),
    ("gml-shrunk", "gml"),
    ("gml", "hellinger"),
    ("gml", "itml-hellinger"),
)
SMOOTHED = (
    ("gml-smoothed", "gml"),
    ("gml-smoothed", "itml-hellinger"),
    ("gml-smoothed", "lmnn-hellinger"),
)

CV = (
    (WITH_CV, "gml"),
    (WITH_CV, "lmnn-hellinger"),
    (WITH_CV, "itml-hellinger"),
    (WITH_CV, "nca-hellinger"),
)

MAKERS = {
    "estimate": estimate,
    "cv-duels": lambda: duels(caltech(), *CV),
    "cv-news-duels": lambda: duels(news(), *CV),
    "svm": lambda: summary_table(machines()),
    "svm-duels": lambda: duels(machines(), *SVM, measure="svm_error"),
    "methods": lambda: of_figure(caltech()),
    "best": lambda: against_best(caltech(), "gml"),
    "best-neighborhood": lambda: against_best(caltech(), "gml-neighborhood"),
    "duels": lambda: duels(caltech(), *CALTECH),
    "best-paper": lambda: against_best(caltech(), "gml-k3-uniform"),
    "best-typical": lambda: against_best(caltech(), "gml-k3-typical"),
    "reporting": lambda: against_best(reporting(), "gml"),
    "hellinger": lambda: duels(caltech(), *HELLINGER),
    "neighborhoods": lambda: summary_table(small(), methods=figure_methods(small(), 3)),
    "starts": lambda: summary_table(small(), methods=figure_methods(small(), 4)),
    "start-duels": lambda: duels(small(), *STARTS),
    "news": lambda: of_figure(news(), "tfidf-l1"),
    "news-best": lambda: against_best(news(), "gml"),
    "many": lambda: summary_table(results("caltech50-10classes")),
    "many-duels": lambda: duels(results("caltech50-10classes"), *MANY),
    "ten-images": lambda: summary_table(results("caltech50-smoothing")),
    "ten-images-duels": lambda: duels(results("caltech50-smoothing"), *TEN),
    "smoothed-duels": lambda: duels(caltech(), *SMOOTHED),
    "smoothed-news-duels": lambda: duels(news(), *SMOOTHED),
    "ten-text": lambda: summary_table(results("news20-smoothing")),
    "ten-text-duels": lambda: duels(results("news20-smoothing"), *TEN),
    "news-duels": lambda: duels(news(), *HELLINGER, *NEWS),
}
