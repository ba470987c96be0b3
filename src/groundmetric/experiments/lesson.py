"""What was learned, in sentences that name only what repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._words import count, percent, points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .design import Estimate
    from .stable import Moved, Stability

__all__ = ["distinct", "sentences_on"]

N_NAMED = 3  # pairs of either kind, and bins
ARROW = "\N{LEFT RIGHT ARROW}"


def sentences_on(found: Stability, names: Sequence[str] | None, what: str) -> list[str]:
    """Say what repeats, or that nothing does; bins have numbers without names."""
    called = f"{what} {{}}".format if names is None else names.__getitem__
    if not found.repeats:
        return [_nothing(found, what)]
    return [
        text
        for text in (_on_pairs(found, called, what), _on_bins(found, called, what))
        if text
    ]


def distinct(pairs: Sequence[Moved]) -> list[Moved]:
    """Take the first pairs that have no bin in common.

    Examples
    --------
    >>> from groundmetric.experiments.lesson import distinct
    >>> from groundmetric.experiments.stable import Moved
    >>> distinct([Moved(0, 1, 1.0), Moved(1, 2, 0.9), Moved(2, 3, 0.8)])
    [Moved(first=0, second=1, share=1.0), Moved(first=2, second=3, share=0.8)]
    """
    seen: set[int] = set()
    found = []
    for one in pairs:
        if not seen & {one.first, one.second}:
            seen |= {one.first, one.second}
            found.append(one)
    return found[:N_NAMED]


def _nothing(found: Stability, what: str) -> str:
    """Say what was looked for in vain."""
    return (
        f"What was learned does not repeat: in {_draws(found)}, no pair of {what}s was "
        f"among the {found.n_listed} (of {len(found.pairs):,}) that moved farthest "
        f"apart, or closest together, {_share(found.threshold)} of the time, and "
        f"shuffling none of {count(len(found.bins), what)} raises errors reliably. A "
        "single fit always has pairs that moved most; here, every draw has others."
    )


def _on_pairs(found: Stability, called: Callable[[int], str], what: str) -> str:
    """Name pairs that repeatedly moved most, without common bins."""
    lists = (
        ("farthest apart", found.moved_apart),
        ("closest together", found.moved_together),
    )
    parts = [
        f"{where}: {_listed([_pair(one, called) for one in distinct(pairs)])}"
        for where, pairs in lists
        if pairs
    ]
    if not parts:
        return ""
    return (
        f"What was learned: compared with the initial metric, these {what}s moved "
        f"{'; and these '.join(parts)}. Percentages are shares of {_draws(found)} in "
        f"which a pair is among the {found.n_listed} of {len(found.pairs):,} that "
        "moved most."
    )


def _pair(one: Moved, called: Callable[[int], str]) -> str:
    return f"{called(one.first)} {ARROW} {called(one.second)} ({_share(one.share)})"


def _on_bins(found: Stability, called: Callable[[int], str], what: str) -> str:
    """Name the bins whose shuffling raises errors most."""
    if not found.important:
        return ""
    rises = [
        f"{called(p)} ({_interval(found.rise(p))})" for p in found.important[:N_NAMED]
    ]
    among = f"{found.n_neighbors} nearest neighbors"
    return (
        f"What matters: {percent(found.error.mean)} of the {among} of histograms that "
        "were left out have a wrong label, and more if the masses of a single "
        f"{what} are shuffled among them, in percentage points: {_listed(rises)}."
    )


def _interval(rise: Estimate) -> str:
    return f"{points(rise.mean)}, {points(rise.low)} to {points(rise.high)}"


def _draws(found: Stability) -> str:
    return f"{found.n_draws} draws of {count(found.n_train, 'histogram')}"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _listed(words: Sequence[str]) -> str:
    """Join with commas, and with "and" before the last."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
