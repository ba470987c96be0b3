"""Missing entries: all named at once, and read as zero or left out if asked for."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .._words import count
from ._cells import Floats, Gap
from ._reading import Reading

POLICIES = ("error", "zero", "drop")
FIRST = 3  # places that are named of each spelling


def fill(
    rows: Floats,
    gaps: Sequence[Gap],
    reading: Reading,
    source: str,
    place: Callable[[Gap], str],
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return rows without gaps, and which of the rows are kept."""
    kept = np.ones(len(rows), dtype=bool)
    if not gaps:
        return rows, kept
    kept[[gap.row for gap in gaps]] = False
    n = int((~kept).sum())
    what = f"{count(len(gaps), 'missing cell')} in {n:,} of {count(len(rows), 'row')}"
    if reading.missing == "zero":
        filled = rows.copy()
        filled[[gap.row for gap in gaps], [gap.column for gap in gaps]] = 0.0
        reading.notes.append(f"{what}, read as zero: {spellings(gaps, place)}")
        return filled, np.ones(len(rows), dtype=bool)
    if reading.missing == "drop" and kept.any():
        reading.notes.append(
            f"left out: {count(n, 'row')} of {len(rows):,}, with "
            f"{count(len(gaps), 'missing cell')}: {spellings(gaps, place)}"
        )
        return rows[kept], kept
    ways = (
        f"read them as zero with {reading.spell('missing', 'zero')}, leave out their "
        f"rows with {reading.spell('missing', 'drop')}, or fill them in"
    )
    if reading.missing == "drop":
        ways = (
            f"no row is left; read them as zero with {reading.spell('missing', 'zero')}"
        )
    raise ValueError(f"{source} has {what}: {spellings(gaps, place)}; {ways}.")


def spellings(gaps: Sequence[Gap], place: Callable[[Gap], str]) -> str:
    """List how gaps are spelled, how often, and where the first of them are."""
    found: dict[str, list[Gap]] = {}
    for gap in sorted(gaps):
        found.setdefault(gap.spelling, []).append(gap)
    texts = []
    for spelling, some in sorted(found.items(), key=lambda each: -len(each[1])):
        places = "; ".join(place(gap) for gap in some[:FIRST])
        more = "; ..." if len(some) > FIRST else ""
        what = repr(spelling) if spelling else "empty"
        texts.append(f"{len(some):,} {what} ({places}{more})")
    shown = texts[: 2 * FIRST]
    others = [f"and {len(texts) - len(shown)} other spellings"] * (
        len(texts) > 2 * FIRST
    )
    return ", ".join([*shown, *others])


def nan_gaps(rows: Floats) -> list[Gap]:
    """Find NaN in an array."""
    return [Gap(int(i), int(j), "NaN") for i, j in np.argwhere(np.isnan(rows))]
