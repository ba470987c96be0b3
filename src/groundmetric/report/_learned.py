"""The section on what was learned: tables of what repeats."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from .._words import percent, points

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ..experiments.stable import Stability

N_ROWS = 10  # of a table
N_WEIGHTS = 5  # of the largest, and of the smallest
ARROW = "\N{LEFT RIGHT ARROW}"


def learned(found: Stability | None, names: Mapping[int, str]) -> str:
    """Write the section; nothing if nothing repeats."""
    if found is None:
        return ""
    tables = _pairs(found, names), _bins(found, names), _weights(found, names)
    cards = "".join(
        f'<div class="card"><h3>{title}</h3><p class="muted small">{text}</p>'
        f'<div class="scroll"><table>{table}</table></div></div>'
        for title, text, table in tables
        if table
    )
    if not cards:
        return ""
    return (
        '<section id="learned" aria-labelledby="learned-title">\n'
        f'<h2 id="learned-title">What was learned, and repeats</h2>\n'
        f'<div class="two">{cards}</div>\n</section>'
    )


def _pairs(found: Stability, names: Mapping[int, str]) -> tuple[str, str, str]:
    rows = [
        [f"{names[one.first]} {ARROW} {names[one.second]}", where, _share(one.share)]
        for where, pairs in (
            ("apart", found.moved_apart),
            ("together", found.moved_together),
        )
        for one in pairs[:N_ROWS]
    ]
    text = (
        f"Share of {found.n_draws} draws in which a pair is among the "
        f"{found.n_listed} of {len(found.pairs):,} that moved farthest apart, or "
        "closest together, compared with the initial metric; from "
        f"{_share(found.threshold)} on."
    )
    return "Pairs of features", text, _table(("Features", "Moved", "Draws"), rows)


def _bins(found: Stability, names: Mapping[int, str]) -> tuple[str, str, str]:
    rows = []
    for p in found.important[:N_ROWS]:
        one = found.rise(p)
        interval = f"{points(one.mean)} ({points(one.low)} to {points(one.high)})"
        rows.append(
            [names[p], interval, _share(float(found.risen[found.bins == p][0]))]
        )
    text = (
        f"Wrong labels among the {found.n_neighbors} nearest neighbors of histograms "
        f"that were left out, {percent(found.error.mean)}, and how many percentage "
        "points there are more if the masses of a feature are shuffled, with 95 % "
        "intervals; and the share of draws in which there are more."
    )
    return "Features", text, _table(("Feature", "More errors", "Draws"), rows)


def _weights(found: Stability, names: Mapping[int, str]) -> tuple[str, str, str]:
    """Write the largest and the smallest of the weights that surely differ from 1."""
    sure = 1.0 - min(found.max_false / max(len(found.bins), 1), 0.5)
    pairs = zip(found.bins.tolist(), found.weights or [], strict=False)
    kept = [(p, one) for p, one in pairs if max(one.sure, 1.0 - one.sure) >= sure]
    kept.sort(key=lambda pair: -pair[1].mean)
    larger = [pair for pair in kept if pair[1].mean > 1.0][:N_WEIGHTS]
    smaller = [pair for pair in kept if pair[1].mean < 1.0][-N_WEIGHTS:]
    rows = [
        [names[p], f"{one.mean:.2f} ({one.low:.2f} to {one.high:.2f})"]
        for p, one in [*larger, *smaller]
    ]
    text = (
        "Weights that surely differ from 1, the geometric mean over the "
        f"{len(found.bins)} features looked at, with 95 % intervals: the largest and "
        "the smallest. Heavier features count more in all distances."
    )
    return "Weights of features", text, _table(("Feature", "Weight"), rows)


def _table(titles: Iterable[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f'<th scope="col">{title}</th>' for title in titles)
    body = "\n".join(
        f'<tr><th scope="row">{html.escape(first)}</th>'
        + "".join(f"<td>{html.escape(text)}</td>" for text in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"
