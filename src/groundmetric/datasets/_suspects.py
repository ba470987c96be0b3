"""Columns that are numbers, but not bins: ids, ages, codes of the labels.

Such a column would hold most of a histogram's mass, and an id in the order of the
classes gives them away. Each rule below looks for names or values that counts and
shares do not have. If a rule is nearly certain, the table is rejected, otherwise there
is a warning; ``ignore`` leaves the column out, ``keep`` says that it is a bin.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._words import count
from ._cells import Floats
from ._copies import (
    Classes,
    as_classes,
    encoding,
    indicated,
    is_enough,
    nearly_repeats,
    repeats,
)
from ._reading import Reading

FEW = 3  # rows that may be numbered by chance
ENOUGH = 10  # rows that are hardly all different, or in order, by chance
REPEATS = 10  # expected among as many counts between the same limits
LARGE = 10.0  # times the largest entry of all other columns
DOMINANT = 0.75  # share of the mass in half the rows, and half of that in nearly all
AGREE = 3.0  # standard deviations of the rank correlation of what is independent
LEFT = 0.01  # of the variation of the total, if one column causes it

# Names of ids that are never words of a text; of those that may be; of measurements;
# of labels.
IDS = {"id", "ids", "uid", "uuid", "guid", "pk", "idx", "rowid", "rownum", "accession"}
NUMBERED = {
    *("key", "index", "row", "number", "no", "nr", "code", "barcode", "case"),
    *("record", "sample", "subject", "patient", "donor", "participant", "serial"),
}
MEASURED = {
    *("age", "year", "month", "day", "date", "time", "timestamp", "bmi", "weight"),
    *("height", "temperature", "latitude", "longitude", "salary", "income", "price"),
    *("zip", "zipcode", "postcode", "sex", "gender", "total", "sum"),
}
LABELS = {"label", "labels", "class", "target", "y", "category", "outcome", "group"}

# Reasons that hold for ids.
NAMED_ID = "it has the name and the values of an id"
DIFFERENT = "it has a different whole number in every row, "
OF_IDS = (NAMED_ID, DIFFERENT)
INDICATES = "it has one value in one class, and another in all others"


class Suspect(NamedTuple):
    """A column that is probably not a bin, and why."""

    column: int
    why: str
    certain: bool


def check_bins(
    reading: Reading, source: str, names: Sequence[str], found: Sequence[Suspect]
) -> None:
    """Reject columns that cannot be bins; warn of columns that may not be bins."""
    spell = reading.spell
    if certain := [one for one in found if one.certain]:
        name, why = names[certain[0].column], certain[0].why
        columns = [names[one.column] for one in certain]
        other = ""
        if any(text in why for text in OF_IDS):
            other = f"take it as ids with {spell('id', name)}, "
        raise ValueError(
            f"{source}: column {name!r} is not a bin: {why}; {other}leave it out with "
            f"{spell('ignore', columns)}, or use it all the same with "
            f"{spell('keep', [name])}."
        )
    reasons: dict[str, list[str]] = {}
    for one in found:
        reasons.setdefault(one.why, []).append(names[one.column])
    for why, (name, *others) in reasons.items():
        more = f" (and {count(len(others), 'other')})" if others else ""
        reading.warnings.append(
            f"column {name!r}{more} is used as a bin, but {why}; leave it out with "
            f"{spell('ignore', [name])}, or confirm it with {spell('keep', [name])}"
        )


def suspects(
    names: Sequence[str],
    rows: Floats,
    labels: NDArray[Any] | None,
    kept: Sequence[int] = (),
) -> list[Suspect]:
    """Find the columns that are probably not bins, unless there are few rows.

    The scale of a column is that of the columns left, so an id does not hide an age.
    """
    if len(rows) <= FEW or not np.isfinite(rows).all():
        return []
    left = [j for j in range(len(names)) if j not in kept]
    classes = as_classes(labels)
    why = "it is one of several columns that encode the labels"
    found = [Suspect(j, why, certain=True) for j in encoding(rows, classes, left)]
    left = [j for j in left if j not in {one.column for one in found}]
    while True:
        others = sorted({*left, *kept})
        new = [*_found(names, rows, classes, left, others)] if len(others) > 1 else []
        if not new:
            break
        found += new
        left = [j for j in left if j not in {one.column for one in new}]
    columns = [one.column for one in found]
    if columns and _cause_the_variation(rows, columns):
        why = "the others add up to the same without it in every row, but not with it"
        if len(columns) > 1:
            why = "the others add up to the same in every row"
        return [
            one if one.certain else Suspect(one.column, why, certain=True)
            for one in found
        ]
    return found


def _found(
    names: Sequence[str],
    rows: Floats,
    classes: Classes | None,
    left: list[int],
    others: list[int],
) -> Iterator[Suspect]:
    """Find suspects among the columns left, compared with others."""
    totals = _sums(rows, others)
    largest = {j: float(rows[:, j].max()) for j in others}
    first, second = sorted(others, key=lambda j: -largest[j])[:2]
    whole = {j: bool((rows[:, j] == np.round(rows[:, j])).all()) for j in others}
    broken = [j for j in others if not whole[j]]
    for j in left:
        column = rows[:, j]
        if _completes(column, totals):
            continue
        scale = largest[second if j == first else first]
        words = words_of(names[j])
        if (why := _as_id(column, words)) or (why := _as_code(column, classes, words)):
            yield Suspect(j, why, certain=True)
        elif is_large := _is_large(column, totals, scale):
            numbered = whole[j] and _is_different(column)
            numbered = numbered and not _rises_with(column, totals - column)
            different = f"{DIFFERENT}and " if numbered else ""
            yield Suspect(j, different + is_large, numbered)
        elif len(others) > 2 and _is_same(totals - column, totals):  # noqa: PLR2004
            why = "the others add up to the same without it, but not with it"
            yield Suspect(j, why, certain=True)
        elif why := _as_measurement(column, classes, words):
            yield Suspect(j, why, certain=False)
        elif broken == [j] and (column > 0).all():
            yield Suspect(j, "it is the only one with fractions", certain=False)


def _completes(column: Floats, totals: Floats) -> bool:
    """Whether the total varies much less than the column: it is a share of it."""
    return bool(np.ptp(totals) < np.ptp(column) / 10)


def _cause_the_variation(rows: Floats, columns: Sequence[int]) -> bool:
    """Whether all other columns add up to the same in every row, as shares do."""
    rest = [j for j in range(rows.shape[1]) if j not in columns]
    return len(rest) > 1 and _is_same(_sums(rows, rest), rows.sum(axis=1))


def _sums(rows: Floats, columns: Sequence[int]) -> Floats:
    """Add up some columns of each row, without a copy."""
    used = np.zeros(rows.shape[1], dtype=bool)
    used[list(columns)] = True
    sums: Floats = rows.sum(axis=1, where=used)
    return sums


def _is_same(rest: Floats, totals: Floats) -> bool:
    """Whether a sum is the same in all rows, as shares are, though totals differ."""
    spread, varied = np.ptp(rest), np.ptp(totals)
    same = spread <= LEFT * varied and spread <= LEFT * rest.mean()
    return bool(len(rest) >= ENOUGH and varied > 0 and same)


def _is_different(column: Floats) -> bool:
    """Whether all entries differ, in enough rows."""
    n = len(column)
    return n >= ENOUGH and np.sum(column == 0) <= 1 and len(np.unique(column)) == n


def _rises_with(column: Floats, rest: Floats) -> bool:
    """Whether ranks agree, as ranks of counts do if samples differ in size."""
    ranks = [np.argsort(np.argsort(x)) for x in (column, rest)]
    correlations: Any = np.corrcoef(ranks)
    return bool(correlations[0, 1] * np.sqrt(len(column) - 1) > AGREE)


def _as_id(column: Floats, words: set[str]) -> str:
    """Say why a column of whole numbers is an id."""
    if (column != np.round(column)).any() or np.sum(column == 0) > 1:
        return ""
    n, steps = len(column), np.diff(column)
    different = len(np.unique(column)) == n
    if (different and words & NUMBERED) or words & IDS:
        return NAMED_ID
    if not different or n < ENOUGH:
        return ""
    if (steps > 0).all() or (steps < 0).all():
        return f"{DIFFERENT}in order"
    if n * (n - 1) / 2 > REPEATS * (np.ptp(column) + 1):
        return f"{DIFFERENT}of all those possible"
    return ""


def _as_code(column: Floats, classes: Classes | None, words: set[str]) -> str:
    """Say whether a column repeats the labels, if its name says so, too."""
    if not words & LABELS:
        return ""
    if why := nearly_repeats(column, classes):
        return why
    return INDICATES if is_enough(indicated(column, classes), classes) else ""


def _is_large(column: Floats, totals: Floats, scale: float) -> str:
    """Say whether a column is out of scale, or has nearly all mass."""
    low = np.quantile(column, 0.05)
    if low > LARGE * scale:
        return f"it is more than {LARGE:g} times as large as all others"
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(totals > 0, column / totals, 0.0)
    if np.median(shares) < DOMINANT or np.quantile(shares, 0.05) < DOMINANT / 2:
        return ""
    return f"it has {np.median(shares):.0%} of the mass".replace("%", " %")


def _as_measurement(column: Floats, classes: Classes | None, words: set[str]) -> str:
    """Say why a column may be something measured, numbered or named."""
    if repeats(column, classes):
        return "it repeats the labels"
    if is_enough(indicated(column, classes), classes):
        return INDICATES
    if (np.diff(column) == 1).all():
        return "it numbers the rows"
    if words & MEASURED and (column > 0).all():
        return "its name is not that of a bin"
    return ""


def words_of(name: str) -> set[str]:
    """Return a name, and its last word: both of patientId and patient_id are id."""
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name) or [name]
    return {name.lower(), parts[-1].lower()}
