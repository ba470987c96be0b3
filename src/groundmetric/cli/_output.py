"""Files to write: checked before any work, written completely or not at all."""

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _files
from ._console import note
from ._options import INPUT, Output

DIGITS = "%.17g"  # reads back as the same number

Marked = list[tuple[Any, str, Any]]  # the mark, the option, and its file


def check_marked(files: Marked, *, force: bool | None) -> None:
    """Reject outputs that cannot be written, or that would destroy another file.

    Files that are replaced are named; or not (force), or rejected (force is False).
    """
    inputs = [
        (option, path)
        for mark, option, given in files
        if mark is INPUT
        for path in (given if isinstance(given, list) else [given])
    ]
    outputs = [one for one in files if isinstance(one[0], Output) and one[2]]
    for mark, option, path in outputs:
        require_suffix(path, *mark.suffixes, option=option)
        _files.require_writable(path, option)
    _files.require_apart([one[1:] for one in outputs], inputs)
    for mark, option, path in outputs:
        if mark.continues or force or not path.is_file():
            continue
        if force is False:
            raise ValueError(
                f"{option} is {path}, which exists; choose another name, or leave out "
                "--no-clobber."
            )
        note(f"replacing {path}")


def require_suffix(path: Path | None, *suffixes: str, option: str = "--out") -> None:
    """Reject a file that has none of these suffixes, if there are any."""
    if path is not None and suffixes and path.suffix not in suffixes:
        raise ValueError(f"{option} is {path}; it must end in {' or '.join(suffixes)}.")


def write_matrix(
    matrix: NDArray[Any],
    path: Path | None,
    *,
    columns: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
) -> None:
    """Write numbers as .npy, or as CSV with the names of columns and rows, if any."""
    if path is not None and path.suffix == ".npy":
        _files.write_whole(path, lambda file: np.save(file, matrix))
        return
    lines: list[Sequence[object]] = [[DIGITS % x for x in row] for row in matrix]
    if columns is not None:
        lines.insert(0, columns)
    if rows is not None:
        lines = [[name, *line] for name, line in zip(["", *rows], lines, strict=True)]
    write_rows(lines, path)


def write_rows(rows: Iterable[Sequence[object]], path: Path | None) -> None:
    """Write numbers and names as CSV, to a file or standard output."""
    if path is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows)
        return
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    _files.write_text(path, text.getvalue())
