"""A file from which a killed descent goes on."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from . import _files

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

KIND = "checkpoint"


class Checkpoint:
    """The state of one descent, written now and then.

    Parameters
    ----------
    path : path-like
        The file.
    seconds : float
        Write it that often.
    identity : str
        What the descent depends on, see :func:`identify`; a file with another identity
        is refused, not overwritten.
    """

    def __init__(self, path: _files.StrPath, seconds: float, identity: str) -> None:
        self._path = Path(path)
        self._seconds = seconds
        self._identity = identity
        self._written = time.monotonic()

    def resume(self, set_state: Callable[[_files.Arrays], None]) -> None:
        """Hand the state of the file over, if there is one."""
        if not self._path.exists():
            return
        facts, arrays = _files.read(self._path, KIND)
        if facts.get("identity") != self._identity:
            raise ValueError(
                f"{self._path} is the checkpoint of a fit with other data, parameters "
                "or another version of groundmetric; remove it, or choose another file."
            )
        try:
            set_state(arrays)
        except (LookupError, TypeError, ValueError) as error:
            raise ValueError(
                f"{self._path} is no checkpoint to go on from: {error}."
            ) from error

    def is_due(self) -> bool:
        """Tell whether it is time to write."""
        return time.monotonic() - self._written >= self._seconds

    def write(self, arrays: _files.Arrays) -> None:
        """Write the state, whole or not at all."""
        _files.write(self._path, KIND, {"identity": self._identity}, arrays)
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file of a descent that has ended."""
        self._path.unlink(missing_ok=True)
        _files.part_of(self._path).unlink(missing_ok=True)


def require_writable(path: object) -> None:
    """Refuse a path that cannot be written, before any work is done."""
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(f"checkpoint is {path!r}; the path of a file is needed.")
    part = _files.part_of(Path(path))
    try:
        part.touch()
        part.unlink()
    except OSError as error:
        raise ValueError(
            f"checkpoint is {os.fspath(path)!r}, which cannot be written: "
            f"{error.strerror}."
        ) from error
    if Path(path).is_dir():
        raise ValueError(f"checkpoint is {os.fspath(path)!r}, which is a folder.")


def identify(*parts: NDArray[np.float64] | str) -> str:
    """Make a fingerprint of arrays and strings."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part.tobytes()
        digest.update(f"{len(data)} ".encode())
        digest.update(data)
    return digest.hexdigest()
