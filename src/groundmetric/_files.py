"""Files, written whole or not at all.

Arrays and facts go into one ``.npz`` with JSON inside, never a pickle.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Arrays = dict[str, NDArray[Any]]
StrPath = str | os.PathLike[str]

VERSION = 1  # of the format
HEADER = "header"


def write(path: StrPath, kind: str, facts: dict[str, Any], arrays: Arrays) -> None:
    """Write a file of some kind, whole or not at all."""
    header = {"format": f"groundmetric {kind}", "version": VERSION, **facts}
    contents: dict[str, Any] = {HEADER: np.array(json.dumps(header)), **arrays}
    write_whole(Path(path), lambda file: np.savez(file, **contents))


def write_whole(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Fill a file of another name first, so that no half of it is ever seen."""
    part = part_of(path)
    try:
        with part.open("wb") as file:
            fill(file)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))


def part_of(path: Path) -> Path:
    """Name the file that is written first."""
    return path.with_name(path.name + ".part")


def _contents(path: StrPath) -> Arrays:
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()  # before any of it is believed
    if damaged is not None:
        raise ValueError(f"{damaged} does not match its checksum")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def read(path: StrPath, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read the facts and arrays of a file of that kind, or say what is wrong."""
    try:
        arrays = _contents(path)
        facts = json.loads(arrays.pop(HEADER).item())
        found = (facts.pop("format"), facts.pop("version"))
    except FileNotFoundError:
        raise
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        EOFError,
        RuntimeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise ValueError(
            f"{os.fspath(path)} is damaged, or not a file of groundmetric: {error}."
        ) from error
    if found[0] != f"groundmetric {kind}":
        raise ValueError(
            f"{os.fspath(path)} is not a groundmetric {kind}, but a {found[0]}."
        )
    if found[1] != VERSION:
        raise ValueError(
            f"{os.fspath(path)} has version {found[1]} of the format; this "
            f"groundmetric reads version {VERSION}."
        )
    return facts, arrays
