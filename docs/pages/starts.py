"""Tables of the paper's method: its k, where it starts, and its rivals."""

import pandas as pd
import reproduction as made

from paper import ALL_STARTS, FIGURE_3, FIGURE_4, mean_curves, summary_table
from paper.methods import NEIGHBORS, STARTS, by_paper

STARTS_ALONE = (("start-typical", "start-independence"),)


def neighborhoods() -> str:
    """Tabulate all k from typical tables."""
    frame = made.small()
    few = [f"gml-k{'all' if k is None else k}-typical" for k in NEIGHBORS]
    return summary_table(frame, methods=made.there(frame, [*FIGURE_3, *few]))


def starts() -> str:
    """Tabulate all initial metrics."""
    frame = made.small()
    few = [f"gml-k3-{start}" for start in STARTS]
    return summary_table(frame, methods=made.there(frame, [*FIGURE_4, *few]))


def all_starts() -> str:
    """Tabulate the errors of each k from each initial metric."""
    lines = []
    for frame, where in ((made.small(), "images"), (made.news(), "text")):
        if len(made.there(frame, ALL_STARTS)) < len(ALL_STARTS):
            continue
        curves = mean_curves(frame, "knn_errors", methods=ALL_STARTS)
        means = 100 * curves.mean.mean(axis=1)
        error = dict(zip(curves.methods, means, strict=True))
        for k in NEIGHBORS:
            cells = (f"{error[by_paper(k, start)]:.1f}" for start in STARTS)
            lines.append(f"| {where}, k = {k or '∞'} | {' | '.join(cells)} |")
    if not lines:
        return ""
    return "\n".join(
        [
            "All values of k from all initial metrics, by the mean error over κ, in %:",
            "",
            f"| initial metric | {' | '.join(STARTS)} |",
            "|:---|---:|---:|---:|",
            *lines,
        ]
    )


def start_duels() -> str:
    """Compare initial metrics, and what was learned from them, two by two."""
    frame = made.small()
    return made.duels(frame, *_start_pairs(frame), *STARTS_ALONE)


def _start_pairs(frame: pd.DataFrame) -> tuple[tuple[str, str], ...]:
    """Pair the paper's method with other starts, and with where it starts."""
    names = {start: made.paper_method(frame, start=start) for start in STARTS}
    return (
        (names["typical"], names["independence"]),
        (names["typical"], names["uniform"]),
        (names["typical"], "start-typical"),
        (names["independence"], "start-independence"),
        (names["uniform"], "emd-uniform"),
    )


def news_duels() -> str:
    """Compare methods on text, two by two."""
    frame = made.news()
    own = made.paper_method(frame)
    rivals = (("gml", own), (own, "lmnn-hellinger"), (own, "itml-hellinger"))
    return made.duels(
        frame, *made.HELLINGER, *made.NEWS, *rivals, *_start_pairs(frame)[:2]
    )


def image_duels() -> str:
    """Compare methods on images, two by two."""
    frame = made.caltech()
    own = made.paper_method(frame)
    rivals = ("gml-k3-uniform", "lmnn-hellinger", "itml-hellinger", "nca-hellinger")
    return made.duels(
        frame, *made.CALTECH, *((own, other) for other in rivals if other != own)
    )


MAKERS = {
    "neighborhoods": neighborhoods,
    "starts": starts,
    "all-starts": all_starts,
    "start-duels": start_duels,
    "duels": image_duels,
    "news-duels": news_duels,
}
