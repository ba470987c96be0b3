"""Tables in Excel files; the only module that needs openpyxl."""

import datetime as dt
import warnings
import zipfile
from typing import Any

from ._reading import listed
from ._rows import HeldRows

# What openpyxl raises where a file is damaged: whatever its parsers meet.
BROKEN = (
    *(AttributeError, EOFError, LookupError, OverflowError, RuntimeError),
    *(SyntaxError, TypeError, ValueError, zipfile.BadZipFile, NotImplementedError),
)


def read_sheet(path: str, notes: list[str]) -> HeldRows:
    """Read the first sheet of an Excel file: values, not formulas."""
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(
            "Reading Excel files needs openpyxl: pip install 'groundmetric[excel]'."
        ) from error
    import zlib

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and extensions
            book = openpyxl.load_workbook(path, read_only=True, data_only=True)
            sheet = book.worksheets[0]
            rows = [
                [_spelled(x) for x in row] for row in sheet.iter_rows(values_only=True)
            ]
            names = [one.title for one in book.worksheets]
            book.close()
    except (*BROKEN, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged, or not an Excel file: {error}."
        ) from error
    if len(names) > 1:
        notes.append(f"sheet: {names[0]!r}, the first of {listed(names)}")
    filled = [(i, row) for i, row in enumerate(rows, start=1) if any(row)]
    if not filled:
        raise ValueError(f"{path} is empty.")
    width = max(j for _, row in filled for j, cell in enumerate(row, start=1) if cell)
    return HeldRows(path, [(i, _padded(row, width)) for i, row in filled])


def _padded(row: list[str], width: int) -> list[str]:
    return [*row[:width], *[""] * (width - len(row))]


def _spelled(value: Any) -> str:
    """Write a cell as in a text."""
    if value is None:
        return ""
    if isinstance(value, bool | int):
        return str(int(value))
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    return str(value).strip()
