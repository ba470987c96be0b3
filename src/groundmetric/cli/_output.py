"""Files to write: judged before anything is computed, written whole or not at all."""

import csv
import io
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _files

DIGITS = "%.17g"  # what makes the same number again


def require_output(path: Path | None, *suffixes: str, option: str = "--out") -> None:
    """Refuse a file that cannot be written, or has another suffix than these."""
    if path is None:
        return
    if path.suffix not in suffixes:
        raise ValueError(
            f"{option} is {path}; a file that ends in {' or '.join(suffixes)} is "
            "needed."
        )
    if not path.parent.is_dir():
        raise ValueError(f"{option} is {path}, but there is no folder {path.parent}.")
    if path.is_dir():
        raise ValueError(f"{option} is {path}, which is a folder.")
    part = _files.part_of(path)
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        raise ValueError(
            f"{option} is {path}, which cannot be written: {error.strerror}."
        ) from error


def require_folder(path: Path | None, *, option: str = "--out") -> None:
    """Refuse a folder that is not there and cannot be made, or not be written to."""
    if path is None:
        return
    there = next(p for p in (path, *path.absolute().parents) if p.exists())
    if not there.is_dir():
        raise ValueError(f"{option} is {path}, but {there} is no folder.")
    if not os.access(there, os.W_OK):
        raise ValueError(f"{option} is {path}, but {there} cannot be written to.")


def write_matrix(
    matrix: NDArray[Any],
    path: Path | None,
    *,
    columns: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
) -> None:
    """Write numbers as .npy or .csv; without a path, as CSV to standard output.

    CSV has the names of columns and rows, if they have some.
    """
    if path is not None and path.suffix == ".npy":
        _files.write_whole(path, lambda file: np.save(file, matrix))
    elif columns is not None:
        numbers = [[DIGITS % x for x in row] for row in matrix]
        if rows is not None:
            columns = ["", *columns]
            numbers = [[name, *row] for name, row in zip(rows, numbers, strict=True)]
        write_rows(columns, numbers, path)
    elif path is None:
        np.savetxt(sys.stdout, matrix, fmt=DIGITS, delimiter=",")
    else:
        _files.write_whole(
            path, lambda file: np.savetxt(file, matrix, fmt=DIGITS, delimiter=",")
        )


def write_rows(
    header: Sequence[str], rows: Iterable[Sequence[object]], path: Path | None
) -> None:
    """Write numbers and names as CSV, to a file or standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    if path is None:
        sys.stdout.write(text.getvalue())
    else:
        _files.write_text(path, text.getvalue())
