"""Files to write: checked before any work, written completely or not at all."""

import csv
import io
import os
import stat
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

Named = tuple[str, str | Path | None]  # the option, and its file
Marked = list[tuple[object, str, Any]]  # the mark, too


def check_marked(files: Marked, *, force: bool | None) -> None:
    """Reject outputs that cannot be written, or that would destroy another file."""
    inputs = [(option, path) for mark, option, path in files if mark is INPUT]
    written, replaced = [], []
    for mark, option, path in files:
        if not isinstance(mark, Output) or path is None:
            continue
        require_suffix(path, *mark.suffixes, option=option)
        _files.require_writable(path, option)
        written.append((option, path))
        if not mark.continues:
            replaced.append((option, path))
    _require_apart(written, inputs)
    _replace(replaced, force=force)


def _require_apart(outputs: Sequence[Named], inputs: Sequence[Named]) -> None:
    """Reject an output that is an input, or another output."""
    taken = [(*one, _identities(one[1])) for one in inputs]
    for option, path in outputs:
        identities = _identities(path)
        for other, file, others in taken:
            if identities & others:
                raise ValueError(
                    f"{option} is {path}, the same file as {other} ({file}); choose "
                    "another name."
                )
        taken.append((option, path, identities))


def _identities(file: str | Path | None) -> set[object]:
    """Identify a file by its path without links, and by its inode."""
    if file is None:
        return set()
    try:
        found = os.fstat(sys.stdin.fileno()) if file == "-" else Path(file).stat()
    except OSError:  # no such file, or no standard input
        return {os.path.realpath(file)}
    if not stat.S_ISREG(found.st_mode):
        return set()  # writing to a folder, a terminal or a pipe destroys nothing
    return {os.path.realpath(file), (found.st_dev, found.st_ino)}


def _replace(outputs: Iterable[Named], *, force: bool | None) -> None:
    """Name the files that are replaced; or reject them, or say nothing."""
    for option, path in outputs:
        if path is None or force or not Path(path).is_file():
            continue
        if force is not None:
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
