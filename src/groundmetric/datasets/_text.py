"""Text files of cells, read line by line, so that errors can name the line."""

import codecs
import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TextIO

from ._spelling import COMMA

DELIMITERS = ",;\t"
MANY = 10  # lines to guess the delimiter from
START = 1 << 20  # bytes that must contain the first line
LATIN = "read as Latin-1 (Windows-1252)"
GZIP = b"\x1f\x8b"
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# What no text has; in files that are not UTF-8, most likely something else is wrong.
CONTROLS = bytes(sorted({*range(32), 127} - {*b"\t\n\v\f\r"}))


class Text:
    """CSV in a file, or on standard input for a dash; can be read more than once.

    Gzip is unpacked. What is not UTF-8 is read as Windows-1252, which extends Latin-1;
    the notes say so.
    """

    unit, across = "line", "column"

    def __init__(self, path: str, notes: list[str] | None = None) -> None:
        self.source = "standard input" if path == "-" else path
        self._path = path
        self._held = sys.stdin.buffer.read() if path == "-" else b""
        self._encoding = encoding_of(self._open, self.source)
        if self._encoding == "cp1252" and notes is not None:
            notes.append(f"{self.source} is not UTF-8: {LATIN}")
        with self._open() as file, in_words(self.source):
            start = file.read(START).decode(self._encoding, "replace")
        lines = [line for line in start.splitlines() if line.strip()][:MANY]
        self.delimiter = _delimiter(lines or [""])
        self._n_cells = 0  # of all lines but the first
        rows = self._lines()
        self.first_line, self.first = next(rows)
        self._n_cells = len(self.first)
        _, second = next(rows, (0, self.first))
        # An empty cell at the end is a delimiter too many rather than a column.
        if len(second) == self._n_cells + 1 and self._n_cells > 1 and second[-1]:
            self._n_cells += 1  # R leaves out the name of the row names
            self.first = ["", *self.first]
            if notes is not None:
                notes.append(
                    f"{self.source}: the header has one name less than other lines, "
                    "so the first column is taken for names of rows, as R writes them"
                )

    def _open(self) -> IO[bytes]:
        if self._path == "-":
            held = io.BytesIO(self._held)
            packed: Any = gzip.GzipFile(fileobj=held)
            return packed if self._held.startswith(GZIP) else held
        return open_file(self._path)

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the cells of each line that is not blank, with its number."""
        lines = self._lines()
        next(lines)
        yield self.first_line, self.first
        for number, cells in lines:
            if len(cells) != self._n_cells:
                raise ValueError(
                    f"{self.source}, line {number}: {len(cells)} cells, but line "
                    f"{self.first_line} has {self._n_cells}."
                )
            yield number, cells

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        is_empty = True
        file: Any = self._open()
        with io.TextIOWrapper(file, self._encoding, newline="") as lines:
            reader = csv.reader(lines, delimiter=self.delimiter, strict=True)
            try:
                for row in reader:
                    cells = [cell.strip() for cell in row]
                    if any(cells):
                        is_empty = False
                        yield reader.line_num, cells
            except csv.Error as error:
                where = f"{self.source}, line {reader.line_num}"
                raise ValueError(f"{where}: {error}.") from error
        if is_empty:
            raise ValueError(f"{self.source} is empty.")


@contextmanager
def in_words(source: str) -> Iterator[None]:
    """Say in words that gzip is damaged."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{source} is damaged gzip: {error}.") from error


def encoding_of(open_file: Any, source: str) -> str:
    """Find the encoding of a text: UTF-8, UTF-16 with a mark, or Windows-1252."""
    with in_words(source), open_file() as file:
        start = file.read(START)
        encoding = "utf-16" if start[:2] in UTF_16 else "utf-8-sig"
        problem = _undecodable(start, file, encoding)
        if problem is None:
            return encoding
    with in_words(source), open_file() as file:
        start = file.read(START)
        has_controls = len(start.translate(None, CONTROLS)) < len(start)
        if not has_controls and _undecodable(start, file, "cp1252") is None:
            return "cp1252"
    raise ValueError(f"{source} is not text, neither UTF-8 nor Latin-1: {problem}.")


def _undecodable(start: bytes, file: IO[bytes], encoding: str) -> str | None:
    """Say which byte of a file is not of this encoding, if any."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        while start:
            decoder.decode(start)
            start = file.read(START)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return f"byte 0x{error.object[error.start]:02x}, {error.reason}"
    return None


def _delimiter(lines: list[str]) -> str:
    """Guess the delimiter: as many in each of the first lines, if there is one.

    Beside another one, commas may be decimal commas, in the first line, too.
    """
    first = lines[0]
    even = [
        x for x in DELIMITERS if {line.count(x) for line in lines} == {first.count(x)}
    ]
    pool = [x for x in even if x in first] or DELIMITERS
    others = [x for x in pool if x != "," and x in first and _have_numbers(first, x)]
    return max(others or pool, key=first.count)


def _have_numbers(line: str, delimiter: str) -> bool:
    """Whether all commas are decimal commas, if this is the delimiter."""
    cells = [cell.strip(' "') for cell in line.split(delimiter) if "," in cell]
    return all(COMMA.fullmatch(cell) for cell in cells)


@contextmanager
def open_text(path: str, notes: list[str] | None = None) -> Iterator[TextIO]:
    """Open a text, which may be gzip, in whatever encoding it has."""

    def open_bytes() -> IO[bytes]:
        return open_file(path)

    encoding = encoding_of(open_bytes, path)
    if encoding == "cp1252" and notes is not None:
        notes.append(f"{path} is not UTF-8: {LATIN}")
    file: Any = open_bytes()
    with io.TextIOWrapper(file, encoding) as lines:
        yield lines


def open_file(path: str) -> IO[bytes]:
    """Open the bytes of a file, unpacked if it is gzip."""
    with Path(path).open("rb") as file:
        packed = file.read(len(GZIP)) == GZIP
    opened: Any = gzip.open if packed else Path.open
    found: IO[bytes] = opened(Path(path), "rb")
    return found
