"""Text files of cells, read line by line, so that errors can name the line."""

import csv
import io
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

DELIMITERS = ",;\t"
START = 1 << 20  # bytes that must contain the first line


class Text:
    """CSV in a file, or on standard input for a dash; can be read more than once."""

    def __init__(self, path: str) -> None:
        self.source = "standard input" if path == "-" else path
        self._path = path
        self._held = sys.stdin.buffer.read() if path == "-" else b""
        with self._open() as file:
            start = file.read(START).decode("utf-8-sig", "replace")
        self.delimiter = _delimiter(start.lstrip().partition("\n")[0])
        self.first_line, self.first = next(self.rows())

    def _open(self) -> IO[bytes]:
        if self._path == "-":
            return io.BytesIO(self._held)
        return Path(self._path).open("rb")

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line that is not blank, with its number."""
        first = None
        with io.TextIOWrapper(self._open(), "utf-8-sig", newline="") as file:
            reader = csv.reader(file, delimiter=self.delimiter, strict=True)
            try:
                for row in reader:
                    cells = [cell.strip() for cell in row]
                    if not any(cells):
                        continue
                    first = first or (reader.line_num, len(cells))
                    if len(cells) != first[1]:
                        raise ValueError(
                            f"{self.source}, line {reader.line_num}: {len(cells)} "
                            f"cells, but line {first[0]} has {first[1]}."
                        )
                    yield reader.line_num, cells
            except UnicodeDecodeError as error:
                raise ValueError(
                    f"{self.source} is not UTF-8 text: byte "
                    f"0x{error.object[error.start]:02x}, {error.reason}."
                ) from error
            except csv.Error as error:
                where = f"{self.source}, line {reader.line_num}"
                raise ValueError(f"{where}: {error}.") from error
        if first is None:
            raise ValueError(f"{self.source} is empty.")


def _delimiter(line: str) -> str:
    """Guess the delimiter; beside another one, commas may be decimal commas."""
    for other in ";\t":
        if other in line and not any(is_word(cell) for cell in line.split(other)):
            return other
    return max(DELIMITERS, key=line.count)


def is_number(cell: str) -> bool:
    """Whether a cell is a number; NaN is, but 1_000 is one in Python only."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def are_names(cells: list[str]) -> bool:
    """Whether a first line has names, not only numbers; a corner may be empty.

    Numbers may be names, such as those of pixels or limits of bins, if they rise; those
    of a row, beside its label, usually do not.
    """
    numbers = [cell for cell in cells if cell and not is_word(cell)]
    values = [float(cell.rstrip("%").replace(",", ".", 1)) for cell in numbers]
    rising = all(a < b for a, b in itertools.pairwise(values))
    return len(numbers) < len(cells) and rising


def is_word(cell: str) -> bool:
    """Whether a cell is text, and not a number with a comma or a percent sign."""
    return bool(cell) and not is_number(cell.rstrip("%").replace(",", ".", 1))
