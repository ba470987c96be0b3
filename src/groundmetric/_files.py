"""Files, written whole or not at all.

Arrays and facts go into one ``.npz`` with JSON inside, never a pickle. What is read is
judged by its headers first: a small file may claim to be a large one.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable

Arrays = dict[str, NDArray[Any]]
StrPath = str | os.PathLike[str]

VERSION = 1  # of the format
HEADER = "header"
UNPACKED = 2 << 30  # bytes that a smaller, compressed file may become


class TooLargeError(ValueError):
    """A compressed file holds more than is read."""


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


def load_array(path: StrPath) -> NDArray[Any]:
    """Read a ``.npy`` file."""
    with Path(path).open("rb") as file:
        _require_bytes(file, os.fstat(file.fileno()).st_size)
        file.seek(0)
        found: NDArray[Any] = np.load(file, allow_pickle=False)
        return found


def load_arrays(path: StrPath, *names: str) -> Arrays:
    """Read a ``.npz`` file, or those of its arrays that have these names."""
    with zipfile.ZipFile(path) as archive:
        size = sum(info.file_size for info in archive.infolist())
        if size > max(UNPACKED, Path(path).stat().st_size):
            raise TooLargeError(
                f"{os.fspath(path)} unpacks to {size / 1e9:.1f} GB; a compressed file "
                f"may hold {UNPACKED / 1e9:.1f} GB. Write large arrays with "
                "numpy.savez or numpy.save, which do not compress."
            )
        for info in archive.infolist():
            if not names or info.filename.removesuffix(".npy") in names:
                with archive.open(info) as file:
                    _require_bytes(file, info.file_size)
        # All of it, before any is believed.
        damaged = None if names else archive.testzip()
    if damaged is not None:
        raise ValueError(f"{damaged} does not match its checksum")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name in (names or file)}


def _require_bytes(file: IO[bytes], size: int) -> None:
    """Refuse an array that is larger than what follows its header."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    needed, left = math.prod(shape) * dtype.itemsize, size - file.tell()
    if needed > left:
        raise ValueError(f"an array needs {needed} bytes, but {left} are there")


def read(path: StrPath, kind: str) -> tuple[dict[str, Any], Arrays]:
    """Read the facts and arrays of a file of that kind, or say what is wrong."""
    try:
        arrays = load_arrays(path)
        facts = json.loads(arrays.pop(HEADER).item())
        found = (facts.pop("format"), facts.pop("version"))
    except (FileNotFoundError, TooLargeError):
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
