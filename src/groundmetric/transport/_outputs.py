"""Where distances go: memory, a ``.npy`` file, or an array of the caller.

A file ``name.npy.blocks`` beside a ``.npy`` file says which blocks are done: 32 bytes
that identify the inputs, then the checksum of each block, zero if it is not done. A
block counts as done only if the array still has these distances. The file is removed at
the end. A zarr array keeps the same in its attributes.
"""

from __future__ import annotations

import os
import tokenize
from pathlib import Path
from typing import Any

import numpy as np

from .. import _files, validation

KEY = 32  # bytes of a fingerprint
SUM = np.dtype("<u4")  # of a checksum
ATTRIBUTE = "groundmetric_blocks"


class Output:
    """An array to write to, and the checksums of its finished blocks, or zeros."""

    def __init__(self, array: Any, n_blocks: int) -> None:
        self.array = array
        self.sums = np.zeros(n_blocks, SUM)

    def finish(self, block: int, checksum: int) -> None:
        """Mark a block whose distances are written."""
        self.sums[block] = checksum

    def close(self) -> Any:
        """Return the array; all blocks are done."""
        return self.array


class FileOutput(Output):
    """A memory-mapped ``.npy`` file, with a file of finished blocks beside it."""

    def __init__(
        self, array: np.memmap[Any, Any], path: Path, n_blocks: int, key: bytes
    ) -> None:
        super().__init__(array, n_blocks)
        self._path = beside(path)
        if not self._path.exists():
            empty = key + bytes(n_blocks * SUM.itemsize)
            _files.write_whole(self._path, lambda file: file.write(empty))
        self.sums: np.memmap[Any, Any] = np.memmap(self._path, SUM, "r+", KEY)

    def finish(self, block: int, checksum: int) -> None:
        """Mark a block, once what it holds is on disk."""
        self.array.flush()
        super().finish(block, checksum)
        self.sums.flush()

    def close(self) -> Any:
        """Forget the blocks."""
        self._path.unlink()
        return self.array


class AttributeOutput(Output):
    """An array with attributes that are kept with it, as zarr has them."""

    def __init__(self, array: Any, n_blocks: int, key: bytes) -> None:
        super().__init__(array, n_blocks)
        self._key = key.hex()
        known = array.attrs.get(ATTRIBUTE)
        if known is None:
            self._mark()
            return
        if known["key"] != self._key:
            raise ValueError(_other("out", "the array"))
        self.sums = np.frombuffer(bytes.fromhex(known["sums"]), SUM).copy()

    def _mark(self) -> None:
        sums = self.sums.tobytes().hex()
        self.array.attrs[ATTRIBUTE] = {"key": self._key, "sums": sums}

    def finish(self, block: int, checksum: int) -> None:
        """Mark a block."""
        super().finish(block, checksum)
        self._mark()

    def close(self) -> Any:
        """Forget the blocks."""
        del self.array.attrs[ATTRIBUTE]
        return self.array


def open_output(
    out: Any,
    shape: tuple[int, ...],
    dtype: str | None,
    *,
    n_blocks: int,
    key: bytes,
) -> Output:
    """Make or open the output, and find out which blocks are done."""
    precision = "float64" if dtype is None else validation.as_precision(dtype)
    if out is None:
        return Output(np.empty(shape, precision), n_blocks)
    if isinstance(out, (str, os.PathLike)):
        return _open_file(Path(out), shape, precision, n_blocks, key)
    _require_array(out, shape, dtype)
    is_part = isinstance(getattr(out, "base", None), np.memmap)
    if isinstance(out, np.memmap) and out.filename is not None and not is_part:
        path = Path(out.filename)
        _require_own(path, n_blocks, key)
        _reserve(path)
        return FileOutput(out, path, n_blocks, key)
    if type(out).__module__.split(".")[0] == "zarr":
        return AttributeOutput(out, n_blocks, key)
    return Output(out, n_blocks)


def beside(path: Path) -> Path:
    """Name the file of finished blocks."""
    return path.with_name(path.name + ".blocks")


def _open_file(
    path: Path, shape: tuple[int, ...], precision: str, n_blocks: int, key: bytes
) -> Output:
    if path.suffix != ".npy":
        raise ValueError(f"out is {path}; a path must end with .npy.")
    _files.require_writable(path, "out")
    array: np.memmap[Any, Any]
    if beside(path).exists() and path.exists():
        _require_own(path, n_blocks, key)
        array = _reopened(path)
        _require_array(array, shape, precision)
    else:
        beside(path).unlink(missing_ok=True)
        array = _created(path, shape, precision)
    return FileOutput(array, path, n_blocks, key)


def _reopened(path: Path) -> np.memmap[Any, Any]:
    """Open a file to resume; numpy would fill one that is cut short with zeros."""
    try:
        with path.open("rb") as file:
            _files.require_bytes(file, path.stat().st_size)
        found: np.memmap[Any, Any] = np.lib.format.open_memmap(path, mode="r+")
    except (OSError, ValueError, SyntaxError, tokenize.TokenError) as error:
        raise ValueError(
            f"out is {path}, which is damaged: {error}. Remove it to start again."
        ) from error
    return found


def _created(path: Path, shape: tuple[int, ...], precision: str) -> np.memmap[Any, Any]:
    """Make a file with room for all distances, or none."""
    made: np.memmap[Any, Any]
    try:
        made = np.lib.format.open_memmap(path, "w+", np.dtype(precision), shape)
        made.flush()
        _reserve(path)
    except OSError as error:
        path.unlink(missing_ok=True)
        if error.filename is not None:
            raise
        raise _files.named(error, path) from error
    return made


def _reserve(path: Path) -> None:
    """Reserve disk space now: writing to a map of a file on a full disk crashes."""
    if hasattr(os, "posix_fallocate"):  # not on macOS, nor on Windows
        with path.open("r+b") as file:
            try:
                os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
            except OSError as error:
                raise _files.named(error, path) from error


def _require_own(path: Path, n_blocks: int, key: bytes) -> None:
    """Reject outputs that were computed from other inputs, or are cut short."""
    marks = beside(path)
    if not marks.exists():
        return
    found = marks.read_bytes()
    if found[:KEY] != key:
        raise ValueError(_other(f"out is {path}, and", marks.name))
    size = KEY + n_blocks * SUM.itemsize
    if len(found) != size:
        raise ValueError(
            f"out is {path}, but {marks.name} has {len(found)} bytes instead of "
            f"{size}; remove it to start again."
        )


def _other(start: str, what: str) -> str:
    return (
        f"{start} {what} is of an unfinished computation with other inputs; remove it "
        "to start again."
    )


def _require_array(out: Any, shape: tuple[int, ...], dtype: str | None) -> None:
    found = tuple(getattr(out, "shape", ()))
    if found != shape or not hasattr(out, "__setitem__"):
        raise ValueError(f"out has shape {found}, but {shape} is needed.")
    kind = validation.as_precision(str(out.dtype), "out.dtype")
    if dtype is not None and kind != validation.as_precision(dtype):
        raise ValueError(f"out holds {kind}, but dtype is {dtype!r}.")
    flags = getattr(out, "flags", None)
    if flags is not None and not flags.writeable:
        raise ValueError("out is read-only.")
