"""Results go to standard output, everything else to standard error."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from .._words import duration, printable

WRONG = 2  # exit code
SHORT, LONG = 1.0, 10.0  # seconds from which on a person wants to know
_held: list[str] = []
_listening: list[list[str]] = []


def note(text: str) -> None:
    """Print a note: at once on a terminal, otherwise before the results.

    If there is an error, it is then the only line that a script sees.
    """
    _held.append(text)
    for heard in _listening:
        heard.append(printable(text))
    if sys.stderr.isatty():
        release_notes()


def announce(text: str) -> None:
    """Print a note at once, since what follows takes long."""
    note(text)
    release_notes()


def begin(seconds: float, what: str) -> None:
    """Say about how long what follows takes: on a terminal, or if it is long."""
    if seconds >= (SHORT if shows_progress() else LONG):
        announce(f"about {duration(seconds)}: {what}")


@contextmanager
def listening() -> Iterator[list[str]]:
    """Collect the notes of a block, which are printed as well."""
    heard: list[str] = []
    _listening.append(heard)
    try:
        yield heard
    finally:
        _listening.pop()


def release_notes() -> None:
    """Print the notes that were held back."""
    for text in _held:
        sys.stderr.write(f"{text}\n")
    sys.stderr.flush()  # before standard output, if both go to the same place
    _held.clear()


def say_error(message: str) -> int:
    """Print an error in one line, instead of the notes; return the exit code."""
    _held.clear()
    sys.stderr.write(f"error: {message}\n")
    return WRONG


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def shows_progress() -> bool:
    """Whether to show progress bars: only on a terminal."""
    return sys.stderr.isatty()


def emit(value: Mapping[str, Any]) -> None:
    """Print a result as JSON; NaN and infinity become null."""
    plain = json.loads(json.dumps(value, default=_plain), parse_constant=lambda _: None)
    sys.stdout.write(json.dumps(plain, indent=2) + "\n")


def print_table(
    columns: Sequence[str], rows: Sequence[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table: first column left-aligned, the others right-aligned.

    In a terminal that is too narrow, titles take several lines; words and cells are
    never broken, nor left out.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for i, (column, *cells) in enumerate(zip(columns, *rows, strict=True)):
        width = max(map(len, [*column.split(), *cells]))
        table.add_column(column, justify="right" if i else "left", min_width=width)
    for row in rows:
        table.add_row(*row)
    release_notes()
    Console(highlight=False, markup=False).print(table, crop=False)


def tell(text: str) -> None:
    """Print a line of the result, after the notes that were held back."""
    release_notes()
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
