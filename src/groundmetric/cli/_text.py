"""Text files of cells, line by line: slow, but it knows what is wrong, and where."""

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

DELIMITERS = ",;\t"
START = 1 << 20  # bytes that the first line is looked for in


class Text:
    """CSV in a file, or on standard input for a dash; can be read more than once."""

    def __init__(self, path: str) -> None:
        self.source = "standard input" if path == "-" else path
        self._path = path
        self._held = sys.stdin.buffer.read() if path == "-" else b""
        with self.open() as file:
            start = file.read(START).decode("utf-8-sig", "replace")
        self.delimiter = _delimiter(start.lstrip().partition("\n")[0])
        self.first_line, self.first = next(self.rows())

    def open(self) -> IO[bytes]:
        """Open it anew."""
        if self._path == "-":
            return io.BytesIO(self._held)
        return Path(self._path).open("rb")

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines that are not blank, each with its number, or refuse them."""
        first = None
        with io.TextIOWrapper(self.open(), "utf-8-sig", newline="") as file:
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
                    f"{self.source} is no text in UTF-8: byte "
                    f"0x{error.object[error.start]:02x}, {error.reason}."
                ) from error
            except csv.Error as error:
                where = f"{self.source}, line {reader.line_num}"
                raise ValueError(f"{where}: {error}.") from error
        if first is None:
            raise ValueError(f"{self.source} is empty.")

    def require_strict(self) -> None:
        """Refuse what :meth:`rows` refuses."""
        for _ in self.rows():
            pass


def _delimiter(line: str) -> str:
    """Choose the delimiter of a line; commas may be decimal commas beside others."""
    for other in ";\t":
        if other in line and not any(is_word(cell) for cell in line.split(other)):
            return other
    return max(DELIMITERS, key=line.count)


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number; NaN does, 1_000 only in Python."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def are_names(cells: list[str]) -> bool:
    """Whether a first line has names, not only numbers; a corner may be empty."""
    return any(not cell or is_word(cell) for cell in cells)


def is_word(cell: str) -> bool:
    """Whether a cell is text, and not a number with a comma or a percent sign."""
    return bool(cell) and not is_number(cell.rstrip("%").replace(",", ".", 1))
