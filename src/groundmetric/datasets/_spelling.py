"""How cells spell numbers, decimal commas and missing values."""

import itertools
import re
from collections.abc import Iterable

# Lower case. Anything below a limit of detection is missing, too.
MISSING = frozenset(
    {"", "na", "n/a", "#n/a", "nan", "null", "none", "missing", "nd", "n.d.", "?", "-"}
)
BELOW = re.compile(r"[<≤]\s*=?\s*[\d.,]+(?:[eE][+-]?\d+)?\s*%?")
COMMA = re.compile(r"[+-]?(?:\d+,\d*|,\d+)(?:[eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # or is it a decimal comma?
POINT = re.compile(r"[+-]?\d*\.\d*(?:[eE][+-]?\d+)?")


def is_number(cell: str) -> bool:
    """Whether a cell is a number; NaN is, but 1_000 is one in Python only."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def is_word(cell: str) -> bool:
    """Whether a cell is text, and not a number with a comma or a percent sign."""
    return bool(cell) and not is_number(cell.rstrip("%").replace(",", ".", 1))


def is_missing(cell: str) -> bool:
    """Whether a cell says that there is no value, or one too small to measure."""
    return cell.lower() in MISSING or BELOW.fullmatch(cell) is not None


def is_text(cells: Iterable[str]) -> bool:
    """Whether most cells are text; a few may be mistakes, or empty."""
    filled = [cell for cell in cells if cell]
    words = [cell for cell in filled if is_word(cell)]
    return 2 * len(words) > len(filled) and not all(map(is_missing, words))


def are_names(cells: list[str]) -> bool:
    """Whether a first line has names, not only numbers; a corner may be empty.

    Numbers may be names, such as those of pixels or limits of bins, if they rise; those
    of a row, beside its label, usually do not.
    """
    numbers = [cell for cell in cells if cell and not is_word(cell)]
    values = [float(cell.rstrip("%").replace(",", ".", 1)) for cell in numbers]
    rising = all(a < b for a, b in itertools.pairwise(values))
    return len(numbers) < len(cells) and rising


def have_decimal_commas(rows: Iterable[list[str]]) -> bool:
    """Whether numbers have decimal commas: some do, and none has a decimal point.

    Commas that may separate thousands do not count.
    """
    sure = False
    for row in rows:
        for cell in row:
            if "," in cell:
                sure = sure or bool(
                    COMMA.fullmatch(cell) and not THOUSANDS.fullmatch(cell)
                )
            elif "." in cell and POINT.fullmatch(cell):
                return False
    return sure


def with_point(cell: str) -> str:
    """Write a decimal comma as a point; other cells stay as they are."""
    return cell.replace(",", ".") if COMMA.fullmatch(cell) else cell


def complaint(cell: str) -> str:
    """Say why a cell is not a number, and what to write."""
    if is_word(cell):
        return f"{cell!r} is not a number"
    plain = cell.rstrip("% ").replace(",", ".")
    if "%" in cell:
        return f"{cell!r} has a percent sign; write only the number, {plain}"
    if THOUSANDS.fullmatch(cell):
        return (
            f"{cell!r} may have a decimal comma or a separator of thousands; write "
            f"{plain} or {cell.replace(',', '')}"
        )
    return (
        f"{cell!r} has a decimal comma; write a point, {plain} (and no separators of "
        "thousands)"
    )
