"""Files, written whole or not at all.

Arrays and facts go into one ``.npz`` with JSON inside, never a pickle. What is read is
checked by its headers first: a small file may claim to be a large one.
"""

from __future__ import annotations

import errno
import json
import math
import os
import stat
import sys
import tokenize
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Arrays = dict[str, NDArray[Any]]
StrPath = str | os.PathLike[str]
Named = tuple[str, "str | Path | None"]  # the argument, and its file; - is a stream

VERSION = 1  # of the format
HEADER = "header"
# What a full disk looks like; where numpy writes, it has no number.
FULL = (errno.ENOSPC, errno.EDQUOT, None)
UNPACKED = 2 << 30  # bytes that a smaller, compressed file may become


class TooLargeError(ValueError):
    """A compressed file would unpack to more than is allowed."""


def write(path: StrPath, kind: str, facts: dict[str, Any], arrays: Arrays) -> None:
    """Write a file of some kind, whole or not at all."""
    header = {"format": f"groundmetric {kind}", "version": VERSION, **facts}
    contents: dict[str, Any] = {HEADER: np.array(json.dumps(header)), **arrays}
    write_whole(Path(path), lambda file: np.savez(file, **contents))


def write_whole(path: Path, fill: Callable[[BinaryIO], object]) -> None:
    """Write a file under another name first, so that half a file is never seen.

    A link stays a link. Devices and pipes are written to directly.
    """
    target = target_of(path)
    direct = target.exists() and not target.is_file()
    part = target if direct else part_of(target)
    try:
        with part.open("wb") as file:
            fill(file)
            file.flush()
            if not direct:
                os.fsync(file.fileno())
        if not direct:
            part.replace(target)
    except OSError as error:
        raise named(error, path) from error
    finally:
        if not direct:
            with suppress(OSError):
                part.unlink()


def write_text(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    write_whole(path, lambda file: file.write(text.encode()))


def part_of(path: Path) -> Path:
    """Name the file that is written first."""
    return path.with_name(path.name + ".part")


def target_of(path: Path) -> Path:
    """Follow a link to the file that is to be written."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def require_writable(path: Path, name: str) -> None:
    """Reject a file that cannot be written, before any work is done."""
    target = target_of(path)
    if target.is_dir():
        raise ValueError(f"{name} is {path}, which is a folder.")
    if not target.parent.is_dir():
        raise ValueError(f"{name} is {path}, but there is no folder {target.parent}.")
    part = part_of(target)
    try:
        part.touch()
        part.unlink()
        if target.exists() and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise ValueError(
            f"{name} is {path}, which cannot be written: {error.strerror}."
        ) from error


def require_apart(outputs: Sequence[Named], inputs: Sequence[Named]) -> None:
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


def named(error: OSError, path: Path) -> OSError:
    """Say which file could not be written and, if the disk is full, what to do."""
    reason = error.strerror or str(error)
    if error.errno in FULL:
        reason += "; make room on the disk, or choose another place"
    return OSError(error.errno or errno.ENOSPC, reason, str(path))


def load_array(path: StrPath) -> NDArray[Any]:
    """Read a ``.npy`` file."""
    with Path(path).open("rb") as file:
        require_bytes(file, os.fstat(file.fileno()).st_size)
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
                    require_bytes(file, info.file_size)
        # Check the whole file before using any of it.
        damaged = None if names else archive.testzip()
    if damaged is not None:
        raise ValueError(f"{damaged} does not match its checksum")
    with np.load(path, allow_pickle=False) as file:
        return {name: file[name] for name in file.files if name in (names or file)}


def require_bytes(file: IO[bytes], size: int) -> None:
    """Reject an array that is larger than the data after its header."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    else:
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects")
    needed, left = math.prod(shape) * dtype.itemsize, size - file.tell()
    if needed > left:
        raise ValueError(f"an array needs {needed} bytes, but only {left} are left")


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
        tokenize.TokenError,  # numpy's, from a header that ends early
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
