"""Which suffix is which format, and tables as rows of written cells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ._parquet import read_parquet
from ._sheet import read_sheet
from ._text import Text

if TYPE_CHECKING:
    from ._rows import Rows

CSV = (".csv", ".tsv", ".txt")
SHEETS = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
NUMPY = (".npy", ".npz")
ANNOTATED = (".h5ad",)
STANDARD_INPUT = "-"


def suffix_of(path: str) -> str:
    """Return the suffix that names the format; .gz around text does not count."""
    name = Path(path).name.lower()
    plain = name.removesuffix(".gz")
    return Path(plain if plain.endswith(CSV) else name).suffix


def is_folder(path: str) -> bool:
    """Whether a path is a folder, not standard input."""
    return path != STANDARD_INPUT and Path(path).is_dir()


def is_table(path: str) -> bool:
    """Whether a file has columns that may have names."""
    return path == STANDARD_INPUT or suffix_of(path) in (*CSV, *SHEETS, *PARQUET)


def read_written(path: str, notes: list[str]) -> Rows:
    """Read a table as rows of written cells; names, if any, come first."""
    suffix = suffix_of(path)
    if suffix in SHEETS:
        return read_sheet(path, notes)
    if suffix in PARQUET:
        return read_parquet(path).as_rows()
    return Text(path, notes)
